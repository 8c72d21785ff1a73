//! Dependencies among the Hamming weights of neighbouring values.
//!
//! In generators that are linear and sparse, or that carry little from one step to the next, a
//! value with few ones follows another with few ones. Weights fall into three classes. Every
//! product of orthonormal functions of neighbouring classes should average to zero.

use super::{Test, TestPart, any};
use crate::effort::Effort;
use crate::stats;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "hamming-weights",
    source: "Blackman and Vigna, Scrambled linear pseudorandom number generators, 2021 (section on Hamming-weight dependencies)",
    meaning: "Values with few ones follow others with few ones, or with many: what the generator carries over shows.",
    unseen: "whether numbers of ones depend on each other",
    least: 1 << 12,
    costly: false,
    // The number of ones is the same backwards.
    fits: |form| any(form) && !form.reversed,
    run,
};

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let width = view.form.width;
    let (length, seen) = match view.values.len() {
        ..0x1_0000 => (3, count::<3>(&view.values, width)),
        0x1_0000..0x10_0000 => (5, count::<5>(&view.values, width)),
        _ => (7, count::<7>(&view.values, width)),
    };
    vec![TestPart::new(
        format!("{length} values"),
        view.values.len(),
        Tally::Weights { seen, width },
    )]
}

/// Counts each combination of `LENGTH` neighbours' classes.
fn count<const LENGTH: usize>(values: &[u64], width: u32) -> Vec<u64> {
    let cells = const { 3_usize.pow(LENGTH as u32) };
    let classes: [usize; 65] = std::array::from_fn(|ones| class(ones as u32, width));
    let mut seen = vec![0; cells];
    let mut cell = 0;
    for (i, value) in values.iter().enumerate() {
        cell = (cell * 3 + classes[value.count_ones() as usize]) % cells;
        if i + 1 >= LENGTH {
            seen[cell] += 1;
        }
    }
    seen
}

/// Returns the class of a weight. The middle class holds about a third of all values.
fn class(ones: u32, width: u32) -> usize {
    let reach = match width {
        64 => 1,
        32 => 1,
        _ => 0,
    };
    match ones {
        _ if ones + reach < width / 2 => 0,
        _ if ones > width / 2 + reach => 2,
        _ => 1,
    }
}

/// Returns the p-value of each product that involves the first value. The other products are the
/// same ones, shifted.
pub(crate) fn judge(seen: &[u64], width: u32) -> Vec<f64> {
    let mut middle = 0.0;
    let mut ways = 1.0; // of `ones` in `width`
    for ones in 0..=width {
        if class(ones, width) == 1 {
            middle += ways / 2_f64.powi(width as i32);
        }
        ways *= f64::from(width - ones) / f64::from(ones + 1);
    }
    let outer = (1.0 - middle) / 2.0;
    let scale = (2.0 * outer * middle).sqrt();
    let basis = [
        [1.0, 1.0, 1.0],
        [-1.0 / (2.0 * outer).sqrt(), 0.0, 1.0 / (2.0 * outer).sqrt()],
        [middle / scale, -2.0 * outer / scale, middle / scale],
    ];
    let mut sums: Vec<f64> = seen.iter().map(|&n| n as f64).collect();
    let mut step = 1;
    while step < sums.len() {
        for block in sums.chunks_exact_mut(3 * step) {
            for i in 0..step {
                let three = [block[i], block[i + step], block[i + 2 * step]];
                for (function, row) in basis.iter().enumerate() {
                    block[i + function * step] = row.iter().zip(three).map(|(a, b)| a * b).sum();
                }
            }
        }
        step *= 3;
    }
    let total = seen.iter().sum::<u64>() as f64;
    sums[sums.len() / 3..].iter().map(|sum| stats::normal(sum / total.sqrt())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Independent classes in exactly their shares have sums of zero; a repeated class makes large
    /// ones.
    #[test]
    fn only_dependence_shows() {
        let total = 1e12;
        let share = |class: usize| {
            let outer: f64 = (0..4).map(|k| [1.0, 8.0, 28.0, 56.0][k] / 256.0).sum();
            [outer, 1.0 - 2.0 * outer, outer][class]
        };
        let even: Vec<u64> = (0..27)
            .map(|i| (total * share(i / 9) * share(i / 3 % 3) * share(i % 3)) as u64)
            .collect();
        assert!(judge(&even, 8).iter().all(|&p| p > 0.99), "{:?}", judge(&even, 8));
        let same: Vec<u64> = (0..27)
            .map(
                |i| if i / 9 == i % 3 { (1e6 * share(i / 9) * share(i / 3 % 3)) as u64 } else { 0 },
            )
            .collect();
        assert!(judge(&same, 8).iter().any(|&p| p < 1e-100));
    }
}
