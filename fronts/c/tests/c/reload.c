/* Opens and closes the library in a loop, in several threads at once, and draws again after the
 * last dlclose. */
#include "check.h"
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef int fill_function(void *, size_t);

static const char *path;

static fill_function *open_and_close(void)
{
    fill_function *fill;
    void *address;
    unsigned char bytes[32];
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    address = dlsym(library, "headwater_fill");
    CHECK(address != NULL);
    memcpy(&fill, &address, sizeof fill); /* ISO C has no cast from an object to a function */
    CHECK(fill(bytes, sizeof bytes) == 0 && !is_zero(bytes, sizeof bytes));
    CHECK(dlclose(library) == 0);
    return fill;
}

static void *thread(void *nothing)
{
    int i;
    for (i = 0; i < 100; i++)
        open_and_close();
    return nothing;
}

static fill_function *at_exit;

static void exits(void)
{
    unsigned char bytes[32];
    CHECK(at_exit(bytes, sizeof bytes) == 0 && !is_zero(bytes, sizeof bytes));
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    unsigned char bytes[32];
    int i;
    CHECK(argc == 2);
    path = argv[1];
    CHECK(atexit(exits) == 0);
    for (i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, thread, NULL) == 0);
    for (i = 0; i < 1000; i++)
        at_exit = open_and_close();
    for (i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(at_exit(bytes, sizeof bytes) == 0 && !is_zero(bytes, sizeof bytes));
    CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL); /* still mapped: -z nodelete */
    return 0;
}
