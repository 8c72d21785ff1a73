/* Checks the promises of headwater.h, function by function. Compiles as C99 to C23 and as C++11 to
 * C++20. */
#include "check.h"
#include <errno.h>
#include <headwater.h>
#include <limits.h>
#include <string.h>

/* The values of GRND_* in <sys/random.h>; older C libraries do not define GRND_INSECURE. */
#define NONBLOCK 1u
#define RANDOM 2u
#define INSECURE 4u

static unsigned char a[5000], b[5000];

static void fills(void)
{
    static const size_t lengths[] = {1, 2, 7, 8, 9, 15, 16, 17, 64, 256, 1024, 1025, 4096, 4999};
    size_t i, len;
    for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        len = lengths[i];
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        errno = 12345;
        CHECK(headwater_fill(a, len) == 0);
        CHECK(headwater_fill(b, len) == 0);
        CHECK(errno == 12345);
        CHECK(is_zero(a + len, sizeof a - len));
        if (len >= 16) {
            CHECK(!is_zero(a + len - 16, 16));
            CHECK(memcmp(a, b, len) != 0);
        }
    }
    CHECK(headwater_fill(NULL, 0) == 0);
    errno = 0;
    CHECK(headwater_fill(NULL, 1) == -1 && errno == EFAULT);
    errno = 0;
    CHECK(headwater_fill(a, SIZE_MAX) == -1 && errno == EFAULT);
}

/* Draws into memory of exactly the requested length, so that valgrind reports a write past its end.
 * The sanitizers cannot: they see only code that their own compiler made. */
static void writes_nothing_behind(void)
{
    static const size_t lengths[] = {1, 3, 8, 16, 31, 33, 256, 1024, 1025, 3000, 20000};
    struct headwater_rng *rng = headwater_rng_new();
    size_t i, j;
    CHECK(rng != NULL);
    for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (j = 0; j < 4; j++) {
            unsigned char *exact = (unsigned char *)malloc(lengths[i]);
            CHECK(exact != NULL);
            if (j == 0)
                CHECK(headwater_fill(exact, lengths[i]) == 0);
            else if (j == 1)
                CHECK(headwater_rng_fill(rng, exact, lengths[i]) == 0);
            else if (j == 2)
                CHECK(headwater_getrandom(exact, lengths[i], NONBLOCK) == (ssize_t)lengths[i]);
            else
                headwater_arc4random_buf(exact, lengths[i]);
            free(exact);
        }
    }
    headwater_rng_free(rng);
}

static void getrandoms(void)
{
    static const unsigned good[] = {0, NONBLOCK, RANDOM, INSECURE, NONBLOCK | RANDOM, NONBLOCK | INSECURE};
    static const unsigned bad[] = {8, RANDOM | INSECURE, NONBLOCK | RANDOM | INSECURE, 0x80000000u};
    size_t i;
    for (i = 0; i < sizeof good / sizeof *good; i++) {
        memset(a, 0, 32);
        errno = 12345;
        CHECK(headwater_getrandom(a, 32, good[i]) == 32 && errno == 12345);
        CHECK(!is_zero(a, 16) && !is_zero(a + 16, 16));
    }
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(a, 7, 32);
        errno = 0;
        CHECK(headwater_getrandom(a, 32, bad[i]) == -1 && errno == EINVAL);
        CHECK(a[0] == 7 && a[31] == 7);
    }
    CHECK(headwater_getrandom(NULL, 0, 0) == 0);
    errno = 0;
    CHECK(headwater_getrandom(NULL, 1, 0) == -1 && errno == EFAULT);
    errno = 0;
    CHECK(headwater_getrandom(a, (size_t)SSIZE_MAX + 1, 0) == -1 && errno == EFAULT);
}

