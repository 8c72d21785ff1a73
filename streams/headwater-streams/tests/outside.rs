//! Cases of other projects: their parameters, and answers that were written down before the test
//! ran. `distributions/outside.md` lists them with their sources.

use headwater_streams::distributions::{
    Categorical, Dirichlet, Distribution, Multinomial, MultivariateNormal, TruncatedNormal,
    VectorDistribution, VonMises,
};
use headwater_streams::{Error, Key, Stream};
use std::f64::consts::PI;

const INF: f64 = f64::INFINITY;
const N: usize = 200_000;

fn stream() -> Stream {
    Key::from_seed("outside").stream(0).unwrap()
}

fn numbers<T: Copy + Default>(distribution: Result<impl Distribution<T>, Error>) -> Vec<T> {
    let mut out = vec![T::default(); N];
    stream().fill_distribution(&distribution.unwrap(), 0, &mut out).unwrap();
    out
}

fn vectors<D: VectorDistribution>(distribution: Result<D, Error>) -> (usize, Vec<D::Value>)
where
    D::Value: Copy + Default,
{
    let distribution = distribution.unwrap();
    let dimension = distribution.dimension().get();
    let mut out = vec![D::Value::default(); N * dimension];
    stream().fill_vectors(&distribution, 0, &mut out).unwrap();
    (dimension, out)
}

/// Fails if the mean is not the expected one, to five of its standard deviations.
fn mean_is(case: &str, sample: impl Iterator<Item = f64> + Clone, expected: f64) {
    let n = sample.clone().count() as f64;
    let mean = sample.clone().sum::<f64>() / n;
    let variance = sample.map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    let limit = 5.0 * (variance / n).sqrt() + 1e-13 * expected.abs();
    assert!((mean - expected).abs() <= limit, "{case}: {mean}, not {expected} +- {limit}");
}

/// Cases 1 to 12: means and variances.
#[test]
fn truncated_normals_of_scipy_and_gsl() {
    for (case, deviation, low, high, mean, variance) in [
        ("1", 1.0, -30.0, 30.0, 0.0, 1.0),
        ("2", 1.0, -3.0, 3.0, 0.0, 0.9733369246625415),
        ("3", 1.0, -2.0, 2.0, 0.0, 0.7737413035499232),
        ("4", 1.0, 0.0, INF, 0.7978845608028654, 0.3633802276324186),
        ("5", 1.0, -1.0, 3.0, 0.282786110727154, 0.6161417353578292),
        ("6", 1.0, -3.0, 1.0, -0.282786110727154, 0.6161417353578292),
        ("7", 1.0, -10.0, -9.0, -9.108456288012476, 0.011448805821010407),
    ] {
        let x: Vec<f64> = numbers(TruncatedNormal::new(0.0, deviation, low, high));
        mean_is(case, x.iter().copied(), mean);
        mean_is(case, x.iter().map(|x| (x - mean).powi(2)), variance);
    }
    // Ranges that other methods once left.
    for (case, low, high) in
        [("8", 10.0, 11.0), ("9", 100.0, 101.0), ("10", -101.0, -100.0), ("11", 1e4, INF)]
    {
        let x: Vec<f64> = numbers(TruncatedNormal::new(0.0, 1.0, low, high));
        assert!(x.iter().all(|x| (low..=high).contains(x)), "{case}");
        // Near the end nearest to 0, as the tail's density falls with rate |end|.
        let end = if low > 0.0 { low } else { high };
        mean_is(case, x.iter().map(|x| f64::from(u8::from((x - end).abs() * end.abs() < 3.0))), {
            // 1 - Q(end + 3 / end) / Q(end), by the series of Mills' ratio.
            let mills = |a: f64| (1.0 - 1.0 / (a * a) + 3.0 / a.powi(4) - 15.0 / a.powi(6)) / a;
            let (a, b) = (end.abs(), end.abs() + 3.0 / end.abs());
            1.0 - ((a - b) * (a + b) / 2.0).exp() * mills(b) / mills(a)
        });
    }
    for (case, deviation, low, below, share) in
        [("12", 1.7, 0.25, 1.0, TAIL_1), ("13", 5.0, -1.7, 1.0, TAIL_2)]
    {
        let x: Vec<f64> = numbers(TruncatedNormal::new(0.0, deviation, low, INF));
        mean_is(case, x.iter().map(|&x| f64::from(u8::from(x < below))), share);
    }
}

/// The share below 1 of normal numbers of deviation 1.7 above 0.25, and of 5 above -1.7.
const TAIL_1: f64 = 0.3699655204353132;
const TAIL_2: f64 = 0.33539871295572626;

/// Cases 14 to 21.
#[test]
fn von_mises_of_mardia_and_numpy() {
    for (case, kappa, resultant) in
        [("14", 0.5, 0.24250), ("15", 1.0, 0.44640), ("16", 2.0, 0.69777), ("17", 10.0, 0.94860)]
    {
        let x: Vec<f64> = numbers(VonMises::new(0.0, kappa));
        let cosines: Vec<f64> = x.iter().map(|x| x.cos()).collect();
        let mean = cosines.iter().sum::<f64>() / N as f64;
        assert!((mean - resultant).abs() < 0.005, "{case}: {mean}");
        mean_is(case, x.iter().map(|x| x.sin()), 0.0);
    }
    for (case, mu, kappa) in
        [("18", 0.0, 1.1e-8), ("19", 2.0, 1e7), ("20", PI, 1e15), ("21", -PI, 1e15)]
    {
        let x: Vec<f64> = numbers(VonMises::new(mu, kappa));
        assert!(x.iter().all(|x| (-PI..=PI).contains(x)), "{case}");
        if kappa > 1.0 {
            mean_is(case, x.iter().map(|x| (x - mu).sin()), 0.0);
            mean_is(case, x.iter().map(|x| (x - mu).sin().powi(2) * kappa), 1.0);
        }
    }
}

