/* RAND_bytes in a process and in its children, made in every way: no value repeats. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 1 << 17, DRAWS = 24 };

/* Memory that all processes share. Each draw adds 16 bytes. */
static struct record {
    atomic_uint count;
    unsigned char values[MANY][16];
} *record;

static void draw(void)
{
    for (int i = 0; i < DRAWS; i++) {
        unsigned char bytes[48];
        /* 40 bytes are another path than 16, and the private generator another context. */
        size_t len = i % 3 == 0 ? 40 : 16;
        CHECK((i % 2 ? RAND_bytes : RAND_priv_bytes)(bytes, (int)len) == 1);
        unsigned at = atomic_fetch_add(&record->count, 1);
        CHECK(at < MANY);
        memcpy(record->values[at], bytes, 16);
    }
}

static void wait_for(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void children(int depth)
{
    for (int i = 0; i < 3; i++) {
        /* The C library's fork() runs fork handlers; the bare system call does not. */
        for (int raw = 0; raw < 2; raw++) {
            pid_t child = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
            if (child == 0) {
                draw();
                if (depth > 0)
                    children(depth - 1);
                draw();
                _exit(0);
            }
            draw();
            wait_for(child);
        }
    }
}

/* vfork's way: the child has the parent's memory, and a stack of its own. */
static int in_shared_memory(void *unused)
{
    (void)unused;
    draw();
    return 0;
}

static atomic_int done;

static void *thread(void *unused)
{
    (void)unused;
    while (!done) {
        draw();
        usleep(50); /* or it fills the record alone */
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

int main(void)
{
    record = mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(record != MAP_FAILED);
    /* These children fork before the first draw, so each sets headwater up by itself. Later ones
     * fork after it. */
    children(0);
    draw();
    EVP_RAND_CTX *public = RAND_get0_public(NULL);
    CHECK(public != NULL);
    const char *name = EVP_RAND_get0_name(EVP_RAND_CTX_get0_rand(public));
    CHECK(strcmp(name, getenv("EXPECTED_GENERATOR")) == 0);
    children(1);
    static _Alignas(16) char stack[1 << 17];
    wait_for(clone(in_shared_memory, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
    /* With a thread that draws while the process forks. */
    pthread_t other;
    CHECK(pthread_create(&other, NULL, thread, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0) {
            /* The other thread may have held a lock of OpenSSL's at the fork, so RAND_bytes could
             * block here. A context that exists already takes no lock. */
            unsigned char bytes[16];
            CHECK(EVP_RAND_generate(public, bytes, 16, 0, 0, NULL, 0));
            memcpy(record->values[atomic_fetch_add(&record->count, 1)], bytes, 16);
            _exit(0);
        }
        unsigned char bytes[16];
        CHECK(EVP_RAND_generate(public, bytes, 16, 0, 0, NULL, 0));
        memcpy(record->values[atomic_fetch_add(&record->count, 1)], bytes, 16);
        wait_for(child);
    }
    done = 1;
    CHECK(pthread_join(other, NULL) == 0);

    unsigned count = record->count;
    CHECK(count > 1000 && count <= MANY);
    qsort(record->values, count, 16, compare);
    for (unsigned i = 1; i < count; i++)
        CHECK(memcmp(record->values[i - 1], record->values[i], 16) != 0);
    printf("%u values, no two alike\n", count);
    return 0;
}
