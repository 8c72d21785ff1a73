/* A provider whose generator writes nothing, so that the time of a call is OpenSSL's own share.
 * Only speed.c uses it. */
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <string.h>

static int state;

static void *newctx(void *provider, void *parent, const OSSL_DISPATCH *calls)
{
    (void)provider, (void)parent, (void)calls;
    return &state;
}

static void freectx(void *context)
{
    (void)context;
}

static int instantiate(void *context, unsigned int strength, int resistance, const unsigned char *text, size_t len,
    const OSSL_PARAM params[])
{
    (void)context, (void)strength, (void)resistance, (void)text, (void)len, (void)params;
    return 1;
}

static int succeed(void *context)
{
    (void)context;
    return 1;
}

static int generate(void *context, unsigned char *out, size_t len, unsigned int strength, int resistance,
    const unsigned char *input, size_t input_len)
{
    (void)context, (void)out, (void)len, (void)strength, (void)resistance, (void)input, (void)input_len;
    return 1;
}

static int get_ctx_params(void *context, OSSL_PARAM params[])
{
    (void)context;
    if (strcmp(params->key, OSSL_RAND_PARAM_MAX_REQUEST) == 0)
        return OSSL_PARAM_set_size_t(params, 1 << 30);
    if (strcmp(params->key, OSSL_RAND_PARAM_STRENGTH) == 0)
        return OSSL_PARAM_set_uint(params, 256);
    return OSSL_PARAM_set_int(params, EVP_RAND_STATE_READY);
}

static const OSSL_DISPATCH generator[] = {
    { OSSL_FUNC_RAND_NEWCTX, (void (*)(void))newctx },
    { OSSL_FUNC_RAND_FREECTX, (void (*)(void))freectx },
    { OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))instantiate },
    { OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))succeed },
    { OSSL_FUNC_RAND_GENERATE, (void (*)(void))generate },
    { OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))succeed },
    { OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))get_ctx_params },
    { 0, NULL },
};

static const OSSL_ALGORITHM generators[] = { { "EMPTY", "provider=empty", generator, NULL }, { NULL, NULL, NULL, NULL } };

static const OSSL_ALGORITHM *query(void *provider, int operation, int *no_store)
{
    (void)provider;
    *no_store = 0;
    return operation == OSSL_OP_RAND ? generators : NULL;
}

#ifdef OSSL_FUNC_PROVIDER_RANDOM_BYTES
static int random_bytes(void *provider, int which, void *out, size_t len, unsigned int strength)
{
    (void)provider, (void)which, (void)out, (void)len, (void)strength;
    return 1;
}
#endif

static const OSSL_DISPATCH functions[] = {
    { OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query },
#ifdef OSSL_FUNC_PROVIDER_RANDOM_BYTES
    { OSSL_FUNC_PROVIDER_RANDOM_BYTES, (void (*)(void))random_bytes },
#endif
    { 0, NULL },
};

int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in, const OSSL_DISPATCH **out, void **context)
{
    (void)handle, (void)in;
    *out = functions;
    *context = &state;
    return 1;
}
