//! Distributions whose elements are vectors.
//!
//! Component c of vector i of dimension d takes the words of element i d + c, as if the vectors
//! were the rows of one array. So a vector has its own words, and depends on no other one.

use super::private::CHUNK;
use crate::numbers::path::Path;
use crate::words::Words;
use crate::{Error, Stream};
use core::num::NonZero;

/// A distribution of vectors: a fixed number of numbers for each element.
pub trait VectorDistribution: Rows {}

/// The code of a distribution of vectors. Other crates cannot name this trait.
pub trait Rows: Sync {
    /// The type of a component.
    type Value;

    /// Returns the number of components of a vector.
    fn dimension(&self) -> NonZero<usize>;

    /// Returns the number of vectors that exist: here those whose components are elements.
    #[doc(hidden)]
    fn vectors(&self) -> u64 {
        u64::MAX / self.dimension().get() as u64
    }

    /// Writes the vectors with these numbers, at most [`CHUNK`] of them, which exist.
    #[doc(hidden)]
    fn rows(&self, stream: &Stream, vectors: &[u64], out: &mut [Self::Value]);
}

/// Returns an error unless these vectors exist.
fn check<D: Rows>(distribution: &D, start: u64, vectors: usize) -> Result<(), Error> {
    let end = start.checked_add(vectors as u64);
    let fits = end.is_some_and(|end| end <= distribution.vectors());
    // No vectors are a range of any start.
    if vectors == 0 || fits { Ok(()) } else { Err(Error::RangeTooLong { start, len: vectors }) }
}

/// Returns the number of components of [`CHUNK`] vectors, or of all that can exist.
fn room<D: Rows>(distribution: &D) -> usize {
    distribution.dimension().get().saturating_mul(CHUNK).max(1)
}

/// Writes vectors that exist.
fn fill<D: Rows>(distribution: &D, stream: &Stream, start: u64, out: &mut [D::Value]) {
    for (out, start) in out.chunks_mut(room(distribution)).zip((start..).step_by(CHUNK)) {
        let mut vectors = [0; CHUNK];
        vectors.iter_mut().zip(start..).for_each(|(vector, number)| *vector = number);
        let many = (out.len() / distribution.dimension()).min(CHUNK);
        distribution.rows(stream, &vectors[..many], out);
    }
}

/// Distributions of vectors; the types are in [`distributions`](crate::distributions).
impl Stream {
    /// Writes vectors number `start` and following to `out`, one after the other: component c of
    /// the first one is `out[c]`.
    ///
    /// ```
    /// use headwater_streams::{Key, distributions::Dirichlet};
    ///
    /// let stream = Key::from_seed(42).stream(0)?;
    /// let shares = Dirichlet::new(&[1.0, 2.0, 5.0])?;
    /// let mut rows = [0.0; 30]; // ten vectors
    /// stream.fill_vectors(&shares, 0, &mut rows)?;
    /// let mut one = [0.0; 3];
    /// stream.vectors_at(&shares, &[9], &mut one)?;
    /// assert_eq!(one, rows[27..]);
    /// # Ok::<(), headwater_streams::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Room`] unless `out` has room for whole vectors, and [`Error::RangeTooLong`] if the
    /// words of a vector end past 2^64 - 1. Nothing is written then.
    pub fn fill_vectors<D: VectorDistribution>(
        &self,
        distribution: &D,
        start: u64,
        out: &mut [D::Value],
    ) -> Result<(), Error> {
        let dimension = distribution.dimension().get();
        if !out.len().is_multiple_of(dimension) {
            return Err(Error::Room { dimension, out: out.len() });
        }
        check(distribution, start, out.len() / dimension)?;
        fill(distribution, self, start, out);
        Ok(())
    }

    /// Writes the vectors of [`fill_vectors`](Stream::fill_vectors) with these numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Room`] unless `out` has room for one vector for each index, and
    /// [`Error::RangeTooLong`] if the words of a vector end past 2^64 - 1.
    pub fn vectors_at<D: VectorDistribution>(
        &self,
        distribution: &D,
        indices: &[u64],
        out: &mut [D::Value],
    ) -> Result<(), Error> {
        let dimension = distribution.dimension().get();
        if indices.len().checked_mul(dimension) != Some(out.len()) {
            return Err(Error::Room { dimension, out: out.len() });
        }
        indices.iter().try_for_each(|&index| check(distribution, index, 1))?;
        for (indices, out) in indices.chunks(CHUNK).zip(out.chunks_mut(room(distribution))) {
            distribution.rows(self, indices, out);
        }
        Ok(())
    }
}

#[cfg(feature = "std")]
impl crate::Par {
    /// Fills `out` like [`Stream::fill_vectors`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::fill_vectors`].
    pub fn fill_vectors<D: VectorDistribution>(
        &self,
        distribution: &D,
        start: u64,
        out: &mut [D::Value],
    ) -> Result<(), Error>
    where
        D::Value: Send,
    {
        let dimension = distribution.dimension().get();
        if !out.len().is_multiple_of(dimension) {
            return Err(Error::Room { dimension, out: out.len() });
        }
        check(distribution, start, out.len() / dimension)?;
        self.fill_rows(dimension, start, out, |stream, start, out| {
            fill(distribution, stream, start, out);
        })
    }
}

/// Writes the elements of component `component` of these vectors.
pub(super) fn elements<'a>(
    vectors: &[u64],
    dimension: NonZero<usize>,
    component: usize,
    list: &'a mut [u64; CHUNK],
) -> &'a [u64] {
    let many = vectors.len().min(CHUNK);
    for (element, &vector) in list.iter_mut().zip(vectors) {
        *element = vector.wrapping_mul(dimension.get() as u64).wrapping_add(component as u64);
    }
    &list[..many]
}

/// Writes the numbers of draw 0 that these vectors take, one vector after the other.
pub(super) fn numbers<N: crate::numbers::Number>(
    words: &impl Words,
    number: &N,
    dimension: NonZero<usize>,
    vectors: &[u64],
    out: &mut [N::Value],
) {
    let path = Path::best();
    let is_run = vectors.iter().zip(vectors.iter().skip(1)).all(|(&a, &b)| a.wrapping_add(1) == b);
    let first = |vectors: &[u64]| {
        vectors.first().map_or(0, |&vector| vector.wrapping_mul(dimension.get() as u64))
    };
    if is_run {
        return crate::numbers::fill::fill(path, words, number, first(vectors), out);
    }
    for (vector, out) in vectors.chunks(1).zip(out.chunks_mut(dimension.get())) {
        crate::numbers::fill::fill(path, words, number, first(vector), out);
    }
}
