/* Asks the provider for numbers of every type and width. Result, bytes and returned size must equal
 * those of OpenSSL's own OSSL_PARAM_set_uint64. */
#include "check.h"
#include <openssl/params.h>

static int compared;

static void compare(EVP_RAND_CTX *ctx, const char *name, uint64_t value, unsigned type, size_t width, int has_room)
{
    unsigned char ours[24], theirs[24];
    memset(ours, 0x5A, sizeof ours);
    memset(theirs, 0x5A, sizeof theirs);
    OSSL_PARAM asked[] = { { name, type, has_room ? ours : NULL, width, OSSL_PARAM_UNMODIFIED }, OSSL_PARAM_END };
    OSSL_PARAM model = { name, type, has_room ? theirs : NULL, width, OSSL_PARAM_UNMODIFIED };
    int expected = OSSL_PARAM_set_uint64(&model, value);
    int answered = EVP_RAND_CTX_get_params(ctx, asked);
    ERR_clear_error();
    if (answered != expected || (expected && memcmp(ours, theirs, sizeof ours) != 0)
        || (expected && asked[0].return_size != model.return_size)) {
        fprintf(stderr, "%s as type %u of %zu bytes%s: answered %d, expected %d; size %zu, expected %zu\n", name, type,
            width, has_room ? "" : " without room", answered, expected, asked[0].return_size, model.return_size);
        abort();
    }
    compared++;
}

int main(void)
{
    EVP_RAND_CTX *ctx = RAND_get0_public(NULL);
    CHECK(ctx != NULL && strcmp(EVP_RAND_get0_name(EVP_RAND_CTX_get0_rand(ctx)), "HEADWATER") == 0);
    size_t max_request = 0;
    unsigned int strength = 0;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_size_t(OSSL_RAND_PARAM_MAX_REQUEST, &max_request),
        OSSL_PARAM_construct_uint(OSSL_RAND_PARAM_STRENGTH, &strength),
        OSSL_PARAM_construct_end(),
    };
    CHECK(EVP_RAND_CTX_get_params(ctx, params));
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = { { "max_request", max_request }, { "strength", strength }, { "state", EVP_RAND_STATE_READY } };
    const unsigned types[] = { OSSL_PARAM_INTEGER, OSSL_PARAM_UNSIGNED_INTEGER, OSSL_PARAM_REAL,
        OSSL_PARAM_UTF8_STRING, OSSL_PARAM_OCTET_STRING };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (size_t width = 1; width <= 20; width++)
                /* OpenSSL 3.0 writes a REAL through a null pointer, so that case has no model. */
                for (int has_room = types[t] == OSSL_PARAM_REAL; has_room < 2; has_room++)
                    compare(ctx, numbers[i].name, numbers[i].value, types[t], width, has_room);
    printf("%d alike\n", compared);
    return 0;
}
