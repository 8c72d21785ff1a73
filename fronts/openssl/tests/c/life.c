/* The life of a context: every function of the generator works in every state as provider-rand(7)
 * documents it. */
#include "check.h"
#include <fcntl.h>
#include <linux/random.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Returns the reseed counter. A DRBG that takes its seed here reseeds when this counter changes. */
static unsigned int reseed_counter(EVP_RAND_CTX *ctx)
{
    unsigned int counter = 7;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_uint(OSSL_DRBG_PARAM_RESEED_COUNTER, &counter),
        OSSL_PARAM_construct_end(),
    };
    CHECK(EVP_RAND_CTX_get_params(ctx, params));
    CHECK(counter != 7);
    return counter;
}

/* True if the counter was 0: this process does not see the kernel's reseeds. */
static int blind;

/* Checks that a reseed by the kernel changes the counter. In mode kernel, and in a process that has
 * not found the kernel's reseed generation, the counter is 0. Each process searches for itself: one
 * that starts while a test makes the kernel reseed in a loop may not find the generation. */
static void counter_follows_the_kernel(EVP_RAND_CTX *ctx)
{
    unsigned int before = reseed_counter(ctx);
    blind = before == 0;
    if (blind)
        return;
    CHECK(strcmp(getenv("HEADWATER_MODE"), "kernel") != 0);
    int random = open("/dev/random", O_RDONLY);
    /* Only root may reseed the kernel; for others this part is skipped. */
    if (random >= 0 && ioctl(random, RNDRESEEDCRNG) == 0)
        CHECK(reseed_counter(ctx) != before);
    if (random >= 0)
        close(random);
}

