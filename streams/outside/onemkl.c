/* Fills arrays with random numbers by headwater and by Intel's oneMKL, by turns.
 *
 * pip install mkl mkl-include
 * cc -O2 -o onemkl streams/outside/onemkl.c -I fronts/c/include -I MKL/include \
 *     -L target/release -L MKL/lib -lheadwater -l:libmkl_rt.so.3
 * MKL_THREADING_LAYER=SEQUENTIAL LD_LIBRARY_PATH=target/release:MKL/lib ./onemkl [ROUNDS]
 *
 * Prints the least time of a number in nanoseconds. oneMKL's figure is that of its fastest
 * generator, with its fastest method. */
#include <headwater.h>
#include <mkl_vsl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MANY = 16384, GENERATORS = 4 };

static const struct { MKL_INT brng; const char *name; } generators[GENERATORS] = {
    {VSL_BRNG_SFMT19937, "SFMT19937"},
    {VSL_BRNG_PHILOX4X32X10, "Philox4x32-10"},
    {VSL_BRNG_ARS5, "ARS-5"},
    {VSL_BRNG_MCG59, "MCG59"},
};

static struct headwater_key key;
static VSLStreamStatePtr streams[GENERATORS];
static double doubles[MANY];
static float floats[MANY];
static uint64_t start;

static int ours_uniform(int g)
{
    (void)g;
    return headwater_stream_fill_f64(&key, 0, start, doubles, MANY);
}

static int ours_normal(int g)
{
    (void)g;
    return headwater_stream_fill_normal_f64(&key, 0, start, doubles, MANY);
}

static int ours_normal_f32(int g)
{
    (void)g;
    return headwater_stream_fill_normal_f32(&key, 0, start, floats, MANY);
}

static int ours_exponential(int g)
{
    (void)g;
    return headwater_stream_fill_exponential_f64(&key, 0, start, doubles, MANY);
}

static int uniform(int g)
{
    return vdRngUniform(VSL_RNG_METHOD_UNIFORM_STD_ACCURATE, streams[g], MANY, doubles, 0, 1);
}

static int normal_icdf(int g)
{
    return vdRngGaussian(VSL_RNG_METHOD_GAUSSIAN_ICDF, streams[g], MANY, doubles, 0, 1);
}

static int normal_polar(int g)
{
    return vdRngGaussian(VSL_RNG_METHOD_GAUSSIAN_BOXMULLER2, streams[g], MANY, doubles, 0, 1);
}

static int normal_f32_icdf(int g)
{
    return vsRngGaussian(VSL_RNG_METHOD_GAUSSIAN_ICDF, streams[g], MANY, floats, 0, 1);
}

static int normal_f32_polar(int g)
{
    return vsRngGaussian(VSL_RNG_METHOD_GAUSSIAN_BOXMULLER2, streams[g], MANY, floats, 0, 1);
}

static int exponential(int g)
{
    return vdRngExponential(VSL_RNG_METHOD_EXPONENTIAL_ICDF_ACCURATE, streams[g], MANY, doubles,
        0, 1);
}

struct method {
    const char *name;
    int (*fill)(int);
};

static const struct {
    const char *name;
    int (*ours)(int);
    struct method theirs[2];
} cases[] = {
    {"uniform f64", ours_uniform, {{"", uniform}}},
    {"normal f64", ours_normal, {{"ICDF", normal_icdf}, {"Box-Muller", normal_polar}}},
    {"normal f32", ours_normal_f32,
     {{"ICDF", normal_f32_icdf}, {"Box-Muller", normal_f32_polar}}},
    {"exponential f64", ours_exponential, {{"ICDF", exponential}}},
};

static double timed(int (*fill)(int), int g)
{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    if (fill(g) != 0)
        exit(1);
    clock_gettime(CLOCK_MONOTONIC, &after);
    return ((after.tv_sec - before.tv_sec) * 1e9 + (after.tv_nsec - before.tv_nsec)) / MANY;
}

static void keep(double *least, double time)
{
    if (*least == 0 || time < *least)
        *least = time;
}

int main(int count, char **arguments)
{
    int rounds = count > 1 ? atoi(arguments[1]) : 2000;
    if (headwater_stream_key_from_seed(&key, HEADWATER_ARS7, 42) != 0)
        return 1;
    for (int g = 0; g < GENERATORS; g++)
        if (vslNewStream(&streams[g], generators[g].brng, 42) != VSL_STATUS_OK)
            return 1;
    printf("%-16s %10s %10s %6s\n", "ns for each", "headwater", "oneMKL", "ratio");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double ours = 0, theirs[2][GENERATORS] = {0};
        for (int round = 0; round < rounds; round++) {
            keep(&ours, timed(cases[c].ours, 0));
            start += MANY;
            for (int m = 0; m < 2 && cases[c].theirs[m].fill; m++)
                for (int g = 0; g < GENERATORS; g++)
                    keep(&theirs[m][g], timed(cases[c].theirs[m].fill, g));
        }
        int method = 0, generator = 0;
        for (int m = 0; m < 2 && cases[c].theirs[m].fill; m++)
            for (int g = 0; g < GENERATORS; g++)
                if (theirs[m][g] < theirs[method][generator])
                    method = m, generator = g;
        double best = theirs[method][generator];
        printf("%-16s %10.2f %10.2f %5.2fx  %s %s\n", cases[c].name, ours, best, best / ours,
               generators[generator].name, cases[c].theirs[method].name);
    }
    return 0;
}
