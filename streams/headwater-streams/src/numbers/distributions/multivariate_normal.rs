//! Normal vectors: independent normal numbers, times the Cholesky factor of their covariance.

use super::private::{CHUNK, TILE};
use super::vectors::{Rows, VectorDistribution, numbers};
use crate::numbers::normal::NormalF64;
use crate::numbers::path::{Kernel, Path};
use crate::numbers::root::sqrt_f64;
use crate::{Error, Stream};
use core::num::NonZero;

/// The normal distribution of vectors. [Not for secrets](crate).
///
/// Component c of vector i is the mean's, plus a sum over elements i d to i d + c of
/// [`fill_normal_f64`](Stream::fill_normal_f64).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultivariateNormal<'a> {
    mean: &'a [f64],
    factor: &'a [f64],
}

fn wrong(name: &'static str, need: &'static str) -> Error {
    Error::Parameter { name, need }
}

impl<'a> MultivariateNormal<'a> {
    /// Returns the distribution with this mean, and with a covariance whose factor
    /// [`cholesky`](MultivariateNormal::cholesky) has made.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless all numbers are finite, and `factor` is a square of as many rows
    /// as `mean` has components, of which there is one at least.
    pub fn new(mean: &'a [f64], factor: &'a [f64]) -> Result<MultivariateNormal<'a>, Error> {
        let finite = |list: &[f64]| list.iter().all(|x| x.is_finite());
        if mean.is_empty() || !finite(mean) {
            return Err(wrong("mean", "a list of finite numbers"));
        }
        if mean.len().checked_mul(mean.len()) != Some(factor.len()) || !finite(factor) {
            return Err(wrong("factor", "a square of finite numbers, with a row for each mean"));
        }
        Ok(MultivariateNormal { mean, factor })
    }

    /// Writes the Cholesky factor of a covariance, row by row: row j has the weights of normal
    /// number j in each component, which are 0 before component j.
    ///
    /// Only the covariance's lower triangle is read. A semidefinite covariance has a factor too:
    /// a pivot that is 0 up to rounding makes a row of zeros.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `covariance` is a square of `dimension` rows with finite
    /// numbers, as is `factor`, and positive semidefinite. `factor` has no meaning then.
    pub fn cholesky(covariance: &[f64], dimension: usize, factor: &mut [f64]) -> Result<(), Error> {
        /// Rounding errors of a pivot for each of its terms, relative to the variance.
        const ROUNDING: f64 = 4.0 * f64::EPSILON;
        let square = dimension.checked_mul(dimension);
        if dimension == 0 || square != Some(covariance.len()) || square != Some(factor.len()) {
            return Err(wrong("covariance", "a square with a row for each component"));
        }
        if !covariance.iter().all(|x| x.is_finite()) {
            return Err(wrong("covariance", "a square of finite numbers"));
        }
        let entry = |list: &[f64], row: usize, column: usize| {
            list.get(row * dimension + column).copied().unwrap_or_default()
        };
        let not_positive = wrong("covariance", "positive semidefinite");
        factor.fill(0.0);
        for j in 0..dimension {
            let mut root = 0.0;
            let variance = entry(covariance, j, j);
            let rounding = (dimension as f64 * ROUNDING) * variance;
            // Roots of subnormal numbers are not exact on every machine.
            let least = if rounding > f64::MIN_POSITIVE { rounding } else { f64::MIN_POSITIVE };
            for c in j..dimension {
                let rest = (0..j).fold(entry(covariance, c, j), |rest, k| {
                    rest - entry(factor, k, c) * entry(factor, k, j)
                });
                let value = if c == j {
                    if rest < -least {
                        return Err(not_positive);
                    }
                    root = if rest > least { sqrt_f64(rest) } else { 0.0 };
                    root
                } else if root > 0.0 {
                    rest / root
                } else if rest * rest <= (4.0 * least) * entry(covariance, c, c) {
                    0.0
                } else {
                    return Err(not_positive);
                };
                if let Some(place) = factor.get_mut(j * dimension + c) {
                    *place = value;
                }
            }
        }
        Ok(())
    }
}

impl VectorDistribution for MultivariateNormal<'_> {}

impl Rows for MultivariateNormal<'_> {
    type Value = f64;

    fn dimension(&self) -> NonZero<usize> {
        NonZero::new(self.mean.len()).unwrap_or(NonZero::<usize>::MIN)
    }

    // A pair of normal numbers takes two words, so the last word has none.
    fn vectors(&self) -> u64 {
        (u64::MAX - 1) / self.dimension().get() as u64
    }

    fn rows(&self, stream: &Stream, vectors: &[u64], out: &mut [f64]) {
        numbers(stream, &NormalF64, self.dimension(), vectors, out);
        Path::best().run(Transform { of: self, out });
    }
}

/// Turns independent normal numbers into vectors, in place.
struct Transform<'a, 'b> {
    of: &'a MultivariateNormal<'b>,
    out: &'a mut [f64],
}

impl Kernel for Transform<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let MultivariateNormal { mean, factor } = *self.of;
        let dimension = self.of.dimension().get();
        if dimension <= FEW {
            return few(mean, factor, dimension, self.out);
        }
        let mut sums = [0.0; CHUNK];
        for row in self.out.chunks_mut(dimension) {
            // Parts of a row from its end: sums need the normal numbers before them only.
            let mut end = dimension;
            while end > 0 {
                let begin = end.saturating_sub(CHUNK);
                let sums = &mut sums[..end.min(CHUNK)];
                sums.fill(0.0);
                let normals = row.iter().take(end);
                for (&normal, weights) in normals.zip(factor.chunks_exact(dimension)) {
                    let weights = weights.iter().skip(begin);
                    for (sum, &weight) in sums.iter_mut().zip(weights) {
                        *sum += weight * normal;
                    }
                }
                let places = row.iter_mut().zip(mean).skip(begin);
                for ((place, &mean), &mut sum) in places.zip(sums) {
                    *place = mean + sum;
                }
                end = begin;
            }
        }
    }
}

/// The number of components up to which many vectors are transformed together, component by
/// component: loops over one vector would be too short for vector code.
const FEW: usize = 8;

/// Turns independent normal numbers into vectors of at most [`FEW`] components, in place.
#[inline(always)]
fn few(mean: &[f64], factor: &[f64], dimension: usize, out: &mut [f64]) {
    let (mut normals, mut sums) = ([[0.0; TILE]; FEW], [0.0; TILE]);
    for out in out.chunks_mut(TILE * dimension) {
        for (component, normals) in normals.iter_mut().enumerate().take(dimension) {
            let column = out.iter().skip(component).step_by(dimension);
            normals.iter_mut().zip(column).for_each(|(to, &normal)| *to = normal);
        }
        for (component, &mean) in mean.iter().enumerate().take(dimension) {
            sums.fill(0.0);
            let weights = factor.iter().skip(component).step_by(dimension);
            for (normals, &weight) in normals.iter().zip(weights) {
                for (sum, &normal) in sums.iter_mut().zip(normals) {
                    *sum += weight * normal;
                }
            }
            let column = out.iter_mut().skip(component).step_by(dimension);
            column.zip(&sums).for_each(|(to, &sum)| *to = mean + sum);
        }
    }
}
