/*
 * headwater's streams of the engine philox4x32, for code that runs where no library can: in kernels
 * of CUDA and HIP, and in C99 and C++11 on any machine. It needs nothing but this file.
 *
 *     __global__ void noise(headwater_philox_key key, double *out, uint64_t n) {
 *         uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
 *         if (i < n)
 *             out[i] = headwater_philox_normal_f64(key, 0, i);
 *     }
 *
 * Element i of a stream is a function of the key, the stream and i, so the array is the same for
 * any grid, on any card, and on a CPU: bit for bit that of headwater_stream_fill_normal_f64(),
 * of Python's Key.stream(0).standard_normal() and of every other front, for keys of philox4x32.
 * A key is made on the host, with labels, and passed by value (headwater_philox_key_of()).
 *
 * streams/STREAMS.md specifies all numbers. Streams are at most 2^48 - 1; indices are at most
 * 2^64 - 2, and 2^64 - 3 for normal numbers. Beyond these nothing is checked, because a kernel has
 * no way to report an error.
 *
 * These numbers are not for secrets: from some of them an attacker may compute the others.
 *
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11.
 */

#ifndef HEADWATER_PHILOX_H
#define HEADWATER_PHILOX_H

#if defined(__FAST_MATH__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#error "headwater_philox.h: -ffast-math and -Ofast reorder sums, which makes other numbers"
#endif

#if defined(__CUDACC_RTC__)
/* NVRTC, as CuPy's RawModule takes it, has no headers of C. */
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__HIPCC__)
#define HEADWATER_PHILOX_FUNCTION static __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define HEADWATER_PHILOX_FUNCTION static inline __attribute__((unused))
#else
#define HEADWATER_PHILOX_FUNCTION static inline
#endif

/** The 16 bytes of a key as two little-endian words, the lower bytes first. */
typedef struct headwater_philox_key {
    uint64_t lower, upper;
} headwater_philox_key;

/** Two words of a stream, the one of the lower index first. */
typedef struct headwater_philox_words {
    uint64_t first, second;
} headwater_philox_words;

typedef struct headwater_philox_pair_f64 {
    double first, second;
} headwater_philox_pair_f64;

typedef struct headwater_philox_pair_f32 {
    float first, second;
} headwater_philox_pair_f32;

/**
 * Returns a key of its 16 bytes: of struct headwater_key's `bytes` after a call for the engine
 * HEADWATER_PHILOX4X32, or of Python's Key(seed, engine="philox4x32").raw.
 */
HEADWATER_PHILOX_FUNCTION headwater_philox_key headwater_philox_key_of(const unsigned char bytes[16]) {
    headwater_philox_key key = {0, 0};
    int i;
    for (i = 7; i >= 0; i--) {
        key.lower = key.lower << 8 | bytes[i];
        key.upper = key.upper << 8 | bytes[i + 8];
    }
    return key;
}

/*
 * One rounding for each operation. A compiler may fuse a product and a sum into one operation that
 * rounds once, which makes other numbers, so nvcc gets the functions that it never fuses. gcc fuses
 * by default where the CPU can and knows no pragma, and clang ignores its own under
 * -ffp-contract=fast, so a product goes through memory there. HIP's clang heeds the pragma.
 */
#if defined(__clang__)
#define HEADWATER_PHILOX_APART _Pragma("clang fp contract(off)")
#else
#define HEADWATER_PHILOX_APART
#endif
#if defined(__GNUC__) && !defined(__HIP_DEVICE_COMPILE__) && (defined(__FMA__) || !defined(__x86_64__))
#define HEADWATER_PHILOX_BY_MEMORY 1
#endif

HEADWATER_PHILOX_FUNCTION double headwater_philox_mul_f64(double a, double b) {
#if defined(__CUDA_ARCH__)
    return __dmul_rn(a, b);
#elif defined(HEADWATER_PHILOX_BY_MEMORY)
    volatile double product = a * b;
    return product;
#else
    HEADWATER_PHILOX_APART
    return a * b;
#endif
}

