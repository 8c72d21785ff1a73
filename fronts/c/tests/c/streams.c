/* The functions for streams: the values are those of streams/vectors/, the errors are those of the
 * header, and a part of a stream equals the same part of the whole. */
#include "check.h"
#include <errno.h>
#include <headwater.h>
#include <math.h>
#include <string.h>

#define REFUSED(errno_is, call)                  \
    do {                                         \
        errno = 0;                               \
        CHECK((call) == -1 && errno == errno_is); \
    } while (0)

static struct headwater_key key;

/* Reads hexadecimal digits: keys of streams/vectors/keys.json and bytes of streams.json come from
 * the command line. */
static size_t from_hex(const char *digits, unsigned char *bytes)
{
    size_t n;
    unsigned byte;
    for (n = 0; sscanf(digits + 2 * n, "%2x", &byte) == 1; n++)
        bytes[n] = (unsigned char)byte;
    return n;
}

static void check_key(const struct headwater_key *k, const char *digits)
{
    unsigned char expected[64];
    CHECK(from_hex(digits, expected) == 16 && memcmp(k->bytes, expected, 16) == 0);
}

/* seed KIND VALUE ENGINE KEY CHILD: the child's label is the seed, if it is a number or a text. */
static void seed_vector(char **argument)
{
    const char *kind = argument[0], *value = argument[1];
    uint32_t engine = (uint32_t)atoi(argument[2]);
    static unsigned char bytes[2048];
    struct headwater_key child;
    if (strcmp(kind, "integer") == 0) {
        uint64_t n = strtoull(value, NULL, 10);
        CHECK(headwater_stream_key_from_seed(&key, engine, n) == 0);
        CHECK(headwater_stream_key_child(&child, &key, n) == 0);
        check_key(&child, argument[4]);
    } else if (strcmp(kind, "text") == 0) {
        CHECK(headwater_stream_key_from_text(&key, engine, value) == 0);
        CHECK(headwater_stream_key_child_text(&child, &key, value) == 0);
        check_key(&child, argument[4]);
        child = key;
        CHECK(headwater_stream_key_child_text(&child, &child, value) == 0);
        check_key(&child, argument[4]);
    } else {
        CHECK(headwater_stream_key_from_bytes(&key, engine, bytes, from_hex(value, bytes)) == 0);
    }
    check_key(&key, argument[3]);
    CHECK(key.engine == engine);
}

/* stream ENGINE SEED STREAM START BYTES */
static void stream_vector(char **argument)
{
    static unsigned char expected[4096], bytes[4096];
    size_t n = from_hex(argument[4], expected), part;
    uint64_t stream = strtoull(argument[2], NULL, 10), start = strtoull(argument[3], NULL, 10);
    CHECK(headwater_stream_key_from_seed(&key, (uint32_t)atoi(argument[0]), strtoull(argument[1], NULL, 10)) == 0);
    CHECK(headwater_stream_fill_u8(&key, stream, start, bytes, n) == 0);
    CHECK(memcmp(bytes, expected, n) == 0);
    for (part = 0; part < n; part += 13) {
        size_t rest = n - part < 13 ? n - part : 13;
        CHECK(headwater_stream_fill_u8(&key, stream, start + part, bytes, rest) == 0);
        CHECK(memcmp(bytes, expected + part, rest) == 0);
    }
}

/* Each call refuses an impossible array, key or stream, and leaves the array as it was. */
#define REFUSALS(call)                                  \
    do {                                                \
        n = (size_t)1 << 62;                            \
        if (sizeof *whole > 1)                          \
            REFUSED(EFAULT, call);                      \
        out = NULL;                                     \
        n = 1;                                          \
        REFUSED(EFAULT, call);                          \
        n = 0;                                          \
        CHECK((call) == 0);                             \
        out = piece;                                    \
        n = 1;                                          \
        from = NULL;                                    \
        REFUSED(EFAULT, call);                          \
        from = &bad;                                    \
        REFUSED(EINVAL, call);                          \
        from = &key;                                    \
        stream = (uint64_t)1 << 48;                     \
        REFUSED(ERANGE, call);                          \
        stream = 7;                                     \
        CHECK(memcmp(piece, whole, sizeof piece) == 0); \
    } while (0)

