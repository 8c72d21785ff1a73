/* An unchanged program. Prints one line with the names of the generators that it draws from, and
 * whether headwater filled pages meanwhile. */
#include "check.h"

int main(void)
{
    unsigned char bytes[1024];
    for (int i = 0; i < 100; i++)
        if (RAND_bytes(bytes, sizeof bytes) != 1 || RAND_priv_bytes(bytes, 16) != 1) {
            printf("no bytes: ");
            ERR_print_errors_fp(stdout);
            return 1;
        }
    CHECK(RAND_status() == 1);
    RAND_add("something", 9, 0);
    CHECK(RAND_poll() == 1 && RAND_bytes(bytes, 16) == 1);
    printf("public %s, private %s, primary %s",
        EVP_RAND_get0_name(EVP_RAND_CTX_get0_rand(RAND_get0_public(NULL))),
        EVP_RAND_get0_name(EVP_RAND_CTX_get0_rand(RAND_get0_private(NULL))),
        EVP_RAND_get0_name(EVP_RAND_CTX_get0_rand(RAND_get0_primary(NULL))));
    OSSL_PROVIDER *provider = NULL;
    if (OSSL_PROVIDER_available(NULL, "headwater"))
        CHECK((provider = OSSL_PROVIDER_load(NULL, "headwater")) != NULL);
    if (provider != NULL) {
        printf(", pages %s", count_of(provider, "refills") + count_of(provider, "fallbacks") >= 20 ? "filled" : "untouched");
        OSSL_PROVIDER_unload(provider);
    }
    puts("");
    return 0;
}
