//! Numbers of Student's t distribution.
//!
//! Method: R. W. Bailey, "Polar Generation of Random Variates with the t-Distribution", Mathematics
//! of Computation 62(206), 1994. It is Box and Muller's with another distance, takes one block for
//! each number, and rejects nothing.

use super::functions::{coordinate, root_of_expm1};
use super::positive;
use super::private::{By, Domain, Sampler, Source, map, real_samplers};
use crate::Error;
use crate::numbers::polynomials::minus_ln;
use crate::numbers::root::sqrt_f64;
use crate::words::Words;

/// Student's t distribution. [Not for secrets](crate).
///
/// With few degrees of freedom, numbers may be infinite: 1 in 1,000 for 0.01.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudentT {
    nu: f64,
}

impl StudentT {
    /// Returns the distribution of `nu` degrees of freedom, which need not be an integer.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `nu` is finite and above 0.
    pub fn new(nu: f64) -> Result<StudentT, Error> {
        // Beyond either end the numbers are infinite or normal, up to their rounding.
        const ENDS: f64 = (1u64 << 60) as f64;
        Ok(StudentT { nu: positive("nu", nu)?.clamp(1.0 / ENDS, ENDS) })
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        map(source, Domain::StudentT, 0, Polar { nu: self.nu }, out);
    }
}

real_samplers!(StudentT);

struct Polar {
    nu: f64,
}

impl By for Polar {
    const TWO_STEPS: bool = true;

    #[inline(always)]
    fn first_step(&self, [w0, _]: [u64; 2]) -> f64 {
        (2.0 * minus_ln(w0)) / self.nu
    }

    #[inline(always)]
    fn by(&self, [_, w1]: [u64; 2], x: f64) -> f64 {
        coordinate(w1) * root_of_expm1(x, self.nu, sqrt_f64)
    }
}