/* numbers: writes all kinds of numbers of one key to stdout, where the test compares them with the
 * numbers of the Rust library. */
#define KIND(type, call, call_at)                                                    \
    do {                                                                             \
        static type whole[3000], piece[3000];                                        \
        type *out = whole;                                                           \
        uint64_t start = 5;                                                          \
        size_t n = 3000, at;                                                         \
        errno = 12345;                                                               \
        CHECK((call) == 0 && errno == 12345);                                        \
        CHECK(fwrite(whole, sizeof *whole, 3000, stdout) == 3000);                   \
        for (at = 0; at < 3000; at += 700) {                                         \
            out = piece;                                                             \
            start = 5 + at;                                                          \
            n = 3000 - at < 700 ? 3000 - at : 700;                                   \
            CHECK((call) == 0 && memcmp(piece, whole + at, n * sizeof *whole) == 0); \
        }                                                                            \
        /* 1,999 and 3,000 have no common divisor, so each element comes once. */    \
        for (at = 0; at < 3000; at++)                                                \
            indices[at] = 5 + at * 1999 % 3000;                                      \
        n = 3000;                                                                    \
        CHECK((call_at) == 0 && errno == 12345);                                     \
        for (at = 0; at < 3000; at++)                                                \
            CHECK(memcmp(piece + at, whole + at * 1999 % 3000, sizeof *whole) == 0); \
        memcpy(piece, whole, sizeof piece);                                          \
        start = UINT64_MAX - 10;                                                     \
        n = 12;                                                                      \
        REFUSED(ERANGE, call);                                                       \
        start = 5;                                                                   \
        REFUSALS(call);                                                              \
        indices[11] = UINT64_MAX;                                                    \
        n = 12;                                                                      \
        REFUSED(ERANGE, call_at);                                                    \
        indices[11] = 5;                                                             \
        REFUSALS(call_at);                                                           \
        from_indices = NULL;                                                         \
        n = 1;                                                                       \
        REFUSED(EFAULT, call_at);                                                    \
        n = 0;                                                                       \
        CHECK((call_at) == 0);                                                       \
        from_indices = indices;                                                      \
    } while (0)

/* Vectors of a dimension: prints 3000 of them, and compares pieces and lists with them. */
#define VECTORS(type, dimension, call, call_at)                                      \
    do {                                                                             \
        static type whole[(dimension) * 3000], piece[(dimension) * 3000];            \
        const size_t size = (dimension) * sizeof *whole;                             \
        type *out = whole;                                                           \
        uint64_t start = 5;                                                          \
        size_t n = 3000, at;                                                         \
        errno = 12345;                                                               \
        CHECK((call) == 0 && errno == 12345);                                        \
        CHECK(fwrite(whole, size, 3000, stdout) == 3000);                            \
        out = piece;                                                                 \
        n = 700;                                                                     \
        start = 5 + 700;                                                             \
        CHECK((call) == 0 && memcmp(piece, whole + (dimension) * 700, n * size) == 0); \
        n = 3000;                                                                    \
        for (at = 0; at < n; at++)                                                   \
            indices[at] = 5 + at * 1999 % n;                                         \
        CHECK((call_at) == 0 && errno == 12345);                                     \
        for (at = 0; at < n; at++)                                                   \
            CHECK(memcmp(piece + (dimension) * at, whole + (dimension) * (at * 1999 % n), size) == 0); \
        start = indices[0] = UINT64_MAX - 1;                                         \
        n = 3;                                                                       \
        REFUSED(ERANGE, call);                                                       \
        REFUSED(ERANGE, call_at);                                                    \
        n = SIZE_MAX / 2;                                                            \
        REFUSED(EFAULT, call);                                                       \
        n = 3;                                                                       \
        out = NULL;                                                                  \
        REFUSED(EFAULT, call);                                                       \
        REFUSED(EFAULT, call_at);                                                    \
    } while (0)

