/* Times the start of a program in several environments, by turns: posix_spawn() and waitpid().
 *
 * cc -O2 -o start fronts/outside/start.c
 * ./start /bin/true 4000 stock eager,LD_PRELOAD=LIBRARY lazy,LD_PRELOAD=LIBRARY,HEADWATER_LAZY=1
 *
 * Prints minimum, tenth percentile and median, each with its ratio to the first environment. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { MOST_VARIABLES = 16, WARM_UP = 20 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    int rounds = atoi(arguments[2]), environments = count - 3;
    char *program[] = {arguments[1], NULL};
    char ***variables = calloc(environments, sizeof *variables);
    double **times = calloc(environments, sizeof *times);
    for (int i = 0; i < environments; i++) {
        times[i] = calloc(rounds, sizeof **times);
        variables[i] = calloc(MOST_VARIABLES, sizeof **variables);
        variables[i][0] = "PATH=/usr/bin";
        strtok(arguments[i + 3], ",");
        for (int at = 1; at < MOST_VARIABLES - 1; at++)
            if (!(variables[i][at] = strtok(NULL, ",")))
                break;
    }
    for (int round = -WARM_UP; round < rounds; round++)
        for (int turn = 0; turn < environments; turn++) {
            /* Another order in each round, because a start pays for what the last one left. */
            int i = (turn + round + WARM_UP) % environments, status;
            pid_t child;
            double start = now();
            if (posix_spawn(&child, program[0], NULL, NULL, program, variables[i]))
                return 1;
            waitpid(child, &status, 0);
            if (status != 0)
                return 1;
            if (round >= 0)
                times[i][round] = now() - start;
        }
    int places[] = {0, rounds / 10, rounds / 2};
    double stock[3];
    for (int i = 0; i < environments; i++) {
        qsort(times[i], rounds, sizeof **times, compare);
        printf("%-8s", arguments[i + 3]);
        for (int k = 0; k < 3; k++) {
            double time = times[i][places[k]];
            if (i == 0)
                stock[k] = time;
            printf("  %7.1f us (%.3f)", time, time / stock[k]);
        }
        putchar('\n');
    }
}
