//! Distributions, with fixed seeds: each limit is crossed once and for all, or never.

use super::stream;

const N: usize = 1 << 20;

/// Returns the chance that a normal number is larger than `x`: by Laplace's continued fraction
/// above 3, by its series below.
fn upper_tail(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / (2.0 * core::f64::consts::PI).sqrt();
    if x > 3.0 {
        return density / (1..200).rev().fold(x, |fraction, k| x + f64::from(k) / fraction);
    }
    let mut term = x;
    let mut sum = x;
    for k in 1..200 {
        term *= x * x / f64::from(2 * k + 1);
        sum += term;
    }
    0.5 - density * sum
}

/// Returns two statistics of values that should be uniform: Anderson and Darling's, which is the
/// most sensitive to the ends, and Kolmogorov's.
fn statistics(mut uniform: Vec<f64>) -> (f64, f64) {
    uniform.sort_by(f64::total_cmp);
    let n = uniform.len() as f64;
    let (mut sum, mut distance) = (0.0, 0f64);
    for (i, &u) in uniform.iter().enumerate() {
        let i = i as f64;
        let other = uniform[uniform.len() - 1 - i as usize];
        sum += (2.0 * i + 1.0) * (u.ln() + (1.0 - other).ln());
        distance = distance.max(u - i / n).max((i + 1.0) / n - u);
    }
    (-n - sum / n, distance * n.sqrt())
}

/// Fails if a statistic is beyond its limit, which happens once in 1,000 times to correct numbers.
fn assert_uniform(name: &str, uniform: Vec<f64>) {
    let (anderson_darling, kolmogorov) = statistics(uniform);
    assert!(anderson_darling < 6.0, "{name}: Anderson-Darling {anderson_darling}");
    assert!(kolmogorov < 1.95, "{name}: Kolmogorov {kolmogorov}");
}

#[test]
fn every_kind_has_its_distribution() {
    let mut f64s = vec![0.0; N];
    let mut f32s = vec![0.0; N];
    stream(30).fill_f64(0, &mut f64s).unwrap();
    assert_uniform("f64", f64s.iter().map(|x| x + 2f64.powi(-54)).collect());
    stream(31).fill_f32(0, &mut f32s).unwrap();
    assert_uniform("f32", f32s.iter().map(|&x| f64::from(x) + 2f64.powi(-25)).collect());
    stream(32).fill_normal_f64(0, &mut f64s).unwrap();
    assert_uniform("normal f64", f64s.iter().map(|&x| upper_tail_of_either(x)).collect());
    stream(33).fill_normal_f32(0, &mut f32s).unwrap();
    assert_uniform("normal f32", f32s.iter().map(|&x| upper_tail_of_either(x.into())).collect());
    stream(34).fill_exponential_f64(0, &mut f64s).unwrap();
    assert_uniform("exponential", f64s.iter().map(|x| (-x).exp()).collect());
    let mut integers = vec![0; N];
    stream(35).fill_bounded_u64(1 << 52, 0, &mut integers).unwrap();
    let scaled = integers.iter().map(|&x| (x as f64 + 0.5) / 2f64.powi(52));
    assert_uniform("bounded", scaled.collect());
}

fn upper_tail_of_either(x: f64) -> f64 {
    if x < 0.0 { 1.0 - upper_tail(-x) } else { upper_tail(x) }
}

/// Counts 2^22 normals of each width beyond 1 to 5 standard deviations, on either side. No number
/// is beyond 6.5.
#[test]
fn tails_are_as_heavy_as_they_should_be() {
    let mut f64s = vec![0.0; 4 * N];
    stream(36).fill_normal_f64(0, &mut f64s).unwrap();
    let mut f32s = vec![0.0; 4 * N];
    stream(37).fill_normal_f32(0, &mut f32s).unwrap();
    for normals in [f64s, f32s.into_iter().map(f64::from).collect()] {
        for sigma in 1..=5 {
            for side in [-1.0, 1.0] {
                let limit = f64::from(sigma);
                let count = normals.iter().filter(|&&x| x * side > limit).count() as f64;
                let mean = upper_tail(limit) * normals.len() as f64;
                assert!(
                    (count - mean).abs() < 4.0 * mean.sqrt() + 3.0,
                    "{count}, not {mean}, beyond {limit}"
                );
            }
        }
        assert!(normals.iter().all(|x| x.abs() < 6.5));
    }
}

/// Compares the words that reach six standard deviations and more with the distribution, to a
/// tenth. The words are chosen, because waiting for them takes 10^9 draws; their share of all words
/// is exact.
#[test]
fn the_far_tail_is_there() {
    // P(distance > r) = exp(-r^2 / 2): the largest word whose distance is beyond r, over 2^64, must
    // be that.
    for r in [4.0, 6.0, 7.0, 8.0, 9.0f64] {
        let distance = |word: u64| {
            let [x, y] = super::values::normal_pair(word, 0x1234_5678_9ABC_DEF0);
            x.hypot(y)
        };
        let (mut below, mut above) = (0, u64::MAX);
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            *(if distance(middle) > r { &mut below } else { &mut above }) = middle;
        }
        let share = below as f64 / 2f64.powi(64);
        let right = (-r * r / 2.0).exp();
        assert!((share / right - 1.0).abs() < 0.1, "{share:e}, not {right:e}, beyond {r}");
    }
}

/// Checks that the two numbers of a pair, and neighbours of two pairs, are uncorrelated, and their
/// squares as well.
#[test]
fn neighbouring_normals_are_not_correlated() {
    let mut normals = vec![0.0; N];
    stream(38).fill_normal_f64(0, &mut normals).unwrap();
    for power in [1, 2] {
        let centred: Vec<f64> = normals
            .iter()
            .map(|x| if power == 1 { *x } else { (x * x - 1.0) / 2f64.sqrt() })
            .collect();
        for lag in 1..=4 {
            let pairs = centred.iter().zip(&centred[lag..]);
            let z = pairs.map(|(a, b)| a * b).sum::<f64>() / (N as f64).sqrt();
            assert!(z.abs() < 5.0, "powers of {power}, {lag} apart: {z}");
        }
    }
}
