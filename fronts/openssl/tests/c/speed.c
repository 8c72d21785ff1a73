/* Measures RAND_bytes with OpenSSL's own generator, with headwater's, and with one that does
 * nothing, in turns.
 *
 * Each round takes one sample of each generator, for a tenth of a millisecond or two, so that a
 * disturbance slows all of them. Times are medians over the rounds. Ratios are taken within a
 * round.
 *
 * Threads begin a sample together and draw on until the last of them has been timed, so that each
 * is timed against the others. They spin while they wait: a thread that sleeps would wake up after
 * the others have finished. A sample does not count if the kernel took a CPU away from a thread
 * during it. The column `rounds` shows the number of samples that are left.
 *
 *   speed [ROUNDS]
 */
#define _GNU_SOURCE
#include "check.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
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

static size_t length;
static int rounds = 200, threads;
/* Numbers of threads that have come to a sample, begun it, and been timed, over all samples of a
 * line. */
static atomic_uint there, begun, timed;
static long calls[GENERATORS];
static double samples[GENERATORS][MOST_THREADS][MOST_ROUNDS];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Returns the number of times that the kernel has taken the CPU away from this thread. */
static long interruptions(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    return usage.ru_nivcsw;
}

/* Returns nanoseconds a call, or NAN if the kernel interrupted the thread. All threads number their
 * samples from 1, in the same order. */
static double sample(int which, long count, unsigned char *buffer, unsigned number)
{
    OSSL_LIB_CTX *before = OSSL_LIB_CTX_set0_default(generators[which].context);
    CHECK(RAND_bytes(buffer, (int)length) == 1);
    unsigned all = number * (unsigned)threads;
    there++;
    while (there < all)
        sched_yield(); /* the other one may wait for this CPU */
    /* The second wait spins, because sched_yield() would count as an interruption. */
    long interrupted = interruptions();
    begun++;
    while (begun < all)
        ;
    double start = now();
    for (long i = 0; i < count; i++)
        CHECK(RAND_bytes(buffer, (int)length) == 1);
    double took = now() - start;
    timed++;
    while (timed < all)
        CHECK(RAND_bytes(buffer, (int)length) == 1);
    interrupted = interruptions() - interrupted;
    OSSL_LIB_CTX_set0_default(before);
    return interrupted > 0 ? NAN : took / (double)count;
}

static void *work(void *index)
{
    int me = (int)(intptr_t)index;
    unsigned char *buffer = malloc(length);
    CHECK(buffer != NULL);
    unsigned number = 0;
    for (int round = 0; round < rounds; round++)
        for (int which = 0; which < GENERATORS; which++)
            if (generators[which].context != NULL)
                samples[which][me][round] = sample(which, calls[which], buffer, ++number);
    free(buffer);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median over the rounds of one generator's time, or of its ratio to another
 * generator's time. A round's time is the mean over the threads. Writes the number of rounds to
 * `of`. */
static double median(int which, int versus, int *of)
{
    double values[MOST_ROUNDS];
    int kept = 0;
    for (int round = 0; round < rounds; round++) {
        double time = 0, other = 0;
        for (int i = 0; i < threads; i++) {
            time += samples[which][i][round] / threads;
            other += samples[versus][i][round] / threads;
        }
        double value = which == versus ? time : time / other;
        if (!isnan(value))
            values[kept++] = value;
    }
    qsort(values, (size_t)kept, sizeof *values, compare);
    *of = kept;
    return kept > 0 ? values[kept / 2] : NAN;
}

/* Returns a number of calls that takes a tenth of a millisecond. Samples are this short so that
 * most of them end before the kernel interrupts. */
static long calls_of(int which, unsigned char *buffer)
{
    for (long count = 1;;) {
        there = begun = timed = 0;
        double time = sample(which, count, buffer, 1) * (double)count;
        if (time > 100e3)
            return count;
        if (!isnan(time))
            count *= 2;
    }
}

static void measure(void)
{
    unsigned char *buffer = malloc(length);
    CHECK(buffer != NULL);
    int wanted = threads;
    threads = 1;
    for (int which = 0; which < GENERATORS; which++)
        if (generators[which].context != NULL)
            calls[which] = calls_of(which, buffer);
    threads = wanted;
    free(buffer);
    there = begun = timed = 0;
    pthread_t others[MOST_THREADS];
    for (int i = 1; i < threads; i++)
        CHECK(pthread_create(&others[i], NULL, work, (void *)(intptr_t)i) == 0);
    work(NULL);
    for (int i = 1; i < threads; i++)
        CHECK(pthread_join(others[i], NULL) == 0);
    for (int which = 0; which < GENERATORS; which++) {
        if (generators[which].context == NULL)
            continue;
        int alone, beside;
        double time = median(which, which, &alone), ratio = which == 0 ? 1.0 : median(0, which, &beside);
        printf("%8zu %8d %10.1f %10.2f %7d  %s\n", length, threads, time, ratio, which == 0 ? alone : beside,
            generators[which].name);
    }
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
    printf("%s\n%8s %8s %10s %10s %7s\n", OpenSSL_version(OPENSSL_VERSION), "bytes", "threads", "ns a call", "stock / it",
        "rounds");
    static const size_t lengths[] = { 16, 32, 1024, 65536 };
    for (threads = 1; threads <= MOST_THREADS; threads++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            length = lengths[i];
            measure();
        }
    return 0;
}