static void getentropies(void)
{
    memset(a, 0, 257);
    CHECK(headwater_getentropy(a, 256) == 0 && !is_zero(a + 240, 16) && a[256] == 0);
    memset(a, 7, 257);
    errno = 0;
    CHECK(headwater_getentropy(a, 257) == -1 && errno == EIO && a[0] == 7);
    CHECK(headwater_getentropy(NULL, 0) == 0);
    errno = 0;
    CHECK(headwater_getentropy(NULL, 1) == -1 && errno == EFAULT);
    errno = 0;
    CHECK(headwater_getentropy(NULL, 257) == -1 && errno == EIO);
}

static void arc4randoms(void)
{
    uint32_t ones = 0, zeros = 0, seen = 0, value;
    int i;
    for (i = 0; i < 200; i++) { /* a bit that is stuck: 64 * 2^-200 */
        value = headwater_arc4random();
        ones |= value;
        zeros |= ~value;
    }
    CHECK(ones == UINT32_MAX && zeros == UINT32_MAX);
    CHECK(headwater_arc4random_uniform(0) == 0);
    CHECK(headwater_arc4random_uniform(1) == 0);
    for (i = 0; i < 1000; i++) { /* one of six never seen: 6 * (5/6)^1000 */
        value = headwater_arc4random_uniform(6);
        CHECK(value < 6);
        seen |= 1u << value;
    }
    CHECK(seen == 63);
    memset(a, 0, 48);
    headwater_arc4random_buf(a, 32);
    CHECK(!is_zero(a, 16) && !is_zero(a + 16, 16) && is_zero(a + 32, 16));
    headwater_arc4random_buf(NULL, 0);
}

static void uniforms(void)
{
    uint64_t number = 7, high = 0;
    unsigned seen = 0;
    int i;
    errno = 0;
    CHECK(headwater_uniform(0, &number) == -1 && errno == EINVAL && number == 7);
    errno = 0;
    CHECK(headwater_uniform(5, NULL) == -1 && errno == EFAULT);
    errno = 0;
    CHECK(headwater_uniform(1, &number) == 0 && number == 0 && errno == 0);
    for (i = 0; i < 1000; i++) { /* one of six never seen: 6 * (5/6)^1000 */
        CHECK(headwater_uniform(6, &number) == 0 && number < 6);
        seen |= 1u << number;
        CHECK(headwater_uniform((UINT64_C(1) << 63) + 1, &number) == 0);
        CHECK(number <= UINT64_C(1) << 63);
        high |= number;
        CHECK(headwater_uniform(UINT64_MAX, &number) == 0 && number < UINT64_MAX);
        high |= number;
    }
    CHECK(seen == 63 && high == UINT64_MAX);
}

static void shuffles(void)
{
    /* The orders of four items as numbers of base 4. Each of the 24 has 1,000 of 24,000 shuffles,
     * with a deviation of 31: one beyond 7 deviations in 10^10 runs. */
    static unsigned orders[256];
    static unsigned char items[100 * 37];
    unsigned i, n, size, found = 0;
    uint32_t four[4];
    errno = 0;
    CHECK(headwater_shuffle(NULL, 2, 1) == -1 && errno == EFAULT);
    errno = 0;
    CHECK(headwater_shuffle(items, SIZE_MAX / 2, 3) == -1 && errno == EFAULT);
    errno = 0;
    CHECK(headwater_shuffle(items, SIZE_MAX, 1) == -1 && errno == EFAULT);
    errno = 0;
    CHECK(headwater_shuffle(NULL, 0, 8) == 0 && headwater_shuffle(NULL, 8, 0) == 0);
    items[0] = 9;
    CHECK(headwater_shuffle(items, 1, 100) == 0 && items[0] == 9 && errno == 0);
    for (i = 0; i < 24000; i++) {
        for (n = 0; n < 4; n++)
            four[n] = n;
        CHECK(headwater_shuffle(four, 4, sizeof *four) == 0);
        orders[four[0] << 6 | four[1] << 4 | four[2] << 2 | four[3]]++;
    }
    for (i = 0; i < 256; i++) {
        CHECK(orders[i] == 0 || (orders[i] > 780 && orders[i] < 1220));
        found += orders[i] > 0;
    }
    CHECK(found == 24);
    for (size = 1; size <= 37; size++) { /* all bytes of an item move together */
        for (i = 0; i < 100 * size; i++)
            items[i] = (unsigned char)(i / size);
        CHECK(headwater_shuffle(items, 100, size) == 0);
        for (i = n = found = 0; i < 100; i++) {
            for (n = 0; n < size; n++)
                CHECK(items[i * size + n] == items[i * size]);
            found += items[i * size];
        }
        CHECK(found == 4950);
    }
}

