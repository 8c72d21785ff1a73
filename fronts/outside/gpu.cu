/*
 * Streams on a graphics card: equal to cuRAND's words, and how fast arrays are made beside cuRAND.
 *
 *     nvcc -O3 -I fronts/c/include fronts/outside/gpu.cu -lcurand -o gpu
 *     ./gpu words            compares blocks with curand4() of curandStatePhilox4_32_10, and prints
 *                            some of cuRAND's: seed, subsequence, block, and its four numbers
 *     ./gpu fill KIND UPPER LOWER STREAM START N BLOCKS THREADS > array
 *     ./gpu speed            arrays of 2^27 numbers, medians of 21 rounds that take turns
 *
 * gpu.py runs it, and compares the arrays with the Python package's.
 */

#include "headwater_philox.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <curand.h>
#include <curand_kernel.h>
#include <vector>

static void check(cudaError_t status, const char *what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(2);
    }
}

static void check(curandStatus_t status, const char *what) {
    if (status != CURAND_STATUS_SUCCESS) {
        fprintf(stderr, "%s: cuRAND's status %d\n", what, (int)status);
        exit(2);
    }
}

/* Words. */

enum { SHOWN = 16 };

__global__ void compare(const uint64_t *cases, int n, int *wrong, uint4 *numbers) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint64_t seed = cases[3 * i], subsequence = cases[3 * i + 1], block = cases[3 * i + 2];
    curandStatePhilox4_32_10_t state;
    curand_init(seed, subsequence, 4 * block, &state);
    uint4 theirs = curand4(&state);
    numbers[i] = theirs;
    headwater_philox_key key = {seed, subsequence};
    headwater_philox_words ours = headwater_philox_words_at(key, 0, 0, block);
    uint64_t first = (uint64_t)theirs.y << 32 | theirs.x, second = (uint64_t)theirs.w << 32 | theirs.z;
    if (first != ours.first || second != ours.second)
        atomicAdd(wrong, 1);
}

static int words(void) {
    const int n = 1 << 20;
    std::vector<uint64_t> cases(3 * n);
    headwater_philox_key key = {0x0123456789ABCDEF, 42};
    for (int i = 0; i < 3 * n; i++) {
        uint64_t word = headwater_philox_u64(key, 7, i);
        /* cuRAND's offset counts numbers of 32 bits, so its blocks have 62. Few bits of some. */
        cases[i] = (i % 3 == 2 ? word >> 2 : word) >> (i / 3 % 4 * 20);
    }
    uint64_t *there;
    int *wrong, result = 0;
    uint4 *numbers, some[SHOWN];
    check(cudaMalloc(&numbers, n * sizeof *numbers), "memory");
    check(cudaMalloc(&there, 3 * n * sizeof *there), "memory");
    check(cudaMalloc(&wrong, sizeof *wrong), "memory");
    check(cudaMemcpy(there, cases.data(), 3 * n * sizeof *there, cudaMemcpyHostToDevice), "copy");
    check(cudaMemset(wrong, 0, sizeof *wrong), "zeros");
    compare<<<n / 256, 256>>>(there, n, wrong, numbers);
    check(cudaMemcpy(&result, wrong, sizeof result, cudaMemcpyDeviceToHost), "comparison");
    check(cudaMemcpy(some, numbers, sizeof some, cudaMemcpyDeviceToHost), "numbers");
    for (int i = 0; i < SHOWN; i++)
        printf("%llu %llu %llu %u %u %u %u\n", (unsigned long long)cases[3 * i],
               (unsigned long long)cases[3 * i + 1], (unsigned long long)cases[3 * i + 2], some[i].x,
               some[i].y, some[i].z, some[i].w);
    printf("curand4 after curand_init(seed, subsequence, 4 * block): %d of %d blocks differ\n", result, n);
    return result != 0;
}

/* Arrays. Each thread makes a block of the engine at a time, and goes on by the whole grid. */

struct stream {
    headwater_philox_key key;
    uint64_t number, start;
};

__global__ void uniform_f32(stream s, float *out, uint64_t n) {
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; 4 * i < n; i += step) {
        headwater_philox_words words = headwater_philox_words_at(s.key, s.number, 0, s.start / 4 + i);
        float4 four = {headwater_philox_f32_of((uint32_t)words.first),
                       headwater_philox_f32_of((uint32_t)(words.first >> 32)),
                       headwater_philox_f32_of((uint32_t)words.second),
                       headwater_philox_f32_of((uint32_t)(words.second >> 32))};
        reinterpret_cast<float4 *>(out)[i] = four;
    }
}

__global__ void uniform_f64(stream s, double *out, uint64_t n) {
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; 2 * i < n; i += step) {
        headwater_philox_words words = headwater_philox_words_at(s.key, s.number, 0, s.start / 2 + i);
        double2 two = {headwater_philox_f64_of(words.first), headwater_philox_f64_of(words.second)};
        reinterpret_cast<double2 *>(out)[i] = two;
    }
}

__global__ void normal_f32(stream s, float *out, uint64_t n) {
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; 4 * i < n; i += step) {
        headwater_philox_words words = headwater_philox_words_at(s.key, s.number, 0, s.start / 4 + i);
        headwater_philox_pair_f32 one = headwater_philox_normals_of_f32(words.first);
        headwater_philox_pair_f32 two = headwater_philox_normals_of_f32(words.second);
        float4 four = {one.first, one.second, two.first, two.second};
        reinterpret_cast<float4 *>(out)[i] = four;
    }
}

