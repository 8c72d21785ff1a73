//! Linear complexity of bit planes: the length of the shortest shift register that makes the same
//! bits, and its growth.
//!
//! If a bit is linear over GF(2), like the lowest bit of xorshift128+ and every bit of a Mersenne
//! Twister, its complexity is at most the number of bits of the state. The complexity of random
//! bits is half the length of the sequence, and hardly ever differs from that by ten.

use super::{Test, TestPart, forwards, spread};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;
use statrs::function::gamma::ln_gamma;

pub(crate) const TEST: Test = Test {
    name: "linear-complexity",
    source: "Massey 1969 (the algorithm); Rueppel 1986 (its length's distribution); Niederreiter 1990 (its jumps); after TestU01's LinearComp",
    meaning: "Some bit of each value is a linear function of earlier ones: after a few thousand values, every later one of that bit can be computed.",
    unseen: "whether a bit of each value is a linear recurrence",
    least: 512,
    costly: true,
    fits: forwards,
    run,
};

/// Shows linear recurrences of degree up to half of it: those of every small generator.
const SHORT: usize = 4 << 10;
/// Shows a Mersenne Twister, of degree 19,937.
const LONG: usize = 64 << 10;

fn run(view: &View, effort: Effort) -> Vec<TestPart> {
    let values = view.values.len();
    let mut parts = Vec::new();
    if values < SHORT {
        measure(view, 1 << values.ilog2(), 1, |_| true, &mut parts);
        return parts;
    }
    measure(view, SHORT, (values / SHORT).min(effort.short_windows()), |_| true, &mut parts);
    if values >= LONG && view.form.width == 64 {
        let wanted = |plane: usize| effort.thorough() || plane == 0 || plane == 63;
        measure(view, LONG, 1, wanted, &mut parts);
    }
    parts
}

/// Measures `windows` windows of `bits` bits, spread over each wanted plane.
fn measure(
    view: &View,
    bits: usize,
    windows: usize,
    wanted: impl Fn(usize) -> bool,
    parts: &mut Vec<TestPart>,
) {
    let planes = view.planes();
    let (mut lengths, mut jumps) = (vec![1.0_f64; planes.len()], vec![1.0_f64; planes.len()]);
    let mut register = Register::default();
    for (plane, sequence) in planes.iter().enumerate().filter(|&(plane, _)| wanted(plane)) {
        for at in spread(sequence.len() / (bits / 64), windows) {
            let window = &sequence[at * (bits / 64)..][..bits / 64];
            let found = register.shortest(window);
            lengths[plane] = lengths[plane].min(length_p(bits, found.length));
            jumps[plane] = jumps[plane].min(jumps_p(bits, found.jumps));
        }
    }
    // A plane that was not measured has no p-value and does not count.
    let looked = (0..planes.len()).filter(|&plane| wanted(plane)).count();
    for (name, smallest) in [("length", lengths), ("jumps", jumps)] {
        let name = format!(
            "{name} of {bits} bits{}",
            if looked < planes.len() { ", two planes" } else { "" }
        );
        let smallest = if looked < planes.len() {
            (0..planes.len()).filter(|&plane| wanted(plane)).map(|plane| smallest[plane]).collect()
        } else {
            smallest
        };
        parts.push(TestPart::new(
            name,
            windows * bits,
            Tally::Planes { smallest, each: windows as u64 },
        ));
    }
}

/// Returns the share of all sequences of `n` bits whose complexity is at least as improbable as
/// `length`.
///
/// Rueppel: the length is `l` with probability 2^(min(2n - 2l, 2l - 1) - n). The sums of these
/// powers over both tails are geometric, and equal 2^(1 - x) for x as below. The omitted ends of
/// the tails are below a float's precision.
fn length_p(n: usize, length: usize) -> f64 {
    let (n, length) = (n as i64, length as i64);
    let x = (2 * length - n).max(n - 2 * length + 1);
    2_f64.powi(1 - i32::try_from(x).unwrap_or(i32::MAX))
}

