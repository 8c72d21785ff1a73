//! Multinomial vectors: binomial counts, one after the other, of the trials that are left.
//!
//! The trials of a component differ from vector to vector, so there is no table of thresholds.
//! Small means take a search from 0 on. All others take BTRS (`binomial.rs`), whose constants are
//! computed for each vector.

use super::binomial::Btrs;
use super::functions::{exp, minus_ln_1_minus, open_uniform, select};
use super::private::{CHUNK, Domain, LAST, Rejection, Source};
use super::vectors::{Rows, VectorDistribution, elements};
use crate::numbers::path::{Kernel, Path};
use crate::{Error, Stream};
use core::num::NonZero;

/// The largest count of the search, which a mean below 10 does not reach in 2^53 numbers.
const MOST: f64 = 63.0;

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
        let mut table = vec![0.0; weights.len()];
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
            let mut trials = [0.0; CHUNK];
            let trials = &mut trials[..many];
            trials.iter_mut().zip(&*left).for_each(|(trials, &left)| *trials = left as f64);
            let mut counts = [0.0; CHUNK];
            let counts = &mut counts[..many];
            let failures = p > 0.5;
            let rare = if failures { 1.0 - p } else { p };
            binomials(&source, rare, trials, counts);
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

/// Writes binomial counts of one probability, up to 1/2, and of the trials of each element.
fn binomials(source: &Source<'_, Stream>, p: f64, trials: &[f64], counts: &mut [f64]) {
    let mut blocks = [[0; 2]; CHUNK];
    let many = counts.len().min(CHUNK);
    source.blocks(Domain::Multinomial, 0, &mut blocks[..many]);
    let first = First { p, rate: minus_ln_1_minus(p), blocks: &blocks[..many], trials, counts };
    source.path.run(first);
    // Few numbers are left, so they are taken one by one.
    for (place, count) in counts.iter_mut().enumerate().filter(|(_, count)| count.is_nan()) {
        let (Some(&m), Ok(at)) = (trials.get(place), u16::try_from(place)) else { continue };
        let method = Btrs::new(m, p);
        let mut block = [blocks.get(place).copied().unwrap_or_default()];
        *count = method.decided(block[0]);
        let mut attempt = 1;
        while count.is_nan() && attempt <= LAST {
            source.some_blocks(Domain::Multinomial, attempt, &[at], &mut block);
            *count = method.decided(block[0]);
            attempt += 1;
        }
        if count.is_nan() {
            *count = method.fallback();
        }
    }
}

/// The search for small means, and the quick test of BTRS for the others; a NaN stands for a
/// number that it does not accept.
struct First<'a> {
    p: f64,
    rate: f64,
    blocks: &'a [[u64; 2]],
    trials: &'a [f64],
    counts: &'a mut [f64],
}

impl Kernel for First<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const LANES: usize = 8;
        let odds = self.p / (1.0 - self.p);
        let parts = self.counts.chunks_mut(LANES).zip(self.trials.chunks(LANES));
        for ((counts, trials), blocks) in parts.zip(self.blocks.chunks(LANES)) {
            let mut m = [0.0; LANES];
            m.iter_mut().zip(trials).for_each(|(m, &trials)| *m = trials);
            let mut both = [[0; 2]; LANES];
            both.iter_mut().zip(blocks).for_each(|(both, &block)| *both = block);
            let mut made = [0.0; LANES];
            if m.iter().fold(false, |any, &m| any | (m * self.p >= 10.0)) {
                for ((made, &m), &block) in made.iter_mut().zip(&m).zip(&both) {
                    *made = Btrs::quick_constants(m, self.p).squeezed(block);
                }
            }
            let mut u = both.map(|[w0, _]| open_uniform(w0));
            let small = m.map(|m| m * self.p < 10.0);
            let mut t = m.map(|m| exp(-(m * self.rate)));
            let mut found = [0.0; LANES];
            let mut k = 0.0;
            loop {
                let mut more = false;
                for lane in 0..LANES {
                    let on = u[lane] >= t[lane];
                    u[lane] -= select(on, t[lane], 0.0);
                    // A lane that has stopped never continues, since nothing in it changes.
                    found[lane] += select(on, 1.0, 0.0);
                    t[lane] = select(on, (t[lane] * ((m[lane] - k) * odds)) / (k + 1.0), t[lane]);
                    more |= on & small[lane];
                }
                k += 1.0;
                if !more || k >= MOST {
                    break;
                }
            }
            for lane in 0..LANES {
                made[lane] = select(small[lane], found[lane], made[lane]);
            }
            counts.iter_mut().zip(made).for_each(|(count, made)| *count = made);
        }
    }
}
