//! Counts whose means each element has for itself.
//!
//! A table of thresholds decides for small means. It is a sum from the last count down, to be
//! precise in the tail, and would take longer for one number than NumPy's whole method. The search
//! sums from 0 up, and stops at the same count unless the word lies within the roundings of a sum,
//! once in 10^10 numbers. Then, and only then, the table is made.

use super::super::binomial::{self, Btrs};
use super::super::functions::{exp, open_uniform, select};
use super::super::hypergeometric::Hrua;
use super::super::near::Near;
use super::super::poisson::{Poisson, Ptrs};
use super::super::private::{CHUNK, LAST, MASK, Rejection};
use super::large::{Large, decide, decide_large};
use super::lists::Lists;
use crate::numbers::path::{Kernel, Path};

/// Elements of one search, which ends at the largest of their counts.
pub(super) const TILE: usize = 32;
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
pub(super) struct Binomials {
    lists: Lists<2>,
}

impl Binomials {
    /// Returns the method of these trials and chances.
    pub(super) fn new([trials, chances]: [&[f64]; 2]) -> Binomials {
        let mut smaller = [0.0; CHUNK];
        for (smaller, &p) in smaller.iter_mut().zip(chances) {
            *smaller = select(p > 0.5, 1.0 - p, p);
        }
        Binomials { lists: Lists::new([trials, &smaller[..trials.len().min(CHUNK)]]) }
    }
}

impl Chances<2> for Binomials {
    #[inline(always)]
    fn next([trials, odds]: [f64; 2], last: f64, k: f64) -> f64 {
        binomial::next(trials, odds, last, k)
    }
}

impl Large<2> for Binomials {
    #[inline(always)]
    fn near([m, p]: [f64; 2], block: [u64; 2]) -> (bool, Near) {
        (m * p >= LARGE, Btrs::quick_constants(m, p).near(block, binomial::odds(p)))
    }

    fn whole([m, p]: [f64; 2], block: [u64; 2]) -> f64 {
        if m * p >= LARGE {
            Btrs::new(m, p).decided(block)
        } else {
            binomial::thresholds(m, p).count(block[0])
        }
    }
}