/// Returns the share of all sequences of `n` bits whose complexity jumps at most, or at least,
/// `jumps` times, doubled.
///
/// Once a jump is possible, a fair coin decides at each bit. After `g` throws the length grows by
/// `g`, and `g` bits must pass before the next jump is possible. So `k` jumps fit into `n` bits if
/// 2 (g1 + ... + g(k-1)) + gk <= n, where the sum has Pascal's distribution.
fn jumps_p(n: usize, jumps: usize) -> f64 {
    let many = at_least(n, jumps);
    let few = 1.0 - at_least(n, jumps + 1);
    (2.0 * many.min(few)).clamp(0.0, 1.0)
}

/// Returns the probability of `k` jumps or more.
fn at_least(n: usize, k: usize) -> f64 {
    match k {
        0 => return 1.0,
        1 => return 1.0 - 0.5_f64.powi(n as i32),
        _ => {}
    }
    let throws = (k - 1) as f64; // whose sum is s: C(s - 1, throws - 1) 2^-s
    let mut s = ((n - 1) / 2) as f64;
    if s < throws {
        return 0.0;
    }
    let choose = ln_gamma(s) - ln_gamma(throws) - ln_gamma(s - throws + 1.0);
    let mut term = (choose - s * core::f64::consts::LN_2).exp();
    let mut sum = 0.0;
    while s >= throws {
        let left = n as f64 - 2.0 * s;
        sum += term * (1.0 - (-left * core::f64::consts::LN_2).exp());
        if s < 2.0 * throws && term < sum * 1e-17 {
            break;
        }
        if s > 2.0 * throws && term == 0.0 {
            // Far above the mode a term is too small for a float, and the sum is all of it.
            return 1.0;
        }
        term *= 2.0 * (s - throws) / (s - 1.0).max(1.0);
        s -= 1.0;
    }
    sum.min(1.0)
}

/// The shortest register for a sequence, and the number of times its length grew.
#[derive(Debug, PartialEq)]
struct Found {
    length: usize,
    jumps: usize,
}

/// Berlekamp's and Massey's algorithm with 64 coefficients to a word. Keeps its buffers from one
/// sequence to the next.
#[derive(Default)]
struct Register {
    reversed: Vec<u64>,
    taps: Vec<u64>,
    former: Vec<u64>,
    spare: Vec<u64>,
}

impl Register {
    fn shortest(&mut self, bits: &[u64]) -> Found {
        let n = bits.len() * 64;
        // A step multiplies tap i with the bit i places back. In reversed order these bits ascend
        // with i, so a step reads whole words, and the next step starts one bit earlier.
        self.reversed.clear();
        self.reversed.extend(bits.iter().rev().map(|word| word.reverse_bits()));
        self.reversed.push(0);
        for poly in [&mut self.taps, &mut self.former] {
            poly.clear();
            poly.resize(bits.len() + 1, 0);
            poly[0] = 1;
        }
        let (mut length, mut jumps, mut since) = (0, 0, 1);
        let mut former_length = 0;
        for at in 0..n {
            if !self.disagrees(n - 1 - at, length) {
                since += 1;
                continue;
            }
            if 2 * length <= at {
                let words = length / 64 + 1;
                self.spare.clear();
                self.spare.extend_from_slice(&self.taps[..words]);
                self.add_former(since, former_length);
                self.former[..words].copy_from_slice(&self.spare);
                former_length = length;
                length = at + 1 - length;
                jumps += 1;
                since = 1;
            } else {
                self.add_former(since, former_length);
                since += 1;
            }
        }
        Found { length, jumps }
    }

    /// Returns true if the register of `length` predicts a wrong bit, `start` bits into the
    /// reversed sequence.
    fn disagrees(&self, start: usize, length: usize) -> bool {
        let words = length / 64 + 1;
        let (skip, shift) = (start / 64, start % 64);
        let taps = &self.taps[..words];
        let window = &self.reversed[skip..(skip + words + 1).min(self.reversed.len())];
        let mut sum = 0;
        if shift == 0 {
            for (tap, bits) in taps.iter().zip(window) {
                sum ^= tap & bits;
            }
        } else {
            for (tap, pair) in taps.iter().zip(window.windows(2)) {
                sum ^= tap & (pair[0] >> shift | pair[1] << (64 - shift));
            }
        }
        sum.count_ones() % 2 == 1
    }

