/* Draws whenever libraries come and go: after the provider was unloaded, in threads that end, and
 * in destructors and exit handlers, before and after OpenSSL's own handler. */
#include "check.h"
#include <dlfcn.h>
#include <pthread.h>

static pthread_key_t key;
static OSSL_LIB_CTX *ours;

static void draw(void)
{
    unsigned char bytes[64] = { 0 };
    CHECK(RAND_bytes_ex(ours, bytes, sizeof bytes, 0) == 1 && !is_blank(bytes, sizeof bytes));
}

static void at_thread_exit(void *unused)
{
    (void)unused;
    draw();
}

static void *thread(void *unused)
{
    CHECK(pthread_setspecific(key, &key) == 0);
    draw();
    return unused;
}

/* Runs before OpenSSL's clean-up. */
static void late(void)
{
    ours = NULL;
    draw();
    puts("late");
}

/* Runs after OpenSSL's clean-up. OpenSSL 3.0 crashes then with any generator, because it takes a
 * lock that it has freed. */
static void latest(void)
{
#if OPENSSL_VERSION_NUMBER >= 0x30500000L
    unsigned char bytes[16];
    (void)RAND_bytes(bytes, sizeof bytes);
#endif
}

__attribute__((destructor)) static void after_all(void)
{
    latest();
}

int main(void)
{
    /* Handlers run in reverse order: one that is registered before OpenSSL's runs after it. */
    CHECK(atexit(latest) == 0);
    draw();
    CHECK(atexit(late) == 0);
    CHECK(pthread_key_create(&key, at_thread_exit) == 0);
    char path[4096];
    snprintf(path, sizeof path, "%s/headwater.so", getenv("HEADWATER_MODULES"));
    for (int round = 0; round < 20; round++) {
        OSSL_PROVIDER *provider;
        ours = context_with("headwater", &provider);
        CHECK(RAND_set_DRBG_type(ours, "HEADWATER", NULL, NULL, NULL));
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            CHECK(pthread_create(&threads[i], NULL, thread, NULL) == 0);
        for (int i = 0; i < 4; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
        draw();
        CHECK(OSSL_PROVIDER_unload(provider));
        draw();
        OSSL_LIB_CTX_free(ours);
    }
    /* -z nodelete keeps the module in memory, though no context holds it. */
    void *module = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    CHECK(module != NULL);
    for (int i = 0; i < 100; i++) {
        CHECK(dlclose(module) == 0);
        module = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
        CHECK(module != NULL);
    }
    CHECK(dlsym(module, "OSSL_provider_init") != NULL);
    puts("unloaded");
    return 0;
}
