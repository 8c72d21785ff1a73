//! The kinds that NumPy's programs ask for: the same bits as the reference on every path, and an
//! end for every word and every parameter.

use super::Awkward;
use crate::numbers::distributions::{
    FisherF, Hypergeometric, LogGamma, LogSeries, Maxwell, NegativeBinomial, NoncentralChiSquare,
    NoncentralF, Sampler, Wald, Zipf, private_at, private_fill,
};
use crate::numbers::path::Path;
use crate::words::Words;

const TINY: f64 = f64::from_bits(1);

/// Words that every rejecting method rejects, for ever.
struct Rejected;

impl Words for Rejected {
    fn words(&self, _: u16, _: u64, out: &mut [u64]) {
        out.fill(0);
    }
    fn blocks(&self, _: u16, _: u64, out: &mut [[u64; 2]]) {
        out.fill([1 << 40, u64::MAX]);
    }
    fn blocks_at(&self, _: u16, _: &[u64], out: &mut [[u64; 2]]) {
        out.fill([1 << 40, u64::MAX]);
    }
}

/// Elements by a range, by a list and one at a time are the same, on every path, whether they are
/// few, a chunk or more.
fn same_on_every_path<T: Copy + Default + PartialEq + core::fmt::Debug>(
    sampler: &impl Sampler<T>,
    good: impl Fn(T) -> bool,
) {
    let plain = {
        let mut out = vec![T::default(); 1200];
        private_fill(Path::all()[0], &Awkward, sampler, 5, &mut out);
        out
    };
    assert!(plain.iter().all(|&x| good(x)), "{plain:?}");
    for path in Path::all() {
        for many in [1, 7, 16, 17, 512, 513, 1200] {
            let mut out = vec![T::default(); many];
            private_fill(path, &Awkward, sampler, 5, &mut out);
            assert_eq!(out, plain[..many], "{path:?} {many}");
            let indices: Vec<u64> = (5..).take(many).collect();
            private_at(path, &Awkward, sampler, &indices, &mut out);
            assert_eq!(out, plain[..many], "{path:?} {many}");
        }
        let mut out = [T::default(); 40];
        private_fill(path, &Rejected, sampler, 0, &mut out);
        assert!(out.iter().all(|&x| good(x)), "{path:?} {out:?}");
    }
}

#[test]
fn numbers_of_blocks_are_the_same_on_every_path() {
    let from_0 = |x: f64| x >= 0.0;
    for (mean, scale) in [(1.0, 1.0), (3.0, 0.1), (TINY, f64::MAX), (f64::MAX, TINY), (1.0, 1e20)] {
        same_on_every_path::<f64>(&Wald::new(mean, scale).unwrap(), from_0);
    }
    for (a, b) in [(1.0, 1.0), (TINY, TINY), (TINY, f64::MAX), (f64::MAX, TINY), (7.0, 0.3)] {
        same_on_every_path::<f64>(&FisherF::new(a, b).unwrap(), from_0);
    }
    let whole = |k: u64| (1..1 << 63).contains(&k);
    for a in [1.0 + f64::EPSILON, 1.0001, 1.9999, 2.0, 3.5, 63.99, 64.0, f64::MAX] {
        same_on_every_path::<u64>(&Zipf::new(a).unwrap(), whole);
    }
    for p in [0.0, TINY, 0.3, 0.9, 1.0 - f64::EPSILON / 2.0] {
        same_on_every_path::<u64>(&LogSeries::new(p).unwrap(), |k| k >= 1);
    }
}

#[test]
fn numbers_of_the_newest_kinds_are_the_same_on_every_path() {
    let from_0 = |x: f64| x >= 0.0;
    let degrees = [1.0, 2.5, 0.5, TINY, f64::MAX, 1.0 - f64::EPSILON / 2.0];
    for (k, n) in degrees.into_iter().flat_map(|k| [0.0, TINY, 3.0, 40.0, 1e300].map(|n| (k, n))) {
        same_on_every_path::<f64>(&NoncentralChiSquare::new(k, n).unwrap(), from_0);
        for below in [1.0, TINY, 1e300] {
            same_on_every_path::<f64>(&NoncentralF::new(k, below, n).unwrap(), from_0);
        }
    }
    for shape in [1.0, 0.3, TINY, 1e-300, 1e-3, f64::MAX] {
        same_on_every_path::<f64>(&LogGamma::new(shape).unwrap(), f64::is_finite);
    }
    for scale in [0.0, 1.0, 1e300] {
        same_on_every_path::<f64>(&Maxwell::new(scale).unwrap(), |x| x >= 0.0 && x.is_finite());
    }
    for (n, p) in [(1.0, 0.5), (TINY, 0.5), (0.3, 0.01), (30.0, 0.3), (1e15, 0.1), (5.0, 1.0)] {
        same_on_every_path::<u64>(&NegativeBinomial::new(n, p).unwrap(), |_| true);
    }
    const HALF: u64 = 1 << 52;
    for (good, bad, sample) in [
        (0, 0, 0),
        (7, 0, 3),
        (0, 7, 3),
        (20, 20, 20),
        (50, 60, 40),
        (60, 50, 90),
        (HALF, HALF, HALF),
        (2 * HALF - 1, 1, 2 * HALF),
        (1_000_000, 2_000_000, 9),
    ] {
        let numbers = Hypergeometric::new(good, bad, sample).unwrap();
        let least = sample.saturating_sub(bad);
        same_on_every_path::<u64>(&numbers, |k| (least..=good.min(sample)).contains(&k));
    }
}
