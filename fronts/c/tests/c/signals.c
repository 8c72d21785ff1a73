/* Draws in signal handlers that interrupt draws. The first call of the process is one in a handler.
 * Handlers and draws leave errno as it was. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <headwater.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t handled;
static unsigned char last[16], items[300];
static uint64_t number;

static const struct itimerval every = {{0, 200}, {0, 200}}, never;

/* Under valgrind a handler may take longer than the timer. Then main would not advance between two
 * signals, so the handler itself ends them, and the longest call is not in each of them. */
static void on_signal(int signal)
{
    unsigned char bytes[16];
    (void)signal;
    CHECK(headwater_fill(bytes, sizeof bytes) == 0);
    CHECK(memcmp(bytes, last, sizeof bytes) != 0);
    memcpy(last, bytes, sizeof bytes);
    CHECK(headwater_arc4random_uniform(10) < 10);
    CHECK(headwater_uniform(10, &number) == 0 && number < 10);
    CHECK(headwater_shuffle(items, 30, 10) == 0);
    if (handled % 16 == 0)
        CHECK(headwater_self_test() == 0);
    if (++handled == 300)
        CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

int main(void)
{
    unsigned char bytes[300];
    signal(SIGALRM, on_signal);
    CHECK(raise(SIGALRM) == 0); /* sets everything up */
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
    while (handled < 300) {
        errno = 12345;
        CHECK(headwater_fill(bytes, sizeof bytes) == 0 && errno == 12345);
        CHECK(!is_zero(bytes + 284, 16));
    }
    return 0;
}
