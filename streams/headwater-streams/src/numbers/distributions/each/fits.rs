//! Parameters that distributions have: the tests of their makers, as vector code without branches.
//!
//! `&` stands where `&&` would be a branch, so a method of ranges, which has one, is of no use.

#![expect(clippy::manual_range_contains)]

use super::super::negative_binomial::{are_few, odds};
use super::super::{
    Beta, Binomial, ChiSquare, FisherF, Gamma, Geometric, Hypergeometric, LogGamma, LogNormal,
    LogSeries, NegativeBinomial, NoncentralChiSquare, NoncentralF, Pareto, Poisson, Power,
    ScaledUniform, StudentT, Triangular, VonMises, Wald, Weibull, Zipf,
};
use crate::kinds::POISSON_MOST;
use crate::numbers::path::{Kernel, Path};
use core::f64::consts::PI;
use core::marker::PhantomData;

/// A distribution that knows its parameters.
pub(super) trait Fits<const N: usize> {
    /// Returns true for parameters that the distribution has.
    fn fits(parameters: [f64; N]) -> bool;
}

/// Returns true if the parameters of all elements fit.
pub(super) fn all_fit<D: Fits<N>, const N: usize>(lists: &[&[f64]; N]) -> bool {
    Path::best().run(All::<D, N> { lists, of: PhantomData })
}

struct All<'a, D, const N: usize> {
    lists: &'a [&'a [f64]; N],
    of: PhantomData<fn() -> D>,
}

impl<D: Fits<N>, const N: usize> Kernel for All<'_, D, N> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let many = self.lists.iter().map(|list| list.len()).min().unwrap_or(0);
        let lists = self.lists.map(|list| &list[..many]);
        (0..many).fold(true, |all, i| all & D::fits(lists.map(|list| list[i])))
    }
}

#[inline(always)]
fn is_finite(x: f64) -> bool {
    x.abs() <= f64::MAX
}

#[inline(always)]
fn is_positive(x: f64) -> bool {
    (x > 0.0) & (x <= f64::MAX)
}

#[inline(always)]
fn is_from_0(x: f64) -> bool {
    (x >= 0.0) & (x <= f64::MAX)
}

/// Returns true for a chance above 0.
#[inline(always)]
fn is_chance(p: f64) -> bool {
    (p > 0.0) & (p <= 1.0)
}

/// The largest count for which a float is exact, as is each smaller one.
const EXACT: f64 = (1u64 << 53) as f64;

/// Returns true for a count that a float has exactly.
#[inline(always)]
fn is_count(x: f64) -> bool {
    (x >= 0.0) & (x <= EXACT)
}

/// Gamma numbers times a scale.
pub(super) struct ScaledGamma;

macro_rules! fits {
    ($($type:ty, $n:literal, |$($parameter:ident),*| $test:expr;)*) => {$(
        impl Fits<$n> for $type {
            #[inline(always)]
            fn fits([$($parameter),*]: [f64; $n]) -> bool {
                $test
            }
        }
    )*};
}

fits! {
    Gamma, 1, |shape| is_positive(shape);
    ScaledGamma, 2, |shape, scale| is_positive(shape) & is_from_0(scale);
    ChiSquare, 1, |k| is_positive(k);
    LogGamma, 1, |shape| is_positive(shape);
    Beta, 2, |a, b| is_positive(a) & is_positive(b);
    FisherF, 2, |first, second| is_positive(first) & is_positive(second);
    NoncentralChiSquare, 2, |k, around| is_positive(k) & is_from_0(around);
    NoncentralF, 3, |first, second, around| {
        is_positive(first) & is_positive(second) & is_from_0(around)
    };
    StudentT, 1, |nu| is_positive(nu);
    Wald, 2, |mean, scale| is_positive(mean) & is_positive(scale);
    VonMises, 2, |mu, kappa| (mu.abs() <= PI) & is_from_0(kappa);
    LogNormal, 2, |mu, sigma| is_finite(mu) & is_from_0(sigma);
    Weibull, 1, |shape| is_positive(shape);
    Pareto, 1, |shape| is_positive(shape);
    Power, 1, |shape| is_positive(shape);
    ScaledUniform, 2, |low, high| {
        is_finite(low) & is_finite(high) & (low <= high) & is_finite(high - low)
    };
    Triangular, 3, |left, mode, right| {
        is_finite(left) & is_finite(right) & (left <= mode) & (mode <= right)
            & is_positive(right - left)
    };
    Poisson, 1, |mean| (mean >= 0.0) & (mean <= POISSON_MOST);
    Binomial, 2, |trials, p| is_count(trials) & (p >= 0.0) & (p <= 1.0);
    Hypergeometric, 3, |good, bad, sample| {
        // Not the sum, which may be rounded to the largest count from above.
        is_count(good) & is_count(bad) & is_count(sample)
            & (good <= EXACT - bad) & (sample <= good + bad)
    };
    NegativeBinomial, 2, |successes, p| {
        is_positive(successes) & is_chance(p) & are_few(successes, odds(p))
    };
    Zipf, 1, |exponent| (exponent > 1.0) & (exponent <= f64::MAX);
    LogSeries, 1, |p| (p >= 0.0) & (p < 1.0);
    Geometric, 1, |p| is_chance(p);
}
