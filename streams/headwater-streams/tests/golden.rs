//! The values of version 1, which must never change: hashes of long arrays, in a file that no
//! command writes.

use headwater_streams::distributions::{
    Beta, Binomial, Categorical, ChiSquare, Dirichlet, Gamma, Geometric, LogNormal, Multinomial,
    MultivariateNormal, Poisson, Sobol, StudentT, TruncatedNormal, VonMises,
};
use headwater_streams::{Engine, Error, Key, Stream};
use std::path::Path;

/// Elements of each array.
const LEN: usize = 100_000;
/// Where they begin: in the middle of a pair, of a block and of a vector.
const START: u64 = 12_345;

/// Returns the BLAKE2s-256 hash of the array's little-endian bytes, in hexadecimal digits.
fn hash<T: Copy + Default, const N: usize>(
    fill: impl Fn(&mut [T]) -> Result<(), Error>,
    bytes: impl Fn(T) -> [u8; N],
) -> String {
    let mut array = vec![T::default(); LEN];
    fill(&mut array).unwrap();
    let bytes: Vec<u8> = array.into_iter().flat_map(bytes).collect();
    reference::streams::blake2s::<32>(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the hash of each kind of array of a stream.
fn arrays(s: &Stream) -> Vec<(&'static str, String)> {
    let n = LEN as u64;
    let shuffled = |out: &mut [u64]| {
        (0..).zip(&mut *out).for_each(|(i, out)| *out = i);
        s.shuffle(out);
        Ok(())
    };
    vec![
        ("u64", hash(|out| s.fill_u64(START, out), u64::to_le_bytes)),
        ("f64", hash(|out| s.fill_f64(START, out), f64::to_le_bytes)),
        ("f32", hash(|out| s.fill_f32(START, out), f32::to_le_bytes)),
        ("normal_f64", hash(|out| s.fill_normal_f64(START, out), f64::to_le_bytes)),
        ("normal_f32", hash(|out| s.fill_normal_f32(START, out), f32::to_le_bytes)),
        ("exponential_f64", hash(|out| s.fill_exponential_f64(START, out), f64::to_le_bytes)),
        (
            "bounded_u64",
            hash(|out| s.fill_bounded_u64((1 << 63) + 1, START, out), u64::to_le_bytes),
        ),
        (
            "bounded_u32",
            hash(|out| s.fill_bounded_u32(1_000_000_007, START, out), u32::to_le_bytes),
        ),
        ("shuffle", hash(shuffled, u64::to_le_bytes)),
        ("permutation", hash(|out| s.permutation(n * n).fill(START, out), u64::to_le_bytes)),
    ]
}

/// Returns the hash of each distribution in a list.
macro_rules! hashes {
    ($s:expr, $fill:ident: $($name:literal: $distribution:expr, $type:ty;)*) => {
        vec![$({
            let distribution = $distribution.unwrap();
            let fill = |out: &mut [$type]| $s.$fill(&distribution, START, out);
            ($name, hash(fill, <$type>::to_le_bytes))
        }),*]
    };
}

/// Returns the hash of each distribution that came later, by each of its methods.
fn samplers(s: &Stream) -> Vec<(&'static str, String)> {
    let covariance =
        [2.0, 0.5, -1.0, 0.0, 0.5, 3.0, 0.25, 0.0, -1.0, 0.25, 1.0, 0.0, 0.0, 0.0, 0.0, 4.0];
    let mut factor = [0.0; 16];
    MultivariateNormal::cholesky(&covariance, 4, &mut factor).unwrap();
    let weights: Vec<f64> = (1..1000).map(|i| 1.0 / f64::from(i)).collect();
    let mut all = hashes! { s, fill_distribution:
        "categorical_u64": Categorical::new(&weights), u64;
        "categorical_u32": Categorical::new(&weights), u32;
        "truncated_normal_f64": TruncatedNormal::new(1.0, 2.0, -3.0, 4.0), f64;
        "truncated_normal_f64_short": TruncatedNormal::new(0.0, 1.0, -0.5, 1.0), f64;
        "truncated_normal_f64_tail": TruncatedNormal::new(0.0, 1.0, -f64::INFINITY, -5.0), f64;
        "truncated_normal_f32": TruncatedNormal::new(1.0, 2.0, -3.0, 4.0), f32;
        "von_mises_f64": VonMises::new(1.0, 4.0), f64;
        "von_mises_f64_small": VonMises::new(-3.0, 0.25), f64;
        "von_mises_f32": VonMises::new(1.0, 4.0), f32;
    };
    // Dimensions of which the length of the array is a multiple.
    all.extend(hashes! { s, fill_vectors:
        "dirichlet": Dirichlet::new(&[0.5, 2.0, 7.0, 1.0]), f64;
        "dirichlet_small": Dirichlet::new(&[0.5, 0.2, 0.01, 0.1]), f64;
        "multinomial": Multinomial::new(1000, &[0.5, 2.0, 7.0, 1e-3]), u64;
        "multinomial_small": Multinomial::new(12, &[1.0, 1.0, 3.0, 1.0]), u64;
        "multivariate_normal": MultivariateNormal::new(&[1.0, 2.0, 3.0, 4.0], &factor), f64;
        "sobol": Sobol::new(10), f64;
        "sobol_plain": Sobol::plain(1000), f64;
    });
    all
}

#[test]
fn the_values_of_samplers_are_the_ones_that_were_frozen() {
    compare("v1-samplers.txt", samplers);
}

/// Returns the hash of each distribution of a stream, by each of its methods.
fn distributions(s: &Stream) -> Vec<(&'static str, String)> {
    hashes! { s, fill_distribution:
        "lognormal_f64": LogNormal::new(0.5, 2.0), f64;
        "lognormal_f32": LogNormal::new(0.5, 2.0), f32;
        "gamma_f64": Gamma::new(2.5), f64;
        "gamma_f64_small": Gamma::new(0.3), f64;
        "gamma_f32": Gamma::new(2.5), f32;
        "chi_square_f64": ChiSquare::new(7.0), f64;
        "beta_f64": Beta::new(2.0, 3.5), f64;
        "beta_f64_small": Beta::new(0.5, 0.25), f64;
        "beta_f64_mixed": Beta::new(0.5, 2.0), f64;
        "student_t_f64": StudentT::new(4.0), f64;
        "geometric": Geometric::new(0.05), u64;
        "poisson_small": Poisson::new(3.5), u64;
        "poisson": Poisson::new(123.4), u64;
        "binomial_small": Binomial::new(50, 0.9), u64;
        "binomial": Binomial::new(1000, 0.3), u64;
    }
}

#[test]
fn the_values_of_distributions_are_the_ones_that_were_frozen() {
    compare("v1-distributions.txt", distributions);
}

#[test]
fn the_values_of_version_1_are_the_ones_that_were_frozen() {
    compare("v1.txt", arrays);
}

fn compare(file: &str, hashes: impl Fn(&Stream) -> Vec<(&'static str, String)>) {
    let mut now = String::new();
    for &engine in Engine::ALL {
        let stream = Key::with_engine(engine, 42).child("golden").stream(7).unwrap();
        for (kind, hash) in hashes(&stream) {
            now += &format!("{engine} {kind} {hash}\n");
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/golden").join(file);
    let frozen = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        now == frozen,
        "values of version 1 have changed. Programs depend on them: put the code right, or give the new values a new version and a new name \
         (STREAMS.md). Now they are:\n{now}"
    );
}
