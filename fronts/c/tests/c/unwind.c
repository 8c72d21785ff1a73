/* A signal handler's backtrace reaches the callers of a draw, and a thread that is cancelled in a
 * draw runs its cleanup handlers. Draws in sections are judged by draws under locks, so the program
 * prints numbers and its caller compares. The argument is "profile", "segv" or "cancel". */
#define _GNU_SOURCE
#include "check.h"
#include <headwater.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { SAMPLES = 400, THREADS = 200 };

static unsigned char bytes[256];

/* The function that a backtrace has to reach. */
static volatile uintptr_t caller;
static volatile int taken, lost;

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *found)
{
    if (_Unwind_GetRegionStart(context) == caller)
        *(int *)found = 1;
    return _URC_NO_REASON;
}

static int reaches_the_caller(void)
{
    int found = 0;
    _Unwind_Backtrace(visit, &found);
    return found;
}

static void sample(int signal)
{
    (void)signal;
    lost += !reaches_the_caller();
    taken++;
}

static void handle(int signal, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    CHECK(sigaction(signal, &action, NULL) == 0);
}

__attribute__((noinline)) static void fill_for_samples(size_t len)
{
    while (taken < SAMPLES)
        CHECK(headwater_fill(bytes, len) == 0);
}

__attribute__((noinline)) static void number_for_samples(size_t bound)
{
    while (taken < SAMPLES)
        CHECK(headwater_arc4random_uniform((uint32_t)bound) < bound);
}

static void profile(const char *name, void (*draw)(size_t), size_t argument)
{
    struct itimerspec every = {{0, 200000}, {0, 200000}};
    struct sigevent event;
    timer_t timer;
    caller = (uintptr_t)draw;
    taken = SAMPLES;
    draw(argument);
    reaches_the_caller(); /* what the unwinder loads once */
    taken = lost = 0;
    handle(SIGPROF, sample);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &every, NULL) == 0);
    draw(argument);
    CHECK(timer_delete(timer) == 0);
    printf("%s: %d of %d\n", name, lost, SAMPLES);
}

static void report(int signal)
{
    (void)signal;
    _exit(reaches_the_caller() ? 10 : 11);
}

__attribute__((noinline)) static void fill_once(void *at, size_t len)
{
    CHECK(headwater_fill(at, len) != 0);
}

/* Draws to memory that cannot be written to, in a child. */
static void bad_buffer(size_t len)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        void *at = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(at != MAP_FAILED);
        CHECK(headwater_fill(bytes, 8) == 0); /* fills a page, so that the next draw copies */
        caller = (uintptr_t)fill_once;
        handle(SIGSEGV, report);
        fill_once(at, len);
        _exit(12);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    printf("%d bytes: %s\n", (int)len, WEXITSTATUS(status) == 10 ? "seen" : "lost");
}

static volatile int cleaned, drawing;

static void clean(void *unused)
{
    (void)unused;
    cleaned = 1;
}

static void *draw_for_ever(void *unused)
{
    int old;
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old) == 0);
    pthread_cleanup_push(clean, NULL);
    for (;;) {
        if (headwater_fill(bytes, sizeof bytes) != 0)
            break;
        drawing = 1;
    }
    pthread_cleanup_pop(0);
    return unused;
}

/* Cancels a thread that draws. Each has a process of its own, because it may leave a lock taken. */
static int is_cleaned(int number)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        pthread_t thread;
        void *result;
        struct timespec pause = {0, 1000 * (number % 97)};
        CHECK(pthread_create(&thread, NULL, draw_for_ever, NULL) == 0);
        while (!drawing)
            sched_yield();
        nanosleep(&pause, NULL);
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        _exit(result == PTHREAD_CANCELED && cleaned ? 10 : 11);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 10;
}

int main(int argc, char **argv)
{
    char text[16384];
    int i;
    CHECK(argc == 2);
    CHECK(headwater_status_json(text, sizeof text) >= 0);
    printf("%s\n", strstr(text, "\"restartable_sequences\"") != NULL ? "sections" : "locks");
    if (strcmp(argv[1], "profile") == 0) {
        profile("16 bytes", fill_for_samples, 16);
        profile("256 bytes", fill_for_samples, 256);
        profile("numbers", number_for_samples, 1000);
    } else if (strcmp(argv[1], "segv") == 0) {
        bad_buffer(8);
        bad_buffer(16);
        bad_buffer(40);
        bad_buffer(256);
        bad_buffer(1024);
    } else {
        int skipped = 0;
        for (i = 0; i < THREADS; i++)
            skipped += !is_cleaned(i);
        printf("cleanup skipped: %d of %d\n", skipped, THREADS);
    }
    return 0;
}
