//! Counts whose means each element has for itself.
//!
//! A table of thresholds decides for small means. It is a sum from the last count down, to be
//! precise in the tail, and would take longer for one number than NumPy's whole method. The search
//! sums from 0 up, and stops at the same count unless the word lies within the roundings of a sum,
//! once in 10^10 numbers. Then, and only then, the table is made.

use super::super::binomial::{self, Btrs};
use super::super::functions::{exp, open_uniform, select};
use super::super::hypergeometric::Hrua;
use super::super::poisson::{Poisson, Ptrs};
use super::super::private::{CHUNK, LAST, MASK, Rejection};
use super::lists::Lists;
use crate::numbers::path::{Kernel, Path};

/// Elements of one search, which goes on until the largest count is found.
const TILE: usize = 32;
/// The mean from which a rejection takes the search's place.
const LARGE: f64 = 10.0;

/// Chances that a search adds up.
trait Chances<const N: usize> {
    /// Returns the chance of count k, made of that of k - 1.
    fn next(parameters: [f64; N], last: f64, k: f64) -> f64;
}

/// Writes the counts of small means, or NaN if the sums are too near to decide. Large means, whose
/// chance of none is below 0 here, keep what they have.
#[inline(always)]
fn search<C: Chances<N>, const N: usize>(
    blocks: &[[u64; 2]],
    parameters: [&[f64; TILE]; N],
    none: &[f64; TILE],
    out: &mut [f64],
) {
    // More than all roundings: those of the chances are the same in the table, so a sum is 1 less
    // than 10^-13 away from it (a test adds them up).
    const NEAR: f64 = 1e-11;
    let (mut y, mut t, mut sum) = ([0.0; TILE], [0.0; TILE], [0.0; TILE]);
    let (mut found, mut distance) = ([0.0; TILE], [1.0; TILE]);
    let lanes = y.iter_mut().zip(&mut t).zip(&mut sum).zip(&mut distance);
    for ((((y, t), sum), distance), (&none, &[w0, _])) in lanes.zip(none.iter().zip(blocks)) {
        // A number of 0 ends the search of large means, which have no use for it.
        *y = select(none >= 0.0, 1.0 - open_uniform(w0), 0.0);
        *t = select(none >= 0.0, none, 0.0);
        *sum = *t;
        *distance = (*sum - *y).abs();
    }
    let mut k = 0.0;
    let mut more = true;
    while more && k < 63.0 {
        more = false;
        k += 1.0;
        for i in 0..TILE {
            // A lane that has stopped never continues, since nothing in it changes.
            let on = sum[i] < y[i];
            let next = C::next(parameters.map(|list| list[i]), t[i], k);
            t[i] = select(on, next, t[i]);
            sum[i] += select(on, t[i], 0.0);
            found[i] += select(on, 1.0, 0.0);
            let to = (sum[i] - y[i]).abs();
            distance[i] = select(to < distance[i], to, distance[i]);
            more |= on;
        }
    }
    let lanes = found.iter().zip(&distance).zip(none);
    for (out, ((&found, &distance), &none)) in out.iter_mut().zip(lanes) {
        let count = select(distance < NEAR, f64::NAN, found);
        *out = select(none >= 0.0, count, *out);
    }
}

/// Poisson counts of means that each element has for itself.
pub(super) struct Means(pub(super) [f64; CHUNK]);

impl Chances<1> for Means {
    #[inline(always)]
    fn next([mean]: [f64; 1], last: f64, k: f64) -> f64 {
        (last * mean) / k
    }
}

impl Rejection for Means {
    const ATTEMPTS: u16 = LAST + 1;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let tiles = self.0.as_chunks::<TILE>().0;
        for ((out, blocks), means) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(tiles) {
            if means.iter().fold(false, |any, &mean| any | (mean >= LARGE)) {
                for ((out, &block), &mean) in out.iter_mut().zip(blocks).zip(means) {
                    *out = Ptrs::new(mean).squeezed(block);
                }
            }
            if means.iter().fold(false, |any, &mean| any | (mean < LARGE)) {
                let none = means.map(|mean| select(mean < LARGE, exp(-mean), -1.0));
                search::<Means, 1>(blocks, [means], &none, out);
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
            if mean < LARGE {
                *out = Poisson::thresholds(mean).count(w0);
            }
        }
    }

    fn fallback(&self, place: usize) -> f64 {
        Ptrs::new(self.0[place & MASK]).fallback(place)
    }
}

/// Binomial counts: the trials, and the smaller of both chances.
pub(super) struct Binomials(Lists<2>);

impl Binomials {
    /// Returns the method of these trials and chances.
    pub(super) fn new(trials: &[f64], chances: &[f64]) -> Binomials {
        let mut smaller = [0.0; CHUNK];
        for (smaller, &p) in smaller.iter_mut().zip(chances) {
            *smaller = select(p > 0.5, 1.0 - p, p);
        }
        Binomials(Lists::new([trials, &smaller[..chances.len().min(CHUNK)]]))
    }
}

impl Chances<2> for Binomials {
    #[inline(always)]
    fn next([trials, odds]: [f64; 2], last: f64, k: f64) -> f64 {
        binomial::next(trials, odds, last, k)
    }
}

