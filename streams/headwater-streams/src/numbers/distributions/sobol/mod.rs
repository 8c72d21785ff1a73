//! Points of Sobol's sequences, scrambled as A. B. Owen has it.
//!
//! Any point is computed by itself, from the Gray code of its number, because a range may begin
//! anywhere. The scrambling is the whole one ("Randomly Permuted (t,m,s)-Nets and (t,s)-Sequences",
//! 1995): each bit is flipped or not by a bit of the stream that belongs to the coordinate and to
//! all higher bits. Hashes, and linear scrambles with a shift, are quicker, but less random.

mod directions;

use super::private::{CHUNK, Domain};
use super::vectors::{Rows, VectorDistribution};
use crate::numbers::path::{Kernel, Path};
use crate::words::Words;
use crate::{Error, Stream};
use core::num::NonZero;
use directions::{BITS, MOST, directions};

/// Bits whose flips one block decides: 127 nodes of a tree of 7 levels.
const LEVELS: u32 = 7;
const GROUPS: u16 = BITS.div_ceil(LEVELS as usize) as u16;

/// Sobol's sequence: points of the unit cube, more even than random ones. [Not for secrets](crate).
///
/// Take a power of two of points, from a multiple of it on. Points of one sequence share their
/// scrambling, so estimates of an error take several streams.
///
/// ```
/// use headwater_streams::{Key, distributions::Sobol};
///
/// let sobol = Sobol::new(2)?;
/// let mut points = [0.0; 2 * 4096];
/// Key::from_seed(42).stream(0)?.fill_vectors(&sobol, 0, &mut points)?;
/// let inside = points.chunks(2).filter(|p| p[0] * p[0] + p[1] * p[1] < 1.0).count();
/// assert!((inside as f64 / 1024.0 - std::f64::consts::PI).abs() < 0.005);
/// # Ok::<(), headwater_streams::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sobol {
    dimension: NonZero<usize>,
    scrambled: bool,
}

impl Sobol {
    /// Returns the sequence of this dimension, scrambled by the stream.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless the dimension is from 1 to 1111.
    pub fn new(dimension: usize) -> Result<Sobol, Error> {
        match NonZero::new(dimension) {
            Some(dimension) if dimension.get() <= MOST => Ok(Sobol { dimension, scrambled: true }),
            _ => Err(Error::Parameter { name: "dimension", need: "from 1 to 1111" }),
        }
    }

    /// Returns the sequence itself, which no stream changes. Its first point is 0.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Sobol::new).
    pub fn plain(dimension: usize) -> Result<Sobol, Error> {
        Ok(Sobol { scrambled: false, ..Sobol::new(dimension)? })
    }
}

impl VectorDistribution for Sobol {}

impl Rows for Sobol {
    type Value = f64;

    fn dimension(&self) -> NonZero<usize> {
        self.dimension
    }

    fn vectors(&self) -> u64 {
        1 << BITS
    }

    fn rows(&self, stream: &Stream, vectors: &[u64], out: &mut [f64]) {
        const STEP: f64 = 1.0 / (1u64 << BITS) as f64;
        let mut points = [0; CHUNK];
        let points = &mut points[..vectors.len().min(CHUNK)];
        for coordinate in 0..self.dimension.get() {
            coordinates(&directions(coordinate), vectors, points);
            if self.scrambled {
                scramble(stream, coordinate, points);
            }
            for (row, &mut point) in out.chunks_mut(self.dimension.get()).zip(&mut *points) {
                if let Some(place) = row.get_mut(coordinate) {
                    *place = point as f64 * STEP;
                }
            }
        }
    }
}

/// Writes one coordinate of each point, as a whole number below 2^53.
fn coordinates(directions: &[u64; BITS], vectors: &[u64], out: &mut [u64]) {
    let direction = |bit: u32| directions.get(bit as usize).copied().unwrap_or_default();
    let mut before = None;
    for (out, &vector) in out.iter_mut().zip(vectors) {
        *out = match before {
            // The Gray code of the next number differs in one bit.
            Some((last, point)) if vector == last + 1 => point ^ direction(vector.trailing_zeros()),
            _ => {
                let (mut gray, mut point) = (vector ^ vector >> 1, 0);
                while gray != 0 {
                    point ^= direction(gray.trailing_zeros());
                    gray &= gray - 1;
                }
                point
            }
        };
        before = Some((vector, *out));
    }
}

/// Scrambles one coordinate of some points.
fn scramble(stream: &Stream, coordinate: usize, points: &mut [u64]) {
    let many = points.len().min(CHUNK);
    let (mut flips, mut prefixes, mut blocks) = ([0; CHUNK], [0; CHUNK], [[0; 2]; CHUNK]);
    let flips = &mut flips[..many];
    for group in 0..GROUPS {
        let above = BITS as u32 - LEVELS * u32::from(group);
        for (prefix, &mut point) in prefixes.iter_mut().zip(&mut *points) {
            *prefix = (coordinate as u64) << 49 | point >> above;
        }
        let blocks = &mut blocks[..many];
        stream.blocks_at(Domain::Sobol.draw(group), &prefixes[..many], blocks);
        Path::best().run(Flip { above, points, blocks, flips });
    }
    points.iter_mut().zip(flips).for_each(|(point, &mut flip)| *point ^= flip);
}

/// Adds the flips of one group: bit 2^l - 1 + q of the lower word is that of level l below 6 with
/// the bits q above it in the group, and bit q of the upper word that of level 6.
struct Flip<'a> {
    /// The bits below the group's highest bit, and that bit.
    above: u32,
    points: &'a [u64],
    blocks: &'a [[u64; 2]],
    flips: &'a mut [u64],
}

impl Kernel for Flip<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // Shifted, so that the group's bits are the highest of 7 below bit 63.
        for ((flips, &point), &[w0, w1]) in self.flips.iter_mut().zip(self.points).zip(self.blocks)
        {
            let bits = (point << (63 - self.above)) & ((1 << 63) - 1);
            let mut group = 0;
            for level in 0..LEVELS {
                let q = bits >> (63 - level);
                let flip = match level {
                    6 => w1 >> q,
                    _ => w0 >> ((1 << level) - 1 + q),
                };
                group |= (flip & 1) << (LEVELS - 1 - level);
            }
            // The last group has levels that no double holds.
            *flips |= group << self.above >> LEVELS;
        }
    }
}
