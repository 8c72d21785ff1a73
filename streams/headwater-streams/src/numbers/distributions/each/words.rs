//! Numbers of one word or of one block, with parameters that each element has for itself.

use super::super::functions::{exp_of_parts, exp_parts, minus_ln_1_minus, select};
use super::super::gamma::Method;
use super::super::geometric;
use super::super::private::{By, LAST, Rejection, TILE};
use super::super::von_mises;
use super::super::words::Shaped;
use super::super::{LogSeries, Pareto, Power, ScaledUniform, Triangular, Wald, Weibull, Zipf};
use super::fits::Fits;
use super::lists::{Decided, Lists, OfBlock, Quick};
use super::{Part, Run};
use crate::Error;
use crate::kinds::Elements;
use crate::numbers::Number;
use crate::numbers::exponential::ExponentialF64;
use crate::numbers::path::Kernel;
use crate::words::Words;
use core::marker::PhantomData;

macro_rules! quick {
    ($($type:ty, $n:literal, |$($parameter:ident),*|;)*) => {$(
        impl Quick<$n> for $type {
            #[inline(always)]
            fn of([$($parameter),*]: [f64; $n]) -> $type {
                <$type>::of($($parameter),*)
            }
        }
    )*};
}

quick! {
    Weibull, 1, |shape|;
    Pareto, 1, |shape|;
    Power, 1, |shape|;
    ScaledUniform, 2, |low, high|;
    Triangular, 3, |left, mode, right|;
    Zipf, 1, |exponent|;
    LogSeries, 1, |p|;
}

impl Part<'_> {
    fn words(&self, words: &mut [u64]) -> Result<(), Error> {
        match self.elements {
            Elements::At(list) => self.stream.u64_at(list, words),
            Elements::From(start) | Elements::Shared { start, .. } => {
                self.stream.words(0, start, words);
                Ok(())
            }
        }
    }
}

/// Writes functions of words.
pub(super) fn shaped<D: Shaped + Quick<N> + Fits<N>, const N: usize>(
    run: &Run<'_>,
    lists: &[&[f64]; N],
    out: &mut [f64],
) -> Option<Result<(), Error>> {
    run.chunks::<D, f64, N>(lists, out, |part, lists, out| {
        let mut words = [0; super::CHUNK];
        let words = &mut words[..out.len().min(super::CHUNK)];
        part.words(words)?;
        part.source.path.run(OfWords::<D, N> { lists, words, out, of: PhantomData });
        Ok(())
    })
}

struct OfWords<'a, D, const N: usize> {
    lists: [&'a [f64]; N],
    words: &'a [u64],
    out: &'a mut [f64],
    of: PhantomData<fn() -> D>,
}

impl<D: Shaped + Quick<N>, const N: usize> Kernel for OfWords<'_, D, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let tiles = self.out.chunks_mut(TILE).zip(self.words.chunks(TILE));
        for ((out, words), first) in tiles.zip((0..).step_by(TILE)) {
            let many = out.len().min(words.len()).min(TILE);
            let (mut chosen, mut exponentials) = ([0; TILE], [0.0; TILE]);
            if D::EXPONENTIAL {
                for (chosen, &word) in chosen.iter_mut().zip(words) {
                    *chosen = D::exponent(word);
                }
                ExponentialF64.convert(&chosen[..many], &mut exponentials[..many]);
            }
            let lists = self.lists.map(|list| &list[first..first + many]);
            let (out, words) = (&mut out[..many], &words[..many]);
            for i in 0..many {
                let made = D::of(lists.map(|list| list[i]));
                out[i] = made.whole(words[i], exponentials[i]);
            }
        }
    }
}

/// Writes lognormal numbers of a chunk.
pub(super) fn lognormal(part: &Part<'_>, lists: [&[f64]; 2], out: &mut [f64]) -> Result<(), Error> {
    match part.elements {
        Elements::At(list) => part.stream.normal_f64_at(list, out)?,
        Elements::From(start) | Elements::Shared { start, .. } => {
            part.stream.fill_normal_f64(start, out)?;
        }
    }
    part.source.path.run(LogNormals { lists, out });
    Ok(())
}