impl Rejection for Binomials {
    const ATTEMPTS: u16 = LAST + 1;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (tile, (out, blocks)) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).enumerate() {
            let [trials, chances] = self.0.tile::<TILE>(tile);
            let (mut none, mut odds) = ([-1.0; TILE], [0.0; TILE]);
            let (mut small, mut large) = (false, false);
            for i in 0..TILE {
                let (m, p) = (trials[i], chances[i]);
                let is_large = m * p >= LARGE;
                none[i] = select(is_large, -1.0, binomial::none(m, p));
                odds[i] = p / (1.0 - p);
                large |= is_large;
                small |= !is_large;
            }
            if large {
                let many = out.len().min(blocks.len()).min(TILE);
                let (out, blocks) = (&mut out[..many], &blocks[..many]);
                for i in 0..many {
                    out[i] = Btrs::quick_constants(trials[i], chances[i]).squeezed(blocks[i]);
                }
            }
            if small {
                search::<Binomials, 2>(blocks, [trials, &odds], &none, out);
            }
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], places: &[u16], out: &mut [f64]) {
        for ((out, &block), &place) in out.iter_mut().zip(blocks).zip(places) {
            let [m, p] = self.0.at(place.into());
            *out = Btrs::new(m, p).decided(block);
        }
        for ((out, &[w0, _]), &place) in out.iter_mut().zip(blocks).zip(places) {
            let [m, p] = self.0.at(place.into());
            if m * p < LARGE {
                *out = binomial::thresholds(m, p).count(w0);
            }
        }
    }

    fn fallback(&self, place: usize) -> f64 {
        let [m, p] = self.0.at(place);
        Btrs::quick_constants(m, p).fallback(place)
    }
}

/// Replaces the likelier outcomes that were counted by the others.
pub(super) struct Successes<'a> {
    pub(super) lists: [&'a [f64]; 2],
    pub(super) out: &'a mut [f64],
}

impl Kernel for Successes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let [trials, chances] = self.lists;
        for (out, (&n, &p)) in self.out.iter_mut().zip(trials.iter().zip(chances)) {
            *out = select(p > 0.5, n - *out, *out);
        }
    }
}

/// Hypergeometric counts: the population, the fewer of good and bad items, and the fewer of those
/// that are drawn and those that are left.
pub(super) struct Populations(Lists<3>);

impl Populations {
    /// Returns the method of good and bad items, and of samples.
    pub(super) fn new([good, bad, samples]: [&[f64]; 3]) -> Populations {
        let mut lists = [[0.0; CHUNK]; 3];
        Path::best().run(Fewer { good, bad, samples, to: &mut lists });
        let many = good.len().min(CHUNK);
        Populations(Lists::new(lists.each_ref().map(|list| &list[..many])))
    }

    #[inline(always)]
    fn of([population, few, drawn]: [f64; 3]) -> Hrua {
        Hrua::new(population, few, drawn)
    }
}

struct Fewer<'a> {
    good: &'a [f64],
    bad: &'a [f64],
    samples: &'a [f64],
    to: &'a mut [[f64; CHUNK]; 3],
}

impl Kernel for Fewer<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let [populations, few, drawn] = self.to;
        let lists = self.good.iter().zip(self.bad).zip(self.samples);
        let to = populations.iter_mut().zip(few).zip(drawn);
        for (((population, few), drawn), ((&good, &bad), &sample)) in to.zip(lists) {
            *population = good + bad;
            *few = select(good < bad, good, bad);
            let rest = *population - sample;
            *drawn = select(sample < rest, sample, rest);
        }
    }
}

impl Chances<3> for Populations {
    #[inline(always)]
    fn next([others, few, drawn]: [f64; 3], last: f64, k: f64) -> f64 {
        let above = (few - (k - 1.0)) * (drawn - (k - 1.0));
        (last * above) / (((k - 1.0) + 1.0) * ((others + (k - 1.0)) + 1.0))
    }
}

impl Rejection for Populations {
    const ATTEMPTS: u16 = LAST + 1;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (tile, (out, blocks)) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).enumerate() {
            let [populations, few, drawn] = self.0.tile::<TILE>(tile);
            let (mut none, mut others) = ([-1.0; TILE], [0.0; TILE]);
            let mut small = false;
            for i in 0..TILE {
                let hrua = Hrua::new(populations[i], few[i], drawn[i]);
                let is_large = hrua.mean >= LARGE;
                none[i] = select(is_large, -1.0, hrua.none());
                others[i] = (populations[i] - few[i]) - drawn[i];
                small |= !is_large;
            }
            // The constants of large means take as long here as in the whole test.
            out.fill(f64::NAN);
            if small {
                search::<Populations, 3>(blocks, [&others, few, drawn], &none, out);
            }
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], places: &[u16], out: &mut [f64]) {
        for ((out, &block), &place) in out.iter_mut().zip(blocks).zip(places) {
            *out = Populations::of(self.0.at(place.into())).whole().decided(block);
        }
        for ((out, &[w0, _]), &place) in out.iter_mut().zip(blocks).zip(places) {
            let hrua = Populations::of(self.0.at(place.into()));
            if hrua.mean < LARGE {
                *out = hrua.thresholds().count(w0);
            }
        }
    }

    fn fallback(&self, place: usize) -> f64 {
        Populations::of(self.0.at(place)).fallback()
    }
}

/// Replaces the items that were counted by the good ones of the sample.
pub(super) struct GoodItems<'a> {
    pub(super) lists: [&'a [f64]; 3],
    pub(super) out: &'a mut [f64],
}

impl Kernel for GoodItems<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let [good, bad, samples] = self.lists;
        let lists = good.iter().zip(bad).zip(samples);
        for (out, ((&good, &bad), &sample)) in self.out.iter_mut().zip(lists) {
            let rest = (good + bad) - sample;
            let left = sample > rest;
            let among = select(good > bad, select(left, rest, sample) - *out, *out);
            *out = select(left, good - among, among);
        }
    }
}