impl Rejection for Binomials {
    const ATTEMPTS: u16 = LAST + 1;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (tile, (out, blocks)) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).enumerate() {
            let [trials, chances] = self.lists.tile::<TILE>(tile);
            let means = || trials.iter().zip(chances).map(|(m, p)| m * p);
            if means().fold(false, |any, mean| any | (mean >= LARGE)) {
                let parameters = trials.iter().zip(chances);
                for ((out, &block), (&m, &p)) in out.iter_mut().zip(blocks).zip(parameters) {
                    *out = Btrs::quick_constants(m, p).squeezed(block);
                }
            }
            if means().fold(false, |any, mean| any | (mean < LARGE)) {
                let (mut none, mut odds) = ([0.0; TILE], [0.0; TILE]);
                let parameters = trials.iter().zip(chances);
                for ((none, odds), (&m, &p)) in none.iter_mut().zip(&mut odds).zip(parameters) {
                    *none = select(m * p >= LARGE, -1.0, binomial::none(m, p));
                    *odds = binomial::odds(p);
                }
                search::<Binomials, 2>(blocks, [trials, &odds], &none, out);
            }
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], places: &[u16], out: &mut [f64]) {
        decide::<Binomials, 2>(&self.lists, blocks, places, out);
    }

    fn fallback(&self, place: usize) -> f64 {
        let [m, p] = self.lists.at(place);
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
pub(super) struct Populations {
    lists: Lists<3>,
}

impl Populations {
    /// Returns the method of good and bad items, and of samples.
    pub(super) fn new([good, bad, samples]: [&[f64]; 3]) -> Populations {
        let lists = Lists::made(good.len().min(CHUNK), |to| {
            Path::best().run(Fewer { good, bad, samples, to });
        });
        Populations { lists }
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

impl Large<3> for Populations {
    #[inline(always)]
    fn near(parameters: [f64; 3], block: [u64; 2]) -> (bool, Near) {
        let hrua = Populations::of(parameters);
        (hrua.mean >= LARGE, hrua.near(block))
    }

    fn whole(parameters: [f64; 3], block: [u64; 2]) -> f64 {
        let hrua = Populations::of(parameters);
        if hrua.mean >= LARGE {
            hrua.whole().decided(block)
        } else {
            hrua.thresholds().count(block[0])
        }
    }
}

impl Rejection for Populations {
    const ATTEMPTS: u16 = LAST + 1;
    const QUICK_DECIDES: bool = true;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (tile, (out, blocks)) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).enumerate() {
            let parameters @ [populations, few, drawn] = self.lists.tile::<TILE>(tile);
            let (mut none, mut others) = ([0.0; TILE], [0.0; TILE]);
            let (mut any_small, mut any_large) = (false, false);
            for i in 0..TILE {
                let mean = Populations::of(parameters.map(|list| list[i])).mean;
                none[i] = select(mean >= LARGE, -1.0, 0.0);
                others[i] = (populations[i] - few[i]) - drawn[i];
                any_small |= mean < LARGE;
                any_large |= mean >= LARGE;
            }
            if any_large {
                decide_large::<Populations, 3>(parameters, blocks, out);
            }
            if any_small {
                for i in 0..TILE {
                    let chance = Populations::of(parameters.map(|list| list[i])).none();
                    none[i] = select(none[i] < 0.0, none[i], chance);
                }
                search::<Populations, 3>(blocks, [&others, few, drawn], &none, out);
                let is_left = |number: f64, none: f64| number.is_nan() & (none >= 0.0);
                if out.iter().zip(&none).fold(false, |any, (&x, &none)| any | is_left(x, none)) {
                    for (i, (out, &block)) in out.iter_mut().zip(blocks).enumerate() {
                        if is_left(*out, none[i]) {
                            *out = Populations::whole(parameters.map(|list| list[i]), block);
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], places: &[u16], out: &mut [f64]) {
        decide::<Populations, 3>(&self.lists, blocks, places, out);
    }

    fn fallback(&self, place: usize) -> f64 {
        Populations::of(self.lists.at(place)).fallback()
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

#[cfg(test)]
mod tests {
    use super::super::super::counts::Thresholds;
    use super::*;

    /// Compares the search with the table at the words where the table's count changes, and around
    /// them. Returns how many words the search has decided.
    fn compare<R: Rejection>(table: &Thresholds, method: &R, what: &str) -> u32 {
        let mut decided = 0;
        let ends = table.ends().flat_map(|end| {
            let around = [0u64, 1, 1 << 11, 1 << 20, 1 << 26, 1 << 40];
            around.into_iter().flat_map(move |d| [end.wrapping_sub(d), end.wrapping_add(d)])
        });
        for word in ends.chain((0..1000).map(|i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15))) {
            let mut out = [0.0];
            method.quick(&[[word, 0]], &mut out);
            assert!(out[0].is_nan() || out[0] == table.count(word), "{what} {word:x}");
            decided += u32::from(!out[0].is_nan());
        }
        decided
    }

    /// The search is quick and decides nothing that a table decides otherwise.
    #[test]
    fn the_search_stops_where_the_table_does() {
        let mut decided = 0;
        for mean in (0..200).map(|i| f64::from(i) * 0.05).chain([1e-300, 1e-9, 9.999_999]) {
            let table = Poisson::thresholds(mean);
            decided += compare(&table, &Means([mean; CHUNK]), &format!("mean {mean}"));
        }
        assert!(decided > 200_000, "{decided} Poisson counts");
        decided = 0;
        for trials in [1.0, 2.0, 9.0, 20.0, 37.0, 1e3, 1e6, 1e12, 9e15] {
            for share in [1e-12, 0.001, 0.1, 0.5, 0.75, 0.999_999] {
                let p: f64 = if trials > 19.0 { share * 10.0 / trials } else { share * 0.5 };
                let table = binomial::thresholds(trials, p);
                let method = Binomials::new([&[trials], &[p]]);
                decided += compare(&table, &method, &format!("{trials} trials of {p}"));
            }
        }
        assert!(decided > 40_000, "{decided} binomial counts");
        decided = 0;
        for (good, bad, sample) in [
            (1.0, 1.0, 1.0),
            (5.0, 7.0, 3.0),
            (40.0, 30.0, 8.0),
            (1000.0, 9.0, 900.0),
            (1e6, 5.0, 1e5),
            (4e15, 100.0, 3e14),
            (15.0, 1e12, 9e11),
        ] {
            let method = Populations::new([&[good], &[bad], &[sample]]);
            let table = Populations::of(method.lists.at(0)).thresholds();
            decided += compare(&table, &method, &format!("{sample} of {good} and {bad}"));
        }
        assert!(decided > 6_000, "{decided} hypergeometric counts");
    }
}
