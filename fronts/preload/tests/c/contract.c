/* Prints the C library's contract for random bytes: lengths, flags, errors, errno, cancellation and
 * syscall(). No random byte is printed, so the output is the same with and without the shim. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef GRND_INSECURE
#define GRND_INSECURE 4
#endif

/* Part of glibc 2.36 and later. The header of an older one lacks them. */
extern uint32_t arc4random(void);
extern void arc4random_buf(void *, size_t);
extern uint32_t arc4random_uniform(uint32_t);

static unsigned char *room;
static const size_t ROOM = 48u << 20;

static int changed(const unsigned char *at, size_t len)
{
    size_t same = 0;
    for (size_t i = 0; i < len; i++)
        same += at[i] == 0x5a;
    /* In 64 random bytes or more, a quarter equals the mark less than once in 2^80 runs. */
    return len < 64 ? len == 0 || same < len || len == 1 : same < len / 4;
}

static void show(const char *what, long result, size_t len)
{
    int error = errno;
    size_t drawn = result > 0 ? (size_t)result : 0;
    if (drawn > ROOM)
        drawn = ROOM;
    printf("%s(%zu) = %ld, errno %d, %s\n", what, len, result, error,
           changed(room, drawn) ? "drawn" : "AS BEFORE");
    memset(room, 0x5a, len < ROOM ? len : ROOM);
}

static void lengths(void)
{
    static const size_t all[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 255, 256, 257, 1023, 1024,
                                 1025, 4096, 65537, 1 << 20, (32u << 20) - 1, 32u << 20, 40u << 20};
    memset(room, 0x5a, ROOM);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        errno = 77;
        show("getrandom", getrandom(room, all[i], 0), all[i]);
        errno = 77;
        show("nonblock", getrandom(room, all[i], GRND_NONBLOCK), all[i]);
        if (all[i] <= 257) {
            errno = 77;
            long result = getentropy(room, all[i]);
            show("getentropy", result == 0 ? (long)all[i] : result, all[i]);
            errno = 77;
            arc4random_buf(room, all[i]);
            show("arc4random_buf", (long)all[i], all[i]);
        }
        errno = 77;
        show("syscall", syscall(SYS_getrandom, room, all[i], 0), all[i]);
    }
}

static void flags(void)
{
    static const unsigned all[] = {GRND_RANDOM, GRND_RANDOM | GRND_NONBLOCK, GRND_INSECURE,
                                   GRND_INSECURE | GRND_NONBLOCK, 8, 0x80000000u, UINT_MAX};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        errno = 77;
        long result = getrandom(room, 64, all[i]);
        printf("flags %x: %ld, errno %d\n", all[i], result, errno);
        errno = 77;
        result = syscall(SYS_getrandom, room, 64, all[i]);
        printf("flags %x by syscall: %ld, errno %d\n", all[i], result, errno);
    }
}

/* Questions that only the kernel answers: glibc 2.41's own getrandom faults at a bad pointer, and
 * takes two flags that exclude each other. */
static void kernel(void)
{
    errno = 77;
    long both = getrandom(room, 64, GRND_RANDOM | GRND_INSECURE);
    printf("both generators: %ld, errno %d\n", both, errno);
    void *const all[] = {NULL, (void *)1, (void *)0xfff, (void *)0xffff800000000000,
                         (void *)0xffffffffffffffff, (void *)0x0000800000000000};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t len = 0; len <= 16; len += 16) {
            errno = 77;
            long result = getrandom(all[i], len, 0);
            printf("at %p, %zu: %ld, errno %d\n", all[i], len, result, errno);
            errno = 77;
            result = syscall(SYS_getrandom, all[i], len, GRND_NONBLOCK);
            printf("at %p, %zu by syscall: %ld, errno %d\n", all[i], len, result, errno);
        }
    errno = 77;
    printf("getentropy at NULL: %d, ", getentropy(NULL, 16));
    printf("errno %d\n", errno);
}

