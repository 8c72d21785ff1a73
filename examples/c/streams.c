/* Reproducible numbers: a part of an array equals the same part of the whole. Not for secrets.
 * Build: cc streams.c -lheadwater */
#include <headwater.h>
#include <string.h>

int main(void)
{
    static double whole[1000], part[10];
    struct headwater_key key, noise;
    if (headwater_stream_key_from_seed(&key, HEADWATER_ARS7, 42) != 0 ||
        headwater_stream_key_child_text(&noise, &key, "noise") != 0 ||
        headwater_stream_fill_normal_f64(&noise, 0, 0, whole, 1000) != 0 ||
        headwater_stream_fill_normal_f64(&noise, 0, 500, part, 10) != 0)
        return 1;
    return memcmp(part, whole + 500, sizeof part) != 0;
}
