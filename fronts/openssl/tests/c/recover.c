/* Uninstantiates contexts, draws from them, and prints a line with the reported state at each step.
 * The output with headwater must equal the output with OpenSSL's own generator. */
#include "check.h"

static void step(const char *what, int result, EVP_RAND_CTX *ctx)
{
    printf("%s: %d, state %d, RAND_status %d\n", what, result, EVP_RAND_get_state(ctx), RAND_status());
    ERR_clear_error();
}

int main(void)
{
    unsigned char bytes[32];
    step("first draw", RAND_bytes(bytes, sizeof bytes), RAND_get0_public(NULL));
    EVP_RAND_CTX *contexts[] = { RAND_get0_public(NULL), RAND_get0_private(NULL), RAND_get0_primary(NULL) };
    for (int i = 0; i < 3; i++) {
        CHECK(contexts[i] != NULL);
        step("uninstantiated", EVP_RAND_uninstantiate(contexts[i]), contexts[i]);
        memset(bytes, 0, sizeof bytes);
        int drawn = i == 0 ? RAND_bytes(bytes, sizeof bytes)
                  : i == 1 ? RAND_priv_bytes(bytes, sizeof bytes)
                           : EVP_RAND_generate(contexts[2], bytes, sizeof bytes, 0, 0, NULL, 0);
        step("drawn", drawn, contexts[i]);
        CHECK(!is_blank(bytes, sizeof bytes));
        CHECK(EVP_RAND_uninstantiate(contexts[i]));
        step("reseeded", EVP_RAND_reseed(contexts[i], 0, NULL, 0, NULL, 0), contexts[i]);
    }
    /* Every call continues to work. */
    step("RAND_poll", RAND_poll(), contexts[2]);
    step("RAND_bytes", RAND_bytes(bytes, sizeof bytes), contexts[0]);
    step("RAND_priv_bytes", RAND_priv_bytes(bytes, sizeof bytes), contexts[1]);
    return 0;
}
