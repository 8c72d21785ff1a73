//! Dirichlet vectors: gamma numbers over their sum.

use super::beta::power_of_two;
use super::functions::{exp, select};
use super::gamma::{Methods, exponentials, repeat};
use super::private::{By, CHUNK, Domain, LAST, MASK, Source, TILE, accepted, map};
use super::vectors::{Rows, VectorDistribution};
use crate::numbers::path::{Kernel, Path};
use crate::{Error, Stream};
use core::num::NonZero;

/// Components up to which all vectors are added together.
const FEW: usize = 16;

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
        let dimension = self.dimension().get();
        let mut least = [0.0; CHUNK];
        if self.small {
            let mut exponents = Exponents { shapes: [1.0; CHUNK] };
            self.parts(stream, vectors, out, |part, source, out| {
                if part.is_first {
                    let places = exponents.shapes.iter_mut().zip(part.shapes);
                    places.for_each(|(place, &shape)| *place = shape * part.scale);
                    repeat(&mut exponents.shapes, part.shapes.len());
                }
                map(source, Domain::Dirichlet, LAST, &exponents, out);
            });
            // The smallest exponent of each vector. It is taken from all, so that no sum is 0.
            for (least, row) in least.iter_mut().zip(out.chunks(dimension)) {
                *least = row.iter().fold(f64::INFINITY, |least, &x| select(x < least, x, least));
            }
        }
        let mut methods = Methods::default();
        self.parts(stream, vectors, out, |part, source, out| {
            if part.is_first {
                methods.set(source.path, part.shapes, part.scale);
            }
            if self.small {
                let mut numbers = [0.0; CHUNK];
                let numbers = &mut numbers[..out.len().min(CHUNK)];
                accepted(source, Domain::Dirichlet, &methods, numbers);
                let rows = out.chunks_mut(part.shapes.len().max(1));
                for (row, &least) in rows.zip(least.iter().skip(part.row)) {
                    row.iter_mut().for_each(|exponent| *exponent = least - *exponent);
                }
                source.path.run(Shrink { numbers, out });
            } else {
                accepted(source, Domain::Dirichlet, &methods, out);
                part.shrink(source, out);
            }
        });
        let sums = &mut least;
        sums.fill(0.0);
        if dimension <= FEW {
            // One component after the other, since a loop over few components has a branch for each
            // vector that waits for its sum.
            for component in 0..dimension {
                for (sum, row) in sums.iter_mut().zip(out.chunks_exact(dimension)) {
                    *sum += row.get(component).copied().unwrap_or_default();
                }
            }
        } else {
            for (sum, row) in sums.iter_mut().zip(out.chunks(dimension)) {
                *sum = row.iter().fold(0.0, |sum, &x| sum + x);
            }
        }
        Path::best().run(Divide { dimension: self.dimension(), sums, out });
    }
}

/// A rectangle of numbers: whole vectors, or a part of one vector that has more components than
/// [`CHUNK`].
struct Part<'a> {
    /// The shapes of its components, before they are scaled.
    shapes: &'a [f64],
    scale: f64,
    /// The components whose shape is below 1, as places in `shapes`.
    small: &'a [u16],
    /// The number of its first vector in the list.
    row: usize,
    /// No part before it has the same components.
    is_first: bool,
}

impl Dirichlet<'_> {
    /// Calls a function for each part of these vectors, with its words and room for its numbers.
    fn parts(
        &self,
        stream: &Stream,
        vectors: &[u64],
        out: &mut [f64],
        mut make: impl FnMut(&Part<'_>, &Source<'_, Stream>, &mut [f64]),
    ) {
        let path = Path::best();
        let dimension = self.dimension().get();
        let together = (CHUNK / dimension).max(1);
        let is_run = together == 1
            || vectors.iter().zip(vectors.iter().skip(1)).all(|(a, b)| a.wrapping_add(1) == *b);
        for (shapes, component) in self.alpha.chunks(CHUNK).zip((0..).step_by(CHUNK)) {
            let (mut small, mut count) = ([0; CHUNK], 0);
            for (&shape, place) in shapes.iter().zip(0..) {
                small[count & MASK] = place;
                count += usize::from(shape * self.scale < 1.0);
            }
            let rows = vectors.chunks(together).zip((0..).step_by(together));
            for ((vectors, row), out) in rows.zip(out.chunks_mut((together * dimension).max(1))) {
                let first = |vector: u64| {
                    vector.wrapping_mul(dimension as u64).wrapping_add(component as u64)
                };
                let many = vectors.len() * shapes.len();
                let Some(out) = out.get_mut(component..).and_then(|out| out.get_mut(..many)) else {
                    return;
                };
                let small = &small[..count.min(CHUNK)];
                let part = Part { shapes, scale: self.scale, small, row, is_first: row == 0 };
                if is_run {
                    let start = vectors.first().map_or(0, |&vector| first(vector));
                    make(&part, &Source::of_run(path, stream, start), out);
                } else {
                    let mut list = [0; CHUNK];
                    for (list, &vector) in list.chunks_mut(dimension).zip(vectors) {
                        list.iter_mut()
                            .zip(first(vector)..)
                            .for_each(|(to, element)| *to = element);
                    }
                    make(&part, &Source::of_list(path, stream, &list[..many.min(CHUNK)]), out);
                }
            }
        }
    }
}

