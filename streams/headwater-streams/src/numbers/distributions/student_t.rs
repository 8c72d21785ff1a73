//! Numbers of Student's t distribution.
//!
//! Method: R. W. Bailey, "Polar Generation of Random Variates with the t-Distribution", Mathematics
//! of Computation 62(206), 1994. It is Box and Muller's with another distance. So it takes one
//! block for each number and rejects nothing, whereas the usual quotient with a gamma number may
//! reject.

use super::functions::{coordinate, root_of_expm1};
use super::positive;
use super::private::{By, Domain, Sampler, Source, TILE, map, real_samplers};
use crate::Error;
use crate::numbers::polynomials::{minus_ln_of_parts, minus_ln_parts};
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
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let (mut quotients, mut seconds) = ([0.0; TILE], [0; TILE]);
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            let places = out.iter_mut().zip(&mut quotients).zip(&mut seconds);
            for (((out, quotient), second), &[w0, w1]) in places.zip(blocks) {
                (*out, *quotient) = minus_ln_parts(w0);
                *second = w1;
            }
            for (out, &quotient) in out.iter_mut().zip(&quotients) {
                *out = (2.0 * minus_ln_of_parts(*out, quotient)) / self.nu;
            }
            for out in &mut *out {
                *out = root_of_expm1(*out, self.nu, sqrt_f64);
            }
            for (out, &w1) in out.iter_mut().zip(&seconds) {
                *out *= coordinate(w1);
            }
        }
    }
}
