/* The stack that each function takes, measured on a painted stack. Each call runs in a child of its
 * own. Prints a line a call: its name and bytes. With the argument "small", runs first draws on an
 * alternate signal stack of 8 KiB, and stream calls on a thread with the smallest stack.
 *
 * The figure is the distance from the caller's frame to the lowest byte that changed. It includes
 * the C library and, unless the program is linked with "-z now", the dynamic linker at the first
 * call of a function: 1,544 bytes with glibc 2.36 and AVX2, 3,144 with AVX-512. It excludes the
 * frame that the kernel writes for a signal. */
#define _GNU_SOURCE
#include "arrow.h"
#include "check.h"
#include <headwater.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { ROOM = 1 << 18, PAINT = 0xA5 };

static unsigned char bytes[70000];
static double doubles[4096];
static float floats[4096];
static uint16_t halves[4096];
static uint64_t words[4096], indices[4096];
static char text[4096];
static struct headwater_alias table[100];
static const double shapes[6] = { 0.5, 0.25, 0.125, 0.75, 0.5, 0.5 };
static const double mixed[4] = { 0.5, 2, 0.75, 7 };
static const double identity[4] = { 1, 0, 0, 1 };
static uint64_t stamp;
static struct headwater_key key;
static struct headwater_rng *rng;
static volatile int result;

