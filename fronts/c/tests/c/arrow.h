/* Columns of a program that has no Arrow library. */
#include <stdint.h>

/* As the Arrow C data interface has them. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

static void keep_schema(struct ArrowSchema *schema) { (void)schema; }
static void keep_array(struct ArrowArray *array) { (void)array; }

static struct ArrowSchema schema_of(const char *format)
{
    struct ArrowSchema schema = {0};
    schema.format = format;
    schema.release = keep_schema;
    return schema;
}

static struct ArrowArray array_of(const void **buffers, int64_t length)
{
    struct ArrowArray array = {0};
    array.length = length;
    array.null_count = -1;
    array.n_buffers = 2;
    array.buffers = buffers;
    array.release = keep_array;
    return array;
}
