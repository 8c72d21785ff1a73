/* Forked children, a fork in a signal handler among them, never draw their parent's bytes. */
#define _GNU_SOURCE
#include "check.h"
#include <headwater.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRAWS 64

static struct headwater_rng *rng;
static uint64_t stamp;
static int ends[2];

struct drawn {
    unsigned char pool[DRAWS][16], own[DRAWS][16];
};

static void draw(struct drawn *drawn)
{
    int i;
    for (i = 0; i < DRAWS; i++) {
        CHECK(headwater_fill(drawn->pool[i], 16) == 0);
        CHECK(headwater_rng_fill(rng, drawn->own[i], 16) == 0);
    }
}

static void child_writes(void)
{
    struct drawn mine;
    CHECK(headwater_stale(&stamp) != 0);
    draw(&mine);
    CHECK(write(ends[1], &mine, sizeof mine) == (ssize_t)sizeof mine);
    _exit(0);
}

static void on_signal(int signal)
{
    pid_t child = fork();
    (void)signal;
    CHECK(child >= 0);
    if (child == 0)
        child_writes();
}

static void compare(const struct drawn *a, const struct drawn *b)
{
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    size_t i, j;
    for (i = 0; i < sizeof *a; i += 16)
        for (j = 0; j < sizeof *b; j += 16)
            CHECK(memcmp(x + i, y + j, 16) != 0);
}

int main(void)
{
    static struct drawn all[9];
    int i, j, ended;
    CHECK(pipe(ends) == 0 && (rng = headwater_rng_new()) != NULL);
    draw(&all[0]);
    CHECK(headwater_stale(&stamp) != 0);
    signal(SIGUSR1, on_signal);
    for (i = 1; i < 8; i++) {
        if (i % 2 == 0) {
            CHECK(raise(SIGUSR1) == 0);
        } else {
            pid_t child = fork();
            CHECK(child >= 0);
            if (child == 0)
                child_writes();
        }
        CHECK(read(ends[0], &all[i], sizeof all[i]) == (ssize_t)sizeof all[i]);
        CHECK(wait(&ended) > 0 && WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    }
    draw(&all[8]);
    for (i = 0; i < 9; i++)
        for (j = 0; j < i; j++)
            compare(&all[i], &all[j]);
    headwater_rng_free(rng);
    return 0;
}