static void nothing(void) { }
static void init(void) { result = headwater_init(); }
static void fill_16(void) { result = headwater_fill(bytes, 16); }
static void fill_large(void) { result = headwater_fill(bytes, sizeof bytes); }
static void getrandom_16(void) { result = (int)headwater_getrandom(bytes, 16, 0); }
static void getentropy_256(void) { result = headwater_getentropy(bytes, 256); }
static void arc4random_word(void) { result = (int)headwater_arc4random(); }
static void arc4random_bounded(void) { result = (int)headwater_arc4random_uniform(10); }
static void uniform(void) { result = headwater_uniform(10, words); }
static void shuffle(void) { result = headwater_shuffle(bytes, 16, 24); }
static void rng_new(void) { rng = headwater_rng_new(); }
static void rng_fill(void) { result = headwater_rng_fill(rng, bytes, 16); }
static void rng_fill_large(void) { result = headwater_rng_fill(rng, bytes, sizeof bytes); }
static void generation(void) { result = (int)headwater_generation(); }
static void stale(void) { result = headwater_stale(&stamp); }
static void status(void) { result = (int)headwater_status_json(text, sizeof text); }
static void quiesce(void) { result = headwater_quiesce(); }
static void self_test(void) { result = headwater_self_test(); }
static void pseudo(void) { result = headwater_random_pseudo_bytes(bytes, sizeof bytes); }
static void key_from_text(void) { result = headwater_stream_key_from_text(&key, HEADWATER_ARS7, "seed"); }
static void key_child(void) { result = headwater_stream_key_child(&key, &key, 1); }
static void stream_u8(void) { result = headwater_stream_fill_u8(&key, 0, 3, bytes, 60000); }
static void stream_u64(void) { result = headwater_stream_fill_u64(&key, 0, 3, words, 4096); }
static void stream_f32(void) { result = headwater_stream_fill_f32(&key, 0, 3, floats, 4096); }
static void stream_f64(void) { result = headwater_stream_fill_f64(&key, 0, 3, doubles, 4096); }
static void stream_normal_f32(void) { result = headwater_stream_fill_normal_f32(&key, 0, 3, floats, 4096); }
static void stream_normal_f64(void) { result = headwater_stream_fill_normal_f64(&key, 0, 3, doubles, 4096); }
static void stream_exponential(void) { result = headwater_stream_fill_exponential_f64(&key, 0, 3, doubles, 4096); }
static void stream_bounded(void) { result = headwater_stream_fill_bounded_u64(&key, 0, 10, 3, words, 4096); }
static void stream_u8_at(void) { result = headwater_stream_u8_at(&key, 0, indices, bytes, 4096); }
static void stream_f64_at(void) { result = headwater_stream_f64_at(&key, 0, indices, doubles, 4096); }
static void stream_normal_at(void) { result = headwater_stream_normal_f64_at(&key, 0, indices, doubles, 4096); }
static void stream_exponential_at(void) { result = headwater_stream_exponential_f64_at(&key, 0, indices, doubles, 4096); }
static void stream_bounded_at(void) { result = headwater_stream_bounded_u64_at(&key, 0, 10, indices, words, 4096); }
static void stream_gamma(void) { result = headwater_stream_fill_gamma_f64(&key, 0, 0.5, 3, doubles, 4096); }
static void stream_beta(void) { result = headwater_stream_fill_beta_f64(&key, 0, 0.5, 2, 3, doubles, 4096); }
static void stream_student_t(void) { result = headwater_stream_fill_student_t_f64(&key, 0, 5, 3, doubles, 4096); }
static void stream_lognormal(void) { result = headwater_stream_fill_lognormal_f64(&key, 0, 0, 1, 3, doubles, 4096); }
static void stream_poisson_3(void) { result = headwater_stream_fill_poisson_u64(&key, 0, 3, 3, words, 4096); }
static void stream_poisson_30(void) { result = headwater_stream_fill_poisson_u64(&key, 0, 30, 3, words, 4096); }
static void stream_binomial_3(void) { result = headwater_stream_fill_binomial_u64(&key, 0, 10, 0.3, 3, words, 4096); }
static void stream_binomial_30(void) { result = headwater_stream_fill_binomial_u64(&key, 0, 100, 0.3, 3, words, 4096); }
static void stream_beta_at(void) { result = headwater_stream_beta_f64_at(&key, 0, 0.5, 2, indices, doubles, 4096); }
static void stream_binomial_at(void) { result = headwater_stream_binomial_u64_at(&key, 0, 100, 0.3, indices, words, 4096); }
static void stream_truncated(void) { result = headwater_stream_fill_truncated_normal_f64(&key, 0, 0, 1, -1, 9, 3, doubles, 4096); }
static void stream_von_mises(void) { result = headwater_stream_fill_von_mises_f64(&key, 0, 0, 4, 3, doubles, 4096); }
static void alias_table(void) { doubles[3] = 1; result = headwater_stream_alias_table(doubles, 100, table); }
static void stream_categorical(void) { result = headwater_stream_fill_categorical_u64(&key, 0, table, 100, 3, words, 4096); }
static void stream_dirichlet(void) { result = headwater_stream_fill_dirichlet_f64(&key, 0, shapes, 4, 3, doubles, 1000); }
static void stream_multinomial(void) { result = headwater_stream_fill_multinomial_u64(&key, 0, 100, shapes, 4, 3, words, 1000); }
static void stream_normal_vectors(void) { result = headwater_stream_fill_multivariate_normal_f64(&key, 0, shapes, identity, 2, 3, doubles, 1000); }
static void stream_sobol(void) { result = headwater_stream_fill_sobol_f64(&key, 0, 4, 1, 3, doubles, 1000); }
static void cholesky(void) { result = headwater_stream_cholesky(identity, 2, doubles); }
static void stream_normal_f16(void) { result = headwater_stream_fill_normal_f16_bits(&key, 0, 3, halves, 4096); }
static void stream_normal_bf16_at(void) { result = headwater_stream_normal_bf16_bits_at(&key, 0, indices, halves, 4096); }
static void stream_complex_normal(void) { result = headwater_stream_fill_complex_normal_f64(&key, 0, 3, doubles, 2048); }
static void stream_dirichlet_mixed(void) { result = headwater_stream_fill_dirichlet_f64(&key, 0, mixed, 4, 3, doubles, 1000); }
static void stream_dirichlet_at(void) { result = headwater_stream_dirichlet_f64_at(&key, 0, mixed, 4, indices, doubles, 1000); }
static void stream_fill_perm(void) { result = headwater_stream_fill_perm(&key, 0, 5000, 3, words, 4096); }
static void stream_perm_list(void) { result = headwater_stream_perm_list_at(&key, 0, 5000, indices, words, 4096); }
static void stream_perm(void) { result = headwater_stream_perm_at(&key, 0, 1000, 3, words); }