static void drawing(OSSL_LIB_CTX *context, const OSSL_PROVIDER *provider)
{
    EVP_RAND *rand = EVP_RAND_fetch(context, "HEADWATER", "provider=headwater");
    CHECK(rand != NULL);
    CHECK(strcmp(EVP_RAND_get0_name(rand), "HEADWATER") == 0);
    CHECK(EVP_RAND_get0_description(rand) != NULL);
    /* A program that asks for a validated generator must not get this one. */
    CHECK(EVP_RAND_fetch(context, "HEADWATER", "fips=yes") == NULL);
    ERR_clear_error();

    EVP_RAND_CTX *ctx = EVP_RAND_CTX_new(rand, NULL);
    CHECK(ctx != NULL);
    unsigned char bytes[4096];
    memset(bytes, 0x5A, sizeof bytes);
    CHECK(EVP_RAND_get_state(ctx) == EVP_RAND_STATE_UNINITIALISED);

    CHECK(!EVP_RAND_instantiate(ctx, 257, 0, NULL, 0, NULL));
    CHECK(strcmp(last_reason(), "more than 256 bits of strength requested") == 0);
    CHECK(EVP_RAND_get_state(ctx) == EVP_RAND_STATE_UNINITIALISED);
    CHECK(EVP_RAND_instantiate(ctx, 256, 1, (const unsigned char *)"name", 4, NULL));
    CHECK(EVP_RAND_get_state(ctx) == EVP_RAND_STATE_READY);
    CHECK(EVP_RAND_get_strength(ctx) == 256);
    CHECK(EVP_RAND_enable_locking(ctx));

    size_t max_request = 0;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_size_t(OSSL_RAND_PARAM_MAX_REQUEST, &max_request),
        OSSL_PARAM_construct_end(),
    };
    CHECK(EVP_RAND_CTX_get_params(ctx, params));
    CHECK(max_request >= 1 << 20);
    counter_follows_the_kernel(ctx);
    unsigned char small; /* the value needs four bytes */
    OSSL_PARAM misfit[] = {
        { OSSL_RAND_PARAM_MAX_REQUEST, OSSL_PARAM_UNSIGNED_INTEGER, &small, 1, 0 },
        OSSL_PARAM_construct_end(),
    };
    CHECK(!EVP_RAND_CTX_get_params(ctx, misfit));
    CHECK(strstr(last_reason(), "does not fit") != NULL);
    const OSSL_PARAM *gettable = EVP_RAND_gettable_ctx_params(rand);
    CHECK(OSSL_PARAM_locate_const(gettable, "state") && OSSL_PARAM_locate_const(gettable, "strength")
        && OSSL_PARAM_locate_const(gettable, "max_request"));

    /* Every short length, then some up to a page: all bytes are written, and none after them. */
    uint64_t refills = count_of(provider, "refills");
    for (size_t len = 16; len < sizeof bytes - 1; len += len < 300 ? 1 : 211) {
        memset(bytes, 0, sizeof bytes);
        CHECK(EVP_RAND_generate(ctx, bytes, len, 256, 0, NULL, 0));
        CHECK(!is_blank(bytes, len));
        CHECK(bytes[len] == 0 && bytes[len + 1] == 0);
    }
    CHECK(strcmp(getenv("HEADWATER_MODE"), "buffered") != 0 || count_of(provider, "refills") > refills);
    memset(bytes, 0x5A, sizeof bytes);
    CHECK(!EVP_RAND_generate(ctx, bytes, 16, 257, 0, NULL, 0));
    ERR_clear_error();

    /* This request spans several chunks of headwater's. A request above max_request, which OpenSSL
     * cuts into parts, would take a gigabyte, so it is not tested. */
    size_t large = (3 << 20) + 5;
    unsigned char *much = calloc(1, large);
    CHECK(much != NULL && EVP_RAND_generate(ctx, much, large, 0, 0, NULL, 0) && !is_blank(much, large));
    free(much);

    /* With prediction resistance, and with additional input. */
    for (int resistance = 0; resistance < 2; resistance++) {
        memset(bytes, 0, sizeof bytes);
        CHECK(EVP_RAND_generate(ctx, bytes, 100, 0, resistance, (const unsigned char *)"input", 5));
        CHECK(!is_blank(bytes, 100) && bytes[100] == 0);
    }
    CHECK(EVP_RAND_nonce(ctx, bytes, 32) && !is_blank(bytes, 32));
    CHECK(EVP_RAND_reseed(ctx, 0, NULL, 0, (const unsigned char *)"input", 5));
    CHECK(EVP_RAND_reseed(ctx, 1, (const unsigned char *)"entropy", 7, NULL, 0));
    CHECK(EVP_RAND_generate(ctx, bytes, 16, 0, 0, NULL, 0));
    /* A reseed discards the rest of a page. One try proves nothing: this thread may move to another
     * CPU, which has another page, and the kernel itself reseeds once a minute. */
    int times = 0;
    for (int i = 0; i < 100 && strcmp(getenv("HEADWATER_MODE"), "buffered") == 0; i++) {
        uint64_t discarded = count_of(provider, "discarded_bytes");
        CHECK(EVP_RAND_generate(ctx, bytes, 16, 0, 0, NULL, 0) && EVP_RAND_reseed(ctx, 0, NULL, 0, NULL, 0));
        CHECK(EVP_RAND_generate(ctx, bytes, 16, 0, 0, NULL, 0));
        times += count_of(provider, "discarded_bytes") > discarded;
    }
    CHECK(times > 50 || strcmp(getenv("HEADWATER_MODE"), "buffered") != 0);

    CHECK(EVP_RAND_uninstantiate(ctx));
    CHECK(EVP_RAND_verify_zeroization(ctx));
    CHECK(EVP_RAND_get_state(ctx) == EVP_RAND_STATE_UNINITIALISED);
    /* A draw makes the context ready again, as with OpenSSL's own generators. */
    CHECK(EVP_RAND_generate(ctx, bytes, 16, 0, 0, NULL, 0));
    CHECK(EVP_RAND_get_state(ctx) == EVP_RAND_STATE_READY);
    CHECK(EVP_RAND_instantiate(ctx, 0, 0, NULL, 0, NULL));
    CHECK(EVP_RAND_generate(ctx, bytes, 16, 0, 0, NULL, 0));

    /* OpenSSL's DRBG takes its seed from a context of headwater's. A context whose parent is a DRBG
     * draws nothing from it. */
    EVP_RAND *drbg = EVP_RAND_fetch(context, "CTR-DRBG", NULL);
    EVP_RAND_CTX *child = EVP_RAND_CTX_new(drbg, ctx);
    char cipher[] = "AES-256-CTR";
    OSSL_PARAM settings[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
        OSSL_PARAM_construct_end(),
    };
    CHECK(child != NULL && EVP_RAND_instantiate(child, 256, 1, NULL, 0, settings));
    CHECK(EVP_RAND_enable_locking(child));
    memset(bytes, 0, sizeof bytes);
    CHECK(EVP_RAND_generate(child, bytes, 64, 256, 1, NULL, 0) && !is_blank(bytes, 64));
    EVP_RAND_CTX *grandchild = EVP_RAND_CTX_new(rand, child);
    CHECK(grandchild != NULL && EVP_RAND_instantiate(grandchild, 256, 0, NULL, 0, NULL));
    CHECK(EVP_RAND_generate(grandchild, bytes, 64, 0, 0, NULL, 0));
    EVP_RAND_CTX_free(grandchild);
    EVP_RAND_CTX_free(child);
    EVP_RAND_free(drbg);
    EVP_RAND_CTX_free(ctx);
    EVP_RAND_free(rand);
}

