//! Two generators of which one bit, the lowest, is a linear recurrence: carries of the final addition hide the others only.

use super::{Source, endless, splitmix};

/// Vigna, Further scramblings of Marsaglia's xorshift generators, 2014: the variant that the founding commit of this project's streams used.
pub(super) fn xorshift128_plus(mut seed: u64) -> Box<dyn Source> {
    let mut state = [splitmix(&mut seed), splitmix(&mut seed)];
    endless(move || {
        let [mut x, y] = state;
        x ^= x << 23;
        state = [y, x ^ y ^ (x >> 18) ^ (y >> 5)];
        state[1].wrapping_add(y)
    })
}

/// Blackman and Vigna, Scrambled linear pseudorandom number generators, 2018.
pub(super) fn xoroshiro128_plus(mut seed: u64) -> Box<dyn Source> {
    let mut state = [splitmix(&mut seed), splitmix(&mut seed)];
    endless(move || {
        let [x, y] = state;
        let y_next = x ^ y;
        state = [x.rotate_left(24) ^ y_next ^ (y_next << 16), y_next.rotate_left(37)];
        x.wrapping_add(y)
    })
}