impl Part<'_> {
    /// Multiplies the numbers of shapes below 1 by their powers, if another shape is not below 1:
    /// the smallest exponent is 0 then.
    fn shrink(&self, source: &Source<'_, Stream>, out: &mut [f64]) {
        if self.small.is_empty() {
            return;
        }
        let width = self.shapes.len().max(1);
        let rows = (0u16..).step_by(width).take(out.len() / width);
        let mut all = rows.flat_map(|row| {
            let shape = |component: u16| self.shapes.get(usize::from(component)).copied();
            let scaled = move |place| shape(place).unwrap_or(1.0) * self.scale;
            self.small.iter().map(move |&place| (row + place, scaled(place)))
        });
        let (mut places, mut shapes) = ([0; TILE], [0.0; TILE]);
        let (mut blocks, mut numbers, mut made) = ([[0; 2]; TILE], [0.0; TILE], [0.0; TILE]);
        loop {
            let mut many = 0;
            for ((to, shape), from) in places.iter_mut().zip(&mut shapes).zip(&mut all) {
                (*to, *shape) = from;
                many += 1;
            }
            if many == 0 {
                return;
            }
            let many = many.min(TILE);
            let (places, blocks) = (&places[..many], &mut blocks[..many]);
            let (numbers, made) = (&mut numbers[..many], &mut made[..many]);
            source.some_blocks(Domain::Dirichlet, LAST, places, blocks);
            for (number, &place) in numbers.iter_mut().zip(places) {
                *number = out.get(usize::from(place)).copied().unwrap_or_default();
            }
            source.path.run(Small { shapes: &shapes, blocks, numbers, made });
            for (&made, &place) in made.iter().zip(places) {
                if let Some(out) = out.get_mut(usize::from(place)) {
                    *out = made;
                }
            }
        }
    }
}

/// Numbers of shapes below 1, multiplied by their powers.
struct Small<'a> {
    shapes: &'a [f64; TILE],
    blocks: &'a [[u64; 2]],
    numbers: &'a [f64],
    made: &'a mut [f64],
}

impl Kernel for Small<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        exponentials(self.blocks, self.shapes, self.made);
        for (made, &number) in self.made.iter_mut().zip(self.numbers) {
            *made = number * exp(0.0 - *made);
        }
    }
}

/// The exponents of numbers of small shapes.
struct Exponents {
    shapes: [f64; CHUNK],
}

impl By for &Exponents {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let pieces = out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(self.shapes.chunks(TILE));
        for ((out, blocks), shapes) in pieces {
            exponentials(blocks, shapes, out);
        }
    }
}

/// Numbers times the exponential of `out`: their vector's smallest exponent less their own.
struct Shrink<'a> {
    numbers: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for Shrink<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, &number) in self.out.iter_mut().zip(self.numbers) {
            *out = number * exp(*out);
        }
    }
}

/// The components of each vector over their sum.
struct Divide<'a> {
    dimension: NonZero<usize>,
    sums: &'a [f64; CHUNK],
    out: &'a mut [f64],
}

impl Kernel for Divide<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let dimension = self.dimension.get();
        let mut divisors = [1.0; CHUNK];
        let together = (CHUNK / dimension).max(1);
        let rows =
            self.out.chunks_mut((together * dimension).max(1)).zip(self.sums.chunks(together));
        for (out, sums) in rows {
            if dimension <= FEW {
                for component in 0..dimension {
                    let divisors = divisors.iter_mut().skip(component).step_by(dimension);
                    divisors.zip(sums).for_each(|(divisor, &sum)| *divisor = sum);
                }
            } else {
                for (divisors, &sum) in divisors.chunks_mut(dimension).zip(sums) {
                    divisors.iter_mut().for_each(|divisor| *divisor = sum);
                }
            }
            // A vector of more components than a chunk has one divisor for all of its parts.
            for out in out.chunks_mut(CHUNK) {
                out.iter_mut().zip(&divisors).for_each(|(x, &divisor)| *x /= divisor);
            }
        }
    }
}
