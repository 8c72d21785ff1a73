//! Distributions that came after the first eight: the same on every path, and always an end.

use super::{Awkward, stream};
use crate::features::tests::on_every_path;
use crate::numbers::distributions::{
    Categorical, Dirichlet, Multinomial, MultivariateNormal, Sampler, Sobol, TruncatedNormal,
    VectorDistribution, VonMises, private_at, private_fill,
};
use crate::numbers::path::Path;
use crate::words::Words;

const INF: f64 = f64::INFINITY;

/// Runs samplers around every change of a method, and at the ends of what floats can hold.
fn each(test: &impl Fn(&dyn Fn(Path, &Words2, u64, &mut [f64]), (f64, f64))) {
    for (mean, deviation, low, high) in [
        (0.0, 1.0, -INF, INF),
        (0.0, 1.0, -1.2, 1.3),
        (0.0, 1.0, -1.2, 1.299),
        (0.0, 1.0, 0.0, INF),
        (0.0, 1.0, 2.0, 2.4),
        (0.0, 1.0, 2.0, 2.5),
        (3.0, 0.1, -INF, 2.0),
        (0.0, 1.0, 1e300, INF),
        (1e308, 1.0, -INF, -1e308),
        (0.0, f64::MAX, -1.0, 1.0),
        (0.0, f64::from_bits(1), -1.0, 1.0),
    ] {
        let sampler = TruncatedNormal::new(mean, deviation, low, high).unwrap();
        test(&|path, words, start, out| words.fill(path, &sampler, start, out), (low, high));
    }
    let pi = core::f64::consts::PI;
    for (mu, kappa) in [
        (0.0, 0.0),
        (pi, 0.374),
        (-pi, 0.375),
        (1.0, 3.0),
        (2.0, 1e9),
        (0.0, 1e300),
        (0.0, f64::MAX),
    ] {
        let sampler = VonMises::new(mu, kappa).unwrap();
        test(&|path, words, start, out| words.fill(path, &sampler, start, out), (-pi, pi));
    }
}

/// Words of one of two kinds, asked for by a range or by a list.
enum Words2 {
    Awkward,
    Listed,
    Rejected,
}

impl Words2 {
    fn fill(&self, path: Path, sampler: &impl Sampler<f64>, start: u64, out: &mut [f64]) {
        let indices: Vec<u64> = (start..).take(out.len()).collect();
        match self {
            Words2::Awkward => private_fill(path, &Awkward, sampler, start, out),
            Words2::Listed => private_at(path, &Awkward, sampler, &indices, out),
            Words2::Rejected => private_fill(path, &Rejected, sampler, start, out),
        }
    }
}

/// Blocks that almost every method rejects, for ever.
struct Rejected;

impl Words for Rejected {
    fn words(&self, _: u16, _: u64, out: &mut [u64]) {
        out.fill(0);
    }
    fn blocks(&self, _: u16, _: u64, out: &mut [[u64; 2]]) {
        out.fill([0, u64::MAX]);
    }
    fn blocks_at(&self, _: u16, _: &[u64], out: &mut [[u64; 2]]) {
        out.fill([0, u64::MAX]);
    }
}

#[test]
fn further_samplers_are_the_same_on_every_path_in_any_parts_and_lists() {
    each(&|fill, (low, high)| {
        for start in [0, (1 << 32) - 3, u64::MAX - 400] {
            let made = |path, words: &Words2, start: u64, len: usize| {
                let mut out = vec![0.0; len];
                fill(path, words, start, &mut out);
                assert!(out.iter().all(|x| (low..=high).contains(x)), "{low} {high} {out:?}");
                out.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            };
            let whole = made(Path::all()[0], &Words2::Awkward, start, 400);
            for path in Path::all() {
                assert_eq!(made(path, &Words2::Awkward, start, 400), whole, "{path:?}");
                assert_eq!(made(path, &Words2::Listed, start, 400), whole, "{path:?}");
                for cut in [1, 255, 257] {
                    let mut parts = made(path, &Words2::Awkward, start, cut);
                    let rest = start + cut as u64;
                    parts.extend(made(path, &Words2::Awkward, rest, 400 - cut));
                    assert_eq!(parts, whole, "{path:?}, cut at {cut}");
                }
            }
        }
    });
}

#[test]
fn further_samplers_end_in_the_fallback() {
    each(&|fill, (low, high)| {
        let mut out = [f64::NAN; 3];
        fill(Path::best(), &Words2::Rejected, 0, &mut out);
        assert!(out.iter().all(|x| (low..=high).contains(x)), "{out:?}");
    });
}

#[test]
fn vectors_and_choices_are_the_same_on_every_path() {
    let s = stream(43);
    let mut factor = [0.0; 9];
    let covariance = [2.0, 0.5, -1.0, 0.5, 3.0, 0.25, -1.0, 0.25, 1.0];
    MultivariateNormal::cholesky(&covariance, 3, &mut factor).unwrap();
    let vectors = |distribution: &dyn Fn(&mut [f64])| {
        let mut out = vec![0.0; 3 * 700];
        distribution(&mut out);
        out.into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    fn fill<D: VectorDistribution>(s: &crate::Stream, of: &D, out: &mut [D::Value]) {
        s.fill_vectors(of, 5, out).unwrap();
    }
    let all = || {
        let mut counts = vec![0; 3 * 700];
        let mut more = counts.clone();
        let mut chosen = vec![0_u32; 700];
        fill(&s, &Multinomial::new(15, &[1.0, 2.0, 3.0]).unwrap(), &mut counts);
        fill(&s, &Multinomial::new(1 << 40, &[1.0, 2.0, 3.0]).unwrap(), &mut more);
        s.fill_distribution(&Categorical::new(&[1.0, 2.0, 3.0]).unwrap(), 5, &mut chosen).unwrap();
        let floats = [
            vectors(&|out| fill(&s, &Dirichlet::new(&[0.1, 0.2, 0.3]).unwrap(), out)),
            vectors(&|out| fill(&s, &Dirichlet::new(&[0.1, 2.0, 30.0]).unwrap(), out)),
            vectors(&|out| fill(&s, &MultivariateNormal::new(&[0.0; 3], &factor).unwrap(), out)),
            vectors(&|out| fill(&s, &Sobol::new(3).unwrap(), out)),
        ];
        (counts, more, chosen, floats)
    };
    let right = all();
    on_every_path(|features| assert_eq!(all(), right, "{features:?}"));
}
