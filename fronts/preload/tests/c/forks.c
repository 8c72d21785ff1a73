/* Draws 10^6 words in a parent and as many in a forked child, through the named function. Prints
 * the number of repeats. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern void arc4random_buf(void *, size_t);

enum { WORDS = 1000000 };

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void draw(const char *how, uint64_t *word)
{
    if (strcmp(how, "syscall") == 0) {
        if (syscall(SYS_getrandom, word, sizeof *word, 0) != sizeof *word)
            abort();
    } else if (strcmp(how, "arc4random") == 0) {
        arc4random_buf(word, sizeof *word);
    } else if (getrandom(word, sizeof *word, 0) != sizeof *word) {
        abort();
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "getrandom";
    size_t size = 2 * WORDS * sizeof(uint64_t);
    uint64_t *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t first;
    draw(how, &first);
    pid_t child = fork();
    uint64_t *mine = child == 0 ? all : all + WORDS;
    for (int i = 0; i < WORDS; i++)
        draw(how, &mine[i]);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    qsort(all, 2 * WORDS, sizeof *all, compare);
    long repeats = 0;
    for (long i = 1; i < 2 * WORDS; i++)
        repeats += all[i] == all[i - 1];
    printf("%ld repeats\n", repeats);
    return 0;
}
