//! Elements with parameters of their own: loops over arrays of parameters.
//!
//! A program that asks for a gamma number of each of a million shapes could make the distribution a
//! million times. But a distribution is made of constants and tables that take longer than its
//! numbers, and one number leaves no work for vector code. So the kinds here make a chunk of
//! numbers whose methods lie in arrays. The values are those of the distribution made for each
//! element, to the bit.

use super::beta::Beta;
use super::counts::ToCounts;
use super::functions::{exp, exp_of_parts, exp_parts, open_uniform, select};
use super::gamma::{Methods, exponentials};
use super::poisson::{Poisson, Ptrs};
use super::private::{self, By, CHUNK, Domain, LAST, MASK, Rejection, Source, accepted, map};
use super::words::{Shaped, number_of};
use super::{LogNormal, Pareto, Power, ScaledUniform, Triangular, Weibull, checked, positive};
use crate::kinds::{Elements, Kind, Out, POISSON_MOST};
use crate::numbers::path::{Kernel, Path};
use crate::{Error, Stream};

/// Writes elements of a kind, of which the one at place i has number i of each list as its
/// parameters. The lists are as long as `out`. Returns `None` if the kind has no such loop, or not
/// of this type: then each element is a draw.
///
/// # Errors
///
/// [`Error::Parameter`] for a parameter outside of its range, [`Error::Lengths`] unless there is an
/// element for each place, [`Error::RangeTooLong`] for one that the stream lacks; some numbers may
/// be written then.
pub fn draw_each(
    kind: Kind,
    lists: &[&[f64]],
    stream: &Stream,
    elements: Elements<'_>,
    out: &mut Out<'_>,
) -> Option<Result<(), Error>> {
    if lists.iter().any(|list| list.len() != out.len()) {
        return None;
    }
    if let Err(error) = check(elements, out.len()) {
        return Some(Err(error));
    }
    let (s, start) = (stream, elements);
    if let Some(out) = out.elements::<u64>() {
        return match (kind, lists) {
            (Kind::Poisson, &[means]) => {
                let fits = |mean: &f64| (0.0..=POISSON_MOST).contains(mean);
                means.iter().all(fits).then(|| poisson(s, means, start, out))
            }
            _ => None,
        };
    }
    let out = out.elements::<f64>()?;
    Some(match (kind, lists) {
        (Kind::Gamma, &[shapes]) => gamma(s, Domain::Gamma, "shape", shapes, start, out),
        (Kind::ScaledGamma, &[shapes, scales]) => {
            scaled(scales, || gamma(s, Domain::Gamma, "shape", shapes, start, out).map(|()| out))
        }
        (Kind::ChiSquare, &[degrees]) => chi_square(s, degrees, start, out),
        (Kind::Beta, &[a, b]) => beta(s, a, b, start, out),
        (Kind::ScaledUniform, &[low, high]) => {
            shaped(s, start, out, |i| ScaledUniform::new(at(low, i), at(high, i)))
        }
        (Kind::LogNormal, &[mu, sigma]) => log_normal(s, mu, sigma, start, out),
        (Kind::Weibull, &[a]) => shaped(s, start, out, |i| Weibull::new(at(a, i))),
        (Kind::Pareto, &[a]) => shaped(s, start, out, |i| Pareto::new(at(a, i))),
        (Kind::Power, &[a]) => shaped(s, start, out, |i| Power::new(at(a, i))),
        (Kind::Triangular, &[left, mode, right]) => {
            shaped(s, start, out, |i| Triangular::new(at(left, i), at(mode, i), at(right, i)))
        }
        _ => return None,
    })
}

/// Returns an error unless there are so many elements.
fn check(elements: Elements<'_>, many: usize) -> Result<(), Error> {
    match elements {
        Elements::At(list) if list.len() != many => {
            Err(Error::Lengths { indices: list.len(), out: many })
        }
        Elements::At(list) => list.iter().try_for_each(|&index| crate::stream::check(index, 1)),
        Elements::From(start) | Elements::Shared { start, .. } => crate::stream::check(start, many),
    }
}

