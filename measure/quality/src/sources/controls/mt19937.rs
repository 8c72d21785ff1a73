//! The Mersenne Twister with words of 64 bits: Nishimura, Tables of 64-bit Mersenne twisters, 2000;
//! mt19937-64.c of 2004.

use super::{Source, endless};

const N: usize = 312;
const M: usize = 156;

pub(super) fn open(seed: u64) -> Box<dyn Source> {
    let mut state = vec![seed; N];
    for i in 1..N {
        let last = state[i - 1];
        state[i] =
            (last ^ (last >> 62)).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i as u64);
    }
    let mut at = N;
    endless(move || {
        if at == N {
            for i in 0..N {
                let x = state[i] & !0x7fff_ffff | state[(i + 1) % N] & 0x7fff_ffff;
                let twist = if x & 1 == 1 { 0xb502_6f5a_a966_19e9 } else { 0 };
                state[i] = state[(i + M) % N] ^ (x >> 1) ^ twist;
            }
            at = 0;
        }
        let mut x = state[at];
        at += 1;
        x ^= (x >> 29) & 0x5555_5555_5555_5555;
        x ^= (x << 17) & 0x71d6_7fff_eda6_0000;
        x ^= (x << 37) & 0xfff7_eee0_0000_0000;
        x ^ (x >> 43)
    })
}
