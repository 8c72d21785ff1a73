/* No function is a cancellation point: a thread whose cancellation is pending returns from each
 * call, and ends at the next cancellation point of its own. The argument is "calls", or "refused"
 * (the same calls while the kernel denies random bytes), or "abort" (arc4random without random
 * bytes). */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <headwater.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refused;
/* The current call, which a failure names, and the number of calls that returned. */
static const char *current = "none";
static int returned;

static void deny(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        exit(77);
}

#define CALL(expression) \
    do { \
        current = #expression; \
        if (expression) { \
        } \
        returned++; \
    } while (0)

static void *cancelled(void *unused)
{
    unsigned char bytes[300];
    char text[4096];
    double numbers[8];
    float floats[8];
    uint64_t words[8], indices[8] = {0}, stamp = 0;
    uint32_t halves[8];
    struct headwater_key key, child;
    struct headwater_rng *rng;

    pthread_cancel(pthread_self());
    CALL(headwater_fill(bytes, sizeof bytes));
    CALL(headwater_getrandom(bytes, sizeof bytes, 0));
    CALL(headwater_getrandom(bytes, sizeof bytes, 1));
    CALL(headwater_getentropy(bytes, 256));
    CALL(headwater_getentropy(bytes, 257));
    CALL(headwater_fill(NULL, 1));
    current = "headwater_rng_new()";
    rng = headwater_rng_new();
    returned++;
    if (rng != NULL)
        CALL(headwater_rng_fill(rng, bytes, sizeof bytes));
    current = "headwater_rng_free()";
    headwater_rng_free(rng);
    returned++;
    if (!refused) {
        CALL(headwater_arc4random());
        CALL(headwater_arc4random_uniform(10));
        current = "headwater_arc4random_buf()";
        headwater_arc4random_buf(bytes, sizeof bytes);
        returned++;
    }
    CALL(headwater_uniform(10, &stamp));
    CALL(headwater_shuffle(bytes, 4, 8));
    CALL(headwater_generation());
    CALL(headwater_stale(&stamp));
    CALL(headwater_init());
    CALL(headwater_self_test());
    CALL(headwater_version());
    CALL(headwater_status_json(text, sizeof text));
    CALL(headwater_stream_key_from_seed(&key, HEADWATER_ARS7, 1));
    CALL(headwater_stream_key_from_bytes(&key, HEADWATER_ARS7, "seed", 4));
    CALL(headwater_stream_key_from_text(&key, HEADWATER_ARS7, "seed"));
    CALL(headwater_stream_key_child(&child, &key, 1));
    CALL(headwater_stream_key_child_text(&child, &key, "child"));
    CALL(headwater_stream_fill_u8(&key, 0, 0, bytes, sizeof bytes));
    CALL(headwater_stream_fill_u32(&key, 0, 0, halves, 8));
    CALL(headwater_stream_fill_u64(&key, 0, 0, words, 8));
    CALL(headwater_stream_fill_f32(&key, 0, 0, floats, 8));
    CALL(headwater_stream_fill_f64(&key, 0, 0, numbers, 8));
    CALL(headwater_stream_fill_normal_f32(&key, 0, 0, floats, 8));
    CALL(headwater_stream_fill_normal_f64(&key, 0, 0, numbers, 8));
    CALL(headwater_stream_fill_exponential_f64(&key, 0, 0, numbers, 8));
    CALL(headwater_stream_fill_bounded_u64(&key, 0, 10, 0, words, 8));
    CALL(headwater_stream_fill_bounded_u32(&key, 0, 10, 0, halves, 8));
    CALL(headwater_stream_u8_at(&key, 0, indices, bytes, 8));
    CALL(headwater_stream_u32_at(&key, 0, indices, halves, 8));
    CALL(headwater_stream_u64_at(&key, 0, indices, words, 8));
    CALL(headwater_stream_f32_at(&key, 0, indices, floats, 8));
    CALL(headwater_stream_f64_at(&key, 0, indices, numbers, 8));
    CALL(headwater_stream_normal_f32_at(&key, 0, indices, floats, 8));
    CALL(headwater_stream_normal_f64_at(&key, 0, indices, numbers, 8));
    CALL(headwater_stream_exponential_f64_at(&key, 0, indices, numbers, 8));
    CALL(headwater_stream_bounded_u64_at(&key, 0, 10, indices, words, 8));
    CALL(headwater_stream_bounded_u32_at(&key, 0, 10, indices, halves, 8));
    CALL(headwater_stream_perm_at(&key, 0, 10, 1, words));
    CALL(headwater_stream_fill_perm(&key, 0, 10, 1, words, 8));
    CALL(headwater_stream_perm_list_at(&key, 0, 10, indices, words, 8));
    CALL(headwater_random_pseudo_bytes(bytes, sizeof bytes));
    /* Last, because the mode is strict afterwards; and once more in that mode. */
    CALL(headwater_quiesce());
    CALL(headwater_fill(bytes, sizeof bytes));
    current = "all";
    pthread_testcancel();
    return unused;
}

static void *aborting(void *unused)
{
    pthread_cancel(pthread_self());
    headwater_arc4random_buf(unused, 1);
    return unused;
}

/* glibc loads libgcc_s.so at the first pthread_exit(3), which must happen before the filter denies
 * files. */
static void *exiting(void *unused)
{
    (void)unused;
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *result;
    CHECK(argc == 2);
    refused = strcmp(argv[1], "calls") != 0;
    CHECK(pthread_create(&thread, NULL, exiting, NULL) == 0 && pthread_join(thread, NULL) == 0);
    if (refused)
        deny();
    CHECK(pthread_create(&thread, NULL, strcmp(argv[1], "abort") == 0 ? aborting : cancelled, argv[1]) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    if (strcmp(current, "all") != 0)
        fprintf(stderr, "the thread ended in %s after %d calls\n", current, returned);
    CHECK(strcmp(current, "all") == 0 && result == PTHREAD_CANCELED);
    return 0;
}