/* Columns of 3,000 rows, so that a call has more than one block. */
static const void *of_ids[2] = { NULL, indices }, *of_reals[2] = { NULL, doubles }, *of_rows[1];
static struct ArrowSchema wide, real, rows, made_type;
static struct ArrowArray ids, reals, batch, made;
static char message[HEADWATER_ARROW_MESSAGE];

static void columns(void)
{
    static struct ArrowSchema *types[2] = { &wide, &wide };
    static struct ArrowArray *of_batch[2] = { &ids, &ids };
    size_t i;
    for (i = 0; i < 3000; i++) {
        indices[i] = i * 7919 % 3000;
        doubles[i] = 1.5 + (double)(i % 7);
    }
    wide = schema_of("L");
    real = schema_of("g");
    rows = schema_of("+s");
    ids = array_of(of_ids, 3000);
    reals = array_of(of_reals, 3000);
    batch = array_of(of_rows, 3000);
    batch.n_buffers = 1;
    rows.n_children = batch.n_children = 2;
    rows.children = types;
    batch.children = of_batch;
}

static void drawn(const char *kind, const double *parameters, size_t n)
{
    result = headwater_arrow_draw(&key, "n", kind, NULL, parameters, n, 0, &wide, &ids, &made_type, &made, message);
}

static void by_row(const char *kind, size_t n)
{
    static const struct ArrowSchema *types[3] = { &real, &real, &real };
    static const struct ArrowArray *parameters[3] = { &reals, &reals, &reals };
    result = headwater_arrow_draw_by_row(&key, "n", kind, NULL, NULL, types, parameters, n, 0, &wide, &ids, &made_type, &made, message);
}

static const double dimension[2] = { 3, 1 };
static void arrow_normal(void) { drawn("normal", NULL, 0); }
static void arrow_gamma(void) { drawn("gamma", shapes, 1); }
static void arrow_sobol(void) { drawn("sobol", dimension, 2); }
static void arrow_normal_by_row(void) { by_row("scaled_normal", 2); }
static void arrow_beta_by_row(void) { by_row("beta", 2); }
static void arrow_f_by_row(void) { by_row("noncentral_f", 3); }
static void arrow_poisson_by_row(void) { by_row("poisson", 1); }
static void arrow_sample(void) { result = headwater_arrow_sample(&key, NULL, 0.5, 0, &wide, &ids, &made_type, &made, message); }
static void arrow_order(void) { result = headwater_arrow_order(&key, NULL, 0, &wide, &ids, &made_type, &made, message); }
static void arrow_split(void) { result = headwater_arrow_split(&key, NULL, NULL, 10, 0, &wide, &ids, &made_type, &made, message); }
static void arrow_key_of(void) { result = headwater_arrow_key_of(0, &rows, &batch, &made_type, &made, message); }