struct complex_float { float re, im; };

static void numbers(void)
{
    static const double weights[5] = { 3, 0, 0.5, 1e-9, 2 };
    static const double alpha[3] = { 0.5, 2, 7 };
    static const double covariance[9] = { 2, 0.5, -1, 0.5, 3, 0.25, -1, 0.25, 1 };
    struct headwater_alias table[5];
    double shares[5], factor[9];
    const struct headwater_key *from = &key;
    struct headwater_key bad;
    uint64_t indices[3000], *from_indices = indices;
    uint64_t i, value, stream = 7;
    CHECK(headwater_stream_key_from_text(&key, HEADWATER_ARS7, "numbers") == 0);
    bad = key;
    bad.engine = 3;
    KIND(uint8_t, headwater_stream_fill_u8(from, stream, start, out, n),
         headwater_stream_u8_at(from, stream, from_indices, out, n));
    KIND(uint32_t, headwater_stream_fill_u32(from, stream, start, out, n),
         headwater_stream_u32_at(from, stream, from_indices, out, n));
    KIND(uint64_t, headwater_stream_fill_u64(from, stream, start, out, n),
         headwater_stream_u64_at(from, stream, from_indices, out, n));
    KIND(float, headwater_stream_fill_f32(from, stream, start, out, n),
         headwater_stream_f32_at(from, stream, from_indices, out, n));
    KIND(double, headwater_stream_fill_f64(from, stream, start, out, n),
         headwater_stream_f64_at(from, stream, from_indices, out, n));
    KIND(float, headwater_stream_fill_normal_f32(from, stream, start, out, n),
         headwater_stream_normal_f32_at(from, stream, from_indices, out, n));
    KIND(double, headwater_stream_fill_normal_f64(from, stream, start, out, n),
         headwater_stream_normal_f64_at(from, stream, from_indices, out, n));
    KIND(double, headwater_stream_fill_exponential_f64(from, stream, start, out, n),
         headwater_stream_exponential_f64_at(from, stream, from_indices, out, n));
    /* More than a quarter of the attempts are rejected. */
    KIND(uint64_t,
         headwater_stream_fill_bounded_u64(from, stream, UINT64_C(0xB000000000000001), start, out, n),
         headwater_stream_bounded_u64_at(from, stream, UINT64_C(0xB000000000000001), from_indices, out, n));
    KIND(uint32_t, headwater_stream_fill_bounded_u32(from, stream, 0xB0000001, start, out, n),
         headwater_stream_bounded_u32_at(from, stream, 0xB0000001, from_indices, out, n));
    KIND(uint64_t, headwater_stream_fill_perm(from, stream, UINT64_MAX, start, out, n),
         headwater_stream_perm_list_at(from, stream, UINT64_MAX, from_indices, out, n));
    KIND(double, headwater_stream_fill_lognormal_f64(from, stream, 0.5, 0.25, start, out, n),
         headwater_stream_lognormal_f64_at(from, stream, 0.5, 0.25, from_indices, out, n));
    KIND(double, headwater_stream_fill_gamma_f64(from, stream, 0.75, start, out, n),
         headwater_stream_gamma_f64_at(from, stream, 0.75, from_indices, out, n));
    KIND(double, headwater_stream_fill_chi_square_f64(from, stream, 5, start, out, n),
         headwater_stream_chi_square_f64_at(from, stream, 5, from_indices, out, n));
    KIND(double, headwater_stream_fill_beta_f64(from, stream, 2, 0.5, start, out, n),
         headwater_stream_beta_f64_at(from, stream, 2, 0.5, from_indices, out, n));
    KIND(double, headwater_stream_fill_student_t_f64(from, stream, 3, start, out, n),
         headwater_stream_student_t_f64_at(from, stream, 3, from_indices, out, n));
    KIND(uint64_t, headwater_stream_fill_geometric_u64(from, stream, 0.01, start, out, n),
         headwater_stream_geometric_u64_at(from, stream, 0.01, from_indices, out, n));
    KIND(uint64_t, headwater_stream_fill_poisson_u64(from, stream, 20, start, out, n),
         headwater_stream_poisson_u64_at(from, stream, 20, from_indices, out, n));
    KIND(uint64_t, headwater_stream_fill_binomial_u64(from, stream, 100, 0.75, start, out, n),
         headwater_stream_binomial_u64_at(from, stream, 100, 0.75, from_indices, out, n));
    /* The methods of small parameters. */
    KIND(double, headwater_stream_fill_gamma_f64(from, stream, 2.5, start, out, n),
         headwater_stream_gamma_f64_at(from, stream, 2.5, from_indices, out, n));
    KIND(double, headwater_stream_fill_beta_f64(from, stream, 0.5, 0.5, start, out, n),
         headwater_stream_beta_f64_at(from, stream, 0.5, 0.5, from_indices, out, n));
    KIND(uint64_t, headwater_stream_fill_poisson_u64(from, stream, 3, start, out, n),
         headwater_stream_poisson_u64_at(from, stream, 3, from_indices, out, n));
    KIND(uint64_t, headwater_stream_fill_binomial_u64(from, stream, 10, 0.25, start, out, n),
         headwater_stream_binomial_u64_at(from, stream, 10, 0.25, from_indices, out, n));
    KIND(double, headwater_stream_fill_beta_f64(from, stream, 2, 3, start, out, n),
         headwater_stream_beta_f64_at(from, stream, 2, 3, from_indices, out, n));
    KIND(double, headwater_stream_fill_truncated_normal_f64(from, stream, 1, 2, -3, 4, start, out, n),
         headwater_stream_truncated_normal_f64_at(from, stream, 1, 2, -3, 4, from_indices, out, n));
    KIND(double, headwater_stream_fill_truncated_normal_f64(from, stream, 0, 1, 0, 0.5, start, out, n),
         headwater_stream_truncated_normal_f64_at(from, stream, 0, 1, 0, 0.5, from_indices, out, n));
    KIND(double, headwater_stream_fill_truncated_normal_f64(from, stream, 0, 1, -INFINITY, -5, start, out, n),
         headwater_stream_truncated_normal_f64_at(from, stream, 0, 1, -INFINITY, -5, from_indices, out, n));
    KIND(double, headwater_stream_fill_von_mises_f64(from, stream, 1, 4, start, out, n),
         headwater_stream_von_mises_f64_at(from, stream, 1, 4, from_indices, out, n));
    KIND(double, headwater_stream_fill_von_mises_f64(from, stream, -2, 0.25, start, out, n),
         headwater_stream_von_mises_f64_at(from, stream, -2, 0.25, from_indices, out, n));
    KIND(double, headwater_stream_fill_laplace_f64(from, stream, 1, 4, start, out, n),
         headwater_stream_laplace_f64_at(from, stream, 1, 4, from_indices, out, n));
    CHECK(headwater_stream_alias_table(weights, 5, table) == 0);
    KIND(uint64_t, headwater_stream_fill_categorical_u64(from, stream, table, 5, start, out, n),
         headwater_stream_categorical_u64_at(from, stream, table, 5, from_indices, out, n));
    KIND(uint16_t, headwater_stream_fill_f16_bits(from, stream, start, out, n),
         headwater_stream_f16_bits_at(from, stream, from_indices, out, n));
    KIND(uint16_t, headwater_stream_fill_bf16_bits(from, stream, start, out, n),
         headwater_stream_bf16_bits_at(from, stream, from_indices, out, n));
    KIND(uint16_t, headwater_stream_fill_normal_f16_bits(from, stream, start, out, n),
         headwater_stream_normal_f16_bits_at(from, stream, from_indices, out, n));
    KIND(uint16_t, headwater_stream_fill_normal_bf16_bits(from, stream, start, out, n),
         headwater_stream_normal_bf16_bits_at(from, stream, from_indices, out, n));
    VECTORS(double, 2, headwater_stream_fill_complex_normal_f64(from, stream, start, out, n),
            headwater_stream_complex_normal_f64_at(from, stream, from_indices, out, n));
    /* From one word each, so that all elements exist. */
    KIND(struct complex_float, headwater_stream_fill_complex_normal_f32(from, stream, start, (float *)out, n),
         headwater_stream_complex_normal_f32_at(from, stream, from_indices, (float *)out, n));
    CHECK(headwater_stream_multinomial_table(weights, 5, shares) == 0);
    VECTORS(uint64_t, 5, headwater_stream_fill_multinomial_u64(from, stream, 100, shares, 5, start, out, n),
            headwater_stream_multinomial_u64_at(from, stream, 100, shares, 5, from_indices, out, n));
    VECTORS(double, 3, headwater_stream_fill_dirichlet_f64(from, stream, alpha, 3, start, out, n),
            headwater_stream_dirichlet_f64_at(from, stream, alpha, 3, from_indices, out, n));
    CHECK(headwater_stream_cholesky(covariance, 3, factor) == 0);
    VECTORS(double, 3, headwater_stream_fill_multivariate_normal_f64(from, stream, alpha, factor, 3, start, out, n),
            headwater_stream_multivariate_normal_f64_at(from, stream, alpha, factor, 3, from_indices, out, n));
    VECTORS(double, 4, headwater_stream_fill_sobol_f64(from, stream, 4, 1, start, out, n),
            headwater_stream_sobol_f64_at(from, stream, 4, 1, from_indices, out, n));
    VECTORS(double, 4, headwater_stream_fill_sobol_f64(from, stream, 4, 0, start, out, n),
            headwater_stream_sobol_f64_at(from, stream, 4, 0, from_indices, out, n));
    for (i = 0; i < 1000; i++) {
        CHECK(headwater_stream_perm_at(&key, 7, 1000, i, &value) == 0);
        CHECK(fwrite(&value, sizeof value, 1, stdout) == 1);
    }
    for (i = 0; i < 100; i++) {
        CHECK(headwater_stream_perm_at(&key, 7, 100, i, &value) == 0);
        CHECK(fwrite(&value, sizeof value, 1, stdout) == 1);
    }
}

