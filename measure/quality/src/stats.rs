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

/// Returns the exact p-value of a binomial count: sums the smaller tail term by term, outwards from
/// `seen`.
fn binomial(seen: u64, trials: u64, chance: f64) -> f64 {
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
    (2.0 * sum).clamp(0.0, 1.0)
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
