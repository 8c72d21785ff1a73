/* Secure random bytes. Build: cc fill.c -lheadwater */
#include <err.h>
#include <headwater.h>

int main(void)
{
    unsigned char key[32];
    if (headwater_fill(key, sizeof key) != 0)
        err(1, "no random bytes");
    return 0;
}