/// Returns `many` of the elements, from place `first` on.
fn part(elements: Elements<'_>, first: usize, many: usize) -> Elements<'_> {
    match elements {
        Elements::At(list) => Elements::At(list.get(first..first + many).unwrap_or_default()),
        Elements::From(start) | Elements::Shared { start, .. } => {
            Elements::From(start + first as u64)
        }
    }
}

/// Returns the words of `many` of the elements, from place `first` on.
fn source<'a>(
    stream: &'a Stream,
    elements: Elements<'a>,
    first: usize,
    many: usize,
) -> Source<'a, Stream> {
    match part(elements, first, many) {
        Elements::At(list) => Source::of_list(Path::best(), stream, list),
        Elements::From(start) | Elements::Shared { start, .. } => {
            Source::of_run(Path::best(), stream, start)
        }
    }
}

/// Returns number i of a list, which has it.
fn at(list: &[f64], i: usize) -> f64 {
    list.get(i).copied().unwrap_or(f64::NAN)
}

/// Writes functions of words, a tile at a time.
fn shaped<D: Shaped>(
    stream: &Stream,
    elements: Elements<'_>,
    out: &mut [f64],
    make: impl Fn(usize) -> Result<D, Error>,
) -> Result<(), Error> {
    const TILE: usize = super::words::TILE;
    for (tile, out) in out.chunks_mut(TILE).enumerate() {
        let first = tile * TILE;
        let mut made = [make(first)?; TILE];
        for (i, made) in made.iter_mut().enumerate().take(out.len()).skip(1) {
            *made = make(first + i)?;
        }
        let mut words = [0; TILE];
        let words = &mut words[..out.len().min(TILE)];
        match part(elements, first, words.len()) {
            Elements::At(list) => stream.u64_at(list, words)?,
            Elements::From(start) | Elements::Shared { start, .. } => {
                crate::words::Words::words(stream, 0, start, words);
            }
        }
        number_of(Path::best(), &made, words, out);
    }
    Ok(())
}

/// Writes exponentials of normal numbers that were moved and scaled.
fn log_normal(
    stream: &Stream,
    mu: &[f64],
    sigma: &[f64],
    elements: Elements<'_>,
    out: &mut [f64],
) -> Result<(), Error> {
    for (&mu, &sigma) in mu.iter().zip(sigma) {
        LogNormal::new(mu, sigma)?;
    }
    match elements {
        Elements::At(list) => stream.normal_f64_at(list, out)?,
        Elements::From(start) | Elements::Shared { start, .. } => {
            stream.fill_normal_f64(start, out)?;
        }
    }
    Path::best().run(Exponentials { mu, sigma, out });
    Ok(())
}

struct Exponentials<'a> {
    mu: &'a [f64],
    sigma: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for Exponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const TILE: usize = super::words::TILE;
        let parameters = self.mu.chunks(TILE).zip(self.sigma.chunks(TILE));
        for (out, (mu, sigma)) in self.out.chunks_mut(TILE).zip(parameters) {
            // In loops of their own, as in `lognormal`.
            let mut doublings = [0.0; TILE];
            let numbers = out.iter_mut().zip(&mut doublings).zip(mu.iter().zip(sigma));
            for ((normal, n), (&mu, &sigma)) in numbers {
                (*n, *normal) = exp_parts(mu + sigma * *normal);
            }
            for (rest, &n) in out.iter_mut().zip(&doublings) {
                *rest = exp_of_parts(n, *rest);
            }
        }
    }
}

/// Multiplies numbers by scales.
fn scaled<'a>(
    scales: &[f64],
    numbers: impl FnOnce() -> Result<&'a mut [f64], Error>,
) -> Result<(), Error> {
    for &scale in scales {
        checked("scale", "a finite number from 0", scale, |x| x >= 0.0)?;
    }
    for (number, &scale) in numbers()?.iter_mut().zip(scales) {
        *number *= scale;
    }
    Ok(())
}

fn chi_square(
    stream: &Stream,
    degrees: &[f64],
    elements: Elements<'_>,
    out: &mut [f64],
) -> Result<(), Error> {
    let chunks = out.chunks_mut(CHUNK).zip(degrees.chunks(CHUNK));
    for ((out, degrees), first) in chunks.zip((0..).step_by(CHUNK)) {
        let mut shapes = [1.0; CHUNK];
        for (shape, &k) in shapes.iter_mut().zip(degrees) {
            *shape = (positive("k", k)? / 2.0).max(f64::from_bits(1));
        }
        let shapes = &shapes[..out.len().min(CHUNK)];
        let elements = part(elements, first, out.len());
        gamma(stream, Domain::Gamma, "k", shapes, elements, out)?;
        out.iter_mut().for_each(|number| *number *= 2.0);
    }
    Ok(())
}

