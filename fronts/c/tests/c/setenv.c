/* First draws while another thread adds variables to the environment, each in a process of its own.
 * Argument: the number of processes. */
#include "check.h"
#include <headwater.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int started;

static void *changing(void *unused)
{
    char name[32];
    int i;
    for (i = 0;; i++) {
        snprintf(name, sizeof name, "SOME_NAME_OF_%d", i);
        setenv(name, "a value that takes some room", 1);
        started = i > 3;
    }
    return unused;
}

static int first_draw(void)
{
    pthread_t thread;
    unsigned char bytes[32] = { 0 };
    int done;
    CHECK(pthread_create(&thread, NULL, changing, NULL) == 0);
    while (!started)
        ;
    done = headwater_fill(bytes, sizeof bytes);
    CHECK(done == 0 && !is_zero(bytes, 16));
    _exit(0);
}

int main(int argc, char **argv)
{
    int left, crashed = 0, status;
    CHECK(argc == 2);
    for (left = atoi(argv[1]); left > 0; left--) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            return first_draw();
        CHECK(waitpid(child, &status, 0) == child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            crashed++;
    }
    printf("%d of %s crashed\n", crashed, argv[1]);
    return crashed != 0;
}
