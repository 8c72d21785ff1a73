//! Sums over all triples of bits in blocks of every size.
//!
//! `trinomials` counts the three bits of a relation only if it knows their distances. A relation
//! that stands in no table still leaves a mark: if the product of three bits, as signs, is
//! seldom -1, then blocks that hold many such triples have a skew distribution of ones. With the
//! difference D of ones and zeros of n bits, D^3 - (3 n - 2) D is six times the sum of the products
//! of all triples of the block, so one multiplication of a count that `drift` makes anyway looks at
//! all distances up to the block's length.

use super::blocks::Blocks;
use super::{Test, TestPart, words};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "triples",
    source: "own; the third symmetric polynomial of a block's bits; PractRand's BCFN sees the same by the shape of its counts",
    meaning: "Blocks with many ones are more frequent than blocks with many zeros, or the other way: bits are sums of two earlier ones, but for noise.",
    unseen: "whether bits are sums of two others at any short distances",
    least: LEAST as usize,
    costly: false,
    fits: words,
    run,
};

/// The blocks of a size from which a sum is judged. The products of a block have a kurtosis of 93,
/// so fewer blocks would have a tail heavier than the normal one: with so many, a p-value of 1e-10
/// stands for 1.1e-10.
pub(crate) const LEAST: u64 = 1 << 16;

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let mut blocks = Blocks::<1>::new();
    let mut sums: Vec<i64> = Vec::new();
    for word in &view.values {
        let difference = 2 * i64::from(word.count_ones()) - 64;
        blocks.push([difference], |size, &[difference]| {
            if size == sums.len() {
                sums.push(0);
            }
            sums[size] = sums[size].saturating_add(products(difference, 64 << size));
        });
    }
    let largest = view.values.len().ilog2();
    let bits = (0..sums.len()).map(|size| 64 << size).collect();
    let tally = Tally::Triples { sums, blocks: blocks.numbers().collect(), bits };
    let name = format!("blocks up to 2^{largest} words");
    vec![TestPart::new(name, view.values.len(), tally)]
}

/// Returns six times the sum of the products of all triples of `bits` signs, whose sum is
/// `difference`.
fn products(difference: i64, bits: i64) -> i64 {
    let difference = i128::from(difference);
    let product = difference * (difference * difference - i128::from(3 * bits - 2));
    product.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    fn tally(words: &[u64]) -> Tally {
        let view = View::new(words, Form { width: 64, reversed: false }, usize::MAX);
        let mut parts = run(&view, Effort::Fast);
        assert_eq!(parts.len(), 1);
        parts.remove(0).tally
    }

    #[test]
    fn products_are_those_of_all_triples() {
        let mut rng = fastrand::Rng::with_seed(1);
        for bits in [3_usize, 4, 20, 64] {
            let signs: Vec<i64> = (0..bits).map(|_| 1 - 2 * rng.i64(0..2)).collect();
            let mut sum = 0;
            for c in 2..bits {
                for b in 1..c {
                    for a in 0..b {
                        sum += signs[a] * signs[b] * signs[c];
                    }
                }
            }
            assert_eq!(products(signs.iter().sum(), bits as i64), 6 * sum, "{bits}");
        }
        // Each block is seen once at its size.
        let words: Vec<u64> = (0..9).map(|_| rng.u64(..) & rng.u64(..)).collect();
        let Tally::Triples { sums, blocks, bits } = tally(&words) else { unreachable!() };
        assert_eq!((blocks, bits), (vec![9, 4, 2, 1], vec![64, 128, 256, 512]));
        for (size, sum) in sums.into_iter().enumerate() {
            let of = |block: &[u64]| {
                let ones: i64 = block.iter().map(|word| i64::from(word.count_ones())).sum();
                let bits = 64 << size;
                products(2 * ones - bits, bits)
            };
            assert_eq!(sum, words.chunks_exact(1 << size).map(of).sum::<i64>(), "{size}");
        }
    }

    /// A register whose taps no table has, and half of whose bits are drawn anew.
    #[test]
    fn a_relation_that_no_table_has_is_found() {
        let mut rng = fastrand::Rng::with_seed(2);
        let mut bits: Vec<u8> = (0..150).map(|_| rng.u8(..2)).collect();
        for n in 150..64 << 19 {
            let sum = bits[n - 150] ^ bits[n - 47];
            bits.push(if rng.bool() { rng.u8(..2) } else { sum });
        }
        let word = |bits: &[u8]| bits.iter().fold(0, |word, &bit| word << 1 | u64::from(bit));
        let words: Vec<u64> = bits.chunks_exact(64).map(word).collect();
        assert!(tally(&words).p() < 1e-15, "{:e}", tally(&words).p());
    }

    #[test]
    fn good_numbers_pass_and_a_stuck_source_does_not_overflow() {
        let mut strangest = 1.0_f64;
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let words: Vec<u64> = (0..LEAST).map(|_| rng.u64(..)).collect();
            strangest = strangest.min(tally(&words).p());
        }
        assert!(strangest > 1e-4, "{strangest:e}");
        assert_eq!(tally(&vec![0; 1 << 18]).p(), 0.0);
        // Too few blocks are no evidence.
        assert_eq!(tally(&[0; 1000]).p(), 1.0);
    }
}
