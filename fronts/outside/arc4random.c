/* The claims of the arc4random tests of glibc, LibreSSL and BoringSSL, tested by new code. The
 * argument names the case. Exit status 0 means that the claim holds. */
#define _GNU_SOURCE
#include <errno.h>
#include <headwater.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(x) \
    do { \
        if (!(x)) { \
            fprintf(stderr, "line %d: %s\n", __LINE__, #x); \
            exit(1); \
        } \
    } while (0)

enum { BLOCK = 16, BLOCKS = 64, WORKERS = 24 };
typedef unsigned char block[BLOCK];

static int by_bytes(const void *a, const void *b) { return memcmp(a, b, BLOCK); }

static void all_differ(block *blocks, size_t count)
{
    qsort(blocks, count, BLOCK, by_bytes);
    for (size_t i = 1; i < count; i++)
        CHECK(memcmp(blocks[i - 1], blocks[i], BLOCK) != 0);
}

static void draw_word(void)
{
    static volatile uint32_t word;
    word = headwater_arc4random();
    (void)word;
}

static block *shared(size_t count)
{
    void *at = mmap(NULL, count * BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED);
    return at;
}

static void draw(block *to)
{
    for (int i = 0; i < BLOCKS; i++)
        headwater_arc4random_buf(to[i], BLOCK);
}

/* glibc tst-arc4random-fork: no child repeats a byte of its parent or siblings. */
static void forks(int before)
{
    block *blocks = shared((size_t)(WORKERS + 1) * BLOCKS);
    if (before)
        draw_word();
    for (int i = 0; i < WORKERS; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            draw(blocks + (size_t)i * BLOCKS);
            _exit(0);
        }
    }
    draw(blocks + (size_t)WORKERS * BLOCKS);
    for (int i = 0, status; i < WORKERS; i++)
        CHECK(wait(&status) > 0 && status == 0);
    all_differ(blocks, (size_t)(WORKERS + 1) * BLOCKS);
}

/* LibreSSL arc4random-fork: the same for children of children. */
static void grandchildren(void)
{
    block *blocks = shared(4 * BLOCKS);
    draw_word();
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0) {
            draw(blocks);
            _exit(0);
        }
        draw(blocks + BLOCKS);
        waitpid(grandchild, NULL, 0);
        draw(blocks + 2 * BLOCKS);
        _exit(0);
    }
    draw(blocks + 3 * BLOCKS);
    CHECK(waitpid(child, NULL, 0) == child);
    all_differ(blocks, 4 * BLOCKS);
}

static void *worker(void *to)
{
    draw(to);
    return NULL;
}

/* glibc tst-arc4random-thread: threads, some of which fork. */
static void threads(void)
{
    pthread_t ids[WORKERS];
    block *blocks = shared((size_t)WORKERS * BLOCKS);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < WORKERS; i++)
            CHECK(pthread_create(&ids[i], NULL, worker, blocks + (size_t)i * BLOCKS) == 0);
        for (int i = 0; i < WORKERS; i++)
            CHECK(pthread_join(ids[i], NULL) == 0);
        all_differ(blocks, (size_t)WORKERS * BLOCKS);
    }
}

/* glibc tst-arc4random-stats: each value of each byte comes about equally often. */
static void statistics(void)
{
    static unsigned char bytes[1 << 20];
    double square = 0, expected = sizeof bytes / 256.0;
    unsigned counts[256] = { 0 };
    headwater_arc4random_buf(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        counts[bytes[i]]++;
    for (int i = 0; i < 256; i++)
        square += (counts[i] - expected) * (counts[i] - expected) / expected;
    /* 255 degrees of freedom: outside with probability 1e-9. */
    CHECK(square > 140 && square < 410);
}

/* glibc and BSD: bounds of arc4random_uniform. */
static void uniform(void)
{
    unsigned seen[7] = { 0 };
    CHECK(headwater_arc4random_uniform(0) == 0 && headwater_arc4random_uniform(1) == 0);
    for (int i = 0; i < 70000; i++) {
        uint32_t value = headwater_arc4random_uniform(7);
        CHECK(value < 7);
        seen[value]++;
        CHECK(headwater_arc4random_uniform(0x80000001u) <= 0x80000000u);
    }
    for (int i = 0; i < 7; i++)
        CHECK(seen[i] > 9300 && seen[i] < 10700);
}

/* glibc test-getrandom and LibreSSL getentropytest: lengths, flags and errors. */
static void errors(void)
{
    unsigned char bytes[300];
    CHECK(headwater_getentropy(bytes, 0) == 0 && headwater_getentropy(bytes, 256) == 0);
    errno = 0;
    CHECK(headwater_getentropy(bytes, 257) == -1 && errno == EIO);
    errno = 0;
    CHECK(headwater_getentropy(NULL, 1) == -1 && errno == EFAULT);
    for (size_t len = 0; len <= 300; len++)
        CHECK(headwater_getrandom(bytes, len, 0) == (ssize_t)len);
    errno = 0;
    CHECK(headwater_getrandom(bytes, 8, 0x40) == -1 && errno == EINVAL);
    CHECK(headwater_getrandom(bytes, 8, 1) == 8 && headwater_getrandom(bytes, 8, 2) == 8);
}

static volatile sig_atomic_t handled;

static void handler(int signal)
{
    unsigned char bytes[64];
    (void)signal;
    headwater_arc4random_buf(bytes, sizeof bytes);
    handled++;
}

/* glibc test-getrandom's timer: draws under signals never come short. */
static void signals(void)
{
    struct sigaction action = { .sa_handler = handler };
    unsigned char bytes[5000];
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    ualarm(500, 500);
    while (handled < 200)
        CHECK(headwater_getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
}

/* BoringSSL fork_detect: vfork and raw clone. */
static void raw(void)
{
    block *blocks = shared(3 * BLOCKS);
    draw_word();
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        draw(blocks);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
    child = vfork();
    if (child == 0) {
        draw(blocks + BLOCKS);
        _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child);
    draw(blocks + 2 * BLOCKS);
    all_differ(blocks, 3 * BLOCKS);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "forks before the first draw") == 0) forks(0);
    else if (strcmp(what, "forks after a draw") == 0) forks(1);
    else if (strcmp(what, "grandchildren") == 0) grandchildren();
    else if (strcmp(what, "threads") == 0) threads();
    else if (strcmp(what, "statistics") == 0) statistics();
    else if (strcmp(what, "uniform") == 0) uniform();
    else if (strcmp(what, "errors") == 0) errors();
    else if (strcmp(what, "signals") == 0) signals();
    else if (strcmp(what, "raw clone and vfork") == 0) raw();
    else return 2;
    puts("as expected");
    return 0;
}
