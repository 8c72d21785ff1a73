//! Dirichlet vectors: gamma numbers over their sum.

use super::beta::{Exponent, power_of_two};
use super::functions::exp;
use super::gamma::{Parts, exponentials};
use super::private::{By, CHUNK, Domain, LAST, Source, TILE, map};
use super::vectors::{Rows, VectorDistribution, elements};
use crate::numbers::path::Path;
use crate::{Error, Stream};
use core::num::NonZero;

/// The Dirichlet distribution: shares that add up to 1. [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dirichlet<'a> {
    alpha: &'a [f64],
    /// A power of two for all shapes.
    scale: f64,
    /// Every shape is below 1, so every component has an exponent.
    small: bool,
}

impl<'a> Dirichlet<'a> {
    /// Returns the distribution of shares with these shapes; their means are in proportion to the
    /// shapes.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless there is a shape, and all are above 0 and at most 2^900.
    pub fn new(alpha: &'a [f64]) -> Result<Dirichlet<'a>, Error> {
        const MOST: f64 = power_of_two(900);
        const TINY: f64 = power_of_two(-200);
        if alpha.is_empty() || !alpha.iter().all(|&x| x > 0.0 && x <= MOST) {
            let need = "a list of numbers above 0, at most 2^900";
            return Err(Error::Parameter { name: "alpha", need });
        }
        let largest = alpha.iter().fold(0.0, |most: f64, &x| most.max(x));
        // Exponents would be infinite for all components, as for beta numbers.
        let scale = if largest < TINY { power_of_two(100) } else { 1.0 };
        Ok(Dirichlet { alpha, scale, small: largest < 1.0 })
    }
}

impl VectorDistribution for Dirichlet<'_> {}

impl Rows for Dirichlet<'_> {
    type Value = f64;

    fn dimension(&self) -> NonZero<usize> {
        NonZero::new(self.alpha.len()).unwrap_or(NonZero::<usize>::MIN)
    }

    fn rows(&self, stream: &Stream, vectors: &[u64], out: &mut [f64]) {
        let dimension = self.dimension();
        let many = vectors.len().min(CHUNK);
        let (mut list, mut numbers) = ([0; CHUNK], [0.0; CHUNK]);
        let numbers = &mut numbers[..many];
        // The smallest exponent of each vector. It is taken from all, so that no sum is 0.
        let mut least = [0.0; CHUNK];
        let least = &mut least[..many];
        if self.small {
            least.fill(f64::INFINITY);
            for (component, &alpha) in self.alpha.iter().enumerate() {
                let list = elements(vectors, dimension, component, &mut list);
                let source = Source::of_list(Path::best(), stream, list);
                let by = Exponent { shape: alpha * self.scale };
                map(&source, Domain::Dirichlet, LAST, by, numbers);
                for (least, &mut exponent) in least.iter_mut().zip(&mut *numbers) {
                    *least = if exponent < *least { exponent } else { *least };
                }
            }
        }
        for (component, &alpha) in self.alpha.iter().enumerate() {
            let list = elements(vectors, dimension, component, &mut list);
            let source = Source::of_list(Path::best(), stream, list);
            let parts = Parts::new(alpha * self.scale);
            parts.factors(&source, Domain::Dirichlet, numbers);
            if let Some(boost) = parts.boost {
                let mut shrunk = [0.0; CHUNK];
                let shrunk = &mut shrunk[..many];
                shrunk.copy_from_slice(least);
                let by = Shrunk { shape: boost.shape };
                map(&source, Domain::Dirichlet, LAST, by, shrunk);
                numbers.iter_mut().zip(shrunk).for_each(|(number, &mut by)| *number *= by);
            }
            for (row, &mut number) in out.chunks_mut(dimension.get()).zip(&mut *numbers) {
                if let Some(place) = row.get_mut(component) {
                    *place = number;
                }
            }
        }
        for row in out.chunks_mut(dimension.get()) {
            let sum = row.iter().fold(0.0, |sum, &x| sum + x);
            row.iter_mut().for_each(|x| *x /= sum);
        }
    }
}

/// The exponential of a vector's smallest exponent less that of a component.
struct Shrunk {
    shape: f64,
}

impl By for Shrunk {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let mut exponents = [0.0; TILE];
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            exponentials(blocks, self.shape, &mut exponents[..out.len()]);
            for (out, &exponent) in out.iter_mut().zip(&exponents) {
                *out = exp(*out - exponent);
            }
        }
    }
}