HEADWATER_PHILOX_FUNCTION double headwater_philox_add_f64(double a, double b) {
#if defined(__CUDA_ARCH__)
    return __dadd_rn(a, b);
#else
    HEADWATER_PHILOX_APART
    return a + b;
#endif
}

HEADWATER_PHILOX_FUNCTION double headwater_philox_div_f64(double a, double b) {
#if defined(__CUDA_ARCH__)
    return __ddiv_rn(a, b);
#else
    return a / b;
#endif
}

HEADWATER_PHILOX_FUNCTION double headwater_philox_sqrt_f64(double a) {
#if defined(__CUDA_ARCH__)
    return __dsqrt_rn(a);
#else
    return sqrt(a);
#endif
}

HEADWATER_PHILOX_FUNCTION float headwater_philox_mul_f32(float a, float b) {
#if defined(__CUDA_ARCH__)
    return __fmul_rn(a, b);
#elif defined(HEADWATER_PHILOX_BY_MEMORY)
    volatile float product = a * b;
    return product;
#else
    HEADWATER_PHILOX_APART
    return a * b;
#endif
}

HEADWATER_PHILOX_FUNCTION float headwater_philox_add_f32(float a, float b) {
#if defined(__CUDA_ARCH__)
    return __fadd_rn(a, b);
#else
    HEADWATER_PHILOX_APART
    return a + b;
#endif
}

HEADWATER_PHILOX_FUNCTION float headwater_philox_div_f32(float a, float b) {
#if defined(__CUDA_ARCH__)
    return __fdiv_rn(a, b);
#else
    return a / b;
#endif
}

HEADWATER_PHILOX_FUNCTION float headwater_philox_sqrt_f32(float a) {
#if defined(__CUDA_ARCH__)
    return __fsqrt_rn(a);
#else
    return sqrtf(a);
#endif
}

