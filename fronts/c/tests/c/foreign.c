/* A program with three Rust libraries: each works beside the others. */
#include "check.h"
#include <headwater.h>

uint64_t foreign_first(uint64_t n);
#ifdef SECOND
uint64_t foreign_second(uint64_t n);
#endif

int main(void)
{
    unsigned char bytes[64] = { 0 };
    char status[4096];
    CHECK(headwater_fill(bytes, sizeof bytes) == 0 && !is_zero(bytes, 16));
    CHECK(foreign_first(10) == 55);
#ifdef SECOND
    CHECK(foreign_second(10) == 55);
#endif
    CHECK(headwater_status_json(status, sizeof status) > 0);
    return 0;
}
