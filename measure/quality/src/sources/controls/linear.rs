//! Two generators whose lowest bit is a linear recurrence: the carries of the final addition hide
//! the other bits only.

use super::{Source, endless, splitmix};
use headwater_streams::generators::Xorshift128p;

/// Returns xorshift128+ of Vigna, "Further scramblings of Marsaglia's xorshift generators", 2014.
/// Its streams are jumps.
pub(super) fn xorshift128p(seed: u64, stream: u64) -> Box<dyn Source> {
    let mut engine = Xorshift128p::from_u64(seed).stream(stream);
    endless(move || engine.next_u64())
}

/// Returns xoroshiro128+ of Blackman and Vigna, "Scrambled linear pseudorandom number generators",
/// 2018.
pub(super) fn xoroshiro128_plus(mut seed: u64) -> Box<dyn Source> {
    let mut state = [splitmix(&mut seed), splitmix(&mut seed)];
    endless(move || {
        let [x, y] = state;
        let y_next = x ^ y;
        state = [x.rotate_left(24) ^ y_next ^ (y_next << 16), y_next.rotate_left(37)];
        x.wrapping_add(y)
    })
}