HEADWATER_PHILOX_FUNCTION uint64_t headwater_philox_bits_f64(double a) {
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

HEADWATER_PHILOX_FUNCTION double headwater_philox_of_bits_f64(uint64_t bits) {
    double a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

HEADWATER_PHILOX_FUNCTION uint32_t headwater_philox_bits_f32(float a) {
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

HEADWATER_PHILOX_FUNCTION float headwater_philox_of_bits_f32(uint32_t bits) {
    float a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

/** Returns the upper word of the product. */
HEADWATER_PHILOX_FUNCTION uint64_t headwater_philox_mulhi(uint64_t a, uint64_t b) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return __umul64hi(a, b);
#else
    uint64_t low = (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
    uint64_t one = (a >> 32) * (b & 0xFFFFFFFF) + (low >> 32);
    uint64_t two = (a & 0xFFFFFFFF) * (b >> 32) + (one & 0xFFFFFFFF);
    return (a >> 32) * (b >> 32) + (one >> 32) + (two >> 32);
#endif
}

/** Returns the block of a counter: Philox4x32-10, with the key's upper word in the counter. */
HEADWATER_PHILOX_FUNCTION headwater_philox_words headwater_philox_block(
    headwater_philox_key key, uint64_t counter_upper, uint64_t counter_lower) {
    uint64_t upper = counter_upper ^ key.upper;
    uint32_t c0 = (uint32_t)counter_lower, c1 = (uint32_t)(counter_lower >> 32);
    uint32_t c2 = (uint32_t)upper, c3 = (uint32_t)(upper >> 32);
    uint32_t k0 = (uint32_t)key.lower, k1 = (uint32_t)(key.lower >> 32);
    headwater_philox_words words;
    int round;
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#pragma unroll
#endif
    for (round = 0; round < 10; round++) {
        uint64_t p = (uint64_t)c0 * 0xD2511F53, q = (uint64_t)c2 * 0xCD9E8D57;
        c0 = (uint32_t)(q >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)q;
        c2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    words.first = (uint64_t)c1 << 32 | c0;
    words.second = (uint64_t)c3 << 32 | c2;
    return words;
}

/** Returns words 2 `block` and 2 `block` + 1 of a draw of a stream; 0 is the stream itself. */
HEADWATER_PHILOX_FUNCTION headwater_philox_words headwater_philox_words_at(
    headwater_philox_key key, uint64_t stream, uint32_t draw, uint64_t block) {
    return headwater_philox_block(key, stream << 16 | (draw & 0xFFFF), block);
}

/** Returns word `index` of a draw of a stream. */
HEADWATER_PHILOX_FUNCTION uint64_t headwater_philox_word_at(
    headwater_philox_key key, uint64_t stream, uint32_t draw, uint64_t index) {
    headwater_philox_words words = headwater_philox_words_at(key, stream, draw, index >> 1);
    return index & 1 ? words.second : words.first;
}

/** Returns word `index` of a stream. */
HEADWATER_PHILOX_FUNCTION uint64_t headwater_philox_u64(
    headwater_philox_key key, uint64_t stream, uint64_t index) {
    return headwater_philox_word_at(key, stream, 0, index);
}

/** Returns half word `index` of a stream. */
HEADWATER_PHILOX_FUNCTION uint32_t headwater_philox_u32(
    headwater_philox_key key, uint64_t stream, uint64_t index) {
    return (uint32_t)(headwater_philox_word_at(key, stream, 0, index >> 1) >> (index & 1) * 32);
}

/*
 * Functions `..._of` make a number of its words, for kernels that take a whole block at once.
 */

/** Returns a number from 0, below 1, a multiple of 2^-53. */
HEADWATER_PHILOX_FUNCTION double headwater_philox_f64_of(uint64_t word) {
    return (double)(word >> 11) * 1.1102230246251565404e-16;
}

HEADWATER_PHILOX_FUNCTION double headwater_philox_f64(
    headwater_philox_key key, uint64_t stream, uint64_t index) {
    return headwater_philox_f64_of(headwater_philox_u64(key, stream, index));
}

/** Returns a number from 0, below 1, a multiple of 2^-24. */
HEADWATER_PHILOX_FUNCTION float headwater_philox_f32_of(uint32_t half) {
    return (float)(half >> 8) * 5.9604644775390625e-8f;
}

HEADWATER_PHILOX_FUNCTION float headwater_philox_f32(
    headwater_philox_key key, uint64_t stream, uint64_t index) {
    return headwater_philox_f32_of(headwater_philox_u32(key, stream, index));
}

/** Returns L of a word, which is -ln((x | 1) / 2^64): an exponential number of mean 1. */
HEADWATER_PHILOX_FUNCTION double headwater_philox_exponential_f64_of(uint64_t x) {
    const uint64_t root = 0x3FE6A09E667F3BCD;
    uint64_t bits = headwater_philox_bits_f64((double)(x | 1));
    /* Halvings until the number is below twice the root of 1/2: the difference's exponent. */
    uint64_t halvings = (bits - root) >> 52;
    double d, s, z, zz, p, q;
    if (halvings == 64)
        d = (double)(~x | 1) * -5.4210108624275221700e-20;
    else
        d = headwater_philox_add_f64(headwater_philox_of_bits_f64(bits - (halvings << 52)), -1.0);
    s = headwater_philox_div_f64(d, headwater_philox_add_f64(d, 2.0));
    z = headwater_philox_mul_f64(s, s);
    zz = headwater_philox_mul_f64(z, z);
    p = headwater_philox_add_f64(
        headwater_philox_add_f64(0.6666666666666734, headwater_philox_mul_f64(0.3999999999941708, z)),
        headwater_philox_mul_f64(
            headwater_philox_add_f64(
                0.28571428741882043, headwater_philox_mul_f64(0.22222198622870856, z)),
            zz));
    q = headwater_philox_add_f64(
        headwater_philox_add_f64(0.18183561836640963, headwater_philox_mul_f64(0.15314112225295762, z)),
        headwater_philox_mul_f64(0.14795350288838463, zz));
    p = headwater_philox_add_f64(p, headwater_philox_mul_f64(q, headwater_philox_mul_f64(zz, zz)));
    p = headwater_philox_add_f64(
        headwater_philox_mul_f64(headwater_philox_mul_f64(s, z), p), headwater_philox_add_f64(s, s));
    return headwater_philox_add_f64(
        headwater_philox_mul_f64((double)(64 - halvings), 0.69314718055994530942), -p);
}

/** Returns L of a half word, in single precision. */
HEADWATER_PHILOX_FUNCTION float headwater_philox_exponential_f32_of(uint32_t x) {
    const uint32_t root = 0x3F3504F4;
    uint32_t bits = headwater_philox_bits_f32((float)(x | 1));
    uint32_t halvings = (bits - root) >> 23;
    float d, s, z, p;
    if (halvings == 32)
        d = (float)(~x | 1) * -2.3283064365386962891e-10f;
    else
        d = headwater_philox_add_f32(headwater_philox_of_bits_f32(bits - (halvings << 23)), -1.0f);
    s = headwater_philox_div_f32(d, headwater_philox_add_f32(d, 2.0f));
    z = headwater_philox_mul_f32(s, s);
    p = headwater_philox_add_f32(
        headwater_philox_add_f32(0.66666776f, headwater_philox_mul_f32(0.3997759f, z)),
        headwater_philox_mul_f32(0.29870573f, headwater_philox_mul_f32(z, z)));
    p = headwater_philox_add_f32(
        headwater_philox_mul_f32(headwater_philox_mul_f32(s, z), p), headwater_philox_add_f32(s, s));
    return headwater_philox_add_f32(
        headwater_philox_mul_f32((float)(32 - halvings), 0.693147180559945309f), -p);
}

/** Returns an exponential number of mean 1, greater than 0 and at most 44.4. */
HEADWATER_PHILOX_FUNCTION double headwater_philox_exponential_f64(
    headwater_philox_key key, uint64_t stream, uint64_t index) {
    return headwater_philox_exponential_f64_of(headwater_philox_u64(key, stream, index));
}

/** Returns two normal numbers (Box and Muller, 1958). */
HEADWATER_PHILOX_FUNCTION headwater_philox_pair_f64 headwater_philox_normals_of_f64(
    headwater_philox_words words) {
    uint64_t y = words.second;
    double log = headwater_philox_exponential_f64_of(words.first);
    double r = headwater_philox_sqrt_f64(headwater_philox_add_f64(log, log));
    double t = (double)((2 * y + 1) & 0x3FFFFFFFFFFFFFFF) * 1.0842021724855044340e-19;
    double z = headwater_philox_mul_f64(t, t);
    double zz = headwater_philox_mul_f64(z, z), z4 = headwater_philox_mul_f64(zz, zz);
    double s, c, first, second;
    headwater_philox_pair_f64 numbers;
    s = headwater_philox_add_f64(
        headwater_philox_add_f64(
            headwater_philox_add_f64(
                1.57079632679489661923, headwater_philox_mul_f64(-0.6459640975062381, z)),
            headwater_philox_mul_f64(
                headwater_philox_add_f64(
                    0.07969262624584415, headwater_philox_mul_f64(-0.004681754129625158, z)),
                zz)),
        headwater_philox_mul_f64(
            headwater_philox_add_f64(
                headwater_philox_add_f64(
                    0.0001604411326945897, headwater_philox_mul_f64(-3.598585748498499e-6, z)),
                headwater_philox_mul_f64(5.626858907924295e-8, zz)),
            z4));
    s = headwater_philox_mul_f64(s, t);
    c = headwater_philox_add_f64(
        headwater_philox_add_f64(
            headwater_philox_add_f64(1.0, headwater_philox_mul_f64(-1.2337005501361697, z)),
            headwater_philox_mul_f64(
                headwater_philox_add_f64(
                    0.25366950790104287, headwater_philox_mul_f64(-0.02086348076322718, z)),
                zz)),
        headwater_philox_mul_f64(
            headwater_philox_add_f64(
                headwater_philox_add_f64(
                    0.0009192602732998637, headwater_philox_mul_f64(-2.520203194041353e-5, z)),
                headwater_philox_mul_f64(
                    headwater_philox_add_f64(
                        4.710477243016975e-7, headwater_philox_mul_f64(-6.306848163316639e-9, z)),
                    zz)),
            z4));
    first = y >> 61 & 1 ? s : c;
    second = y >> 61 & 1 ? c : s;
    numbers.first = headwater_philox_mul_f64(r, y >> 63 ? -first : first);
    numbers.second = headwater_philox_mul_f64(r, y >> 62 & 1 ? -second : second);
    return numbers;
}

/** Returns normal numbers 2 `pair` and 2 `pair` + 1 of a stream. */
HEADWATER_PHILOX_FUNCTION headwater_philox_pair_f64 headwater_philox_normal_pair_f64(
    headwater_philox_key key, uint64_t stream, uint64_t pair) {
    return headwater_philox_normals_of_f64(headwater_philox_words_at(key, stream, 0, pair));
}

/**
 * Returns normal number `index` of a stream. Both of a pair cost as much as one, so a kernel that
 * writes arrays takes headwater_philox_normal_pair_f64() and writes two.
 */
HEADWATER_PHILOX_FUNCTION double headwater_philox_normal_f64(
    headwater_philox_key key, uint64_t stream, uint64_t index) {
    headwater_philox_pair_f64 pair = headwater_philox_normal_pair_f64(key, stream, index >> 1);
    return index & 1 ? pair.second : pair.first;
}

/** Returns two normal numbers of single precision from the halves of a word. */
HEADWATER_PHILOX_FUNCTION headwater_philox_pair_f32 headwater_philox_normals_of_f32(uint64_t word) {
    uint32_t y = (uint32_t)(word >> 32);
    float log = headwater_philox_exponential_f32_of((uint32_t)word);
    float r = headwater_philox_sqrt_f32(headwater_philox_add_f32(log, log));
    float t = (float)((2 * y + 1) & 0x3FFFFFFF) * 4.656612873077392578125e-10f;
    float z = headwater_philox_mul_f32(t, t), zz = headwater_philox_mul_f32(z, z);
    float s, c, first, second;
    headwater_philox_pair_f32 numbers;
    s = headwater_philox_add_f32(
        headwater_philox_add_f32(1.57079632679489661923f, headwater_philox_mul_f32(-0.645965f, z)),
        headwater_philox_mul_f32(
            headwater_philox_add_f32(0.079692006f, headwater_philox_mul_f32(-0.004628752f, z)), zz));
    s = headwater_philox_mul_f32(s, t);
    c = headwater_philox_add_f32(
        headwater_philox_add_f32(
            headwater_philox_add_f32(1.0f, headwater_philox_mul_f32(-1.2337005f, z)),
            headwater_philox_mul_f32(
                headwater_philox_add_f32(0.25366867f, headwater_philox_mul_f32(-0.02085681f, z)), zz)),
        headwater_philox_mul_f32(0.0008974423f, headwater_philox_mul_f32(zz, zz)));
    first = y >> 29 & 1 ? s : c;
    second = y >> 29 & 1 ? c : s;
    numbers.first = headwater_philox_mul_f32(r, y >> 31 ? -first : first);
    numbers.second = headwater_philox_mul_f32(r, y >> 30 & 1 ? -second : second);
    return numbers;
}

/** Returns normal numbers 2 `pair` and 2 `pair` + 1 of a stream, in single precision. */
HEADWATER_PHILOX_FUNCTION headwater_philox_pair_f32 headwater_philox_normal_pair_f32(
    headwater_philox_key key, uint64_t stream, uint64_t pair) {
    return headwater_philox_normals_of_f32(headwater_philox_u64(key, stream, pair));
}

/** Returns normal number `index` of a stream, in single precision. */
HEADWATER_PHILOX_FUNCTION float headwater_philox_normal_f32(
    headwater_philox_key key, uint64_t stream, uint64_t index) {
    headwater_philox_pair_f32 pair = headwater_philox_normal_pair_f32(key, stream, index >> 1);
    return index & 1 ? pair.second : pair.first;
}

/**
 * Returns an integer below `bound`, which is at least 1, without a bias (Lemire, ACM TOMACS 29(1),
 * 2019).
 */
HEADWATER_PHILOX_FUNCTION uint64_t headwater_philox_bounded_u64(
    headwater_philox_key key, uint64_t stream, uint64_t bound, uint64_t index) {
    uint64_t x = 0;
    uint32_t draw;
    for (draw = 0; draw <= 0xFFFF; draw++) {
        x = headwater_philox_word_at(key, stream, draw, index);
        /* The remainder is below the bound, so the division is seldom needed. */
        if (x * bound >= bound || x * bound >= (0 - bound) % bound)
            break;
    }
    return headwater_philox_mulhi(x, bound);
}

/** Returns an integer below `bound`, which is at least 1, from half words. */
HEADWATER_PHILOX_FUNCTION uint32_t headwater_philox_bounded_u32(
    headwater_philox_key key, uint64_t stream, uint32_t bound, uint64_t index) {
    uint32_t x = 0, draw;
    for (draw = 0; draw <= 0xFFFF; draw++) {
        x = (uint32_t)(headwater_philox_word_at(key, stream, draw, index >> 1) >> (index & 1) * 32);
        if (x * bound >= bound || x * bound >= (0 - bound) % bound)
            break;
    }
    return (uint32_t)((uint64_t)x * bound >> 32);
}

/** The keys of a permutation, which a host makes once and passes by value. */
typedef struct headwater_philox_permutation {
    uint64_t n, words[25];
    uint32_t lower_bits, upper_bits;
} headwater_philox_permutation;

/**
 * Prepares a permutation of 0 to `n` - 1. Returns 0, or -1 if `n` is 256 or less: those are the
 * list of a shuffle, and have no function of one index.
 */
HEADWATER_PHILOX_FUNCTION int headwater_philox_permutation_of(
    headwater_philox_permutation *permutation, headwater_philox_key key, uint64_t stream, uint64_t n) {
    uint32_t bits = 0, word;
    if (n <= 256)
        return -1;
    while (bits < 64 && (n - 1) >> bits)
        bits++;
    permutation->n = n;
    permutation->lower_bits = (bits + 1) / 2;
    permutation->upper_bits = bits - permutation->lower_bits;
    for (word = 0; word < 25; word++)
        permutation->words[word] = headwater_philox_u64(key, stream, word);
    return 0;
}

HEADWATER_PHILOX_FUNCTION uint32_t headwater_philox_mix(uint32_t value, uint64_t key) {
    uint64_t p = (uint64_t)(value ^ (uint32_t)key) * ((uint32_t)(key >> 32) | 1);
    return (uint32_t)(p >> 32) ^ (uint32_t)p;
}

/** Returns the value at `index`, which is below n. */
HEADWATER_PHILOX_FUNCTION uint64_t headwater_philox_permuted(
    const headwater_philox_permutation *permutation, uint64_t index) {
    const uint64_t *words = permutation->words;
    uint32_t low_mask = (uint32_t)(((uint64_t)1 << permutation->lower_bits) - 1);
    uint32_t up_mask = (uint32_t)(((uint64_t)1 << permutation->upper_bits) - 1);
    uint64_t x = index;
    do {
        uint32_t upper = (uint32_t)(x >> permutation->lower_bits), lower = (uint32_t)x & low_mask;
        int round;
        for (round = 0; round < 12; round += 2) {
            const uint64_t *keys = words + 2 * round;
            upper ^= headwater_philox_mix(headwater_philox_mix(lower, keys[0]), keys[1]) & up_mask;
            lower ^= headwater_philox_mix(headwater_philox_mix(upper, keys[2]), keys[3]) & low_mask;
        }
        x = (uint64_t)upper << permutation->lower_bits | lower;
        if (words[24] & 1 && x < 2)
            x ^= 1;
    } while (x >= permutation->n);
    return x;
}

#endif