/* Parameters for which there is no distribution. */
static void parameters(void)
{
    static const double wrong[] = { -1, NAN, INFINITY, -INFINITY };
    double one = 7;
    uint64_t count = 7, index = 0;
    size_t i;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double x = wrong[i];
        REFUSED(EINVAL, headwater_stream_fill_lognormal_f64(&key, 0, 0, x, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_lognormal_f64_at(&key, 0, x < 0 ? NAN : x, 1, &index, &one, 1));
        REFUSED(EINVAL, headwater_stream_fill_gamma_f64(&key, 0, x, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_gamma_f64_at(&key, 0, x, &index, &one, 1));
        REFUSED(EINVAL, headwater_stream_fill_chi_square_f64(&key, 0, x, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_fill_beta_f64(&key, 0, x, 1, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_fill_beta_f64(&key, 0, 1, x, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_fill_student_t_f64(&key, 0, x, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_fill_geometric_u64(&key, 0, x, 0, &count, 1));
        REFUSED(EINVAL, headwater_stream_fill_poisson_u64(&key, 0, x, 0, &count, 1));
        REFUSED(EINVAL, headwater_stream_fill_binomial_u64(&key, 0, 9, x, 0, &count, 1));
        REFUSED(EINVAL, headwater_stream_binomial_u64_at(&key, 0, 9, x, &index, &count, 1));
    }
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double x = wrong[i];
        double square; /* has no meaning after an error */
        struct headwater_alias table = { 5, 6 };
        REFUSED(EINVAL, headwater_stream_fill_truncated_normal_f64(&key, 0, x < 0 ? NAN : x, 1, 0, 1, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_fill_truncated_normal_f64(&key, 0, 0, x, 0, 1, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_truncated_normal_f64_at(&key, 0, 0, 1, x, x, &index, &one, 1));
        REFUSED(EINVAL, headwater_stream_fill_von_mises_f64(&key, 0, x < 0 ? 4 : x, 1, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_von_mises_f64_at(&key, 0, 0, x, &index, &one, 1));
        REFUSED(EINVAL, headwater_stream_alias_table(&x, 1, &table));
        x = 0;
        REFUSED(EINVAL, headwater_stream_alias_table(&x, 1, &table));
        REFUSED(EINVAL, headwater_stream_alias_table(&x, 0, &table));
        REFUSED(EFAULT, headwater_stream_alias_table(NULL, 1, &table));
        REFUSED(EFAULT, headwater_stream_alias_table(&x, 1, NULL));
        CHECK(table.threshold == 5 && table.other == 6);
        REFUSED(EINVAL, headwater_stream_fill_categorical_u64(&key, 0, &table, 0, 0, &count, 1));
        REFUSED(EINVAL, headwater_stream_fill_categorical_u64(&key, 0, NULL, 1, 0, &count, 1));
        REFUSED(EINVAL, headwater_stream_categorical_u64_at(&key, 0, NULL, 1, &index, &count, 1));
        x = wrong[i];
        REFUSED(EINVAL, headwater_stream_fill_dirichlet_f64(&key, 0, &x, 1, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_fill_dirichlet_f64(&key, 0, NULL, 1, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_multinomial_table(&x, 1, &one));
        REFUSED(EFAULT, headwater_stream_multinomial_table(NULL, 1, &one));
        REFUSED(EINVAL, headwater_stream_fill_multinomial_u64(&key, 0, 9, &x, 1, 0, &count, 1));
        REFUSED(EINVAL, headwater_stream_multinomial_u64_at(&key, 0, 9, NULL, 1, &index, &count, 1));
        REFUSED(EINVAL, headwater_stream_cholesky(&x, 1, &square));
        REFUSED(EINVAL, headwater_stream_cholesky(&x, 0, &square));
        REFUSED(EFAULT, headwater_stream_cholesky(NULL, 1, &square));
        REFUSED(EFAULT, headwater_stream_cholesky(&x, SIZE_MAX, &square));
        REFUSED(EINVAL, headwater_stream_fill_multivariate_normal_f64(&key, 0, NULL, &x, 1, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_fill_sobol_f64(&key, 0, 0, 1, 0, &one, 1));
        REFUSED(EINVAL, headwater_stream_sobol_f64_at(&key, 0, 1112, 0, &index, &one, 1));
    }
    CHECK(one == 7 && count == 7);
    CHECK(headwater_stream_fill_binomial_u64(&key, 0, 9, 1, 0, &count, 1) == 0 && count == 9);
}

/* One array for an argument and for the results, whole or by one element. */
static void overlaps(void)
{
    double both[12] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, mean[3] = { 0, 0, 0 }, before[12];
    uint64_t places[4] = { 3, 1, 2, 0 };
    union { double weights[6]; struct headwater_alias table[3]; uint64_t out[6]; } alias = { { 1, 2, 3 } };
    memcpy(before, both, sizeof both);
    REFUSED(EINVAL, headwater_stream_u64_at(&key, 0, places, places, 4));
    REFUSED(EINVAL, headwater_stream_u64_at(&key, 0, places, places + 1, 2));
    REFUSED(EINVAL, headwater_stream_u64_at(&key, 0, places + 1, places, 2));
    REFUSED(EINVAL, headwater_stream_u8_at(&key, 0, places, (uint8_t *)places + 31, 4));
    CHECK(places[0] == 3 && places[1] == 1 && places[2] == 2 && places[3] == 0);
    REFUSED(EINVAL, headwater_stream_alias_table(alias.weights, 3, alias.table));
    REFUSED(EINVAL, headwater_stream_fill_categorical_u64(&key, 0, alias.table, 3, 0, alias.out + 5, 1));
    REFUSED(EINVAL, headwater_stream_categorical_u64_at(&key, 0, alias.table, 3, places, alias.out, 4));
    REFUSED(EINVAL, headwater_stream_cholesky(both, 3, both));
    REFUSED(EINVAL, headwater_stream_cholesky(both, 3, both + 3));
    REFUSED(EINVAL, headwater_stream_multinomial_table(both, 3, both + 2));
    REFUSED(EINVAL, headwater_stream_fill_multinomial_u64(&key, 0, 9, (double *)places, 4, 0, places, 1));
    REFUSED(EINVAL, headwater_stream_fill_dirichlet_f64(&key, 0, both, 3, 0, both, 1));
    REFUSED(EINVAL, headwater_stream_dirichlet_f64_at(&key, 0, mean, 3, places, (double *)places + 3, 2));
    REFUSED(EINVAL, headwater_stream_fill_multivariate_normal_f64(&key, 0, mean, both, 3, 0, both + 8, 1));
    REFUSED(EINVAL, headwater_stream_multivariate_normal_f64_at(&key, 0, mean, both, 3, places, mean, 1));
    CHECK(memcmp(both, before, sizeof both) == 0);
    /* Beside each other they do not overlap. */
    CHECK(headwater_stream_u64_at(&key, 0, places, places + 2, 2) == 0);
    CHECK(headwater_stream_fill_multivariate_normal_f64(&key, 0, mean, both, 3, 0, both + 9, 1) == 0);
}

static void errors(void)
{
    struct headwater_key bad, copy;
    uint64_t value = 7, index = 0;
    unsigned char byte = 7;
    CHECK(headwater_stream_key_from_seed(&key, HEADWATER_PHILOX4X32, 1) == 0);
    parameters();
    overlaps();
    copy = bad = key;
    bad.engine = 3;
    REFUSED(EINVAL, headwater_stream_key_from_seed(&copy, 3, 1));
    REFUSED(EINVAL, headwater_stream_key_from_bytes(&copy, 99, "x", 1));
    REFUSED(EINVAL, headwater_stream_key_from_text(&copy, HEADWATER_ARS5, "\xff"));
    REFUSED(EINVAL, headwater_stream_key_child(&copy, &bad, 1));
    REFUSED(EINVAL, headwater_stream_key_child_text(&copy, &key, "\xc3"));
    CHECK(copy.engine == key.engine && memcmp(copy.bytes, key.bytes, 16) == 0);
    REFUSED(EFAULT, headwater_stream_key_from_seed(NULL, HEADWATER_ARS7, 1));
    REFUSED(EFAULT, headwater_stream_key_from_bytes(NULL, HEADWATER_ARS7, "x", 1));
    REFUSED(EFAULT, headwater_stream_key_from_bytes(&copy, HEADWATER_ARS7, NULL, 1));
    REFUSED(EFAULT, headwater_stream_key_from_bytes(&copy, HEADWATER_ARS7, "x", SIZE_MAX));
    CHECK(headwater_stream_key_from_bytes(&copy, HEADWATER_ARS7, NULL, 0) == 0);
    REFUSED(EFAULT, headwater_stream_key_from_text(NULL, HEADWATER_ARS7, "x"));
    REFUSED(EFAULT, headwater_stream_key_from_text(&copy, HEADWATER_ARS7, NULL));
    REFUSED(EFAULT, headwater_stream_key_child(NULL, &key, 1));
    REFUSED(EFAULT, headwater_stream_key_child(&copy, NULL, 1));
    REFUSED(EFAULT, headwater_stream_key_child_text(&copy, &key, NULL));
    REFUSED(EFAULT, headwater_stream_key_child_text(NULL, &key, "x"));
    REFUSED(EFAULT, headwater_stream_key_child_text(&copy, NULL, "x"));
    REFUSED(EINVAL, headwater_stream_key_child_text(&copy, &bad, "x"));
    REFUSED(EFAULT, headwater_stream_fill_u8(NULL, 0, 0, &byte, 1));
    REFUSED(EINVAL, headwater_stream_fill_u8(&bad, 0, 0, &byte, 1));
    REFUSED(ERANGE, headwater_stream_fill_u8(&key, (uint64_t)1 << 48, 0, &byte, 1));
    REFUSED(EINVAL, headwater_stream_fill_bounded_u64(&key, 0, 0, 0, &value, 1));
    REFUSED(EINVAL, headwater_stream_bounded_u64_at(&key, 0, 0, &index, &value, 1));
    REFUSED(ERANGE, headwater_stream_perm_at(&key, 0, 5, 5, &value));
    REFUSED(ERANGE, headwater_stream_perm_at(&key, 0, 0, 0, &value));
    REFUSED(ERANGE, headwater_stream_perm_at(&key, (uint64_t)1 << 48, 5, 0, &value));
    REFUSED(EFAULT, headwater_stream_perm_at(NULL, 0, 5, 0, &value));
    REFUSED(EINVAL, headwater_stream_perm_at(&bad, 0, 5, 0, &value));
    REFUSED(EFAULT, headwater_stream_perm_at(&key, 0, 5, 0, NULL));
    REFUSED(ERANGE, headwater_stream_fill_perm(&key, 0, 5, 5, &value, 1));
    REFUSED(ERANGE, headwater_stream_fill_perm(&key, 0, 300, UINT64_MAX, &value, 1));
    REFUSED(EFAULT, headwater_stream_fill_perm(&key, 0, 5, 0, NULL, 1));
    REFUSED(EINVAL, headwater_stream_fill_perm(&bad, 0, 5, 0, &value, 1));
    index = 300;
    REFUSED(ERANGE, headwater_stream_perm_list_at(&key, 0, 300, &index, &value, 1));
    REFUSED(EFAULT, headwater_stream_perm_list_at(&key, 0, 300, NULL, &value, 1));
    CHECK(byte == 7 && value == 7);
}

static void pseudo(void)
{
    static unsigned char a[5000], b[5000];
    static const size_t lengths[] = {1, 8, 16, 31, 255, 256, 257, 4999};
    size_t i, len;
    for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        len = lengths[i];
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        errno = 12345;
        CHECK(headwater_random_pseudo_bytes(a, len) == 0);
        CHECK(headwater_random_pseudo_bytes(b, len) == 0 && errno == 12345);
        CHECK(is_zero(a + len, sizeof a - len));
        if (len >= 16)
            CHECK(!is_zero(a + len - 16, 16) && memcmp(a, b, len) != 0);
    }
    CHECK(headwater_random_pseudo_bytes(NULL, 0) == 0);
    REFUSED(EFAULT, headwater_random_pseudo_bytes(NULL, 1));
    REFUSED(EFAULT, headwater_random_pseudo_bytes(a, SIZE_MAX));
}

int main(int argc, char **argv)
{
    if (argc == 7 && strcmp(argv[1], "seed") == 0) {
        seed_vector(argv + 2);
    } else if (argc == 7 && strcmp(argv[1], "stream") == 0) {
        stream_vector(argv + 2);
    } else if (argc == 2 && strcmp(argv[1], "numbers") == 0) {
        numbers();
    } else {
        errors();
        pseudo();
    }
    return 0;
}
