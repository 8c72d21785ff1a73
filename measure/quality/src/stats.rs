//! P-values: the probability that a perfect generator looks at least as strange as the data.
//!
//! The special functions are those of the crate `statrs`, which agrees with mpmath to eight digits
//! over the ranges used here, tails of 1e-300 included. P-values are two-sided where a statistic
//! can be too good as well as too bad.

use statrs::function::erf::erfc;
use statrs::function::gamma::{gamma_lr, gamma_ur, ln_gamma};

/// Returns the two-sided p-value of the lower and upper tail probabilities.
fn two_sided(low: f64, high: f64) -> f64 {
    (2.0 * low.min(high)).clamp(0.0, 1.0)
}

/// Returns the two-sided p-value of a standard normal statistic.
pub(crate) fn normal(z: f64) -> f64 {
    erfc(z.abs() / core::f64::consts::SQRT_2).clamp(0.0, 1.0)
}

/// Returns the p-value of chi-square with `freedom` degrees of freedom. Too even is as strange as
/// too uneven.
pub(crate) fn chi_square(sum: f64, freedom: usize) -> f64 {
    if freedom == 0 {
        return 1.0;
    }
    if !sum.is_finite() {
        return 0.0;
    }
    let (a, x) = (freedom as f64 / 2.0, sum / 2.0);
    if x <= 0.0 {
        return 0.0;
    }
    two_sided(gamma_lr(a, x), gamma_ur(a, x))
}

/// Returns the probability that chi-square with `freedom` degrees of freedom is `sum` or more. Sums
/// of few squares of whole numbers can be 0 by chance, so too small a sum means nothing there.
pub(crate) fn chi_square_above(sum: f64, freedom: usize) -> f64 {
    match (freedom, sum) {
        (0, _) => 1.0,
        (_, sum) if !sum.is_finite() => 0.0,
        (_, sum) if sum <= 0.0 => 1.0,
        _ => gamma_ur(freedom as f64 / 2.0, sum / 2.0).clamp(0.0, 1.0),
    }
}

/// Returns the exact p-value of `seen` events that are Poisson distributed with mean `expected`.
pub(crate) fn poisson(seen: u64, expected: f64) -> f64 {
    if expected <= 0.0 {
        return if seen == 0 { 1.0 } else { 0.0 };
    }
    let high = if seen == 0 { 1.0 } else { gamma_lr(seen as f64, expected) };
    two_sided(gamma_ur(seen as f64 + 1.0, expected), high)
}

/// Returns the p-value of `ones` in `trials` throws of a fair coin.
pub(crate) fn coin(ones: u64, trials: u64) -> f64 {
    rate(ones, trials, 0.5)
}

/// Returns the p-value of `seen` successes in `trials`, each with probability `chance`: exact for
/// few, normal for many.
pub(crate) fn rate(seen: u64, trials: u64, chance: f64) -> f64 {
    if trials == 0 {
        return 1.0;
    }
    let variance = trials as f64 * chance * (1.0 - chance);
    if trials <= 4096 || variance < 100.0 {
        return binomial(seen, trials, chance);
    }
    // Continuity correction: half a step towards the middle.
    let distance = (seen as f64 - trials as f64 * chance).abs();
    normal((distance - 0.5).max(0.0) / variance.sqrt())
}

/// Returns the exact p-value of a binomial count.
fn binomial(seen: u64, trials: u64, chance: f64) -> f64 {
    (2.0 * beyond(seen, trials, chance)).clamp(0.0, 1.0)
}

/// Returns the probability of a binomial count of `seen` or further from the mean on the same side:
/// sums the tail term by term, outwards from `seen`.
fn beyond(seen: u64, trials: u64, chance: f64) -> f64 {
    let (n, k) = (trials as f64, seen as f64);
    let at = |k: f64| {
        let choose = ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
        (choose + k * chance.ln() + (n - k) * (-chance).ln_1p()).exp()
    };
    let upwards = k > n * chance;
    let (mut term, mut sum, mut i) = (at(k), 0.0, k);
    while term > 0.0 && term > sum * 1e-17 {
        sum += term;
        let odds = chance / (1.0 - chance);
        if upwards {
            term *= (n - i) / (i + 1.0) * odds;
            i += 1.0;
        } else {
            term *= i / (n - i + 1.0) / odds;
            i -= 1.0;
        }
    }
    sum.clamp(0.0, 1.0)
}

