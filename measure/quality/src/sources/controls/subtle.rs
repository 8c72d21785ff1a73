//! Defects that only tests of all data find: late, small, or far apart.

use super::{Source, endless, splitmix};

/// Words before `late-bytes` goes bad: 2 MiB.
const LATE: u64 = 1 << 18;

/// Returns a source whose fourth byte of each word has even parity after 2 MiB. Its bits stay fair,
/// and so does every pair of them.
pub(super) fn late_bytes(seed: u64) -> Box<dyn Source> {
    let mut state = seed;
    let mut drawn = 0;
    endless(move || {
        let word = splitmix(&mut state);
        drawn += 1;
        let odd = u64::from((word >> 24 & 0xff).count_ones() % 2);
        if drawn > LATE { word ^ odd << 24 } else { word }
    })
}

/// Returns a word whose bits are one with probability 2^-`halvings`.
pub(super) fn rare(state: &mut u64, halvings: u32) -> u64 {
    (0..halvings).fold(u64::MAX, |bits, _| bits & splitmix(state))
}

/// Returns a source whose bits are one with probability 1/2 + 2^-`SHIFT`.
pub(super) fn biased<const SHIFT: u32>(seed: u64) -> Box<dyn Source> {
    let mut state = seed;
    // An extra one changes half of the bits that it meets, so it needs twice the bias.
    endless(move || splitmix(&mut state) | rare(&mut state, SHIFT - 1))
}

/// Returns a Markov chain: with probability 2^-`SHIFT` a bit is a copy of the bit before it, and
/// otherwise it is fair.
pub(super) fn copied_bit<const SHIFT: u32>(seed: u64) -> Box<dyn Source> {
    let mut state = seed;
    let mut last = 0;
    endless(move || {
        let mut word = splitmix(&mut state);
        let mut copies = rare(&mut state, SHIFT);
        // Lowest first: a copy may itself be copied.
        while copies != 0 {
            let bit = copies.trailing_zeros();
            let before = if bit == 0 { last } else { word >> (bit - 1) & 1 };
            word = word & !(1 << bit) | before << bit;
            copies &= copies - 1;
        }
        last = word >> 63;
        word
    })
}

/// Returns a source with a period of 2^20 + 3 bytes. The period is not a multiple of a word, so a
/// test must compare bytes at every place to find it.
pub(super) fn period(mut seed: u64) -> Box<dyn Source> {
    const PERIOD: usize = (1 << 20) + 3;
    let bytes: Vec<u8> = (0..PERIOD).map(|_| splitmix(&mut seed) as u8).collect();
    let mut at = 0;
    endless(move || {
        let word = std::array::from_fn(|i| bytes[(at + i) % PERIOD]);
        at = (at + 8) % PERIOD;
        u64::from_le_bytes(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(mut source: Box<dyn Source>, n: usize) -> Vec<u64> {
        let mut words = vec![0; n];
        source.fill(&mut words).unwrap();
        words
    }

    /// The exact probabilities, within five standard deviations of 2^26 bits.
    #[test]
    fn biases_and_copies_have_their_size() {
        const WORDS: usize = 1 << 20;
        let deviation = 5.0 / 2.0 / ((64 * WORDS) as f64).sqrt();
        let share = |count: u64| count as f64 / (64 * WORDS) as f64;
        let ones =
            |words: &[u64]| share(words.iter().map(|word| u64::from(word.count_ones())).sum());
        let equal = |words: &[u64]| {
            let pairs = words.windows(2).map(|two| !(two[0] ^ (two[0] >> 1 | two[1] << 63)));
            share(pairs.map(|equal| u64::from(equal.count_ones())).sum())
        };
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < deviation, "{found} for {expected}");
        };
        near(ones(&words(biased::<10>(1), WORDS)), 0.5 + 2_f64.powi(-10));
        near(ones(&words(biased::<12>(1), WORDS)), 0.5 + 2_f64.powi(-12));
        // A copy is equal for certain, anything else half of the time.
        near(equal(&words(copied_bit::<8>(1), WORDS)), 0.5 + 2_f64.powi(-9));
        near(equal(&words(copied_bit::<10>(1), WORDS)), 0.5 + 2_f64.powi(-11));
        near(ones(&words(copied_bit::<8>(2), WORDS)), 0.5);
    }

    #[test]
    fn the_late_bytes_are_late_and_even() {
        let words = words(late_bytes(3), LATE as usize + 1000);
        let odd = |words: &[u64]| {
            words.iter().filter(|word| (**word >> 24 & 0xff).count_ones() % 2 == 1).count()
        };
        assert_eq!(odd(&words[LATE as usize..]), 0);
        assert!((300..700).contains(&odd(&words[LATE as usize - 1000..LATE as usize])));
    }

    #[test]
    fn the_period_is_what_its_name_says() {
        let words = words(period(4), 1 << 18);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(bytes.iter().zip(&bytes[(1 << 20) + 3..]).all(|(a, b)| a == b));
        assert!(bytes[..1000] != bytes[1 << 20..][..1000]);
    }
}