__global__ void normal_f64(stream s, double *out, uint64_t n) {
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; 2 * i < n; i += step) {
        headwater_philox_pair_f64 pair = headwater_philox_normal_pair_f64(s.key, s.number, s.start / 2 + i);
        double2 two = {pair.first, pair.second};
        reinterpret_cast<double2 *>(out)[i] = two;
    }
}

__global__ void exponential_f64(stream s, double *out, uint64_t n) {
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = headwater_philox_exponential_f64(s.key, s.number, s.start + i);
}

/* Whole blocks only: `start` and `n` are multiples of 4. */
static void launch(const char *kind, stream s, void *out, uint64_t n, int blocks, int threads) {
    if (!strcmp(kind, "uniform_f32"))
        uniform_f32<<<blocks, threads>>>(s, (float *)out, n);
    else if (!strcmp(kind, "uniform_f64"))
        uniform_f64<<<blocks, threads>>>(s, (double *)out, n);
    else if (!strcmp(kind, "normal_f32"))
        normal_f32<<<blocks, threads>>>(s, (float *)out, n);
    else if (!strcmp(kind, "normal_f64"))
        normal_f64<<<blocks, threads>>>(s, (double *)out, n);
    else if (!strcmp(kind, "exponential_f64"))
        exponential_f64<<<blocks, threads>>>(s, (double *)out, n);
    else {
        fprintf(stderr, "%s: unknown\n", kind);
        exit(2);
    }
    check(cudaGetLastError(), kind);
}

static int fill(char **given) {
    stream s;
    s.key.upper = strtoull(given[1], NULL, 16);
    s.key.lower = strtoull(given[2], NULL, 16);
    s.number = strtoull(given[3], NULL, 10);
    s.start = strtoull(given[4], NULL, 10);
    uint64_t n = strtoull(given[5], NULL, 10);
    size_t bytes = n * (strstr(given[0], "f32") ? 4 : 8);
    void *there;
    std::vector<char> here(bytes);
    check(cudaMalloc(&there, bytes), "memory");
    launch(given[0], s, there, n, atoi(given[6]), atoi(given[7]));
    check(cudaMemcpy(here.data(), there, bytes, cudaMemcpyDeviceToHost), "array");
    return fwrite(here.data(), 1, bytes, stdout) != bytes;
}

/* Speed. */

static float timed(cudaEvent_t begin, cudaEvent_t end) {
    float milliseconds;
    check(cudaEventRecord(end), "event");
    check(cudaEventSynchronize(end), "event");
    check(cudaEventElapsedTime(&milliseconds, begin, end), "event");
    return milliseconds;
}

static int speed(void) {
    const uint64_t n = 1 << 27;
    const char *kinds[] = {"uniform_f32", "uniform_f64", "normal_f32", "normal_f64"};
    void *out;
    cudaEvent_t begin, end;
    curandGenerator_t generator;
    int multiprocessors;
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), "device");
    check(cudaMalloc(&out, n * 8), "memory");
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    check(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10), "generator");
    check(curandSetPseudoRandomGeneratorSeed(generator, 42), "seed");
    stream s = {{0x0123456789ABCDEF, 42}, 0, 0};
    printf("| kind | headwater, G numbers/s | GB/s | cuRAND's Philox4x32-10 | ratio |\n| --- | --- | --- | --- | --- |\n");
    for (int kind = 0; kind < 4; kind++) {
        std::vector<float> ours, theirs, ratios;
        for (int round = 0; round < 22; round++) {
            check(cudaEventRecord(begin), "event");
            launch(kinds[kind], s, out, n, multiprocessors * 16, 256);
            float mine = timed(begin, end);
            check(cudaEventRecord(begin), "event");
            curandStatus_t status =
                kind == 0   ? curandGenerateUniform(generator, (float *)out, n)
                : kind == 1 ? curandGenerateUniformDouble(generator, (double *)out, n)
                : kind == 2 ? curandGenerateNormal(generator, (float *)out, n, 0, 1)
                            : curandGenerateNormalDouble(generator, (double *)out, n, 0, 1);
            check(status, kinds[kind]);
            float other = timed(begin, end);
            if (round == 0) /* cuRAND makes its states in the first one. */
                continue;
            ours.push_back(mine);
            theirs.push_back(other);
            ratios.push_back(other / mine);
        }
        auto median = [](std::vector<float> &v) {
            std::sort(v.begin(), v.end());
            return v[v.size() / 2];
        };
        float mine = median(ours), other = median(theirs), width = kind % 2 ? 8 : 4;
        printf("| %s | %.1f | %.0f | %.1f | %.2f |\n", kinds[kind], n / mine / 1e6, n * width / mine / 1e6,
               n / other / 1e6, median(ratios));
    }
    return 0;
}

int main(int count, char **given) {
    if (count == 2 && !strcmp(given[1], "words"))
        return words();
    if (count == 2 && !strcmp(given[1], "speed"))
        return speed();
    if (count == 10 && !strcmp(given[1], "fill"))
        return fill(given + 2);
    fprintf(stderr, "usage: gpu words | speed | fill KIND UPPER LOWER STREAM START N BLOCKS THREADS\n");
    return 2;
}
