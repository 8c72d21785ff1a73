/* Draws before main, after it, and while threads end. */
#include "check.h"
#include <headwater.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static unsigned char seen[64][16];
static size_t count;

/* Draws 16 bytes, and compares them with all earlier ones. */
static void draw(void)
{
    unsigned char bytes[16];
    size_t i;
    CHECK(headwater_fill(bytes, sizeof bytes) == 0 && !is_zero(bytes, sizeof bytes));
    CHECK(count < sizeof seen / sizeof *seen);
    for (i = 0; i < count; i++)
        CHECK(memcmp(seen[i], bytes, sizeof bytes) != 0);
    memcpy(seen[count++], bytes, sizeof bytes);
}

__attribute__((constructor(101))) static void early(void) { draw(); }
__attribute__((constructor)) static void before_main(void) { draw(); }
__attribute__((destructor)) static void after_main(void) { draw(); }
__attribute__((destructor(101))) static void late(void)
{
    draw();
    /* 22 draws: 2 before main, 1 in it, 2 for each of 8 threads, 1 at exit, 2 in destructors. This
     * destructor is the last code of the process, so only the exit status can report the count. */
    _exit(count == 22 ? 0 : 3);
}

static pthread_key_t key;

static void thread_ends(void *generator)
{
    unsigned char bytes[16];
    struct headwater_rng *rng = (struct headwater_rng *)generator;
    CHECK(headwater_rng_fill(rng, bytes, sizeof bytes) == 0 && !is_zero(bytes, sizeof bytes));
    headwater_rng_free(rng);
    draw();
}

static void *thread(void *nothing)
{
    struct headwater_rng *rng = headwater_rng_new();
    CHECK(rng != NULL && pthread_setspecific(key, rng) == 0);
    draw();
    return nothing;
}

int main(void)
{
    int i;
    CHECK(atexit(draw) == 0);
    draw();
    CHECK(pthread_key_create(&key, thread_ends) == 0);
    for (i = 0; i < 8; i++) {
        pthread_t one;
        CHECK(pthread_create(&one, NULL, thread, NULL) == 0 && pthread_join(one, NULL) == 0);
    }
    return 2; /* which late() replaces */
}
