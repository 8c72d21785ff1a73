/* A process whose seccomp filter denies random bytes: calls return errors and zeros, and arc4random
 * writes a line and aborts. The argument names the case: fill, wait or abort. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <headwater.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Makes getrandom(2) fail with `errno_value` if its flags are at least `flags`, and openat(2) fail
 * with EACCES. */
static void forbid(unsigned flags, unsigned errno_value)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, flags, 0, 2),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errno_value),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        exit(77); /* filters are unavailable here */
}

int main(int argc, char **argv)
{
    unsigned char bytes[64];
    struct headwater_rng *rng;
    uint64_t number;
    int i, sum = 0, squares = 0;
    CHECK(argc == 2);
    memset(bytes, 7, sizeof bytes);
    errno = 0;
    if (strcmp(argv[1], "fill") == 0) {
        forbid(0, EPERM);
        CHECK(headwater_fill(bytes, sizeof bytes) == -1 && errno == EACCES && is_zero(bytes, sizeof bytes));
        memset(bytes, 7, sizeof bytes);
        CHECK(headwater_getrandom(bytes, 64, 0) == -1 && errno == EACCES && is_zero(bytes, 64));
        CHECK(headwater_getentropy(bytes, 64) == -1 && errno == EACCES);
        number = 7;
        errno = 0;
        CHECK(headwater_uniform(10, &number) == -1 && errno == EACCES && number == 7);
        for (i = 0; i < 64; i++)
            bytes[i] = (unsigned char)i;
        errno = 0;
        CHECK(headwater_shuffle(bytes, 64, 1) == -1 && errno == EACCES);
        for (i = 0; i < 64; i++) /* no item is lost: each value is there once */
            sum += bytes[i], squares += bytes[i] * bytes[i];
        CHECK(sum == 63 * 64 / 2 && squares == 63 * 64 * 127 / 6);
        CHECK(headwater_init() == -1 && errno == EACCES);
        errno = 0;
        CHECK(headwater_self_test() == -1 && errno == EACCES);
        errno = 0;
        rng = headwater_rng_new();
        CHECK(rng == NULL && errno == EACCES);
        CHECK(headwater_generation() == 0);
        CHECK(headwater_status_json(NULL, 0) > 0);
    } else if (strcmp(argv[1], "wait") == 0) {
        /* Simulates a kernel whose generator is not seeded: calls that must not wait get EAGAIN. */
        forbid(1, EAGAIN);
        CHECK(headwater_getrandom(bytes, 64, 1) == -1 && errno == EAGAIN && is_zero(bytes, 64));
        memset(bytes, 7, sizeof bytes);
        errno = 0;
        CHECK(headwater_getrandom(bytes, 64, 4) == -1 && errno == EAGAIN && is_zero(bytes, 64));
        CHECK(headwater_getrandom(bytes, 64, 0) == 64 && !is_zero(bytes, 64));
    } else {
        forbid(0, EPERM);
        return (int)headwater_arc4random(); /* which says why, and aborts */
    }
    return 0;
}
