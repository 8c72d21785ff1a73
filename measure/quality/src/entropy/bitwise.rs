//! Estimators of section 6.3 that take a sequence of bits. Bits of a byte come the highest first,
//! as the standard's own program has them.

pub(super) struct Bits(pub(super) Vec<u8>);

/// The 99 % confidence bound's factor.
const Z: f64 = 2.575_829_303_548_901;

impl Bits {
    pub(super) fn new(bytes: &[u8]) -> Bits {
        Bits(bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect())
    }

    /// Estimates by collisions (section 6.3.2): the time until a value repeats, which is two or
    /// three samples for bits.
    pub(super) fn collision(&self) -> f64 {
        let (mut at, mut count, mut sum, mut squares) = (0, 0.0, 0.0, 0.0);
        while at + 2 < self.0.len() {
            let time = if self.0[at] == self.0[at + 1] { 2 } else { 3 };
            at += time;
            count += 1.0;
            sum += time as f64;
            squares += (time * time) as f64;
        }
        if count < 2.0 {
            return 0.0;
        }
        let mean = sum / count;
        let deviation = ((squares - count * mean * mean) / (count - 1.0)).max(0.0).sqrt();
        let low = mean - Z * deviation / f64::sqrt(count);
        // The mean is 2 + 2 p (1 - p).
        let p = if low < 2.5 { 0.5 + (1.25 - 0.5 * low.max(2.0)).max(0.0).sqrt() } else { 0.5 };
        -p.log2()
    }

    /// Estimates by a Markov model (section 6.3.3): the likeliest sequence of 128 bits, if each bit
    /// depends on the one before.
    pub(super) fn markov(&self) -> f64 {
        let mut counts = [[0_f64; 2]; 2];
        for two in self.0.windows(2) {
            counts[two[0] as usize][two[1] as usize] += 1.0;
        }
        let ones = self.0.iter().filter(|&&bit| bit == 1).count() as f64 / self.0.len() as f64;
        let start = [1.0 - ones, ones];
        let step = |from: usize, to: usize| {
            let total = counts[from][0] + counts[from][1];
            if total == 0.0 { 0.0 } else { counts[from][to] / total }
        };
        let log = |p: f64| p.log2(); // minus infinity where it never happened
        let times = |n: f64, p: f64| if n == 0.0 { 0.0 } else { n * log(p) };
        let likeliest = [
            log(start[0]) + times(127.0, step(0, 0)),
            log(start[0]) + times(64.0, step(0, 1)) + times(63.0, step(1, 0)),
            log(start[0]) + times(1.0, step(0, 1)) + times(126.0, step(1, 1)),
            log(start[1]) + times(1.0, step(1, 0)) + times(126.0, step(0, 0)),
            log(start[1]) + times(64.0, step(1, 0)) + times(63.0, step(0, 1)),
            log(start[1]) + times(127.0, step(1, 1)),
        ];
        let likeliest = likeliest.into_iter().fold(f64::NEG_INFINITY, f64::max);
        (-likeliest / 128.0).clamp(0.0, 1.0)
    }

    /// Estimates by compression (section 6.3.4): Maurer's universal statistic over blocks of six
    /// bits.
    pub(super) fn compression(&self) -> f64 {
        const B: usize = 6;
        const DICTIONARY: usize = 1000;
        let blocks: Vec<usize> = self
            .0
            .chunks_exact(B)
            .map(|bits| bits.iter().fold(0, |block, &bit| block << 1 | bit as usize))
            .collect();
        if blocks.len() < 2 * DICTIONARY {
            return 1.0; // too short for this estimator, which then has no objection
        }
        let mut last = [0_usize; 1 << B];
        let (mut sum, mut squares) = (0.0, 0.0);
        for (i, &block) in blocks.iter().enumerate() {
            if i >= DICTIONARY {
                let log = ((i + 1 - last[block]) as f64).log2();
                sum += log;
                squares += log * log;
            }
            last[block] = i + 1;
        }
        let count = (blocks.len() - DICTIONARY) as f64;
        let mean = sum / count;
        let deviation = 0.5907 * (squares / (count - 1.0) - mean * mean).max(0.0).sqrt();
        let low = mean - Z * deviation / count.sqrt();
        let others = (1 << B) as f64 - 1.0;
        let expected = |p: f64| {
            share(p, DICTIONARY, blocks.len())
                + others * share((1.0 - p) / others, DICTIONARY, blocks.len())
        };
        let (mut least, mut most) = (1.0 / (others + 1.0), 1.0);
        if expected(least) <= low {
            return 1.0;
        }
        for _ in 0..50 {
            let p = (least + most) / 2.0;
            if expected(p) > low { least = p } else { most = p }
        }
        -((least + most) / 2.0).log2() / B as f64
    }
}

/// Returns G of the standard: the share in the mean of a block with probability `z`. Computes the
/// double sum term by term: for each place t the sum over u < t of log2(u) z^2 (1 - z)^(u - 1), and
/// log2(t) z (1 - z)^(t - 1).
fn share(z: f64, dictionary: usize, blocks: usize) -> f64 {
    let (mut below, mut power, mut sum) = (0.0, 1.0, 0.0);
    for t in 1..=blocks {
        let log = (t as f64).log2();
        if t > dictionary {
            sum += below + log * z * power;
        }
        below += log * z * z * power;
        power *= 1.0 - z;
    }
    sum / (blocks - dictionary) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn biased(chance: f64) -> Bits {
        let mut rng = fastrand::Rng::with_seed(10);
        Bits((0..800_000).map(|_| u8::from(rng.f64() < chance)).collect())
    }

    /// A coin whose likelier side has probability p has -log2 p bits, and these three estimators
    /// must come close to that figure.
    #[test]
    fn biased_coins_are_seen_through() {
        for chance in [0.5, 0.6, 0.75, 0.9] {
            let (bits, truth) = (biased(chance), -f64::log2(chance));
            for (name, estimate, below) in [
                ("collision", bits.collision(), 0.12),
                ("Markov", bits.markov(), 0.01),
                // This estimator assumes one frequent block and sixty-three equal ones, and the
                // blocks of a coin are not so distributed.
                ("compression", bits.compression(), 0.3),
            ] {
                assert!(
                    estimate < truth + 0.01 && estimate > truth - below,
                    "{name} {chance}: {estimate}, {truth}"
                );
            }
        }
    }

    #[test]
    fn a_stuck_coin_has_nothing() {
        for bits in [Bits(vec![0; 100_000]), Bits(vec![1; 100_000])] {
            assert_eq!((bits.collision(), bits.markov()), (0.0, 0.0));
            assert!(bits.compression() < 1e-3);
        }
    }

    #[test]
    fn alternation_is_known_to_markov_alone() {
        let bits = Bits((0..100_000).map(|i| i as u8 & 1).collect());
        assert!(bits.markov() < 0.02, "{}", bits.markov());
    }
}
