//! Three bits whose sum modulo 2 is not fair, at the lags of known recurrences.
//!
//! A shift register with two taps makes each bit the sum of two earlier ones. Linear complexity
//! finds that if nothing disturbs it, but one wrong bit in a window makes the window's complexity
//! full. A count over all places does not mind: noise in a tenth of the bits weakens it, no more.

use super::{Test, TestPart, words, xored};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "trinomials",
    source: "own; the lags of Zierler and Brillhart 1968, Zierler 1969, Kirkpatrick and Stoll 1981, Knuth, TAOCP 2, 3.2.2, and ITU-T O.150",
    meaning: "Bits are, more often than not, the sum of two bits at lags that a known shift register has.",
    unseen: "whether bits are sums of two earlier ones",
    least: 512,
    costly: true,
    fits: words,
    run,
};

/// Primitive trinomials x^k + x^r + 1, as (k, r): x[n] = x[n - k] + x[n - r].
const TAPS: [(usize, usize); 32] = [
    (7, 6),
    (9, 5),
    (11, 9),
    (15, 14),
    (17, 5),
    (20, 3),
    (23, 18),
    (25, 7),
    (29, 27),
    (31, 3),
    (31, 13),
    (55, 24),
    (63, 62),
    (89, 38),
    (98, 27),
    (100, 37),
    (127, 63),
    (127, 97),
    (250, 103),
    (521, 32),
    (521, 168),
    (607, 273),
    (1279, 216),
    (1279, 418),
    (2281, 1029),
    (3217, 67),
    (4423, 2098),
    (9689, 471),
    (9689, 4187),
    (19_937, 9842),
    (23_209, 9739),
    (44_497, 21_034),
];

/// Bits from one tap's unit to the next: registers shift single bits or whole values.
const WIDTHS: [usize; 5] = [1, 8, 16, 32, 64];

fn run(view: &View, effort: Effort) -> Vec<TestPart> {
    // The last words: defects that begin late are in them, and those of a register in any.
    let values = &view.values[view.values.len().saturating_sub(effort.related())..];
    let (mut seen, mut trials) = (Vec::new(), Vec::new());
    for width in WIDTHS {
        for (k, r) in TAPS {
            // Backwards in time, a register has the taps k and k - r.
            for r in [r, k - r] {
                let (ones, places) = xored::ones(values, [0, width * (k - r), width * k]);
                // Where few places are left, the others count for more.
                if places >= 64 * values.len() as u64 / 2 {
                    seen.push(ones);
                    trials.push(places);
                }
            }
        }
    }
    let name = format!("{} pairs of lags, {} words", seen.len(), values.len());
    vec![TestPart::new(name, values.len(), Tally::Rates { seen, trials, chance: 0.5 })]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    fn p(words: &[u64]) -> f64 {
        let view = View::new(words, Form { width: 64, reversed: false }, usize::MAX);
        let parts = run(&view, Effort::Fast);
        assert_eq!(parts.len(), 1);
        parts[0].tally.p()
    }

    /// Returns values of `width` bits from a register of which one value in four is drawn anew.
    fn noisy(k: usize, r: usize, width: usize) -> Vec<u64> {
        let mut rng = fastrand::Rng::with_seed((k * width) as u64);
        let mask = u64::MAX >> (64 - width);
        let count = (64 << 17) / width;
        let mut values: Vec<u64> = (0..k).map(|_| rng.u64(..) & mask).collect();
        for n in k..count {
            let sum = values[n - k] ^ values[n - r];
            values.push(if rng.u8(..4) == 0 { rng.u64(..) & mask } else { sum });
        }
        let word = |values: &[u64]| {
            values.iter().enumerate().fold(0, |word, (i, value)| word | value << (i * width))
        };
        values.chunks_exact(64 / width).map(word).collect()
    }

    #[test]
    fn registers_under_noise_are_found_in_both_directions_of_time() {
        for (k, r, width) in [
            (9689, 4187, 1),
            (9689, 4187, 8),
            (1279, 418, 32),
            (607, 273, 64),
            (521, 168, 1),
            (250, 147, 16),
            (127, 63, 1),
            (89, 51, 1),
            (31, 3, 32),
        ] {
            let found = p(&noisy(k, r, width));
            assert!(found < 1e-15, "{k}, {r} of {width} bits: {found:e}");
        }
    }

    #[test]
    fn good_numbers_pass() {
        for len in [512, 5000, 1 << 18] {
            let mut rng = fastrand::Rng::with_seed(len);
            let words: Vec<u64> = (0..len).map(|_| rng.u64(..)).collect();
            assert!(p(&words) > 1e-4, "{len}: {:e}", p(&words));
        }
    }

    /// Known pairs are primitive, so a register with them runs through all states. The small ones
    /// are checked by running them; a wrong tap of the large ones would find nothing.
    #[test]
    fn small_registers_have_the_longest_period() {
        for (k, r) in TAPS.into_iter().filter(|(k, _)| *k <= 25) {
            let start = 1_u64;
            let mut state = start;
            let mut period = 0_u64;
            loop {
                let next = (state >> (k - 1) ^ state >> (r - 1)) & 1;
                state = (state << 1 | next) & (u64::MAX >> (64 - k));
                period += 1;
                if state == start {
                    break;
                }
            }
            assert_eq!(period, (1 << k) - 1, "{k}, {r}");
        }
    }
}