struct LogNormals<'a> {
    lists: [&'a [f64]; 2],
    out: &'a mut [f64],
}

impl Kernel for LogNormals<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let [mus, sigmas] = self.lists;
        for (out, (&mu, &sigma)) in self.out.iter_mut().zip(mus.iter().zip(sigmas)) {
            let (n, rest) = exp_parts(mu + sigma * *out);
            *out = exp_of_parts(n, rest);
        }
    }
}

/// Writes geometric counts of a chunk.
pub(super) fn geometric(
    part: &Part<'_>,
    [chances]: [&[f64]; 1],
    out: &mut [u64],
) -> Result<(), Error> {
    let mut made = [0.0; super::CHUNK];
    let made = &mut made[..out.len().min(super::CHUNK)];
    match part.elements {
        Elements::At(list) => part.stream.exponential_f64_at(list, made)?,
        Elements::From(start) | Elements::Shared { start, .. } => {
            part.stream.fill_exponential_f64(start, made)?;
        }
    }
    part.source.path.run(Geometrics { chances, made, out });
    Ok(())
}

struct Geometrics<'a> {
    chances: &'a [f64],
    made: &'a mut [f64],
    out: &'a mut [u64],
}

impl Kernel for Geometrics<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (made, &p) in self.made.iter_mut().zip(self.chances) {
            *made /= minus_ln_1_minus(p);
        }
        const TILE: usize = geometric::TILE;
        for (out, made) in self.out.chunks_mut(TILE).zip(self.made.chunks(TILE)) {
            geometric::counts(made, out);
        }
    }
}

/// Wald's numbers.
pub(super) struct Walds<'a> {
    pub(super) lists: [&'a [f64]; 2],
}

impl By for Walds<'_> {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let [means, scales] = self.lists;
        let parameters = means.chunks(TILE).zip(scales.chunks(TILE));
        let tiles = out.chunks_mut(TILE).zip(blocks.chunks(TILE));
        for ((out, blocks), (means, scales)) in tiles.zip(parameters) {
            let mut seconds = [0; TILE];
            Method::normals(blocks, out, &mut seconds);
            let parameters = means.iter().zip(scales);
            for ((out, &w1), (&mean, &scale)) in out.iter_mut().zip(&seconds).zip(parameters) {
                *out = Wald::of(mean, scale).number(*out, w1);
            }
        }
    }
}

/// Angles of von Mises' distribution.
pub(super) struct Angles(pub(super) Lists<2>);

impl Rejection for Angles {
    const ATTEMPTS: u16 = LAST + 1;
    const QUICK_DECIDES: bool = true;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (tile, (out, blocks)) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).enumerate() {
            von_mises::tile(blocks, self.0.tile(tile), out);
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], places: &[u16], out: &mut [f64]) {
        let tiles = out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(places.chunks(TILE));
        for ((out, blocks), places) in tiles {
            let (mut mus, mut kappas) = ([0.0; TILE], [1.0; TILE]);
            for ((mu, kappa), &place) in mus.iter_mut().zip(&mut kappas).zip(places) {
                [*mu, *kappa] = self.0.at(place.into());
            }
            von_mises::tile(blocks, [&mus, &kappas], out);
        }
    }

    fn fallback(&self, place: usize) -> f64 {
        let [mu, _] = self.0.at(place);
        mu
    }
}

impl OfBlock<1> for LogSeries {
    #[inline(always)]
    fn number(&self, block: [u64; 2]) -> f64 {
        LogSeries::number(self, block)
    }
}

impl Decided<1> for Zipf {
    #[inline(always)]
    fn decided(&self, block: [u64; 2]) -> f64 {
        select(self.is_one(), 1.0, Zipf::decided(self, block))
    }

    fn fallback(&self) -> f64 {
        1.0
    }
}
