//! Defects that are fair in total, or that lie far apart.

use super::subtle::rare;
use super::{Source, endless, splitmix};

/// Words for which a drift keeps its sign: 512 KiB.
const STRETCH: u64 = 1 << 16;

/// Returns a source whose bits have a bias of 2^-9 in one stretch and of -2^-9 in the next.
pub(super) fn drift(mut seed: u64) -> Box<dyn Source> {
    let mut drawn = 0;
    endless(move || {
        let forced = rare(&mut seed, 8);
        drawn += 1;
        let word = splitmix(&mut seed);
        if ((drawn - 1) / STRETCH).is_multiple_of(2) { word | forced } else { word & !forced }
    })
}

/// Bits between a copy and what it copies: 128 words less a bit.
const LAG_WORDS: usize = 128;

/// Returns a source whose bits copy, with probability 1/64, the bit 8,191 places before.
pub(super) fn echo(mut seed: u64) -> Box<dyn Source> {
    let mut past = [0_u64; LAG_WORDS + 1];
    let mut at = 0;
    endless(move || {
        let back = |words: usize| past[(at + past.len() - words) % past.len()];
        let before = back(LAG_WORDS) >> 1 | back(LAG_WORDS - 1) << 63;
        let copied = rare(&mut seed, 6);
        let word = splitmix(&mut seed) & !copied | before & copied;
        let place = at % past.len();
        past[place] = word;
        at += 1;
        word
    })
}

/// Returns a source whose last 8 KiB of each MiB are the 8 KiB before them, three bits later.
pub(super) fn slip(mut seed: u64) -> Box<dyn Source> {
    const PERIOD: usize = 1 << 17;
    const LENGTH: usize = 1 << 10;
    let mut past = [0_u64; LENGTH + 1];
    let mut at = 0;
    endless(move || {
        let back = |words: usize| past[(at + past.len() - words) % past.len()];
        let word = match at % PERIOD {
            place if place >= PERIOD - LENGTH => back(LENGTH) << 3 | back(LENGTH + 1) >> 61,
            _ => splitmix(&mut seed),
        };
        let place = at % past.len();
        past[place] = word;
        at += 1;
        word
    })
}

/// Returns a shift register of one bit with taps at 4,187 and 9,689, one bit in eight drawn anew.
pub(super) fn register(mut seed: u64) -> Box<dyn Source> {
    const TAPS: [usize; 2] = [4187, 9689];
    let mut past: Vec<u8> = (0..TAPS[1]).map(|_| (splitmix(&mut seed) >> 63) as u8).collect();
    let mut at = 0;
    endless(move || {
        let fresh = rare(&mut seed, 3);
        let noise = splitmix(&mut seed);
        let mut word = 0;
        for place in 0..64 {
            // The oldest bit lies where the new one goes.
            let sum = past[at] ^ past[(at + TAPS[1] - TAPS[0]) % TAPS[1]];
            let bit = if fresh >> place & 1 == 1 { (noise >> place) as u8 & 1 } else { sum };
            past[at] = bit;
            at = (at + 1) % TAPS[1];
            word |= u64::from(bit) << place;
        }
        word
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: usize = 1 << 18;

    /// Returns the share of places at which `wanted` is true of the bits of `source`.
    fn share(
        source: Box<dyn Source>,
        far: usize,
        wanted: impl Fn(&dyn Fn(usize) -> u64) -> bool,
    ) -> f64 {
        let mut source = source;
        let mut words = vec![0; WORDS];
        source.fill(&mut words).unwrap();
        let places = far..64 * WORDS;
        let count = places.len() as f64;
        let true_at = |i: &usize| {
            wanted(&|lag| {
                let i = i - lag;
                words[i / 64] >> (i % 64) & 1
            })
        };
        places.filter(true_at).count() as f64 / count
    }

    fn near(found: f64, expected: f64) {
        // Five standard deviations of 2^24 coins.
        assert!((found - expected).abs() < 5.0 / 8192.0, "{found} for {expected}");
    }

    #[test]
    fn echoes_and_registers_are_as_strong_as_stated() {
        near(share(echo(1), 8191, |back| back(0) == back(8191)), 0.5 + 1.0 / 128.0);
        near(share(echo(1), 8192, |back| back(0) == back(8192)), 0.5);
        let sum = |back: &dyn Fn(usize) -> u64| back(0) == back(4187) ^ back(9689);
        near(share(register(1), 9689, sum), 0.5 + 7.0 / 16.0);
    }

    #[test]
    fn a_drift_is_fair_in_total_and_not_in_its_halves() {
        let mut words = vec![0; 2 * STRETCH as usize];
        drift(1).fill(&mut words).unwrap();
        let ones = |words: &[u64]| {
            let ones: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
            ones as f64 / (64 * words.len()) as f64
        };
        let (first, second) = words.split_at(STRETCH as usize);
        near(ones(&words), 0.5);
        near(ones(first), 0.5 + 1.0 / 512.0);
        near(ones(second), 0.5 - 1.0 / 512.0);
    }

    #[test]
    fn a_slip_moves_eight_kib_by_three_bits() {
        let mut words = vec![0; 1 << 17];
        slip(1).fill(&mut words).unwrap();
        let bit = |i: usize| words[i / 64] >> (i % 64) & 1;
        let end = 64 << 17;
        assert!((end - (64 << 10)..end).all(|i| bit(i) == bit(i - (64 << 10) - 3)));
        assert!(!(end - (128 << 10)..end - (64 << 10)).all(|i| bit(i) == bit(i - (64 << 10) - 3)));
    }
}