/// The greatest number of cells that [`extremes`] takes together.
const EXTREMES: usize = 8;

/// Returns the p-value of the fullest and the emptiest of equally likely cells: of the first alone,
/// of the first two, and so on to eight, upwards and downwards.
///
/// One odd cell is lost in the chi-square of 65,536. That r cells hold as much as the r-th has a
/// probability of at most p^r for each choice of r cells, p being that of one cell, because counts
/// of one total are negatively associated (Joag-Dev and Proschan 1983, 3.1 a): where one cell has
/// more, less is left for the others. So the sum over all choices is a bound, and the p-value can
/// be too large but not too small.
pub(crate) fn extremes(seen: &[u64]) -> f64 {
    let total: u64 = seen.iter().sum();
    let cells = seen.len() as f64;
    let few = EXTREMES.min(seen.len());
    if few < 2 || total == 0 {
        return 1.0;
    }
    let mean = total as f64 / cells;
    let mut sorted = seen.to_vec();
    sorted.sort_unstable();
    let strangest = |counts: &mut dyn Iterator<Item = &u64>, upwards: bool| {
        let (mut choices, mut least) = (0.0, 0.0_f64); // logarithms
        for (i, &count) in counts.take(few).enumerate() {
            choices += ((cells - i as f64) / (i as f64 + 1.0)).ln();
            // A count on the other side of the mean has a probability near one half or above.
            if (count as f64 > mean) == upwards {
                let one = beyond(count, total, 1.0 / cells).max(f64::MIN_POSITIVE).ln();
                least = least.min(choices + (i as f64 + 1.0) * one);
            }
        }
        least.exp()
    };
    let full = strangest(&mut sorted.iter().rev(), true);
    let empty = strangest(&mut sorted.iter(), false);
    smallest_of(full.min(empty), 2 * few as u64)
}

/// Returns the p-value of the smallest of `count` p-values: exact if they are independent, too
/// large otherwise (Sidak).
pub(crate) fn smallest_of(smallest: f64, count: u64) -> f64 {
    if smallest >= 1.0 {
        return 1.0;
    }
    (-(count as f64 * (-smallest).ln_1p()).exp_m1()).clamp(0.0, 1.0)
}