static void generators(void)
{
    struct headwater_rng *many[70];
    int i;
    for (i = 0; i < 70; i++) { /* one mapping has 64 */
        CHECK((many[i] = headwater_rng_new()) != NULL);
        CHECK(headwater_rng_fill(many[i], a + 16 * i, 16) == 0);
    }
    for (i = 1; i < 70; i++)
        CHECK(memcmp(a, a + 16 * i, 16) != 0);
    CHECK(headwater_rng_fill(many[0], a, sizeof a) == 0 && !is_zero(a + sizeof a - 16, 16));
    CHECK(headwater_rng_fill(many[0], NULL, 0) == 0);
    errno = 0;
    CHECK(headwater_rng_fill(many[0], NULL, 1) == -1 && errno == EFAULT);
    errno = 0;
    CHECK(headwater_rng_fill(NULL, a, 16) == -1 && errno == EFAULT);
    for (i = 0; i < 70; i++)
        headwater_rng_free(many[i]);
    headwater_rng_free(NULL);
}

static void freshness(void)
{
    uint64_t stamp = 0;
    int first, second, tries;
    errno = 12345;
    first = headwater_stale(&stamp);
    second = 1;
    for (tries = 0; second == 1 && tries < 100; tries++) /* the kernel may reseed in between */
        second = headwater_stale(&stamp);
    CHECK(errno == 12345);
    if (headwater_generation() != 0) {
        CHECK(first == 1 && second == 0);
    } else {
        CHECK(second == -1 && (first == 1 || stamp == 0)); /* 1: a new stamp */
    }
    errno = 0;
    CHECK(headwater_stale(NULL) == -1 && errno == EFAULT);
}

static void status(void)
{
    static char text[4096], part[40];
    const char *source = getenv("EXPECT_SOURCE");
    ssize_t whole;
    errno = 12345;
    whole = headwater_status_json(text, sizeof text);
    CHECK(whole > 500 && (size_t)whole < sizeof text && errno == 12345);
    CHECK(strlen(text) == (size_t)whole);
    CHECK(strncmp(text, "{\"schema\":\"headwater.status/1\",", 31) == 0 && text[whole - 1] == '}');
    if (source != NULL)
        CHECK(strstr(text, source) != NULL);
    memset(part, 7, sizeof part);
    CHECK(headwater_status_json(part, 20) > 500 && part[19] == 0 && part[20] == 7);
    CHECK(memcmp(part, text, 19) == 0);
    CHECK(headwater_status_json(part, 1) > 500 && part[0] == 0);
    CHECK(headwater_status_json(NULL, 0) > 500);
    errno = 0;
    CHECK(headwater_status_json(NULL, 1) == -1 && errno == EFAULT);
}

int main(int argc, char **argv)
{
    char version[40];
    CHECK(headwater_init() == 0 && headwater_init() == 0);
    CHECK(headwater_self_test() == 0 && headwater_self_test() == 0);
    snprintf(version, sizeof version, "%d.%d.%d", HEADWATER_VERSION_MAJOR, HEADWATER_VERSION_MINOR,
             HEADWATER_VERSION_PATCH);
    CHECK(strcmp(version, headwater_version()) == 0);
    fills();
    writes_nothing_behind();
    getrandoms();
    getentropies();
    arc4randoms();
    uniforms();
    shuffles();
    generators();
    freshness();
    status();
    CHECK(headwater_quiesce() == 0);
    fills();
    getrandoms();
    if (argc > 1 && strcmp(argv[1], "status") == 0) {
        static char text[4096];
        CHECK(headwater_status_json(text, sizeof text) > 0);
        puts(text);
    }
    return 0;
}