static const struct {
    const char *name;
    void (*call)(void);
    int first; /* the first call of the process */
} calls[] = {
    { "first headwater_init", init, 1 },
    { "first headwater_fill", fill_16, 1 },
    { "first headwater_arc4random", arc4random_word, 1 },
    { "first headwater_rng_new", rng_new, 1 },
    { "first headwater_status_json", status, 1 },
    { "first headwater_random_pseudo_bytes", pseudo, 1 },
    { "headwater_fill, 16 bytes", fill_16, 0 },
    { "headwater_fill, 70000 bytes", fill_large, 0 },
    { "headwater_getrandom", getrandom_16, 0 },
    { "headwater_getentropy", getentropy_256, 0 },
    { "headwater_arc4random", arc4random_word, 0 },
    { "headwater_arc4random_uniform", arc4random_bounded, 0 },
    { "headwater_uniform", uniform, 0 },
    { "headwater_shuffle", shuffle, 0 },
    { "headwater_rng_new", rng_new, 0 },
    { "headwater_rng_fill, 16 bytes", rng_fill, 0 },
    { "headwater_rng_fill, 70000 bytes", rng_fill_large, 0 },
    { "headwater_generation", generation, 0 },
    { "headwater_stale", stale, 0 },
    { "headwater_status_json", status, 0 },
    { "headwater_quiesce", quiesce, 0 },
    { "headwater_self_test", self_test, 0 },
    { "headwater_random_pseudo_bytes", pseudo, 0 },
    { "headwater_stream_key_from_text", key_from_text, 0 },
    { "headwater_stream_key_child", key_child, 0 },
    { "headwater_stream_fill_u8", stream_u8, 0 },
    { "headwater_stream_fill_u64", stream_u64, 0 },
    { "headwater_stream_fill_f32", stream_f32, 0 },
    { "headwater_stream_fill_f64", stream_f64, 0 },
    { "headwater_stream_fill_normal_f32", stream_normal_f32, 0 },
    { "headwater_stream_fill_normal_f64", stream_normal_f64, 0 },
    { "headwater_stream_fill_exponential_f64", stream_exponential, 0 },
    { "headwater_stream_fill_bounded_u64", stream_bounded, 0 },
    { "headwater_stream_u8_at", stream_u8_at, 0 },
    { "headwater_stream_f64_at", stream_f64_at, 0 },
    { "headwater_stream_normal_f64_at", stream_normal_at, 0 },
    { "headwater_stream_exponential_f64_at", stream_exponential_at, 0 },
    { "headwater_stream_bounded_u64_at", stream_bounded_at, 0 },
    { "headwater_stream_fill_gamma_f64", stream_gamma, 0 },
    { "headwater_stream_fill_beta_f64", stream_beta, 0 },
    { "headwater_stream_fill_student_t_f64", stream_student_t, 0 },
    { "headwater_stream_fill_lognormal_f64", stream_lognormal, 0 },
    { "headwater_stream_fill_poisson_u64, mean 3", stream_poisson_3, 0 },
    { "headwater_stream_fill_poisson_u64, mean 30", stream_poisson_30, 0 },
    { "headwater_stream_fill_binomial_u64, mean 3", stream_binomial_3, 0 },
    { "headwater_stream_fill_binomial_u64, mean 30", stream_binomial_30, 0 },
    { "headwater_stream_beta_f64_at", stream_beta_at, 0 },
    { "headwater_stream_binomial_u64_at", stream_binomial_at, 0 },
    { "headwater_stream_fill_truncated_normal_f64", stream_truncated, 0 },
    { "headwater_stream_fill_von_mises_f64", stream_von_mises, 0 },
    { "headwater_stream_alias_table", alias_table, 0 },
    { "headwater_stream_fill_categorical_u64", stream_categorical, 0 },
    { "headwater_stream_fill_dirichlet_f64", stream_dirichlet, 0 },
    { "headwater_stream_fill_dirichlet_f64, mixed shapes", stream_dirichlet_mixed, 0 },
    { "headwater_stream_dirichlet_f64_at", stream_dirichlet_at, 0 },
    { "headwater_stream_fill_multinomial_u64", stream_multinomial, 0 },
    { "headwater_stream_fill_normal_f16_bits", stream_normal_f16, 0 },
    { "headwater_stream_normal_bf16_bits_at", stream_normal_bf16_at, 0 },
    { "headwater_stream_fill_complex_normal_f64", stream_complex_normal, 0 },
    { "headwater_stream_fill_multivariate_normal_f64", stream_normal_vectors, 0 },
    { "headwater_stream_fill_sobol_f64", stream_sobol, 0 },
    { "headwater_stream_cholesky", cholesky, 0 },
    { "headwater_stream_perm_at", stream_perm, 0 },
    { "headwater_stream_fill_perm", stream_fill_perm, 0 },
    { "headwater_stream_perm_list_at", stream_perm_list, 0 },
    { "headwater_arrow_draw, normal", arrow_normal, 0 },
    { "headwater_arrow_draw, gamma", arrow_gamma, 0 },
    { "headwater_arrow_draw, sobol", arrow_sobol, 0 },
    { "headwater_arrow_draw_by_row, normal", arrow_normal_by_row, 0 },
    { "headwater_arrow_draw_by_row, beta", arrow_beta_by_row, 0 },
    { "headwater_arrow_draw_by_row, noncentral F", arrow_f_by_row, 0 },
    { "headwater_arrow_draw_by_row, poisson", arrow_poisson_by_row, 0 },
    { "headwater_arrow_sample", arrow_sample, 0 },
    { "headwater_arrow_order", arrow_order, 0 },
    { "headwater_arrow_split", arrow_split, 0 },
    { "headwater_arrow_key_of", arrow_key_of, 0 },
};

