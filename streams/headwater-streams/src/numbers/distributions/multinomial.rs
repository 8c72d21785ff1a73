//! Multinomial vectors: binomial counts, one after the other, of the trials that are left.
//!
//! The trials of a component differ from vector to vector, so there can be no table of thresholds.
//! Small means take a search from 0 on instead. It would be too long for the others, so they take
//! BTRS (`binomial.rs`), whose constants are computed for each vector, in vector code.

use super::binomial::Btrs;
use super::functions::{exp, minus_ln_1_minus, open_uniform, select};
use super::private::{CHUNK, Domain, LAST, MASK, Rejection, Source, accepted};
use super::vectors::{Rows, VectorDistribution, elements};
use crate::numbers::path::Path;
use crate::{Error, Stream};
use core::num::NonZero;

/// The largest count of the search, which a mean below 10 does not reach in 2^53 numbers.
const MOST: f64 = 63.0;

/// Elements of one search, which ends when the largest count is found.
const TILE: usize = 32;

/// The multinomial distribution: counts of outcomes among trials. [Not for secrets](crate).
///
/// The table has, for each outcome, its probability if none of the outcomes before it occurs. It
/// belongs to the value, or is borrowed, as `T` says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multinomial<T> {
    trials: u64,
    table: T,
}

#[cfg(feature = "std")]
impl Multinomial<Vec<f64>> {
    /// Returns the distribution of `trials` trials whose outcomes have these weights, which need
    /// not add up to 1.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless there is a weight, all are finite and not below 0, and their sum
    /// is finite and above 0.
    pub fn new(trials: u64, weights: &[f64]) -> Result<Self, Error> {
        let mut table = crate::kinds::room(weights.len())?;
        build(weights, &mut table)?;
        Ok(Multinomial { trials, table })
    }
}

impl<'a> Multinomial<&'a [f64]> {
    /// Builds the table in memory of the caller, and returns the distribution that borrows it.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Multinomial::new), and [`Error::Lengths`] unless `table` has a place
    /// for each weight.
    pub fn build(trials: u64, weights: &[f64], table: &'a mut [f64]) -> Result<Self, Error> {
        build(weights, table)?;
        Ok(Multinomial { trials, table })
    }

    /// Returns the distribution of a table that was built before.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless there is a number in the table, and all are from 0 to 1.
    pub fn from_table(trials: u64, table: &'a [f64]) -> Result<Self, Error> {
        if table.is_empty() || !table.iter().all(|p| (0.0..=1.0).contains(p)) {
            return Err(Error::Parameter { name: "table", need: "a list of numbers from 0 to 1" });
        }
        Ok(Multinomial { trials, table })
    }
}

fn build(weights: &[f64], table: &mut [f64]) -> Result<(), Error> {
    if weights.len() != table.len() {
        return Err(Error::Lengths { indices: weights.len(), out: table.len() });
    }
    let sum = weights.iter().rev().fold(0.0, |sum, &w| w + sum);
    // A NaN passes no comparison.
    if !(weights.iter().all(|&w| w >= 0.0) && sum > 0.0 && sum.is_finite()) {
        let need = "numbers from 0 with a finite sum above 0";
        return Err(Error::Parameter { name: "weights", need });
    }
    let mut sum = 0.0;
    for (place, &weight) in table.iter_mut().zip(weights).rev() {
        sum += weight;
        *place = if weight > 0.0 { weight / sum } else { 0.0 };
    }
    Ok(())
}

impl<T: AsRef<[f64]> + Sync> VectorDistribution for Multinomial<T> {}

impl<T: AsRef<[f64]> + Sync> Rows for Multinomial<T> {
    type Value = u64;

    fn dimension(&self) -> NonZero<usize> {
        NonZero::new(self.table.as_ref().len()).unwrap_or(NonZero::<usize>::MIN)
    }

