//! Multivariate hypergeometric vectors: hypergeometric counts, one colour after the other, of the
//! sample that is left.
//!
//! The sample of a component differs from vector to vector, so there can be no table. As in
//! multinomial vectors, small means take a search from 0 on, and the others HRUA
//! (`hypergeometric.rs`), whose constants are computed for each vector, in vector code.

use super::functions::{floor, open_uniform, select};
use super::hypergeometric::{Hrua, MOST};
use super::private::{CHUNK, Domain, LAST, MASK, Rejection, Source, accepted};
use super::vectors::{Rows, VectorDistribution, elements};
use crate::numbers::path::Path;
use crate::{Error, Stream};
use core::num::NonZero;

/// The largest count of the search, which a mean below 10 does not reach in 2^53 numbers.
const LARGEST: f64 = 63.0;
/// Elements of one search, which ends when the largest count is found.
const TILE: usize = 32;

/// The multivariate hypergeometric distribution: how many items of each colour are in a sample
/// without replacement. [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultivariateHypergeometric<T> {
    colors: T,
    population: u64,
    sample: u64,
}

impl<T: AsRef<[f64]>> MultivariateHypergeometric<T> {
    /// Returns the distribution of a sample of `sample` items from so many of each colour. The
    /// numbers are doubles, as lists of parameters are, and whole.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless there is a colour, the numbers are whole, from 0, and in all at
    /// most 2^53, and the sample is at most as large as all of them.
    pub fn new(colors: T, sample: u64) -> Result<Self, Error> {
        let whole = |&n: &f64| (0.0..=MOST as f64).contains(&n) && floor(n) == n;
        let list = colors.as_ref();
        let sum = list
            .iter()
            .filter(|n| whole(n))
            .try_fold(0u64, |sum, &n| sum.checked_add(n as u64).filter(|&sum| sum <= MOST));
        let sum = sum.filter(|_| !list.is_empty() && list.iter().all(whole));
        let Some(population) = sum else {
            let need = "whole numbers from 0, in all at most 2^53";
            return Err(Error::Parameter { name: "colors", need });
        };
        if sample > population {
            return Err(Error::Parameter { name: "sample", need: "at most the population" });
        }
        Ok(MultivariateHypergeometric { colors, population, sample })
    }
}

impl<T: AsRef<[f64]> + Sync> VectorDistribution for MultivariateHypergeometric<T> {}

impl<T: AsRef<[f64]> + Sync> Rows for MultivariateHypergeometric<T> {
    type Value = u64;

    fn dimension(&self) -> NonZero<usize> {
        NonZero::new(self.colors.as_ref().len()).unwrap_or(NonZero::<usize>::MIN)
    }

    fn rows(&self, stream: &Stream, vectors: &[u64], out: &mut [u64]) {
        let dimension = self.dimension();
        let many = vectors.len().min(CHUNK);
        let (mut left, mut list) = ([self.sample as f64; CHUNK], [0; CHUNK]);
        let left = &mut left[..many];
        let mut population = self.population as f64;
        for (component, &good) in self.colors.as_ref().iter().enumerate() {
            let list = elements(vectors, dimension, component, &mut list);
            let source = Source::of_list(Path::best(), stream, list);
            let others = population - good;
            let few = select(good > others, others, good);
            let mut draws = Draws { population, few, drawn: [0.0; CHUNK] };
            for (drawn, &left) in draws.drawn.iter_mut().zip(&*left) {
                let rest = population - left;
                *drawn = select(left > rest, rest, left);
            }
            let mut counts = [0.0; CHUNK];
            let counts = &mut counts[..many];
            // The last colour takes all that is left of the sample, without words.
            if few > 0.0 {
                accepted(&source, Domain::MultivariateHypergeometric, &draws, counts);
            }
            let rows = out.chunks_mut(dimension.get()).zip(left.iter_mut());
            for (((row, left), &k), &drawn) in rows.zip(&*counts).zip(&draws.drawn) {
                let among = select(good > others, drawn - k, k);
                let count = select(*left > population - *left, good - among, among);
                *left -= count;
                if let Some(place) = row.get_mut(component) {
                    *place = count as u64;
                }
            }
            population = others;
        }
    }
}

/// Hypergeometric counts of one population, and of samples that each element has for itself.
struct Draws {
    population: f64,
    few: f64,
    drawn: [f64; CHUNK],
}

impl Draws {
    #[inline(always)]
    fn of(&self, drawn: f64) -> Hrua {
        Hrua::new(self.population, self.few, drawn)
    }
}

impl Rejection for Draws {
    const ATTEMPTS: u16 = LAST + 1;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for ((out, blocks), drawn) in
            out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(self.drawn.chunks(TILE))
        {
            self.search(blocks, drawn, out);
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], places: &[u16], out: &mut [f64]) {
        for ((out, &block), &place) in out.iter_mut().zip(blocks).zip(places) {
            let drawn = self.drawn[usize::from(place) & MASK];
            *out = self.of(drawn).whole().decided(block);
        }
    }

    fn fallback(&self, place: usize) -> f64 {
        self.of(self.drawn[place & MASK]).fallback()
    }
}

impl Draws {
    /// Writes the counts of small means, and NaN for the others.
    #[inline(always)]
    fn search(&self, blocks: &[[u64; 2]], drawn: &[f64], out: &mut [f64]) {
        let (mut u, mut t, mut found) = ([-1.0; TILE], [0.0; TILE], [0.0; TILE]);
        let lanes = u.iter_mut().zip(&mut t).zip(&mut found);
        for ((((u, t), found), &drawn), &[w0, _]) in lanes.zip(drawn).zip(blocks) {
            let hrua = self.of(drawn);
            let small = hrua.mean < 10.0;
            // A number below 0 ends the search of large means, which have no use for it.
            *u = select(small, open_uniform(w0), -1.0);
            *t = hrua.none();
            *found = select(small, 0.0, f64::NAN);
        }
        let mut k = 0.0;
        let mut more = true;
        while more && k < LARGEST {
            more = false;
            for (((u, t), found), &drawn) in u.iter_mut().zip(&mut t).zip(&mut found).zip(drawn) {
                // A lane that has stopped never continues, since nothing in it changes.
                let on = *u >= *t;
                *u -= select(on, *t, 0.0);
                *found += select(on, 1.0, 0.0);
                let next = (*t * ((self.few - k) * (drawn - k)))
                    / ((k + 1.0) * ((((self.population - self.few) - drawn) + k) + 1.0));
                *t = select(on, next, *t);
                more |= on;
            }
            k += 1.0;
        }
        for ((out, &found), &drawn) in out.iter_mut().zip(&found).zip(drawn) {
            // The chances may add up to a little less than 1, so that no end was found.
            let most = select(self.few < drawn, self.few, drawn);
            *out = select(found > most, most, found);
        }
    }
}
