//! Gamma numbers of shapes that each element has for itself, and what is made of them.

use super::super::beta::{Joehnks, Quotients, Share, is_small};
use super::super::fisher::{self, half};
use super::super::functions::{exp_of_parts, exp_parts, select};
use super::super::gamma::{Methods, exponentials};
use super::super::negative_binomial::{self, mean_of, odds};
use super::super::noncentral::{self, HalfSquares, Plain, Sum, least, pairs_of};
use super::super::of_gamma::Logarithm;
use super::super::private::{self, By, CHUNK, Domain, LAST, Source, accepted, map};
use super::counts::Means;
use crate::Stream;
use crate::numbers::path::{Kernel, Path};

/// The memory of a chunk's methods, which one call clears once.
pub(super) type Room = Methods;

/// Writes gamma numbers.
pub(super) fn gamma(
    room: &mut Room,
    source: &Source<'_, Stream>,
    domain: Domain,
    shapes: &[f64],
    out: &mut [f64],
) {
    room.set(source.path, shapes, 1.0);
    accepted(source, domain, room, out);
    if any_below_1(shapes) {
        map(source, domain, LAST, Boosts { shapes }, out);
    }
}

/// Writes the factors of gamma numbers, and their exponents.
fn parts(
    room: &mut Room,
    source: &Source<'_, Stream>,
    domain: Domain,
    shapes: &[f64],
    [factors, exponents]: [&mut [f64]; 2],
) {
    room.set(source.path, shapes, 1.0);
    accepted(source, domain, room, factors);
    if any_below_1(shapes) {
        map(source, domain, LAST, Exponents { shapes }, exponents);
    } else {
        exponents.fill(0.0);
    }
}

fn any_below_1(shapes: &[f64]) -> bool {
    shapes.iter().fold(false, |any, &shape| any | (shape < 1.0))
}

/// Multiplies the numbers of shapes below 1 by e^-E, the exponent being an exponential number over
/// the shape.
struct Boosts<'a> {
    shapes: &'a [f64],
}

const TILE: usize = private::TILE;

impl By for Boosts<'_> {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let (mut doublings, mut rests) = ([0.0; TILE], [0.0; TILE]);
        let shapes = self.shapes.chunks(TILE);
        for ((out, blocks), shapes) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(shapes) {
            let exponents = &mut rests[..out.len().min(TILE)];
            exponentials(blocks, shapes, exponents);
            for (n, rest) in doublings.iter_mut().zip(exponents) {
                (*n, *rest) = exp_parts(-*rest);
            }
            let factors = doublings.iter().zip(&rests).zip(shapes);
            for (out, ((&n, &rest), &shape)) in out.iter_mut().zip(factors) {
                *out *= select(shape < 1.0, exp_of_parts(n, rest), 1.0);
            }
        }
    }
}

/// Writes the exponents alone, 0 for shapes from 1 on.
struct Exponents<'a> {
    shapes: &'a [f64],
}

impl By for Exponents<'_> {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let shapes = self.shapes.chunks(TILE);
        for ((out, blocks), shapes) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(shapes) {
            exponentials(blocks, shapes, out);
            for (out, &shape) in out.iter_mut().zip(shapes) {
                *out = select(shape < 1.0, *out, 0.0);
            }
        }
    }
}

/// Replaces parameters by what a function makes of them.
struct Mapped<'a, F> {
    from: &'a [f64],
    by: F,
    to: &'a mut [f64],
}

impl<F: Fn(f64) -> f64> Kernel for Mapped<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (to, &from) in self.to.iter_mut().zip(self.from) {
            *to = (self.by)(from);
        }
    }
}

/// Returns the numbers that a function makes of at most [`CHUNK`] parameters.
fn mapped(from: &[f64], by: impl Fn(f64) -> f64) -> [f64; CHUNK] {
    let mut all = [1.0; CHUNK];
    Path::best().run(Mapped { from, by, to: &mut all });
    all
}

/// Writes chi-square numbers.
pub(super) fn chi_square(
    room: &mut Room,
    source: &Source<'_, Stream>,
    degrees: &[f64],
    out: &mut [f64],
) {
    // Half of the smallest float is no float.
    let shapes = mapped(degrees, |k| {
        let least = f64::from_bits(1);
        select(k / 2.0 < least, least, k / 2.0)
    });
    gamma(room, source, Domain::Gamma, &shapes[..out.len().min(CHUNK)], out);
    out.iter_mut().for_each(|number| *number *= 2.0);
}

/// Writes logarithms of gamma numbers.
pub(super) fn log_gamma(
    room: &mut Room,
    source: &Source<'_, Stream>,
    shapes: &[f64],
    out: &mut [f64],
) {
    let shapes = mapped(shapes, least);
    let many = out.len().min(CHUNK);
    let mut exponents = [0.0; CHUNK];
    let exponents = &mut exponents[..many];
    parts(room, source, Domain::LogGamma, &shapes[..many], [out, exponents]);
    source.path.run(Logarithm { out, exponents });
}

