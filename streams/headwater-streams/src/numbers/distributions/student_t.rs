//! Numbers of Student's t distribution.
//!
//! Method: R. W. Bailey, "Polar Generation of Random Variates with the t-Distribution", Mathematics
//! of Computation 62(206), 1994. It is Box and Muller's with another distance. So it takes one
//! block for each number and rejects nothing, whereas the usual quotient with a gamma number may
//! reject.

use super::functions::{coordinate, root_of_expm1, select};
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
        Ok(StudentT { nu: within(positive("nu", nu)?) })
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        map(source, Domain::StudentT, 0, Polar { nu: self.nu }, out);
    }
}

real_samplers!(StudentT);

/// Returns the degrees of freedom between two ends, beyond which the numbers are infinite or
/// normal, up to their rounding.
#[inline(always)]
fn within(nu: f64) -> f64 {
    const ENDS: f64 = (1u64 << 60) as f64;
    let nu = select(nu < 1.0 / ENDS, 1.0 / ENDS, nu);
    select(nu > ENDS, ENDS, nu)
}

struct Polar {
    nu: f64,
}

impl By for Polar {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            tile(blocks, &[self.nu; TILE], out);
        }
    }
}

/// The numbers of degrees of freedom that each element has for itself.
#[cfg(feature = "std")]
pub(super) struct Polars<'a> {
    /// All are finite and above 0.
    pub(super) degrees: &'a [f64],
}

#[cfg(feature = "std")]
impl By for Polars<'_> {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let tiles = out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(self.degrees.chunks(TILE));
        for ((out, blocks), degrees) in tiles {
            let mut nus = [1.0; TILE];
            for (nu, &degrees) in nus.iter_mut().zip(degrees) {
                *nu = within(degrees);
            }
            tile(blocks, &nus, out);
        }
    }
}

/// Writes the numbers of at most [`TILE`] blocks.
#[inline(always)]
fn tile(blocks: &[[u64; 2]], nus: &[f64; TILE], out: &mut [f64]) {
    let (mut quotients, mut seconds) = ([0.0; TILE], [0; TILE]);
    let places = out.iter_mut().zip(&mut quotients).zip(&mut seconds);
    for (((out, quotient), second), &[w0, w1]) in places.zip(blocks) {
        (*out, *quotient) = minus_ln_parts(w0);
        *second = w1;
    }
    for ((out, &quotient), &nu) in out.iter_mut().zip(&quotients).zip(nus) {
        *out = (2.0 * minus_ln_of_parts(*out, quotient)) / nu;
    }
    for (out, &nu) in out.iter_mut().zip(nus) {
        *out = root_of_expm1(*out, nu, sqrt_f64);
    }
    for (out, &w1) in out.iter_mut().zip(&seconds) {
        *out *= coordinate(w1);
    }
}