enum { CALLS = sizeof calls / sizeof *calls };

static size_t taken(void (*call)(void))
{
    static ucontext_t here, there;
    unsigned char *stack = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t untouched = 0;
    CHECK(stack != MAP_FAILED);
    memset(stack, PAINT, ROOM);
    CHECK(getcontext(&there) == 0);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = ROOM;
    there.uc_link = &here;
    makecontext(&there, call, 0);
    CHECK(swapcontext(&here, &there) == 0);
    while (untouched < ROOM && stack[untouched] == PAINT)
        untouched++;
    return ROOM - untouched;
}

static void prepare(int first)
{
    CHECK(headwater_stream_key_from_seed(&key, HEADWATER_ARS7, 1) == 0);
    /* The environment moves: the first draw then reads it in the way that takes most stack. */
    CHECK(setenv("HEADWATER_TEST_MOVES", "the environment", 1) == 0);
    if (!first) {
        int i;
        CHECK(headwater_random_pseudo_bytes(bytes, 8) == 0);
        for (i = 0; i < 100; i++)
            CHECK(headwater_fill(bytes, 16) == 0);
        rng = headwater_rng_new();
        CHECK(rng != NULL && headwater_generation() + 1 != 0);
    }
}

static void in_child(void (*work)(size_t), size_t which)
{
    int ended;
    pid_t child;
    fflush(stdout);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        work(which);
        fflush(stdout);
        _exit(0);
    }
    CHECK(waitpid(child, &ended, 0) == child);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
        fprintf(stderr, "%s: ended with %x\n", calls[which].name, ended);
    CHECK(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
}

static void measure(size_t which)
{
    size_t base;
    prepare(calls[which].first);
    columns();
    base = taken(nothing);
    printf("%s: %zu\n", calls[which].name, taken(calls[which].call) - base);
    if (strstr(calls[which].name, "arrow") != NULL)
        CHECK(result == 0 && made.length == 3000);
}

static volatile sig_atomic_t handled;

static void handler(int signal)
{
    (void)signal;
    handled = headwater_fill(bytes, 16) == 0;
}

/* A first draw in a handler, on an alternate stack of the constant SIGSTKSZ of old headers. */
static void on_alternate_stack(size_t unused)
{
    static unsigned char guarded[3 * 8192] __attribute__((aligned(4096)));
    stack_t stack;
    struct sigaction action;
    (void)unused;
    /* A page that cannot be written lies below the stack. */
    CHECK(mprotect(guarded, 8192, PROT_NONE) == 0);
    memset(&stack, 0, sizeof stack);
    memset(&action, 0, sizeof action);
    stack.ss_sp = guarded + 8192;
    stack.ss_size = 8192;
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK;
    CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0 && handled);
}

static void *streams(void *unused)
{
    size_t i;
    for (i = 0; i < CALLS; i++)
        if (strstr(calls[i].name, "stream") != NULL)
            calls[i].call();
    return unused;
}

static void on_small_thread(size_t unused)
{
    pthread_attr_t attributes;
    pthread_t thread;
    (void)unused;
    CHECK(headwater_stream_key_from_seed(&key, HEADWATER_ARS7, 1) == 0);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 16384) == 0);
    CHECK(pthread_create(&thread, &attributes, streams, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

int main(int argc, char **argv)
{
    size_t i;
    if (argc > 1 && strcmp(argv[1], "small") == 0) {
        in_child(on_alternate_stack, 1);
        in_child(on_small_thread, CALLS - 1);
        puts("fits");
        return 0;
    }
    for (i = 0; i < CALLS; i++)
        in_child(measure, i);
    return 0;
}
