/* After headwater_init() getrandom(2) is the only system call of the library, but for the functions
 * that headwater.h names. A filter kills the process at any other call. The argument names the
 * case. */
#define _GNU_SOURCE
#include "check.h"
#include <headwater.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* malloc() has its memory before the filter, so that only the library's own calls count. */
#define ROOM (1 << 20)

static void confine(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77); /* filters are unavailable here */
}

int main(int argc, char **argv)
{
    static unsigned char bytes[1 << 16];
    static char text[4096];
    uint64_t stamp = 0;
    int i, failed = 0;
    CHECK(argc == 2);
    free(malloc(ROOM / 16));
    CHECK(headwater_init() == 0);
    confine();
    if (strcmp(argv[1], "draws") == 0) {
        for (i = 0; i < 20000; i++)
            failed |= headwater_fill(bytes, (size_t)i % 70) != 0;
        failed |= headwater_fill(bytes, sizeof bytes) != 0;
        failed |= headwater_getentropy(bytes, 256) != 0;
        failed |= headwater_getrandom(bytes, 100, 0) != 100;
        headwater_arc4random_buf(bytes, 1000);
        failed |= headwater_arc4random_uniform(7) > 6;
        failed |= headwater_uniform(7, &stamp) != 0 || stamp > 6;
        failed |= headwater_shuffle(bytes, 10, 10) != 0;
        failed |= headwater_generation() != headwater_generation();
        failed |= headwater_stale(&stamp) == 0;
        failed |= headwater_init() != 0;
        failed |= headwater_self_test() != 0;
    } else if (strcmp(argv[1], "pseudo") == 0) {
        failed = headwater_random_pseudo_bytes(bytes, 16) != 0;
    } else if (strcmp(argv[1], "status") == 0) {
        failed = headwater_status_json(text, sizeof text) <= 0;
    } else if (strcmp(argv[1], "quiesce") == 0) {
        failed = headwater_quiesce() != 0;
    } else {
        for (i = 0; i < 200; i++)
            failed |= headwater_rng_new() == NULL;
    }
    _exit(failed);
}
