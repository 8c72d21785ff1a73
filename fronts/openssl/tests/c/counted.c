/* A provider in front of the module, which it loads and passes everything to. It counts the draws,
 * and appends a line for the process when the process exits: recipe, program, draws, bytes.
 *
 * OpenSSL's own tests load it in place of the module (xtask/src/openssl_suite): many of them choose
 * a configuration or a generator of their own, and would pass without a draw from headwater.
 *
 * MODULE and RECORD are the paths of the module and of the file with the lines. The variable
 * HEADWATER_TEST_RECIPE names the recipe. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/core_dispatch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* More functions than either table of the module has. */
#define MOST 32

static atomic_ulong draws, bytes;
static OSSL_FUNC_rand_generate_fn *generate_there;
static OSSL_FUNC_provider_query_operation_fn *query_there;
static OSSL_DISPATCH functions[MOST], generator[MOST];
static OSSL_ALGORITHM generators[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static OSSL_provider_init_fn *init_there;

static int generate(void *context, unsigned char *out, size_t len, unsigned int strength, int resistance,
    const unsigned char *input, size_t input_len)
{
    int done = generate_there(context, out, len, strength, resistance, input, input_len);

    if (done) {
        atomic_fetch_add(&draws, 1);
        atomic_fetch_add(&bytes, len);
    }
    return done;
}

static const OSSL_ALGORITHM *query(void *provider, int operation, int *no_store)
{
    return query_there(provider, operation, no_store) != NULL ? generators : NULL;
}

/* Copies a table, with one function replaced. Returns the function that was there. */
static void (*replace(OSSL_DISPATCH *to, const OSSL_DISPATCH *from, int id, void (*with)(void)))(void)
{
    void (*there)(void) = NULL;
    size_t i;

    for (i = 0; from[i].function_id != 0; i++) {
        if (i + 1 == MOST)
            abort();
        to[i] = from[i];
        if (from[i].function_id == id) {
            there = from[i].function;
            to[i].function = with;
        }
    }
    if (there == NULL)
        abort();
    return there;
}

/* The parent writes its own line. */
static void in_child(void)
{
    draws = bytes = 0;
}

static void load(void)
{
    void *module = dlopen(MODULE, RTLD_NOW | RTLD_LOCAL);

    if (module == NULL)
        return;
    init_there = (OSSL_provider_init_fn *)dlsym(module, "OSSL_provider_init");
    pthread_atfork(NULL, NULL, in_child);
}

int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in, const OSSL_DISPATCH **out, void **context)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    const OSSL_ALGORITHM *all;
    int no_store;

    pthread_once(&once, load);
    if (init_there == NULL || !init_there(handle, in, out, context))
        return 0;
    /* Each library context gets here, with the same tables. */
    pthread_mutex_lock(&one);
    if (query_there == NULL) {
        OSSL_FUNC_provider_query_operation_fn *there = (OSSL_FUNC_provider_query_operation_fn *)replace(
            functions, *out, OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query);
        all = there(*context, OSSL_OP_RAND, &no_store);
        /* There is one generator, whose line ends the table. */
        if (all == NULL || all[1].algorithm_names != NULL)
            abort();
        generators[0] = all[0];
        generate_there = (OSSL_FUNC_rand_generate_fn *)replace(
            generator, all[0].implementation, OSSL_FUNC_RAND_GENERATE, (void (*)(void))generate);
        generators[0].implementation = generator;
        query_there = there;
    }
    pthread_mutex_unlock(&one);
    *out = functions;
    return 1;
}

__attribute__((destructor)) static void write_line(void)
{
    const char *recipe = getenv("HEADWATER_TEST_RECIPE");
    char line[1024];
    int file, len;

    if (init_there == NULL)
        return;
    len = snprintf(line, sizeof line, "%s\t%s\t%lu\t%lu\n", recipe != NULL ? recipe : "",
        program_invocation_short_name, (unsigned long)draws, (unsigned long)bytes);
    /* One write, so that lines of several processes do not mix. */
    file = open(RECORD, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || len < 0 || write(file, line, (size_t)len) != len)
        abort();
    close(file);
}
