/* A generator for one thread, which needs no lock. Build: cc rng.c -lheadwater */
#include <headwater.h>
#include <stddef.h>

int main(void)
{
    struct headwater_rng *rng = headwater_rng_new();
    unsigned char nonce[12];
    int failed;
    if (rng == NULL)
        return 1;
    failed = headwater_rng_fill(rng, nonce, sizeof nonce);
    headwater_rng_free(rng);
    return failed != 0;
}
