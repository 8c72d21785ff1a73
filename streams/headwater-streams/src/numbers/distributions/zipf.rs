//! Zipf's numbers, from 1 to 2^63 - 1.
//!
//! Method: L. Devroye, "Non-Uniform Random Variate Generation", 1986, chapter X.6: the whole part
//! of a Pareto number, with a rejection. Numbers end at 2^63, and with an exponent near 1 almost
//! all Pareto numbers are beyond; so small exponents draw from the part below 2^63 alone. For the
//! rest that would waste bits of the tail, as their numbers are beyond once in 2^63 times.

use super::checked;
use super::counts::ToCounts;
use super::functions::{artanh_tail, exp, expm1, floor, ln, open_uniform, select};
use super::private::{Domain, LAST, Rejection, Sampler, Source, accepted};
use crate::Error;
use crate::numbers::path::Path;
use crate::numbers::polynomials::minus_ln;
use crate::words::Words;
use core::f64::consts::LN_2;

/// Zipf's distribution: k has a probability proportional to `k^-exponent`.
/// [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zipf {
    /// The exponent less 1.
    less: f64,
    /// `2^less`, and the same less 1.
    power: f64,
    rest: f64,
    /// The share of Pareto numbers below 2^63, for exponents below 2.
    share: f64,
}

impl Zipf {
    /// Returns the distribution of this exponent, on the numbers below 2^63. From 64 on, every
    /// number is 1: another one has a probability below 2^-63.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `exponent` is finite and above 1.
    pub fn new(exponent: f64) -> Result<Zipf, Error> {
        let exponent = checked("exponent", "a finite number above 1", exponent, |x| x > 1.0)?;
        Ok(Zipf::of(exponent))
    }

    /// Returns the distribution of an exponent that is finite and above 1.
    #[inline(always)]
    pub(super) fn of(exponent: f64) -> Zipf {
        let less = exponent - 1.0;
        let rest = expm1(less * LN_2);
        Zipf { less, power: 1.0 + rest, rest, share: -expm1(-(less * (63.0 * LN_2))) }
    }

    /// Returns true if every number is 1.
    #[inline(always)]
    pub(super) fn is_one(&self) -> bool {
        self.less >= 63.0
    }

    /// Returns the proposal if it is accepted, otherwise NaN.
    #[inline(always)]
    pub(super) fn decided(&self, [w0, w1]: [u64; 2]) -> f64 {
        // -ln(1 - p) of a share of the numbers, with all bits of a small p.
        let p = self.share * open_uniform(w0);
        let s = p / (2.0 - p);
        let near = artanh_tail(s) + (s + s);
        let cut = select(p <= 0.25, near, -ln(1.0 - p));
        let exponential = select(self.less < 1.0, cut, minus_ln(w0));
        let k = floor(exp(exponential / self.less));
        // ln(1 + 1/k).
        let s = 1.0 / (k + k + 1.0);
        let log = select(k > 2.5, artanh_tail(s) + (s + s), ln(1.0 + 1.0 / k));
        let t = expm1(self.less * log);
        // Not below 1, because no exponential number is below 0.
        let fits = k < 9_223_372_036_854_775_808.0;
        let accepted = ((open_uniform(w1) * k) * t) / self.rest <= (1.0 + t) / self.power;
        select(fits & accepted, k, f64::NAN)
    }
}

impl Sampler<u64> for Zipf {
    fn chunk<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        if self.is_one() {
            return out.fill(1.0);
        }
        accepted(source, Domain::Zipf, self, out);
    }

    fn values(&self, path: Path, made: &[f64], out: &mut [u64]) {
        path.run(ToCounts { made, out });
    }
}

impl Rejection for Zipf {
    const ATTEMPTS: u16 = LAST + 1;
    const QUICK_DECIDES: bool = true;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (out, &block) in out.iter_mut().zip(blocks) {
            *out = self.decided(block);
        }
    }

    fn fallback(&self, _: usize) -> f64 {
        1.0
    }
}