    /// Adds the polynomial from before the last growth, `places` places up.
    fn add_former(&mut self, places: usize, length: usize) {
        let words = length / 64 + 1;
        let (skip, shift) = (places / 64, places % 64);
        let taps = &mut self.taps[skip..];
        if shift == 0 {
            taps.iter_mut().zip(&self.former[..words]).for_each(|(tap, former)| *tap ^= former);
        } else {
            let mut carried = 0;
            for (tap, &former) in taps.iter_mut().zip(&self.former[..words]) {
                *tap ^= former << shift | carried;
                carried = former >> (64 - shift);
            }
            if let Some(tap) = taps.get_mut(words) {
                *tap ^= carried;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bits: &[bool]) -> Vec<u64> {
        bits.chunks_exact(64)
            .map(|bits| bits.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit)))
            .collect()
    }

    #[test]
    fn lengths_and_jumps_are_those_of_the_obvious_algorithm() {
        let mut rng = fastrand::Rng::with_seed(7);
        for bits in [64, 128, 192, 320, 1024] {
            for kind in 0..6 {
                let sequence: Vec<bool> = (0..bits)
                    .map(|i| match kind {
                        0 => false,
                        1 => i == bits - 1,
                        2 => i % 5 == 0,
                        3 => i < 3,
                        _ => rng.bool(),
                    })
                    .collect();
                let found = Register::default().shortest(&words(&sequence));
                let (length, jumps) = reference::statistics::linear_complexity(&sequence);
                assert_eq!(found, Found { length, jumps }, "{bits} bits of kind {kind}");
            }
        }
    }

    #[test]
    fn a_used_register_begins_anew() {
        let mut rng = fastrand::Rng::with_seed(8);
        let mut used = Register::default();
        for words in [32, 4, 64, 1] {
            let sequence: Vec<u64> = (0..words).map(|_| rng.u64(..)).collect();
            assert_eq!(used.shortest(&sequence), Register::default().shortest(&sequence));
        }
    }

    /// All sequences of 16 bits, counted: what Rueppel's formula and the renewal argument for jumps
    /// must give.
    #[test]
    fn both_distributions_are_exact_for_every_short_sequence() {
        const N: usize = 16;
        let (mut lengths, mut jumps) = (vec![0_u32; N + 1], vec![0_u32; N + 1]);
        for sequence in 0..1_u32 << N {
            let bits: Vec<bool> = (0..N).map(|i| sequence >> i & 1 == 1).collect();
            let (length, grown) = reference::statistics::linear_complexity(&bits);
            lengths[length] += 1;
            jumps[grown] += 1;
        }
        let share = |n: u32| f64::from(n) / f64::from(1 << N);
        for (length, &seen) in lengths.iter().enumerate() {
            let rarer: u32 = lengths.iter().filter(|&&other| other <= seen).sum();
            let p = length_p(N, length);
            assert!((p - share(rarer)).abs() <= 2_f64.powi(1 - N as i32), "{length}: {p}");
        }
        for (grown, &seen) in jumps.iter().enumerate() {
            let many: u32 = jumps[grown..].iter().sum();
            assert!((at_least(N, grown) - share(many)).abs() < 1e-12, "{grown}: {seen}");
        }
    }

    #[test]
    fn the_chances_of_jumps_are_sound_for_long_sequences() {
        for n in [4096, 65_536] {
            let middle = at_least(n, n / 4);
            assert!((0.4..0.6).contains(&middle), "{middle}");
            let deviation = (n as f64 / 8.0).sqrt();
            let high = at_least(n, n / 4 + (3.0 * deviation) as usize);
            assert!((0.000_9..0.002).contains(&high), "{high}");
            assert_eq!(at_least(n, n / 8), 1.0);
            assert!(at_least(n, n / 2) < 1e-100);
        }
    }
}