static void numbers(void)
{
    int or = 0, and = -1;
    for (int i = 0; i < 200; i++) {
        uint32_t word = arc4random();
        or |= (int)word;
        and &= (int)word;
    }
    printf("arc4random: bits %x and %x\n", (unsigned)or, (unsigned)and);
    uint32_t most = 0;
    for (int i = 0; i < 2000; i++) {
        uint32_t word = arc4random_uniform(10);
        most = word > most ? word : most;
    }
    printf("arc4random_uniform: 0 %u, 1 %u, below 10 at most %u\n", arc4random_uniform(0),
           arc4random_uniform(1), most);
}

/* Every other number goes through with all six arguments and libc's errno. */
static void others(void)
{
    errno = 77;
    printf("getpid: %d, errno %d\n", syscall(SYS_getpid) == getpid(), errno);
    errno = 77;
    long result = syscall(SYS_close, -1);
    printf("close(-1): %ld, errno %d\n", result, errno);
    errno = 77;
    result = syscall(100000);
    printf("no such call: %ld, errno %d\n", result, errno);
    char path[] = "/tmp/headwater-contract-XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    if (ftruncate(file, 3 * 4096) != 0 || pwrite(file, "six", 3, 2 * 4096) != 3)
        abort();
    char *page = (char *)syscall(SYS_mmap, NULL, 4096L, PROT_READ, MAP_PRIVATE, file, 2L * 4096);
    printf("mmap with six arguments: %.3s\n", page);
    fflush(stdout);
    pid_t child = (pid_t)syscall(SYS_fork);
    if (child == 0)
        _exit(getrandom(room, 64, 0) == 64 ? 3 : 4);
    int status = 0;
    waitpid(child, &status, 0);
    printf("fork by syscall: %d\n", WEXITSTATUS(status));
    /* A child with its parent's stack, as posix_spawn makes one, draws from the same page. */
    child = vfork();
    if (child == 0)
        _exit(syscall(SYS_getrandom, room, 64, 0) == 64 ? 5 : 6);
    waitpid(child, &status, 0);
    printf("draw in a child of vfork: %d\n", WEXITSTATUS(status));
}

enum { GETRANDOM, GETENTROPY, ARC4RANDOM, SYSCALL, LARGE };

static void *draws(void *which)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    unsigned char bytes[64];
    switch ((int)(intptr_t)which) {
    case GETRANDOM: (void)!getrandom(bytes, 16, 0); break;
    case LARGE: (void)!getrandom(room, 1 << 20, 0); break;
    case GETENTROPY: (void)!getentropy(bytes, sizeof bytes); break;
    case ARC4RANDOM: arc4random_buf(bytes, sizeof bytes); break;
    case SYSCALL: (void)!syscall(SYS_getrandom, bytes, sizeof bytes, 0); break;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return (void *)1;
}

/* Which functions are cancellation points is a part of the contract that glibc 2.41 changed. */
static void cancellation(void)
{
    static const char *const names[] = {"getrandom", "getentropy", "arc4random_buf", "syscall",
                                        "large getrandom"};
    for (int which = GETRANDOM; which <= LARGE; which++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, draws, (void *)(intptr_t)which);
        pthread_join(thread, &result);
        printf("%s with a pending cancel: %s\n", names[which],
               result == PTHREAD_CANCELED ? "cancelled" : "returned");
    }
}

static unsigned char in_handler[64];

static void handler(int number)
{
    (void)number;
    if (getrandom(in_handler, sizeof in_handler, 0) != sizeof in_handler)
        abort();
}

static void handlers(void)
{
    signal(SIGUSR1, handler);
    for (int i = 0; i < 100; i++)
        raise(SIGUSR1);
    printf("handler: %s\n", changed(in_handler, sizeof in_handler) ? "drawn" : "AS BEFORE");
}

int main(int argc, char **argv)
{
    (void)argv;
    room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1) {
        kernel();
        return 0;
    }
    lengths();
    flags();
    numbers();
    others();
    cancellation();
    handlers();
    return 0;
}
