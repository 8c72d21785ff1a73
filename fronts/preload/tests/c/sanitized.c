// Draws into a buffer of `size` bytes: sanitized KIND SIZE LENGTH.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned char global[64];
static size_t length;
static unsigned char early[16];

// Runs before main(), and maybe before the runtime's own set-up.
__attribute__((constructor(101))) static void draw_early(void) {
    if (getrandom(early, sizeof early, 0) != sizeof early) abort();
}

static void *draw(void *buffer) {
    if (getrandom(buffer, length, 0) != (ssize_t)length) abort();
    return buffer;
}

int main(int count, char **words) {
    if (count != 4) return 2;
    const char *kind = words[1];
    size_t size = strtoul(words[2], 0, 10);
    length = strtoul(words[3], 0, 10);
    unsigned char stack[64];
    unsigned char *heap = malloc(size);
    if (!strcmp(kind, "heap")) {
        draw(heap);
    } else if (!strcmp(kind, "stack")) {
        draw(stack + sizeof stack - size);
    } else if (!strcmp(kind, "global")) {
        draw(global + sizeof global - size);
    } else if (!strcmp(kind, "freed")) {
        free(heap);
        draw(heap);
        heap = malloc(size);
    } else if (!strcmp(kind, "thread")) {
        pthread_t thread;
        if (pthread_create(&thread, 0, draw, heap) || pthread_join(thread, 0)) return 3;
    } else if (!strcmp(kind, "child")) {
        int status;
        if (fork() == 0) {
            draw(heap);
            _exit(0);
        }
        if (wait(&status) < 0 || status != 0) return 4;
    } else if (!strcmp(kind, "getentropy")) {
        if (getentropy(heap, length)) return 5;
    } else {
        return 6;
    }
    free(heap);
    puts("ended");
    return 0;
}