/// Returns the p-value of values that should be uniform between 0 and 1 (Kolmogorov and Smirnov).
/// Stephens's correction (1970) makes the limit's distribution good to three digits from eight
/// values on.
#[doc(hidden)]
pub fn kolmogorov_smirnov(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let distance = values
        .iter()
        .enumerate()
        .map(|(i, &value)| (value - i as f64 / n).max((i + 1) as f64 / n - value))
        .fold(0.0, f64::max);
    let t = distance * (n.sqrt() + 0.12 + 0.11 / n.sqrt());
    if t < 0.3 {
        return 1.0; // the series below converges slowly there, and to 1 within 1e-5
    }
    let terms = (1..=100).map(|k| {
        let k = f64::from(k);
        let sign = if k % 2.0 == 1.0 { 2.0 } else { -2.0 };
        sign * (-2.0 * k * k * t * t).exp()
    });
    terms.sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-6, "{found:e} for {expected:e}");
    }

    /// Values by mpmath 1.4 with 30 digits.
    #[test]
    fn special_functions_agree_with_another_library_far_into_the_tails() {
        close(chi_square(600.0, 255), 2.0 * 7.53197375228e-30);
        close(chi_square(80.0, 255), 2.0 * 3.31150336444e-28);
        close(chi_square(68_000.0, 65_535), 2.0 * 8.65915438816e-12);
        close(chi_square(1400.0, 4), 2.0 * 6.91163325718e-302);
        close(normal(5.0 * core::f64::consts::SQRT_2), 1.53745979443e-12);
        close(normal(26.0 * core::f64::consts::SQRT_2), 5.66319240886e-296);
    }

    #[test]
    fn poisson_tails_are_sums_of_their_terms() {
        let term = |k: u64, mean: f64| (0..k).fold((-mean).exp(), |p, i| p * mean / (i + 1) as f64);
        for (seen, mean) in [(0, 2.0), (1, 2.0), (9, 2.0), (3, 20.0), (45, 20.0)] {
            let low: f64 = (0..=seen).map(|k| term(k, mean)).sum();
            let high: f64 = (seen..seen + 200).map(|k| term(k, mean)).sum();
            close(poisson(seen, mean), (2.0 * low.min(high)).min(1.0));
        }
    }

    #[test]
    fn few_coins_are_counted_exactly_and_many_agree_with_few() {
        close(coin(0, 20), 2.0 / (1 << 20) as f64);
        close(coin(20, 20), 2.0 / (1 << 20) as f64);
        close(coin(3, 20), 2.0 * (1 + 20 + 190 + 1140) as f64 / (1 << 20) as f64);
        assert_eq!(coin(10, 20), 1.0);
        for ones in [2048, 2150, 2250] {
            let (few, many) = (binomial(ones, 4096, 0.5), {
                let z = ((ones as f64 - 2048.0).abs() - 0.5).max(0.0) / 32.0;
                normal(z)
            });
            assert!((few.min(1.0) / many - 1.0).abs() < 0.05, "{few:e} {many:e}");
        }
    }

    #[test]
    fn the_smallest_of_many_is_judged_as_such() {
        close(smallest_of(0.01, 1), 0.01);
        close(smallest_of(0.01, 64), 1.0 - 0.99_f64.powi(64));
        close(smallest_of(1e-200, 64), 64e-200);
        assert_eq!(smallest_of(1.0, 5), 1.0);
    }

    #[test]
    fn sums_of_squares_are_judged_by_the_upper_tail() {
        close(chi_square_above(600.0, 255), 7.53197375228e-30);
        assert_eq!(chi_square_above(0.0, 2), 1.0);
        assert_eq!(chi_square_above(f64::INFINITY, 2), 0.0);
    }

    /// One full cell has the binomial tail of one cell, times their number and the sixteen looks.
    #[test]
    fn one_cell_is_the_fullest_of_all_and_two_are_stranger() {
        let mut seen = vec![16_384_u64; 256];
        assert_eq!(extremes(&seen), 1.0);
        seen[7] += 960; // 7.5 standard deviations
        let one = extremes(&seen);
        let total = seen.iter().sum();
        close(one, 16.0 * 256.0 * beyond(16_384 + 960, total, 1.0 / 256.0));
        assert!(1e-11 < one && one < 1e-9, "{one:e}");
        seen[70] += 960;
        assert!(extremes(&seen) < 1e-20);
        let mut seen = vec![16_384_u64; 256];
        seen[7] -= 960;
        assert!(extremes(&seen) < 1e-9, "an empty cell counts as a full one does");
    }

    /// A simulation: p-values that are too small more often than stated would be a false alarm.
    #[test]
    fn the_strangest_cells_of_even_throws_are_as_rare_as_stated() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut below = [0; 3];
        for _ in 0..4000 {
            let mut seen = vec![0; 64];
            (0..2000).for_each(|_| seen[rng.usize(..64)] += 1);
            let p = extremes(&seen);
            for (count, limit) in below.iter_mut().zip([0.1, 0.01, 0.001]) {
                *count += u32::from(p < limit);
            }
        }
        // The bound is loose by the sixteen looks, of which neighbours see the same.
        assert!(below[0] <= 400 && below[1] <= 40 + 20 && below[2] <= 4 + 6, "{below:?}");
        assert!(below[0] > 20, "{below:?}: too loose to find anything");
    }

    /// The 5 % and 1 % points of Kolmogorov's distribution are 1.3581 and 1.6276.
    #[test]
    fn kolmogorov_and_smirnov_know_their_five_percent() {
        let n = 1_000_000;
        for (t, p) in [(1.3581, 0.05), (1.6276, 0.01)] {
            let shift = (t - 0.000_6) / f64::from(n).sqrt();
            let mut values: Vec<f64> =
                (0..n).map(|i| (f64::from(i) / f64::from(n) + shift).min(1.0)).collect();
            let found = kolmogorov_smirnov(&mut values);
            assert!((found / p - 1.0).abs() < 0.02, "{found} for {p}");
        }
    }
}