/// Writes gamma numbers of these shapes.
fn gamma(
    stream: &Stream,
    domain: Domain,
    name: &'static str,
    shapes: &[f64],
    elements: Elements<'_>,
    out: &mut [f64],
) -> Result<(), Error> {
    for &shape in shapes {
        positive(name, shape)?;
    }
    let mut methods = Methods::default();
    let chunks = out.chunks_mut(CHUNK).zip(shapes.chunks(CHUNK));
    for ((out, shapes), first) in chunks.zip((0..).step_by(CHUNK)) {
        let source = source(stream, elements, first, out.len());
        methods.set(shapes, 1.0);
        accepted(&source, domain, &methods, out);
        if shapes.iter().any(|&shape| shape < 1.0) {
            map(&source, domain, LAST, Boosts { shapes }, out);
        }
    }
    Ok(())
}

/// Multiplies the numbers of shapes below 1 by e^-E, the exponent being an exponential number over
/// the shape.
struct Boosts<'a> {
    shapes: &'a [f64],
}

impl By for Boosts<'_> {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        const TILE: usize = private::TILE;
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
        const TILE: usize = private::TILE;
        let shapes = self.shapes.chunks(TILE);
        for ((out, blocks), shapes) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(shapes) {
            exponentials(blocks, shapes, out);
            for (out, &shape) in out.iter_mut().zip(shapes) {
                *out = select(shape < 1.0, *out, 0.0);
            }
        }
    }
}

/// Writes beta numbers: shares of two gamma numbers, but Joehnk's where both shapes are up to 1.
fn beta(
    stream: &Stream,
    a: &[f64],
    b: &[f64],
    elements: Elements<'_>,
    out: &mut [f64],
) -> Result<(), Error> {
    for (&a, &b) in a.iter().zip(b) {
        positive("a", a)?;
        positive("b", b)?;
    }
    let mut methods = Methods::default();
    let chunks = out.chunks_mut(CHUNK).zip(a.chunks(CHUNK)).zip(b.chunks(CHUNK));
    for (((out, a), b), first) in chunks.zip((0..).step_by(CHUNK)) {
        let source = source(stream, elements, first, out.len());
        let many = out.len().min(CHUNK);
        let (mut others, mut e1, mut e2) = ([0.0; CHUNK], [0.0; CHUNK], [0.0; CHUNK]);
        let (others, e1, e2) = (&mut others[..many], &mut e1[..many], &mut e2[..many]);
        methods.set(a, 1.0);
        accepted(&source, Domain::BetaFirst, &methods, out);
        methods.set(b, 1.0);
        accepted(&source, Domain::BetaSecond, &methods, others);
        map(&source, Domain::BetaFirst, LAST, Exponents { shapes: a }, e1);
        map(&source, Domain::BetaSecond, LAST, Exponents { shapes: b }, e2);
        let numbers = out.iter_mut().zip(&*others).zip(e1.iter().zip(&*e2));
        for ((out, &other), (&e1, &e2)) in numbers {
            let m = if e1 < e2 { e1 } else { e2 };
            *out = 1.0 / (1.0 + (other * exp(m - e2)) / (*out * exp(m - e1)));
        }
        for (((out, &a), &b), place) in out.iter_mut().zip(a).zip(b).zip(first..) {
            if a <= 1.0 && b <= 1.0 {
                let one = core::slice::from_mut(out);
                let element = match elements {
                    Elements::At(list) => list.get(place).copied().unwrap_or_default(),
                    Elements::From(start) | Elements::Shared { start, .. } => start + place as u64,
                };
                private::at(Path::best(), stream, &Beta::new(a, b)?, &[element], one);
            }
        }
    }
    Ok(())
}

/// Writes Poisson counts of these means.
fn poisson(
    stream: &Stream,
    means: &[f64],
    elements: Elements<'_>,
    out: &mut [u64],
) -> Result<(), Error> {
    let chunks = out.chunks_mut(CHUNK).zip(means.chunks(CHUNK));
    for ((out, means), first) in chunks.zip((0..).step_by(CHUNK)) {
        let mut all = Means([0.0; CHUNK]);
        all.0.iter_mut().zip(means).for_each(|(to, &mean)| *to = mean);
        let source = source(stream, elements, first, out.len());
        let mut made = [0.0; CHUNK];
        let made = &mut made[..out.len().min(CHUNK)];
        accepted(&source, Domain::Poisson, &all, made);
        Path::best().run(ToCounts { made, out });
    }
    Ok(())
}

