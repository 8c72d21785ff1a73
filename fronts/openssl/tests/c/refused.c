/* Draws while the kernel denies random bytes: they return 0 with a reason, and zeroed output. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Makes getrandom(2) and openat(2) of any file fail with EPERM from now on. */
static int refuse(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(void)
{
    unsigned char bytes[5000];
    OSSL_PROVIDER *provider;
    OSSL_LIB_CTX *context = context_with("headwater", &provider);
    EVP_RAND *rand = EVP_RAND_fetch(context, "HEADWATER", NULL);
    EVP_RAND_CTX *ctx = EVP_RAND_CTX_new(rand, NULL);
    CHECK(ctx != NULL && EVP_RAND_instantiate(ctx, 0, 0, NULL, 0, NULL));
    CHECK(EVP_RAND_generate(ctx, bytes, sizeof bytes, 0, 0, NULL, 0));
    EVP_RAND *drbg = EVP_RAND_fetch(context, "CTR-DRBG", NULL);
    EVP_RAND_CTX *child = EVP_RAND_CTX_new(drbg, ctx);
    CHECK(child != NULL);
    if (!refuse()) {
        puts("skipped: a kernel that refuses: it accepts no filter of system calls; errors stay untested");
        return 0;
    }
    const char *expected = "the kernel refused random bytes: getrandom(2) and /dev/urandom both failed";
    size_t lengths[] = { 1, 16, 100, 5000 };
    /* A draw without prediction resistance fails only in mode kernel: in the other modes a full
     * page still serves it. */
    int buffers = strcmp(getenv("HEADWATER_MODE"), "kernel") != 0;
    for (int resistance = buffers; resistance < 2; resistance++)
        for (size_t i = 0; i < 4; i++) {
            memset(bytes, 0x5A, sizeof bytes);
            CHECK(!EVP_RAND_generate(ctx, bytes, lengths[i], 0, resistance, NULL, 0));
            unsigned long first = ERR_peek_error();
            CHECK(strcmp(ERR_lib_error_string(first), "headwater") == 0);
            CHECK(strcmp(last_reason(), expected) == 0);
            for (size_t at = 0; at < sizeof bytes; at++)
                CHECK(bytes[at] == (at < lengths[i] ? 0 : 0x5A));
        }
    /* No seed: OpenSSL's generator must not start with less. */
    char cipher[] = "AES-256-CTR";
    OSSL_PARAM settings[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
        OSSL_PARAM_construct_end(),
    };
    CHECK(!EVP_RAND_instantiate(child, 256, 0, NULL, 0, settings));
    CHECK(strcmp(last_reason(), expected) == 0);
    /* The reported state predicts the next draw, which a full page still serves. */
    int state = EVP_RAND_get_state(ctx);
    int drawn = EVP_RAND_generate(ctx, bytes, 1, 0, 0, NULL, 0);
    CHECK(state == (drawn ? EVP_RAND_STATE_READY : EVP_RAND_STATE_ERROR));
    CHECK(buffers || !drawn);
    ERR_clear_error();
    /* Refused requests are zeroed as well. */
    memset(bytes, 0x5A, sizeof bytes);
    CHECK(!EVP_RAND_generate(ctx, bytes, 100, 257, 0, NULL, 0));
    for (size_t at = 0; at < sizeof bytes; at++)
        CHECK(bytes[at] == (at < 100 ? 0 : 0x5A));
    puts("refused");
    return 0;
}
