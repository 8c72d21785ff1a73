//! Numbers of the logarithmic series, from 1.
//!
//! Method: A. W. Kemp, "Efficient Generation of Logarithmically Distributed Pseudo-Random
//! Variables", Applied Statistics 30(3), 1981, algorithm LK: a geometric number whose parameter is
//! random. One block has both words, and nothing is rejected.

use super::checked;
use super::counts::ToCounts;
use super::functions::{expm1, floor, ln, minus_ln_1_minus, open_uniform, select};
use super::private::{By, Domain, Sampler, Source, map};
use crate::Error;
use crate::numbers::path::Path;
use crate::words::Words;

/// The logarithmic series distribution: k has a probability proportional to `p^k / k`.
/// [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogSeries {
    p: f64,
    rate: f64,
}

impl LogSeries {
    /// Returns the distribution of this parameter.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `p` is from 0 to below 1.
    pub fn new(p: f64) -> Result<LogSeries, Error> {
        let p = checked("p", "a number from 0 to below 1", p, |p| (0.0..1.0).contains(&p))?;
        Ok(LogSeries::of(p))
    }

    /// Returns the distribution of a parameter from 0 to below 1.
    #[inline(always)]
    pub(super) fn of(p: f64) -> LogSeries {
        LogSeries { p, rate: minus_ln_1_minus(p) }
    }

    /// Returns the number of a block.
    #[inline(always)]
    pub(super) fn number(&self, [w0, w1]: [u64; 2]) -> f64 {
        let (u, v) = (open_uniform(w0), open_uniform(w1));
        let q = -expm1(-(self.rate * u));
        let large = floor(1.0 + ln(v) / ln(q));
        let few = select(v >= q, 1.0, 2.0);
        let many = select(v <= q * q, large, few);
        // Beyond p, q is smaller than v whatever it is, and too small for a logarithm if p is.
        select(v >= self.p, 1.0, many)
    }
}

impl Sampler<u64> for LogSeries {
    fn chunk<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        map(source, Domain::LogSeries, 0, *self, out);
    }

    fn values(&self, path: Path, made: &[f64], out: &mut [u64]) {
        path.run(ToCounts { made, out });
    }
}

impl By for LogSeries {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (out, &block) in out.iter_mut().zip(blocks) {
            *out = self.number(block);
        }
    }
}
