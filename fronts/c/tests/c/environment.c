/* Prints the mode that the first draw reads from the environment. The argument names the change
 * that the program makes to the environment before the draw. */
#define _GNU_SOURCE
#include "check.h"
#include <headwater.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static void *nothing(void *unused)
{
    return unused;
}

/* Moves the environment to a copy, and overwrites the strings of the first one. PostgreSQL and sshd
 * do the same to make room for their process title. */
static void clobber(void)
{
    size_t count = 0, i;
    char **copy, **old = environ;
    while (environ[count] != NULL)
        count++;
    copy = malloc((count + 1) * sizeof *copy);
    CHECK(copy != NULL);
    for (i = 0; i < count; i++)
        copy[i] = strdup(old[i]);
    copy[count] = NULL;
    environ = copy;
    for (i = 0; i < count; i++)
        memset(old[i], 'x', strlen(old[i]));
}

int main(int argc, char **argv)
{
    char status[4096], *at;
    const char *way = argc > 1 ? argv[1] : "as it is";
    pthread_t thread;
    if (strcmp(way, "set") == 0)
        CHECK(setenv("HEADWATER_MODE", "kernel", 1) == 0);
    if (strcmp(way, "unset") == 0)
        CHECK(unsetenv("HEADWATER_MODE") == 0);
    if (strcmp(way, "put") == 0)
        CHECK(putenv((char *)"HEADWATER_MODE=kernel") == 0);
    if (strcmp(way, "clear") == 0)
        CHECK(clearenv() == 0);
    if (strcmp(way, "clobber") == 0)
        clobber();
    if (strcmp(way, "another thread") == 0) {
        CHECK(pthread_create(&thread, NULL, nothing, NULL) == 0);
        CHECK(setenv("HEADWATER_MODE", "kernel", 1) == 0);
        CHECK(setenv("ONE_MORE", "value", 1) == 0);
    }
    if (strcmp(way, "broken") == 0) {
        /* A signal handler that interrupts setenv(3) may find pointers like these. */
        static char *broken[] = { (char *)1, (char *)-4096, (char *)"HEADWATER_MODE=kernel", NULL };
        environ = broken;
    }
    CHECK(headwater_init() == 0);
    CHECK(headwater_status_json(status, sizeof status) > 0);
    at = strstr(status, "\"mode_requested\":");
    CHECK(at != NULL);
    at += strlen("\"mode_requested\":");
    printf("%.*s\n", (int)strcspn(at, ","), at);
    return 0;
}
