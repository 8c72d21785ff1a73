/* Columns by row id: values, nulls, errors and releases, against headwater_stream_..._at(). */

#include <errno.h>
#include <headwater.h>
#include <math.h>
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
        batch_type.n_children = batch.n_children = 0;
        CHECK(headwater_arrow_key_of(0, &batch_type, &batch, &type, &column, message) == -1);
        CHECK(errno == EINVAL);
        batch_type.n_children = batch.n_children = 17;
        CHECK(headwater_arrow_key_of(0, &batch_type, &batch, &type, &column, message) == -1);
        CHECK(errno == EINVAL);
        /* As many as it takes, and a batch in a batch. */
        {
            struct ArrowSchema *sixteen[16];
            struct ArrowArray *same[16], inner = batch;
            arrays[1] = array_of(buffers, 4);
            for (int i = 0; i < 16; i++) {
                sixteen[i] = &schema;
                same[i] = &arrays[0];
            }
            batch_type.n_children = batch.n_children = 16;
            batch_type.children = sixteen;
            batch.children = same;
            CHECK(headwater_arrow_key_of(0, &batch_type, &batch, &type, &column, message) == 0);
            type.release(&type);
            column.release(&column);
            inner.n_children = 2;
            sixteen[3] = &batch_type;
            same[3] = &inner;
            CHECK(headwater_arrow_key_of(0, &batch_type, &batch, &type, &column, message) == -1);
            CHECK(errno == EINVAL && strstr(message, "key_of() takes no"));
            sixteen[3] = &schema;
            same[3] = &arrays[1];
            arrays[1].release = NULL;
            CHECK(headwater_arrow_key_of(0, &batch_type, &batch, &type, &column, message) == -1);
            CHECK(errno == EINVAL && strstr(message, "released"));
        }
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
        const double half[2] = {0, 0.5}, negative[2] = {0, -1};
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
        CHECK(errno == EINVAL && strncmp(message, "mean in row 3 of the batch must be", 34) == 0);
        CHECK(headwater_arrow_draw_by_row(&key, "n", "binomial", NULL, half, counts, tried, 2, 0,
                                          &schema, &at, &type, &column, message) == -1);
        CHECK(errno == EINVAL && strncmp(message, "trials in row 3 of the batch must be", 36) == 0);
        CHECK(strcmp(message + strlen(message) - 6, "not -3") == 0);
        trial.length = 3;
        CHECK(headwater_arrow_draw_by_row(&key, "n", "binomial", NULL, half, counts, tried, 2, 0,
                                          &schema, &at, &type, &column, message) == -1);
        CHECK(errno == EINVAL && strncmp(message, "columns of 4 and of 3 rows", 26) == 0);

        /* Columns of integers and of booleans, by a dictionary and from an offset; no number is
         * read where a column stands. The results take the place of an argument. */
        {
            const uint8_t flags = 0x16; /* from bit 1: true, true, false, true */
            const int8_t which[4] = {1, 0, 1, 1};
            const int64_t some[3] = {99, 5, 40};
            const double rest[2] = {NAN, 0.5};
            const void *of_flags[2] = {NULL, &flags}, *of_which[2] = {NULL, which};
            const void *of_some[2] = {NULL, some};
            struct ArrowSchema bits_of = schema_of("b"), indirect = schema_of("c");
            struct ArrowArray flag = array_of(of_flags, 4), chosen = array_of(of_which, 4);
            struct ArrowArray dictionary = array_of(of_some, 2);
            const struct ArrowSchema *types[2] = {&indirect, NULL};
            const struct ArrowArray *tries[2] = {&chosen, NULL};
            dictionary.offset = 1;
            indirect.dictionary = &whole;
            chosen.dictionary = &dictionary;
            flag.offset = 1;
            for (int way = 0; way < 2; way++) {
                uint64_t right[4];
                for (int row = 0; row < 4; row++) {
                    const double counts_of[2] = {(double)some[which[row] + 1], 40};
                    const double trials_of[2] = {way ? (row != 2) : counts_of[0], 0.5};
                    const void *of_row[2] = {NULL, &rows[row]};
                    struct ArrowArray single = array_of(of_row, 1);
                    CHECK(headwater_arrow_draw(&key, "n", "binomial", NULL, trials_of, 2, 0, &schema,
                                               &single, &type, &column, message) == 0);
                    right[row] = ((const uint64_t *)column.buffers[1])[0];
                    type.release(&type);
                    column.release(&column);
                }
                if (way) {
                    types[0] = &bits_of;
                    tries[0] = &flag;
                }
                CHECK(headwater_arrow_draw_by_row(&key, "n", "binomial", NULL, rest, types, tries, 2,
                                                  0, &schema, &at, &type,
                                                  way ? &flag : &chosen, message) == 0);
                CHECK(memcmp((way ? flag : chosen).buffers[1], right, sizeof right) == 0);
                type.release(&type);
                (way ? &flag : &chosen)->release(way ? &flag : &chosen);
            }
            /* Columns that are none of this parameter. */
            types[0] = &reals;
            tries[0] = &mean;
            CHECK(headwater_arrow_draw_by_row(&key, "n", "binomial", NULL, rest, types, tries, 2, 0,
                                              &schema, &at, &type, &column, message) == -1);
            CHECK(errno == EINVAL && strstr(message, "trials must be a column of integers"));
            trial.length = 4;
            types[0] = &whole;
            tries[0] = &trial;
            CHECK(headwater_arrow_draw_by_row(&key, "n", "permutation", NULL, NULL, types, tries, 1,
                                              0, &schema, &at, &type, &column, message) == -1);
            CHECK(errno == EINVAL && strstr(message, "one value for all rows"));
            trial.release = NULL;
            CHECK(headwater_arrow_draw_by_row(&key, "n", "binomial", NULL, rest, types, tries, 2, 0,
                                              &schema, &at, &type, &column, message) == -1);
            CHECK(errno == EINVAL && strstr(message, "released"));
            trial.release = keep_array;
        }

        /* Kinds that have no loop in C, over several blocks with runs and nulls. */
        {
            enum { ROWS = 2500 };
            static int64_t many[ROWS];
            static double shapes[ROWS];
            static uint8_t set[ROWS / 8 + 1];
            static double expected_of[ROWS];
            const char *kinds[3] = {"gamma", "chi_square", "weibull"};
            const void *of_many[2] = {NULL, many}, *of_shapes[2] = {set, shapes};
            const struct ArrowSchema *types[1] = {&reals};
            for (int kind = 0; kind < 3; kind++) {
                struct ArrowArray all = array_of(of_many, ROWS), shape = array_of(of_shapes, ROWS);
                const struct ArrowArray *given[1] = {&shape};
                memset(set, 0, sizeof set);
                for (int row = 0; row < ROWS; row++) {
                    const void *of_row[2] = {NULL, &many[row]};
                    struct ArrowArray single = array_of(of_row, 1);
                    many[row] = (int64_t)row * 7919 % 3001;
                    shapes[row] = 0.5 + row / 5 % 7;
                    set[row / 8] |= (uint8_t)((row % 11 != 3) << row % 8);
                    CHECK(headwater_arrow_draw(&key, "n", kinds[kind], NULL, &shapes[row], 1, 0,
                                               &schema, &single, &type, &column, message) == 0);
                    expected_of[row] = ((const double *)column.buffers[1])[0];
                    type.release(&type);
                    column.release(&column);
                }
                CHECK(headwater_arrow_draw_by_row(&key, "n", kinds[kind], NULL, NULL, types, given, 1,
                                                  0, &schema, &all, &type, &column, message) == 0);
                values = column.buffers[1];
                bits = column.buffers[0];
                for (int row = 0; row < ROWS; row++) {
                    CHECK((bits[row / 8] >> row % 8 & 1) == (row % 11 != 3));
                    CHECK(row % 11 == 3 || values[row] == expected_of[row]);
                }
                type.release(&type);
                column.release(&column);
            }
        }

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
        CHECK(headwater_arrow_draw_by_row(&key, "n", "normal", NULL, NULL, NULL, NULL, 0, 0, &schema,
                                          &at, &type, &column, message) == 0);
        type.release(&type);
        column.release(&column);
        CHECK(headwater_arrow_draw_by_row(&key, "n", "normal", NULL, both, one, first, 9, 0, &schema,
                                          &at, &type, &column, message) == -1);
        CHECK(errno == EINVAL);
        /* No row shows it, but for a number beside a column. */
        at.length = mean.length = 0;
        one[0] = &reals;
        first[0] = &mean;
        CHECK(headwater_arrow_draw_by_row(&key, "n", "scaled_normal", NULL, negative, one, first, 2,
                                          0, &schema, &at, &type, &column, message) == 0);
        CHECK(column.length == 0);
        type.release(&type);
        column.release(&column);
        one[0] = NULL;
        first[0] = NULL;
        mean.length = 4;
        CHECK(headwater_arrow_draw_by_row(&key, "n", "scaled_normal", NULL, negative, one, first, 2,
                                          0, &schema, &at, &type, &column, message) == -1);
        CHECK(errno == EINVAL && strncmp(message, "deviation must be", 17) == 0);
        CHECK(headwater_arrow_draw_by_row(&key, "n", "scaled_normal", "int64", both, one, first, 2,
                                          0, &schema, &at, &type, &column, message) == -1);
        CHECK(errno == EINVAL);
        at.length = 4;
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
