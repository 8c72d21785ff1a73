//! Counts of small means, by inversion: a table of thresholds, and one word for each number.

use super::private::{CHUNK, Domain, FEW, Source, is_few};
use crate::numbers::path::Kernel;
use crate::words::Words;

/// One more than the largest count. A Poisson number of mean 10 reaches it once in 2^64 times, and
/// a binomial one of that mean more rarely.
pub(super) const COUNTS: usize = 64;

/// The chance that a count is at least 1, 2 and so on, times 2^64. All are moved by half of the
/// range, because vectors of AVX2 compare signed words only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Thresholds([i64; COUNTS]);

const SIGN: u64 = 1 << 63;

impl Thresholds {
    /// Makes the table of probabilities. The sums begin with the smallest, so that each is precise.
    pub(super) fn new(probabilities: &[f64; COUNTS]) -> Thresholds {
        const TWO_64: f64 = 18_446_744_073_709_551_616.0;
        let mut table = [i64::MIN; COUNTS];
        let mut sum = 0.0;
        let [_, counts @ ..] = probabilities;
        for (threshold, p) in table.iter_mut().zip(counts).rev() {
            sum += p;
            // The conversion ends at 2^64 - 1.
            *threshold = ((sum * TWO_64) as u64 ^ SIGN) as i64;
        }
        // The order of the zip is that of the shorter list, so the table's last place stays zero.
        Thresholds(table)
    }

    /// Returns the count of one word.
    #[cfg(feature = "std")]
    pub(super) fn count(&self, word: u64) -> f64 {
        let word = (word ^ SIGN) as i64;
        self.0.iter().filter(|&&threshold| word < threshold).count() as f64
    }

    /// Returns the words at which the count changes.
    #[cfg(test)]
    pub(super) fn ends(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|&threshold| threshold as u64 ^ SIGN)
    }

    /// Writes the counts of a chunk of elements.
    pub(super) fn chunk<W: Words>(&self, source: &Source<'_, W>, domain: Domain, out: &mut [f64]) {
        match is_few(out.len()) {
            true => self.chunk_of::<W, FEW>(source, domain, out),
            false => self.chunk_of::<W, CHUNK>(source, domain, out),
        }
    }

    fn chunk_of<W: Words, const N: usize>(
        &self,
        source: &Source<'_, W>,
        domain: Domain,
        out: &mut [f64],
    ) {
        let mut blocks = [[0; 2]; N];
        let many = out.len().min(N);
        source.blocks(domain, 0, &mut blocks[..many]);
        source.path.run(Count { thresholds: &self.0, blocks: &blocks, out });
    }
}

struct Count<'a, const N: usize> {
    thresholds: &'a [i64; COUNTS],
    blocks: &'a [[u64; 2]; N],
    out: &'a mut [f64],
}

impl<const N: usize> Kernel for Count<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const LANES: usize = 16;
        for (out, blocks) in self.out.chunks_mut(LANES).zip(self.blocks.as_chunks::<LANES>().0) {
            let words = blocks.map(|[w0, _]| (w0 ^ SIGN) as i64);
            let mut counts = [0i64; LANES];
            for four in self.thresholds.as_chunks::<4>().0 {
                for &threshold in four {
                    for (count, &word) in counts.iter_mut().zip(&words) {
                        *count += i64::from(word < threshold);
                    }
                }
                // Thresholds fall, so none of the later ones is above a word if this one is not.
                let more = words.iter().fold(false, |any, &word| any | (word < four[3]));
                if !more {
                    break;
                }
            }
            for (out, count) in out.iter_mut().zip(counts) {
                *out = count as f64;
            }
        }
    }
}

/// Converts floats that are integers to integers.
pub(super) struct ToCounts<'a> {
    pub(super) made: &'a [f64],
    pub(super) out: &'a mut [u64],
}

impl Kernel for ToCounts<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const TWO_52: f64 = (1u64 << 52) as f64;
        if self.made.iter().fold(true, |all, &x| all & (x < TWO_52)) {
            // The sum has the integer in its lowest bits. AVX2 has no conversion of its own.
            for (out, &made) in self.out.iter_mut().zip(self.made) {
                *out = (made + TWO_52).to_bits() ^ TWO_52.to_bits();
            }
        } else {
            for (out, &made) in self.out.iter_mut().zip(self.made) {
                *out = made as u64;
            }
        }
    }
}