/* RAND_bytes of a context whose generator, or whose seed, is headwater's. */
static void serving(int as_seed)
{
    OSSL_PROVIDER *provider;
    OSSL_LIB_CTX *context = context_with("headwater", &provider);
    if (as_seed)
        CHECK(RAND_set_seed_source_type(context, "HEADWATER", NULL));
    else
        CHECK(RAND_set_DRBG_type(context, "HEADWATER", NULL, NULL, NULL));
    unsigned char public[64] = { 0 }, private[64] = { 0 };
    CHECK(RAND_bytes_ex(context, public, sizeof public, 256) == 1);
    CHECK(RAND_priv_bytes_ex(context, private, sizeof private, 256) == 1);
    CHECK(!is_blank(public, 64) && !is_blank(private, 64) && memcmp(public, private, 64) != 0);
    EVP_RAND_CTX *ours[] = { RAND_get0_public(context), RAND_get0_private(context), RAND_get0_primary(context) };
    for (int i = 0; i < 3; i++) {
        CHECK(ours[i] != NULL);
        const char *name = EVP_RAND_get0_name(EVP_RAND_CTX_get0_rand(ours[i]));
        CHECK(strcmp(name, as_seed ? "CTR-DRBG" : "HEADWATER") == 0);
    }
    /* OpenSSL's own generator takes a new seed after 2^16 draws. */
    for (int i = 0; as_seed && i < 70000; i++)
        CHECK(RAND_bytes_ex(context, public, 16, 0) == 1);
#if OPENSSL_VERSION_NUMBER >= 0x30500000L
    /* Past OpenSSL's own layers. */
    CHECK(RAND_set1_random_provider(context, provider));
    memset(public, 0, sizeof public);
    memset(private, 0, sizeof private);
    CHECK(RAND_bytes_ex(context, public, sizeof public, 256) == 1);
    CHECK(RAND_priv_bytes_ex(context, private, sizeof private, 256) == 1);
    CHECK(!is_blank(public, 64) && !is_blank(private, 64) && memcmp(public, private, 64) != 0);
    CHECK(RAND_bytes_ex(context, public, sizeof public, 257) != 1);
    ERR_clear_error();
#endif
    EVP_PKEY *key = EVP_PKEY_Q_keygen(context, NULL, "EC", "P-256");
    CHECK(key != NULL);
    EVP_PKEY_free(key);
    OSSL_PROVIDER_unload(provider);
    OSSL_LIB_CTX_free(context);
}

int main(void)
{
    CHECK(getenv("HEADWATER_MODE") != NULL);
    /* The provider is loaded, used and freed several times: a rest of the first time may break the
     * second. */
    for (int round = 0; round < 3; round++) {
        OSSL_PROVIDER *provider;
        OSSL_LIB_CTX *context = context_with("headwater", &provider);
        const char *name = NULL, *mode = NULL;
        OSSL_PARAM params[] = {
            OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_NAME, (char **)&name, 0),
            OSSL_PARAM_construct_utf8_ptr("mode", (char **)&mode, 0),
            OSSL_PARAM_construct_end(),
        };
        CHECK(OSSL_PROVIDER_get_params(provider, params));
        CHECK(strstr(name, "headwater") == name);
        if (strcmp(mode, getenv("HEADWATER_MODE")) != 0) {
            printf("skipped: mode %s: this machine serves %s in its place\n", getenv("HEADWATER_MODE"), mode);
            return 0;
        }
        drawing(context, provider);
        OSSL_PROVIDER_unload(provider);
        OSSL_LIB_CTX_free(context);
        serving(0);
        serving(1);
    }
    CHECK(ERR_peek_error() == 0);
    puts(blind ? "lived, and does not see reseeds" : "lived");
    return 0;
}
