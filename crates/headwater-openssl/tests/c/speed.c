/* RAND_bytes with OpenSSL's own generator, with headwater's, and with one that does nothing, in turns.
 *
 * Each round takes one sample of each, of half a millisecond, so that whatever slows the machine slows all; figures are
 * medians over the rounds, ratios are taken within a round. Threads meet at a barrier before each sample.
 *
 *   speed [ROUNDS]
 */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <time.h>

enum { GENERATORS = 5, MOST_THREADS = 2, MOST_ROUNDS = 2000 };

static struct generator {
    const char *name, *provider, *algorithm;
    int by_provider; /* OpenSSL 3.5's way past its own layers */
    OSSL_LIB_CTX *context;
} generators[GENERATORS] = {
    { "stock", NULL, NULL, 0, NULL },
    { "headwater", "headwater", "HEADWATER", 0, NULL },
    { "empty", "empty", "EMPTY", 0, NULL },
    { "headwater, random_provider", "headwater", "HEADWATER", 1, NULL },
    { "empty, random_provider", "empty", "EMPTY", 1, NULL },
};

static pthread_barrier_t barrier;
static size_t length;
static int rounds = 200, threads;
static long calls[GENERATORS];
static double samples[GENERATORS][MOST_THREADS][MOST_ROUNDS];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double sample(int which, long count, unsigned char *buffer)
{
    OSSL_LIB_CTX *before = OSSL_LIB_CTX_set0_default(generators[which].context);
    CHECK(RAND_bytes(buffer, (int)length) == 1);
    if (threads > 1)
        pthread_barrier_wait(&barrier);
    double start = now();
    for (long i = 0; i < count; i++)
        CHECK(RAND_bytes(buffer, (int)length) == 1);
    double took = now() - start;
    OSSL_LIB_CTX_set0_default(before);
    return took / (double)count;
}

static void *work(void *index)
{
    int me = (int)(intptr_t)index;
    unsigned char *buffer = malloc(length);
    CHECK(buffer != NULL);
    for (int round = 0; round < rounds; round++)
        for (int which = 0; which < GENERATORS; which++)
            if (generators[which].context != NULL)
                samples[which][me][round] = sample(which, calls[which], buffer);
    free(buffer);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over the rounds of one generator's time, or of its ratio to another's; the mean over the threads. */
static double median(int which, int versus)
{
    double values[MOST_ROUNDS];
    for (int round = 0; round < rounds; round++) {
        double time = 0, other = 0;
        for (int i = 0; i < threads; i++) {
            time += samples[which][i][round] / threads;
            other += samples[versus][i][round] / threads;
        }
        values[round] = which == versus ? time : time / other;
    }
    qsort(values, (size_t)rounds, sizeof *values, compare);
    return values[rounds / 2];
}

static void measure(void)
{
    unsigned char *buffer = malloc(length);
    CHECK(buffer != NULL);
    int wanted = threads;
    threads = 1;
    for (int which = 0; which < GENERATORS; which++)
        if (generators[which].context != NULL)
            for (calls[which] = 1; sample(which, calls[which], buffer) * (double)calls[which] < 250e3;)
                calls[which] *= 2;
    threads = wanted;
    free(buffer);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    pthread_t others[MOST_THREADS];
    for (int i = 1; i < threads; i++)
        CHECK(pthread_create(&others[i], NULL, work, (void *)(intptr_t)i) == 0);
    work(NULL);
    for (int i = 1; i < threads; i++)
        CHECK(pthread_join(others[i], NULL) == 0);
    pthread_barrier_destroy(&barrier);
    for (int which = 0; which < GENERATORS; which++)
        if (generators[which].context != NULL)
            printf("%8zu %8d %10.1f %10.2f  %s\n", length, threads, median(which, which), which == 0 ? 1.0 : median(0, which),
                generators[which].name);
}

int main(int count, char **arguments)
{
    if (count > 1)
        rounds = atoi(arguments[1]);
    CHECK(rounds > 0 && rounds <= MOST_ROUNDS);
    for (int which = 0; which < GENERATORS; which++) {
        struct generator *generator = &generators[which];
        OSSL_PROVIDER *provider = NULL;
        if (generator->provider == NULL) {
            CHECK((generator->context = OSSL_LIB_CTX_new()) != NULL);
            continue;
        }
#if OPENSSL_VERSION_NUMBER < 0x30500000L
        if (generator->by_provider)
            continue;
#endif
        generator->context = context_with(generator->provider, &provider);
        CHECK(RAND_set_DRBG_type(generator->context, generator->algorithm, NULL, NULL, NULL));
#if OPENSSL_VERSION_NUMBER >= 0x30500000L
        if (generator->by_provider)
            CHECK(RAND_set1_random_provider(generator->context, provider));
#endif
    }
    printf("%s\n%8s %8s %10s %10s\n", OpenSSL_version(OPENSSL_VERSION), "bytes", "threads", "ns a call", "stock / it");
    static const size_t lengths[] = { 16, 32, 1024, 65536 };
    for (threads = 1; threads <= MOST_THREADS; threads++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            length = lengths[i];
            measure();
        }
    return 0;
}