    fn rows(&self, stream: &Stream, vectors: &[u64], out: &mut [u64]) {
        let table = self.table.as_ref();
        let dimension = self.dimension();
        let many = vectors.len().min(CHUNK);
        let (mut left, mut list) = ([self.trials; CHUNK], [0; CHUNK]);
        let left = &mut left[..many];
        for (component, &p) in table.iter().enumerate() {
            let list = elements(vectors, dimension, component, &mut list);
            let source = Source::of_list(Path::best(), stream, list);
            let failures = p > 0.5;
            let p = if failures { 1.0 - p } else { p };
            let mut binomials = Binomials { p, rate: minus_ln_1_minus(p), trials: [0.0; CHUNK] };
            for (trials, &mut left) in binomials.trials.iter_mut().zip(&mut *left) {
                *trials = left as f64;
            }
            let mut counts = [0.0; CHUNK];
            let counts = &mut counts[..many];
            // The last outcome takes all trials that are left, without words.
            if p > 0.0 {
                accepted(&source, Domain::Multinomial, &binomials, counts);
            }
            let rows = out.chunks_mut(dimension.get()).zip(left.iter_mut()).zip(counts);
            for ((row, left), &mut count) in rows {
                // The double nearest to the trials may be above them.
                let rare = (count as u64).min(*left);
                let count = if failures { *left - rare } else { rare };
                *left -= count;
                if let Some(place) = row.get_mut(component) {
                    *place = count;
                }
            }
        }
    }
}

/// Binomial counts of one probability, up to 1/2, and of trials that each element has for itself:
/// the search for small means, and BTRS for the others.
struct Binomials {
    p: f64,
    rate: f64,
    trials: [f64; CHUNK],
}

impl Rejection for Binomials {
    const ATTEMPTS: u16 = LAST + 1;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let odds = self.p / (1.0 - self.p);
        for ((out, blocks), m) in
            out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(self.trials.chunks(TILE))
        {
            if m.iter().fold(false, |any, &m| any | (m * self.p >= 10.0)) {
                for ((out, &block), &m) in out.iter_mut().zip(blocks).zip(m) {
                    *out = Btrs::quick_constants(m, self.p).squeezed(block);
                }
            }
            if m.iter().fold(false, |any, &m| any | (m * self.p < 10.0)) {
                self.search(odds, blocks, m, out);
            }
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], places: &[u16], out: &mut [f64]) {
        for ((out, &block), &place) in out.iter_mut().zip(blocks).zip(places) {
            let m = self.trials[usize::from(place) & MASK];
            *out = Btrs::new(m, self.p).decided(block);
        }
    }

    fn fallback(&self, place: usize) -> f64 {
        Btrs::new(self.trials[place & MASK], self.p).fallback(place)
    }
}

impl Binomials {
    /// Writes the counts of small means.
    #[inline(always)]
    fn search(&self, odds: f64, blocks: &[[u64; 2]], m: &[f64], out: &mut [f64]) {
        let (mut u, mut t, mut found) = ([-1.0; TILE], [0.0; TILE], [0.0; TILE]);
        for (((u, t), &m), &[w0, _]) in u.iter_mut().zip(&mut t).zip(m).zip(blocks) {
            // A number below 0 ends the search of large means, which have no use for it.
            *u = select(m * self.p < 10.0, open_uniform(w0), -1.0);
            *t = exp(-(m * self.rate));
        }
        let mut k = 0.0;
        let mut more = true;
        while more && k < MOST {
            more = false;
            let lanes = u.iter_mut().zip(&mut t).zip(&mut found).zip(m);
            for (((u, t), found), &m) in lanes {
                // A lane that has stopped never continues, since nothing in it changes.
                let on = *u >= *t;
                *u -= select(on, *t, 0.0);
                *found += select(on, 1.0, 0.0);
                *t = select(on, (*t * ((m - k) * odds)) / (k + 1.0), *t);
                more |= on;
            }
            k += 1.0;
        }
        for ((out, &found), &m) in out.iter_mut().zip(&found).zip(m) {
            *out = select(m * self.p < 10.0, found, *out);
        }
    }
}
