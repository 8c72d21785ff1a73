/* Counts the children of fork() that hang in their first RAND_bytes while threads draw. */
#define _GNU_SOURCE
#include <openssl/rand.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int stop;

static void *draw(void *size)
{
    unsigned char bytes[64];
    while (!stop)
        if (RAND_bytes(bytes, (int)(long)size) != 1)
            exit(3);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = atoi(argv[1]), forks = atoi(argv[2]);
    long size = argc > 3 ? atol(argv[3]) : 16;
    unsigned char bytes[64];
    if (RAND_bytes(bytes, 16) != 1)
        return 3;
    pthread_t t[64];
    for (int i = 0; i < threads; i++)
        pthread_create(&t[i], NULL, draw, (void *)size);
    int hung = 0, failed = 0;
    for (int i = 0; i < forks; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(1); /* the default action ends a child that waits for a lock for ever */
            _exit(RAND_bytes(bytes, 16) == 1 ? 0 : 4);
        }
        int status;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
            hung++;
        else if (status)
            failed++;
    }
    stop = 1;
    printf("%d threads, draws of %ld bytes: %d of %d children hang, %d fail\n", threads, size, hung, forks, failed);
    return 0;
}
