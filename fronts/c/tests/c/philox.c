/*
 * Prints numbers of headwater_philox.h, of a CPU's code or, compiled by nvcc -x cu, of a kernel's.
 *
 * A line of the input has a kind, the key's upper and lower word in hexadecimal digits, a stream, a
 * first index, a bound (or 0), and a number of values; a line of the output has their bits.
 */

#include "headwater_philox.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

static const char *const kinds[] = {"u64",        "u32",          "f64",         "f32",
                                    "normal_f64", "normal_f32",   "exponential_f64",
                                    "bounded_u64", "bounded_u32", "permutation", "block",
                                    "exponential_of", "normals_of_f64", "normals_of_f32"};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct work {
    int kind;
    headwater_philox_key key;
    uint64_t stream, start, bound;
    headwater_philox_permutation permutation;
};

HEADWATER_PHILOX_FUNCTION uint64_t value(const struct work *work, uint64_t place) {
    headwater_philox_key key = work->key;
    uint64_t stream = work->stream, index = work->start + place;
    headwater_philox_words words;
    headwater_philox_pair_f64 two;
    headwater_philox_pair_f32 singles;
    switch (work->kind) {
    case 0: return headwater_philox_u64(key, stream, index);
    case 1: return headwater_philox_u32(key, stream, index);
    case 2: return headwater_philox_bits_f64(headwater_philox_f64(key, stream, index));
    case 3: return headwater_philox_bits_f32(headwater_philox_f32(key, stream, index));
    case 4: return headwater_philox_bits_f64(headwater_philox_normal_f64(key, stream, index));
    case 5: return headwater_philox_bits_f32(headwater_philox_normal_f32(key, stream, index));
    case 6: return headwater_philox_bits_f64(headwater_philox_exponential_f64(key, stream, index));
    case 7: return headwater_philox_bounded_u64(key, stream, work->bound, index);
    case 8: return headwater_philox_bounded_u32(key, stream, (uint32_t)work->bound, index);
    case 9: return headwater_philox_permuted(&work->permutation, index);
    case 10: /* The block of a counter: its upper word is the stream, its lower one the start. */
        words = headwater_philox_block(key, stream, work->start);
        return place ? words.second : words.first;
    case 11: /* Two numbers of the words that are the start and the bound. */
        return headwater_philox_bits_f64(headwater_philox_exponential_f64_of(work->start));
    case 12:
        words.first = work->start;
        words.second = work->bound;
        two = headwater_philox_normals_of_f64(words);
        return headwater_philox_bits_f64(place ? two.second : two.first);
    default:
        singles = headwater_philox_normals_of_f32(work->start);
        return headwater_philox_bits_f32(place ? singles.second : singles.first);
    }
}

#ifdef __CUDACC__
__global__ void each(struct work work, uint64_t *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = value(&work, i);
}

static void compute(const struct work *work, uint64_t *out, int n) {
    uint64_t *there = NULL;
    if (cudaMalloc((void **)&there, n * sizeof *out) != cudaSuccess) {
        fprintf(stderr, "no memory on the device\n");
        exit(2);
    }
    each<<<(n + 31) / 32, 32>>>(*work, there, n);
    if (cudaMemcpy(out, there, n * sizeof *out, cudaMemcpyDeviceToHost) != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
        exit(2);
    }
    cudaFree(there);
}
#else
static void compute(const struct work *work, uint64_t *out, int n) {
    int i;
    for (i = 0; i < n; i++)
        out[i] = value(work, (uint64_t)i);
}
#endif

int main(void) {
    static uint64_t out[MOST];
    char kind[32];
    struct work work;
    int n, i;
    memset(&work, 0, sizeof work);
    while (scanf("%31s %" SCNx64 " %" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %d", kind,
                 &work.key.upper, &work.key.lower, &work.stream, &work.start, &work.bound, &n) == 7) {
        for (work.kind = 0; work.kind < KINDS && strcmp(kind, kinds[work.kind]); work.kind++)
            ;
        if (work.kind == KINDS || n < 0 || n > MOST) {
            fprintf(stderr, "%s: unknown\n", kind);
            return 2;
        }
        if (!strcmp(kind, "permutation") &&
            headwater_philox_permutation_of(&work.permutation, work.key, work.stream, work.bound)) {
            printf("none\n");
            continue;
        }
        compute(&work, out, n);
        for (i = 0; i < n; i++)
            printf("%s%" PRIx64, i ? " " : "", out[i]);
        printf("\n");
    }
    return 0;
}
