/* Shared by the test programs: an assertion that prints OpenSSL's errors, and a library context
 * with headwater in it.
 *
 * A failed assertion aborts the process. If a forked child called exit(3) instead, it would run its
 * parent's handlers, and write the output that the parent has buffered. */
#ifndef CHECK_H
#define CHECK_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            ERR_print_errors_fp(stderr);                                       \
            abort();                                                           \
        }                                                                      \
    } while (0)

/* Returns a new library context with the default provider and the named one, which OpenSSL loads
 * from the directory in HEADWATER_MODULES. */
static inline OSSL_LIB_CTX *context_with(const char *provider, OSSL_PROVIDER **loaded)
{
    OSSL_LIB_CTX *context = OSSL_LIB_CTX_new();
    CHECK(context != NULL);
    CHECK(getenv("HEADWATER_MODULES") != NULL);
    CHECK(OSSL_PROVIDER_set_default_search_path(context, getenv("HEADWATER_MODULES")));
    CHECK(OSSL_PROVIDER_load(context, "default") != NULL);
    *loaded = OSSL_PROVIDER_load(context, provider);
    CHECK(*loaded != NULL);
    return context;
}

/* Returns one of the counters that the provider reports from headwater's status. */
static inline uint64_t count_of(const OSSL_PROVIDER *provider, const char *name)
{
    uint64_t value = UINT64_MAX;
    OSSL_PARAM params[] = { OSSL_PARAM_construct_uint64(name, &value), OSSL_PARAM_construct_end() };
    CHECK(OSSL_PROVIDER_get_params(provider, params));
    CHECK(value != UINT64_MAX);
    return value;
}

/* Returns whether 16 zero bytes stand in a row, or, if there are fewer bytes, whether all are zero.
 * Random bytes have such a row with probability 2^-128 at each place. */
static inline int is_blank(const unsigned char *bytes, size_t len)
{
    size_t run = 0;
    for (size_t i = 0; i < len; i++) {
        run = bytes[i] == 0 ? run + 1 : 0;
        if (run == 16)
            return 1;
    }
    return len < 16 && run == len;
}

/* Returns the reason of the last error, and empties OpenSSL's error queue. */
static inline const char *last_reason(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_error());
    ERR_clear_error();
    return reason != NULL ? reason : "";
}

#endif
