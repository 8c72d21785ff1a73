/* A cache of random values that survives neither fork nor clone. Build: cc cache.c -lheadwater */
#include <headwater.h>

static uint64_t ids[64], stamp;
static int left;

static uint64_t next_id(void)
{
    if (headwater_stale(&stamp) != 0 || left == 0) { /* -1: unknown on this machine */
        headwater_arc4random_buf(ids, sizeof ids);
        left = 64;
    }
    return ids[--left];
}

int main(void)
{
    return next_id() == next_id();
}
