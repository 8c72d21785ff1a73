//! Medians, their spread, and intervals for ratios. Nothing here assumes a normal distribution:
//! timings on a shared machine have one long tail.

/// Returns the median of the values, or NaN if there are no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Returns the median absolute deviation from the median. The deviation is in the unit of the
/// values, and it is not scaled to a standard deviation, because the values need not be normal.
/// Returns NaN if there are no values.
pub fn mad(values: &[f64]) -> f64 {
    let center = median(values);
    let deviations: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    median(&deviations)
}

/// A median and the interval that covers the true one with a probability of at least 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The median of the sample.
    pub median: f64,
    /// The lower end; `None` with fewer than six values, whose full range covers less than 95 %.
    pub low: Option<f64>,
    /// The upper end, as `low`.
    pub high: Option<f64>,
}

impl Interval {
    /// Returns one line such as `1.35 (1.35 to 1.36)`, or `-` where the ends are unknown, because a
    /// ratio without its interval is not quoted.
    pub fn show(&self) -> String {
        match self.low.zip(self.high) {
            Some((low, high)) => {
                format!("{} ({} to {})", figure(self.median), figure(low), figure(high))
            }
            None => "-".to_owned(),
        }
    }

    /// Returns the side of `value` on which the whole interval lies, or `None` if it contains
    /// `value`.
    pub fn side_of(&self, value: f64) -> Option<std::cmp::Ordering> {
        let (low, high) = self.low.zip(self.high)?;
        match (low > value, high < value) {
            (true, false) => Some(std::cmp::Ordering::Greater),
            (false, true) => Some(std::cmp::Ordering::Less),
            _ => None,
        }
    }

    /// Returns the interval of a sample, from its order statistics. The interval is exact for any
    /// distribution if the values are independent.
    pub fn of(values: &[f64]) -> Interval {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let rank = rank_95(sorted.len());
        Interval {
            median: median(values),
            low: rank.map(|rank| sorted[rank]),
            high: rank.map(|rank| sorted[sorted.len() - 1 - rank]),
        }
    }
}

/// Shows a value with at least three digits, which are more than most runs can distinguish.
pub fn figure(value: f64) -> String {
    let decimals = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// Returns how many times as fast `subject` is as `other`, as the interval of the ratio of their
/// times in each round. The ratio is taken round by round, because what slowed a whole round down
/// cancels in it. So rounds beyond the shorter list are not compared.
pub fn speedup(subject: &[f64], other: &[f64]) -> Interval {
    let ratios: Vec<f64> =
        subject.iter().zip(other).map(|(subject, other)| other / subject).collect();
    Interval::of(&ratios)
}

/// Returns the largest `r` such that the interval from the r-th smallest to the r-th largest of `n`
/// values (counted from 0) covers the median with at least 95 %.
///
/// Each value lies below the median with probability 1/2, so the r-th smallest lies above it with
/// P(Binomial(n, 1/2) <= r), which must not pass 2.5 %.
fn rank_95(n: usize) -> Option<usize> {
    // Weights relative to the middle one: 2^-n itself underflows beyond 1,074 rounds, while what
    // underflows here is too small to matter.
    let mut weights = vec![1.0_f64; n + 1];
    for k in (0..n / 2).rev() {
        weights[k] = weights[k + 1] * (k + 1) as f64 / (n - k) as f64;
    }
    for k in n / 2..n {
        weights[k + 1] = weights[k] * (n - k) as f64 / (k + 1) as f64;
    }
    let limit = 0.025 * weights.iter().sum::<f64>();
    let mut below = 0.0;
    let covered = weights.iter().take_while(|weight| {
        below += **weight;
        below <= limit
    });
    covered.count().checked_sub(1)
}

/// Returns an interval for a median of which only the MAD is known, as if the values were normal.
/// The standard deviation of normal values is 1.48 MADs. The standard error of their median is 1.25
/// standard deviations divided by the root of the number of values.
pub(crate) fn spread_interval(median: f64, mad: f64, samples: usize) -> Interval {
    let half = 1.96 * 1.2533 * 1.4826 * mad / (samples as f64).sqrt();
    Interval { median, low: Some(median - half), high: Some(median + half) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_even_and_nothing() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn mad_ignores_an_outlier() {
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), 1.0);
        assert_eq!(mad(&[5.0, 5.0, 5.0, 5.0, 1e9]), 0.0);
    }

    /// The ranks (here from 0) printed in tables of the sign test.
    #[test]
    fn ranks_are_those_of_the_sign_test() {
        assert_eq!(rank_95(0), None);
        assert_eq!(rank_95(5), None); // 1 - 2/32 = 93.75 %
        assert_eq!(rank_95(6), Some(0)); // 1 - 2/64 = 96.9 %
        assert_eq!(rank_95(9), Some(1)); // 1 - 20/512 = 96.1 %
        assert_eq!(rank_95(20), Some(5));
        assert_eq!(rank_95(30), Some(9));
    }

    #[test]
    fn rank_of_thousands_follows_the_normal_approximation() {
        let n = 10_000;
        let expected = 5_000.0 - 0.5 * 1.96 * 100.0;
        assert!((rank_95(n).unwrap() as f64 - expected).abs() < 2.0);
    }

    #[test]
    fn interval_of_nine() {
        let interval = Interval::of(&[9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0]);
        assert_eq!(interval, Interval { median: 5.0, low: Some(2.0), high: Some(8.0) });
    }

    #[test]
    fn speedup_cancels_what_slows_a_whole_round() {
        let subject = [1.0, 10.0, 1.0, 2.0, 1.0, 1.0];
        let other = subject.map(|ns| 4.0 * ns);
        let ratio = speedup(&subject, &other);
        assert_eq!((ratio.median, ratio.low, ratio.high), (4.0, Some(4.0), Some(4.0)));
    }

    #[test]
    fn an_interval_is_shown_whole_or_not_at_all() {
        let ratio = |values: &[f64]| Interval::of(values).show();
        assert_eq!(ratio(&[9.99, 9.996, 9.99, 10.0, 100.4, 9.99]), "9.99 (9.99 to 100)");
        assert_eq!(ratio(&[1.0, 1.0]), "-");
    }

    #[test]
    fn an_interval_decides_only_as_a_whole() {
        let side = |low, high| Interval { median: 1.0, low, high }.side_of(1.0);
        assert_eq!(side(Some(1.01), Some(1.2)), Some(std::cmp::Ordering::Greater));
        assert_eq!(side(Some(0.8), Some(0.99)), Some(std::cmp::Ordering::Less));
        assert_eq!(side(Some(0.99), Some(1.2)), None);
        assert_eq!(side(None, None), None);
    }

    #[test]
    fn too_few_rounds_give_no_interval() {
        assert_eq!(Interval::of(&[1.0, 2.0]).low, None);
    }
}
