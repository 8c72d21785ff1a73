/* Shared by all programs of this directory: a check that NDEBUG does not remove, and that names the
 * place of a failure. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                              \
        }                                                                         \
    } while (0)

/* 16 random bytes are all zero with probability 2^-128. */
static inline int is_zero(const unsigned char *bytes, size_t len)
{
    size_t i;
    for (i = 0; i < len; i++)
        if (bytes[i] != 0)
            return 0;
    return 1;
}

#endif