/// Poisson counts of means that each element has for itself.
///
/// A table of thresholds decides for small means. It is a sum from the last count down, to be
/// precise in the tail, and would take longer for one number than NumPy's whole method. The search
/// sums from 0 up, and stops at the same count unless the word lies within the roundings of a sum,
/// once in 10^11 numbers. Then, and only then, the table is made.
struct Means([f64; CHUNK]);

const TILE: usize = 32;

impl Rejection for Means {
    const ATTEMPTS: u16 = LAST + 1;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for ((out, blocks), means) in
            out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(self.0.chunks(TILE))
        {
            let means = means.get(..out.len()).unwrap_or(means);
            if means.iter().fold(false, |any, &mean| any | (mean >= 10.0)) {
                for ((out, &block), &mean) in out.iter_mut().zip(blocks).zip(means) {
                    *out = Ptrs::new(mean).squeezed(block);
                }
            }
            if means.iter().fold(false, |any, &mean| any | (mean < 10.0)) {
                search(blocks, means, out);
            }
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], places: &[u16], out: &mut [f64]) {
        for ((out, &block), &place) in out.iter_mut().zip(blocks).zip(places) {
            *out = Ptrs::new(self.0[usize::from(place) & MASK]).decided(block);
        }
        for ((out, &[w0, _]), &place) in out.iter_mut().zip(blocks).zip(places) {
            let mean = self.0[usize::from(place) & MASK];
            if mean < 10.0 {
                *out = Poisson::thresholds(mean).count(w0);
            }
        }
    }

    fn fallback(&self, place: usize) -> f64 {
        Ptrs::new(self.0[place & MASK]).fallback(place)
    }
}

/// Writes the counts of small means, or NaN if the sums are too near to decide.
#[inline(always)]
fn search(blocks: &[[u64; 2]], means: &[f64], out: &mut [f64]) {
    const NEAR: f64 = 1e-12;
    let (mut y, mut t, mut sum) = ([0.0; TILE], [0.0; TILE], [0.0; TILE]);
    let (mut found, mut distance) = ([0.0; TILE], [1.0; TILE]);
    let lanes = y.iter_mut().zip(&mut t).zip(&mut sum).zip(&mut distance);
    for ((((y, t), sum), distance), (&mean, &[w0, _])) in lanes.zip(means.iter().zip(blocks)) {
        // A number of 0 ends the search of large means, which have no use for it.
        *y = select(mean < 10.0, 1.0 - open_uniform(w0), 0.0);
        *t = exp(-mean);
        *sum = *t;
        *distance = (*sum - *y).abs();
    }
    let mut k = 0.0;
    let mut more = true;
    while more && k < 63.0 {
        more = false;
        k += 1.0;
        let lanes = y.iter().zip(&mut t).zip(&mut sum).zip(&mut found).zip(&mut distance);
        for (((((&y, t), sum), found), distance), &mean) in lanes.zip(means) {
            // A lane that has stopped never continues, since nothing in it changes.
            let on = *sum < y;
            *t = select(on, (*t * mean) / k, *t);
            *sum += select(on, *t, 0.0);
            *found += select(on, 1.0, 0.0);
            let to = (*sum - y).abs();
            *distance = select(to < *distance, to, *distance);
            more |= on;
        }
    }
    let lanes = found.iter().zip(&distance).zip(means);
    for (out, ((&found, &distance), &mean)) in out.iter_mut().zip(lanes) {
        let count = select(distance < NEAR, f64::NAN, found);
        *out = select(mean < 10.0, count, *out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The search is quick and decides nothing that the table decides otherwise, at the words where
    /// the count changes and on both sides of them.
    #[test]
    fn the_search_stops_where_the_table_does() {
        let mut decided = 0;
        let means = (0..200).map(|i| f64::from(i) * 0.05).chain([1e-300, 1e-9, 9.999_999]);
        for mean in means {
            let table = Poisson::thresholds(mean);
            let ends = table.ends().flat_map(|end| {
                [0u64, 1, 1 << 11, 1 << 20, 1 << 26, 1 << 40]
                    .into_iter()
                    .flat_map(move |d| [end.wrapping_sub(d), end.wrapping_add(d)])
            });
            for word in ends.chain((0..1000).map(|i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15))) {
                let mut out = [0.0];
                search(&[[word, 0]], &[mean], &mut out);
                assert!(out[0].is_nan() || out[0] == table.count(word), "{mean} {word:x}");
                decided += u32::from(!out[0].is_nan());
            }
        }
        assert!(decided > 200_000, "{decided}");
    }
}
