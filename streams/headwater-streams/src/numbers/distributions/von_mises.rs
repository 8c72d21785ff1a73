//! Angles of von Mises' distribution.
//!
//! Method: rejection, from a normal number whose density is a bound of the angle's (1 - cos t is at
//! least 2 t^2 / pi^2), or from a uniform angle if the concentration is small. At least 0.63 of the
//! proposals are accepted. Since a proposal is an angle already, no inverse of a trigonometric
//! function is needed, and no number loses bits to a large concentration.

use super::checked;
use super::functions::{half_turn_sine_factor, ln, open_uniform, select};
use super::gamma::Method as Pair;
use super::private::{Domain, LAST, Rejection, Sampler, Source, TILE, accepted, real_samplers};
use crate::Error;
use crate::numbers::polynomials::minus_ln;
use crate::numbers::root::sqrt_f64;
use crate::words::Words;
use core::f64::consts::{PI, TAU};

/// Von Mises' distribution of angles from -pi to pi. [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VonMises {
    mu: f64,
    kappa: f64,
}

/// The concentration below which uniform angles are proposed.
const SMALL: f64 = 0.375;

impl VonMises {
    /// Returns the distribution around the angle `mu` with concentration `kappa`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `mu` is from -pi to pi, and `kappa` finite and not below 0.
    pub fn new(mu: f64, kappa: f64) -> Result<VonMises, Error> {
        let mu = checked("mu", "a number from -pi to pi", mu, |x| x.abs() <= PI)?;
        let kappa = checked("kappa", "a finite number from 0", kappa, |x| x >= 0.0)?;
        Ok(VonMises { mu, kappa })
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        let &VonMises { mu, kappa } = self;
        if kappa < SMALL {
            accepted(source, Domain::VonMises, &Uniform { mu, kappa }, out);
        } else {
            accepted(source, Domain::VonMises, &Normal::of(mu, kappa), out);
        }
    }
}

real_samplers!(VonMises);

/// Returns the angle `s` half turns from `mu`, with the sign of `sign`.
#[inline(always)]
fn turned(mu: f64, s: f64, sign: f64) -> f64 {
    let angle = mu + (PI * s).copysign(sign);
    let angle = select(angle > PI, angle - TAU, angle);
    select(angle < -PI, angle + TAU, angle)
}

struct Uniform {
    mu: f64,
    kappa: f64,
}

impl Uniform {
    /// Returns the angle of `s` half turns if it is accepted, otherwise NaN. `log` is that of a
    /// uniform number, without its sign.
    #[inline(always)]
    fn decided(&self, s: f64, sign: u64, log: f64) -> f64 {
        let sine = s * half_turn_sine_factor(s);
        let accepted = ((2.0 * self.kappa) * sine) * sine <= log;
        let sign = f64::from_bits(1.0f64.to_bits() | sign & 1 << 63);
        select(accepted, turned(self.mu, s, sign), f64::NAN)
    }
}

impl Rejection for Uniform {
    const ATTEMPTS: u16 = LAST + 1;
    const QUICK_DECIDES: bool = true;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let mut signs = [0; TILE];
        let mut logs = [0.0; TILE];
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            for (((out, sign), log), &[w0, w1]) in
                out.iter_mut().zip(&mut signs).zip(&mut logs).zip(blocks)
            {
                *out = open_uniform(w0 << 1);
                *sign = w0;
                *log = minus_ln(w1);
            }
            for ((out, &sign), &log) in out.iter_mut().zip(&signs).zip(&logs) {
                *out = self.decided(*out, sign, log);
            }
        }
    }

    fn fallback(&self, _: usize) -> f64 {
        self.mu
    }
}

struct Normal {
    mu: f64,
    /// Half turns of one deviation of the normal number.
    scale: f64,
}

impl Normal {
    /// Returns the method of a concentration that is not small.
    #[inline(always)]
    fn of(mu: f64, kappa: f64) -> Normal {
        Normal { mu, scale: 0.5 / sqrt_f64(kappa) }
    }

    /// Returns the angle of a normal number if it is accepted, otherwise NaN. `log` is that of a
    /// uniform number, without its sign.
    #[inline(always)]
    fn decided(&self, x: f64, log: f64) -> f64 {
        let s = x.abs() * self.scale;
        let p = half_turn_sine_factor(s);
        // Beyond half a turn the polynomial has no meaning.
        let accepted = (s <= 1.0) & (((x * x) / 2.0) * (p * p - 1.0) <= log);
        select(accepted, turned(self.mu, s, x), f64::NAN)
    }
}

impl Rejection for Normal {
    const ATTEMPTS: u16 = LAST + 1;
    const QUICK_DECIDES: bool = true;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let (mut seconds, mut logs) = ([0; TILE], [0.0; TILE]);
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            Pair::normals(blocks, out, &mut seconds);
            for (log, &w1) in logs[..out.len()].iter_mut().zip(&seconds) {
                *log = -ln(Pair::uniform(w1));
            }
            for (out, &log) in out.iter_mut().zip(&logs) {
                *out = self.decided(*out, log);
            }
        }
    }

    fn fallback(&self, _: usize) -> f64 {
        self.mu
    }
}

/// Writes the accepted angles of at most [`TILE`] blocks, and NaN for the others, around angles and
/// with concentrations that each element has for itself.
#[cfg(feature = "std")]
#[inline(always)]
pub(super) fn tile(blocks: &[[u64; 2]], [mus, kappas]: [&[f64; TILE]; 2], out: &mut [f64]) {
    let any = |test: fn(f64) -> bool| kappas.iter().fold(false, |any, &kappa| any | test(kappa));
    if any(|kappa| kappa >= SMALL) {
        let (mut seconds, mut logs) = ([0; TILE], [0.0; TILE]);
        Pair::normals(blocks, out, &mut seconds);
        for (log, &w1) in logs.iter_mut().zip(&seconds) {
            *log = -ln(Pair::uniform(w1));
        }
        for ((out, &log), (&mu, &kappa)) in out.iter_mut().zip(&logs).zip(mus.iter().zip(kappas)) {
            let kappa = select(kappa < SMALL, SMALL, kappa);
            *out = Normal::of(mu, kappa).decided(*out, log);
        }
    }
    if any(|kappa| kappa < SMALL) {
        for ((out, &[w0, w1]), (&mu, &kappa)) in
            out.iter_mut().zip(blocks).zip(mus.iter().zip(kappas))
        {
            let uniform = Uniform { mu, kappa }.decided(open_uniform(w0 << 1), w0, minus_ln(w1));
            *out = select(kappa < SMALL, uniform, *out);
        }
    }
}
