/*
 * Times draws by the entry for the FFM API, with clean and with dirty upper halves of the vector
 * registers, as HotSpot leaves them after it has zeroed a fresh array. On Intel Xeon a legacy SSE
 * instruction then costs 150 ns; both columns must be equal.
 *
 *     cc -O2 fronts/java/bench/upper_halves.c -o upper_halves
 *     ./upper_halves libheadwater_java.so     (unzip it from the jar)
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static unsigned char bytes[4096];
static float floats[16];

/* Returns the shortest of 200 means over 1,000 draws, in nanoseconds. */
static double best(int (*fill)(void *, uint64_t), uint64_t len, int is_dirty)
{
    double shortest = 1e9;
    for (int round = 0; round < 200; round++) {
        double start = now(), mean;
        for (int i = 0; i < 1000; i++) {
            if (is_dirty)
                __asm__ volatile("vmovups %0, %%ymm7" ::"m"(floats) : "xmm7");
            if (fill(bytes, len) != 0)
                return -1;
        }
        mean = (now() - start) / 1000;
        if (mean < shortest)
            shortest = mean;
    }
    return shortest;
}

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int (*fill)(void *, uint64_t);
    if (library == NULL) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: upper_halves LIBRARY");
        return 2;
    }
    *(void **)&fill = dlsym(library, "headwater_java_fill");
    printf("bytes  clean ns  dirty ns\n");
    for (uint64_t len = 16; len <= 4096; len *= 4)
        printf("%5d  %8.1f  %8.1f\n", (int)len, best(fill, len, 0), best(fill, len, 1));
    return 0;
}