/// Cases 22 to 29.
#[test]
fn weighted_choices_of_gsl_numpy_and_rand() {
    let shares = |case: &str, weights: &[f64]| {
        let sum: f64 = weights.iter().sum();
        let x: Vec<u64> = numbers(Categorical::new(weights));
        for (i, weight) in (0..).zip(weights) {
            mean_is(case, x.iter().map(|&x| f64::from(u8::from(x == i))), weight / sum);
        }
    };
    shares("22", &[0.59, 0.4, 0.01]);
    shares("23", &[1.0, 9.0, 3.0, 4.0, 5.0, 8.0, 6.0, 7.0, 2.0, 0.0]);
    shares("24", &[1.0, 2.0, 3.0, 0.0, 5.0, 6.0, 7.0]);
    shares("25", &[0.1, 0.0, 0.3, 0.6, 0.0]);
    for (case, weights) in
        [("26", &[10.0, -1.0][..]), ("27", &[0.0]), ("28", &[f64::NAN, 0.5]), ("29", &[])]
    {
        assert!(Categorical::new(weights).is_err(), "{case}");
    }
}

/// Cases 30 to 34.
#[test]
fn dirichlet_vectors_of_numpy_and_scipy() {
    for (case, alpha) in [
        ("30", &[0.02, 0.04, 0.03][..]),
        ("31", &[1.0, 1.0]),
        ("32", &[51.72840233779265, 39.74494232180944]),
    ] {
        let sum: f64 = alpha.iter().sum();
        let (dimension, x) = vectors(Dirichlet::new(alpha));
        for (i, a) in alpha.iter().enumerate() {
            let of = x.iter().skip(i).step_by(dimension).copied();
            mean_is(case, of.clone(), a / sum);
            let variance = a * (sum - a) / (sum * sum * (sum + 1.0));
            mean_is(case, of.map(|x| (x - a / sum).powi(2)), variance);
        }
    }
    // All gamma numbers underflow: a component is 1 with a chance in proportion to its shape.
    let (_, x) = vectors(Dirichlet::new(&[1e-9, 1e-12]));
    assert!(x.chunks(2).all(|v| (v[0] + v[1] - 1.0).abs() < 1e-15), "33");
    mean_is("33", x.iter().step_by(2).copied(), 1.0 / 1.001);
    assert!(
        Dirichlet::new(&[1.0, 0.0]).is_err() && Dirichlet::new(&[5.4e-1, -1.0e-16]).is_err(),
        "34"
    );
}

/// Cases 35 to 39.
#[test]
fn multinomial_vectors_of_numpy() {
    for (case, p) in [
        ("35", &[0.2, 0.8][..]),
        ("36", &[0.2, 0.8, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ("37", &[1.0 / 6.0; 6]),
    ] {
        let (dimension, x) = vectors(Multinomial::new(100, p));
        assert!(x.chunks(dimension).all(|v| v.iter().sum::<u64>() == 100), "{case}");
        for (i, p) in p.iter().enumerate() {
            let of = x.iter().skip(i).step_by(dimension).map(|&n| n as f64);
            mean_is(case, of.clone(), 100.0 * p);
            mean_is(case, of.map(|n| (n - 100.0 * p).powi(2)), 100.0 * p * (1.0 - p));
        }
    }
    assert!(Multinomial::new(100, &[-1.0, 2.0]).is_err(), "38");
    let (_, x) = vectors(Multinomial::new(0, &[0.5, 0.5]));
    assert!(x.iter().all(|&n| n == 0), "39");
}

/// Cases 40 to 44.
#[test]
fn normal_vectors_of_numpy() {
    let mut factor = [0.0; 4];
    MultivariateNormal::cholesky(&[2.0, 1.0, 1.0, 2.0], 2, &mut factor).unwrap();
    let (_, x) = vectors(MultivariateNormal::new(&[1.0, 2.0], &factor));
    mean_is("40", x.iter().step_by(2).copied(), 1.0);
    mean_is("40", x.iter().skip(1).step_by(2).copied(), 2.0);
    mean_is("40", x.chunks(2).map(|v| (v[0] - 1.0).powi(2)), 2.0);
    mean_is("40", x.chunks(2).map(|v| (v[1] - 2.0).powi(2)), 2.0);
    mean_is("40", x.chunks(2).map(|v| (v[0] - 1.0) * (v[1] - 2.0)), 1.0);
    MultivariateNormal::cholesky(&[1.0, 0.0, 0.0, 1.0], 2, &mut factor).unwrap();
    let (_, x) = vectors(MultivariateNormal::new(&[0.123456789, 10.0], &factor));
    mean_is("41", x.iter().step_by(2).copied(), 0.123456789);
    mean_is("41", x.chunks(2).map(|v| (v[0] - 0.123456789) * (v[1] - 10.0)), 0.0);
    assert!(MultivariateNormal::cholesky(&[1.0, 2.0, 2.0, 1.0], 2, &mut factor).is_err(), "42");
    // Singular: NumPy's Cholesky refuses it, its other methods do not.
    MultivariateNormal::cholesky(&[1.0, 1.0, 1.0, 1.0], 2, &mut factor).unwrap();
    let (_, x) = vectors(MultivariateNormal::new(&[0.0, 0.0], &factor));
    assert!(x.chunks(2).all(|v| v[0] == v[1]), "43");
    assert!(MultivariateNormal::new(&[1.0, 2.0, 3.0], &factor).is_err(), "44");
}
