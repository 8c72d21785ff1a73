/* One draw, for C libraries and ways of linking that differ. */
#include <stdio.h>
#include <sys/random.h>

int main(void)
{
    char bytes[16];
    printf("%d bytes\n", (int)getrandom(bytes, sizeof bytes, 0));
    return 0;
}
