/* Columns by row id: values, nulls, errors and releases, against headwater_stream_..._at(). */

#include <errno.h>
#include <headwater.h>
#include <stdint.h>
#include <string.h>

#include "arrow.h"
#include "check.h"

int main(void)
{
    const int64_t ids[4] = {7, 1000000, -3, 8};
    const uint64_t indices[2] = {7, 1000000};
    const uint8_t valid = 0xb; /* row 2 is null, so that its -3 is no id */
    const void *buffers[2] = {&valid, ids};
    const void *without[2] = {NULL, ids};
    struct ArrowSchema schema = schema_of("l"), type;
    struct ArrowArray array = array_of(buffers, 4), column;
    struct headwater_key key, child;
    char message[HEADWATER_ARROW_MESSAGE];
    double expected[2];
    const double *values;
    const uint8_t *bits;

    CHECK(headwater_stream_key_from_seed(&key, HEADWATER_ARS7, 42) == 0);
    CHECK(headwater_stream_key_child_text(&child, &key, "noise") == 0);
    CHECK(headwater_stream_normal_f64_at(&child, 0, indices, expected, 2) == 0);
    CHECK(headwater_arrow_draw(&key, "noise", "normal", NULL, NULL, 0, 0, &schema, &array, &type,
                               &column, message) == 0);
    CHECK(strcmp(type.format, "g") == 0 && strcmp(type.name, "noise") == 0);
    CHECK(column.length == 4 && column.null_count == 1 && column.n_buffers == 2);
    values = column.buffers[1];
    CHECK(values[0] == expected[0] && values[1] == expected[1]);
    bits = column.buffers[0];
    CHECK((bits[0] & 15) == 11);
    type.release(&type);
    column.release(&column);
    CHECK(type.release == NULL && column.release == NULL);

    /* A kind with parameters, and one of vectors. */
    {
        const double shape[1] = {2.5}, d[2] = {3, 1};
        double gamma[2];
        CHECK(headwater_stream_gamma_f64_at(&child, 0, 2.5, indices, gamma, 2) == 0);
        CHECK(headwater_arrow_draw(&key, "noise", "gamma", "float64", shape, 1, 0, &schema, &array,
                                   &type, &column, NULL) == 0);
        values = column.buffers[1];
        CHECK(values[0] == gamma[0] && values[1] == gamma[1]);
        type.release(&type);
        column.release(&column);
        CHECK(headwater_arrow_draw(&key, NULL, "sobol", NULL, d, 2, 0, &schema, &array, &type,
                                   &column, NULL) == 0);
        CHECK(strcmp(type.format, "+w:3") == 0 && column.children[0]->length == 12);
        type.release(&type);
        column.release(&column);
    }

    /* Decisions, whose streams are those of Rust's labels: bytes. Here: the results' forms. */
    CHECK(headwater_arrow_sample(&key, NULL, 1.0, 0, &schema, &array, &type, &column, message) == 0);
    bits = column.buffers[1];
    CHECK(strcmp(type.format, "b") == 0 && (bits[0] & 15) == 11);
    type.release(&type);
    column.release(&column);
    CHECK(headwater_arrow_split(&key, NULL, NULL, 1, 0, &schema, &array, &type, &column, message)
          == 0);
    bits = column.buffers[1];
    CHECK(strcmp(type.format, "C") == 0 && bits[0] == 0 && bits[3] == 0);
    type.release(&type);
    column.release(&column);
    CHECK(headwater_arrow_order(&key, NULL, 0, &schema, &array, &type, &column, message) == 0);
    CHECK(strcmp(type.format, "L") == 0);
    type.release(&type);
    column.release(&column);

    /* Half of xxhash64(cast(42 as bigint)) of Spark. */
    {
        const int64_t one = 42;
        const void *value[2] = {NULL, &one};
        struct ArrowArray single = array_of(value, 1);
        CHECK(headwater_arrow_key_of(0, &schema, &single, &type, &column, message) == 0);
        CHECK(((const int64_t *)column.buffers[1])[0] == 5785288891700345199);
        type.release(&type);
        column.release(&column);
    }

    /* Keys of two columns: a batch, and its errors. */
    {
        const int64_t some[4] = {42, 42, 0, 1};
        const void *others[2] = {NULL, some};
        const void *none[1] = {NULL};
        struct ArrowArray arrays[2] = {array_of(others, 4), array_of(buffers, 4)};
        struct ArrowSchema *types[2] = {&schema, &schema};
        struct ArrowArray *columns[2] = {&arrays[0], &arrays[1]};
        struct ArrowSchema batch_type = schema_of("+s");
        struct ArrowArray batch = array_of(none, 4);
        const int64_t *keys;
        batch_type.n_children = batch.n_children = 2;
        batch_type.children = types;
        batch.children = columns;
        batch.n_buffers = 1;
        CHECK(headwater_arrow_key_of(0, &batch_type, &batch, &type, &column, message) == 0);
        /* Half of xxhash64(42L, 7L) of Spark, and of xxhash64(0L, null). */
        keys = column.buffers[1];
        CHECK(keys[0] == 2755082819714609896 && keys[2] == 6597109305806862902);
        CHECK(column.length == 4 && column.null_count == 0);
        type.release(&type);
        column.release(&column);
        batch.offset = 1;
        CHECK(headwater_arrow_key_of(0, &batch_type, &batch, &type, &column, message) == -1);
        CHECK(errno == EINVAL && strstr(message, "no offset"));
        batch.offset = 0;
        none[0] = &valid;
        CHECK(headwater_arrow_key_of(0, &batch_type, &batch, &type, &column, message) == -1);
        CHECK(errno == EINVAL && strstr(message, "no nulls of its own"));
        none[0] = NULL;
        arrays[1].length = 3;
        CHECK(headwater_arrow_key_of(0, &batch_type, &batch, &type, &column, message) == -1);
        CHECK(errno == EINVAL && strstr(message, "of its own length"));
        batch_type.n_children = 1;
        CHECK(headwater_arrow_key_of(0, &batch_type, &batch, &type, &column, message) == -1);
        CHECK(errno == EINVAL && type.release == NULL && column.release == NULL);
        batch_type.n_children = batch.n_children = 17;
        CHECK(headwater_arrow_key_of(0, &batch_type, &batch, &type, &column, message) == -1);
        CHECK(errno == EINVAL);
    }

    /* Parameters that are columns: the numbers of headwater_arrow_draw() of each row's own. */
    {
        const int64_t rows[4] = {7, 1000000, 0, 8}, trials[4] = {10, 0, 10, -3};
        const double means[4] = {0.5, -2, 0.5, 1e6}, both[2] = {-7, 3};
        const float few[4] = {3, 3, 3, 3};
        const uint8_t without_last = 7;
        const void *of_rows[2] = {NULL, rows}, *of_means[2] = {NULL, means};
        const void *of_few[2] = {NULL, few}, *of_trials[2] = {NULL, trials};
        struct ArrowSchema reals = schema_of("g"), floats = schema_of("f"), whole = schema_of("l");
        struct ArrowArray at = array_of(of_rows, 4), mean = array_of(of_means, 4);
        struct ArrowArray scale = array_of(of_few, 4), trial = array_of(of_trials, 4);
        const struct ArrowSchema *one[2] = {&reals, NULL}, *two[2] = {&reals, &floats};
        const struct ArrowArray *first[2] = {&mean, NULL}, *each[2] = {&mean, &scale};
        const struct ArrowSchema *counts[2] = {&whole, NULL};
        const struct ArrowArray *tried[2] = {&trial, NULL};
        const double half[2] = {0, 0.5};
        double alone[4];
        for (int row = 0; row < 4; row++) {
            const void *of_row[2] = {NULL, &rows[row]};
            const double parameters[2] = {means[row], 3};
            struct ArrowArray single = array_of(of_row, 1);
            CHECK(headwater_arrow_draw(&key, "n", "scaled_normal", NULL, parameters, 2, 0, &schema,
                                       &single, &type, &column, message) == 0);
            alone[row] = ((const double *)column.buffers[1])[0];
            type.release(&type);
            column.release(&column);
        }
        CHECK(headwater_arrow_draw_by_row(&key, "n", "scaled_normal", NULL, both, one, first, 2, 0,
                                          &schema, &at, &type, &column, message) == 0);
        CHECK(strcmp(type.format, "g") == 0 && strcmp(type.name, "n") == 0);
        CHECK(memcmp(column.buffers[1], alone, sizeof alone) == 0);
        type.release(&type);
        column.release(&column);
        CHECK(headwater_arrow_draw_by_row(&key, "n", "scaled_normal", NULL, NULL, two, each, 2, 0,
                                          &schema, &at, &type, &column, message) == 0);
        CHECK(memcmp(column.buffers[1], alone, sizeof alone) == 0);
        type.release(&type);
        column.release(&column);

        /* A null parameter is a null, or an error; one that is refused is an error with its row. */
        of_means[0] = &without_last;
        CHECK(headwater_arrow_draw_by_row(&key, "n", "scaled_normal", NULL, both, one, first, 2, 0,
                                          &schema, &at, &type, &column, message) == 0);
        CHECK(column.null_count == 1 && (((const uint8_t *)column.buffers[0])[0] & 15) == 7);
        CHECK(memcmp(column.buffers[1], alone, 3 * sizeof *alone) == 0);
        type.release(&type);
        column.release(&column);
        CHECK(headwater_arrow_draw_by_row(&key, "n", "scaled_normal", NULL, both, one, first, 2,
                                          HEADWATER_ARROW_REFUSE_NULLS, &schema, &at, &type,
                                          &column, message) == -1);
        CHECK(errno == EINVAL && strncmp(message, "loc in row 3 of the batch must be", 33) == 0);
        CHECK(headwater_arrow_draw_by_row(&key, "n", "binomial", NULL, half, counts, tried, 2, 0,
                                          &schema, &at, &type, &column, message) == -1);
        CHECK(errno == EINVAL && strncmp(message, "n in row 3 of the batch must be", 31) == 0);
        CHECK(strcmp(message + strlen(message) - 6, "not -3") == 0);
        trial.length = 3;
        CHECK(headwater_arrow_draw_by_row(&key, "n", "binomial", NULL, half, counts, tried, 2, 0,
                                          &schema, &at, &type, &column, message) == -1);
        CHECK(errno == EINVAL && strncmp(message, "columns of 4 and of 3 rows", 26) == 0);

        /* Pointers that are missing, a number of parameters, and a kind of vectors. */
        CHECK(headwater_arrow_draw_by_row(&key, "n", "scaled_normal", NULL, NULL, one, first, 2, 0,
                                          &schema, &at, &type, &column, message) == -1);
        CHECK(errno == EFAULT && type.release == NULL && column.release == NULL);
        one[1] = &reals;
        CHECK(headwater_arrow_draw_by_row(&key, "n", "scaled_normal", NULL, both, one, first, 2, 0,
                                          &schema, &at, &type, &column, message) == -1);
        CHECK(errno == EFAULT);
        CHECK(headwater_arrow_draw_by_row(&key, "n", "scaled_normal", NULL, both, NULL, first, 2, 0,
                                          &schema, &at, &type, &column, message) == -1);
        CHECK(errno == EFAULT);
        CHECK(headwater_arrow_draw_by_row(&key, "n", "gamma", NULL, both, two, each, 2, 0, &schema,
                                          &at, &type, &column, message) == -1);
        CHECK(errno == EINVAL && strstr(message, "another number of parameters"));
        one[0] = one[1] = NULL;
        first[0] = NULL;
        CHECK(headwater_arrow_draw_by_row(&key, "n", "sobol", NULL, both, one, first, 2, 0, &schema,
                                          &at, &type, &column, message) == -1);
        CHECK(errno == EINVAL);
    }

    /* Errors: one sentence, an errno, and empty results. */
    array = array_of(without, 4);
    errno = 0;
    CHECK(headwater_arrow_draw(&key, NULL, "normal", NULL, NULL, 0, 0, &schema, &array, &type,
                               &column, message) == -1);
    CHECK(errno == ERANGE && type.release == NULL && column.release == NULL);
    CHECK(strncmp(message, "id -3 in row 2 of the batch is negative", 39) == 0);
    array = array_of(buffers, 4);
    CHECK(headwater_arrow_order(&key, NULL, HEADWATER_ARROW_REFUSE_NULLS, &schema, &array, &type,
                                &column, message) == -1);
    CHECK(errno == EINVAL && strncmp(message, "the id in row 2", 15) == 0);
    CHECK(headwater_arrow_order(&key, NULL, 8, &schema, &array, &type, &column, message) == -1);
    CHECK(errno == EINVAL);
    CHECK(headwater_arrow_sample(&key, NULL, 2.0, 0, &schema, &array, &type, &column, message)
          == -1);
    CHECK(errno == EINVAL && strcmp(message, "p must be a number from 0 to 1") == 0);
    CHECK(headwater_arrow_draw(&key, NULL, "normals", NULL, NULL, 0, 0, &schema, &array, &type,
                               &column, message) == -1);
    CHECK(errno == EINVAL);
    CHECK(headwater_arrow_draw(&key, NULL, NULL, NULL, NULL, 0, 0, &schema, &array, &type, &column,
                               message) == -1);
    CHECK(errno == EFAULT);
    CHECK(headwater_arrow_draw(&key, NULL, "gamma", NULL, NULL, 0, 0, &schema, &array, &type,
                               &column, message) == -1);
    CHECK(errno == EINVAL);
    CHECK(headwater_arrow_order(NULL, NULL, 0, &schema, &array, &type, &column, message) == -1);
    CHECK(errno == EFAULT);
    CHECK(headwater_arrow_order(&key, NULL, 0, NULL, &array, &type, &column, NULL) == -1);
    CHECK(errno == EFAULT);
    CHECK(headwater_arrow_order(&key, NULL, 0, &schema, &array, NULL, &column, message) == -1);
    CHECK(errno == EFAULT);
    schema.format = "g";
    CHECK(headwater_arrow_order(&key, NULL, 0, &schema, &array, &type, &column, message) == -1);
    CHECK(errno == EINVAL && strncmp(message, "a column of float64 has no ids", 30) == 0);
    return 0;
}