/// Writes beta numbers: shares of two gamma numbers, but Joehnk's where both shapes are up to 1.
pub(super) fn beta(
    room: &mut Room,
    source: &Source<'_, Stream>,
    [a, b]: [&[f64]; 2],
    out: &mut [f64],
) {
    let small = a.iter().zip(b).filter(|&(&a, &b)| is_small(a, b)).count();
    let mut joehnk = [0.0; CHUNK];
    let many = out.len().min(CHUNK);
    let joehnk = &mut joehnk[..many];
    if small > 0 {
        accepted(source, Domain::BetaFirst, &Joehnks::new(a, b), joehnk);
        if small == many {
            return out.copy_from_slice(joehnk);
        }
    }
    let mut others = [0.0; CHUNK];
    let others = &mut others[..many];
    if any_below_1(a) || any_below_1(b) {
        let (mut e1, mut e2) = ([0.0; CHUNK], [0.0; CHUNK]);
        let (e1, e2) = (&mut e1[..many], &mut e2[..many]);
        parts(room, source, Domain::BetaFirst, a, [out, e1]);
        parts(room, source, Domain::BetaSecond, b, [others, e2]);
        source.path.run(Share { out, others, e1, e2 });
    } else {
        gamma(room, source, Domain::BetaFirst, a, out);
        gamma(room, source, Domain::BetaSecond, b, others);
        source.path.run(Quotients { out, others });
    }
    if small > 0 {
        for ((out, &joehnk), (&a, &b)) in out.iter_mut().zip(&*joehnk).zip(a.iter().zip(b)) {
            *out = select(is_small(a, b), joehnk, *out);
        }
    }
}

/// Writes Fisher's numbers.
pub(super) fn fisher(
    room: &mut Room,
    source: &Source<'_, Stream>,
    [first, second]: [&[f64]; 2],
    out: &mut [f64],
) {
    let many = out.len().min(CHUNK);
    let (first, second) = (mapped(first, half), mapped(second, half));
    let (first, second) = (&first[..many], &second[..many]);
    let (mut others, mut e1, mut e2) = ([0.0; CHUNK], [0.0; CHUNK], [0.0; CHUNK]);
    let (others, e1, e2) = (&mut others[..many], &mut e1[..many], &mut e2[..many]);
    parts(room, source, Domain::FisherFirst, first, [out, e1]);
    parts(room, source, Domain::FisherSecond, second, [others, e2]);
    let (halves, exponents) = ([first, second], [&*e1, &*e2]);
    source.path.run(fisher::Ratios { halves, out, others, exponents });
}

/// Writes half of a noncentral sum in parts: `out` e^-exponent, and `rests`.
fn halves(
    room: &mut Room,
    source: &Source<'_, Stream>,
    [first, second, third]: [Domain; 3],
    [degrees, noncentralities]: [&[f64]; 2],
    [out, exponents, rests]: [&mut [f64]; 3],
) -> bool {
    let many = out.len().min(CHUNK);
    // From one degree of freedom on, one square alone is noncentral.
    let shapes = mapped(degrees, |k| least(select(k >= 1.0, k - 1.0, k) / 2.0));
    let shapes = &shapes[..many];
    parts(room, source, first, shapes, [out, exponents]);
    let squares = degrees.iter().filter(|&&k| k >= 1.0).count();
    if squares > 0 {
        map(source, second, 0, HalfSquares { noncentralities }, rests);
    }
    if squares < many {
        let means = Means(mapped(noncentralities, |n| n / 2.0));
        let (mut counts, mut pairs) = ([0.0; CHUNK], [0.0; CHUNK]);
        let (counts, pairs) = (&mut counts[..many], &mut pairs[..many]);
        accepted(source, second, &means, counts);
        pairs_of(source, third, counts, pairs);
        for ((rest, &pairs), &k) in rests.iter_mut().zip(&*pairs).zip(degrees) {
            *rest = select(k >= 1.0, *rest, pairs);
        }
    }
    any_below_1(shapes)
}

/// Writes noncentral chi-square numbers.
pub(super) fn noncentral_chi_square(
    room: &mut Room,
    source: &Source<'_, Stream>,
    lists: [&[f64]; 2],
    out: &mut [f64],
) {
    let many = out.len().min(CHUNK);
    let (mut exponents, mut rests) = ([0.0; CHUNK], [0.0; CHUNK]);
    let (exponents, rests) = (&mut exponents[..many], &mut rests[..many]);
    let parts = [&mut *out, &mut *exponents, &mut *rests];
    if halves(room, source, noncentral::CHI_SQUARE, lists, parts) {
        source.path.run(Sum { out, exponents, rests });
    } else {
        source.path.run(Plain { out, rests });
    }
}

/// Writes noncentral F numbers.
pub(super) fn noncentral_f(
    room: &mut Room,
    source: &Source<'_, Stream>,
    [first, second, noncentralities]: [&[f64]; 3],
    out: &mut [f64],
) {
    let many = out.len().min(CHUNK);
    let (mut e1, mut rests) = ([0.0; CHUNK], [0.0; CHUNK]);
    let (e1, rests) = (&mut e1[..many], &mut rests[..many]);
    let parts_of = [&mut *out, &mut *e1, &mut *rests];
    halves(room, source, noncentral::F, [first, noncentralities], parts_of);
    let (mut others, mut e2) = ([0.0; CHUNK], [0.0; CHUNK]);
    let (others, e2) = (&mut others[..many], &mut e2[..many]);
    let (a, b) = (mapped(first, |k| least(k / 2.0)), mapped(second, |k| least(k / 2.0)));
    let (a, b) = (&a[..many], &b[..many]);
    parts(room, source, Domain::NoncentralFBelow, b, [&mut *others, &mut *e2]);
    let (halves, exponents) = ([a, b], [&*e1, &*e2]);
    source.path.run(noncentral::Ratios { halves, out, rests, others, exponents });
}

/// Writes negative binomial counts as floats.
pub(super) fn negative_binomial(
    room: &mut Room,
    source: &Source<'_, Stream>,
    [successes, p]: [&[f64]; 2],
    out: &mut [f64],
) {
    gamma(room, source, Domain::NegativeBinomialMean, successes, out);
    let mut means = negative_binomial::Means(mapped(p, odds));
    for (mean, &gamma) in means.0.iter_mut().zip(&*out) {
        *mean = mean_of(gamma, *mean);
    }
    accepted(source, Domain::NegativeBinomial, &means, out);
}
