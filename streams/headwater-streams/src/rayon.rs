//! Streams on the threads of a rayon pool: arrays by [`Stream::on_rayon`], values by
//! [`Stream::par_values`].

use crate::stream::check;
use crate::{Error, Stream};
use ::rayon::iter::plumbing::{Consumer, Producer, ProducerCallback, UnindexedConsumer, bridge};
use ::rayon::prelude::*;
use core::ops::Range;

/// Elements that an iterator computes at a time: several strips of every engine.
const AHEAD: usize = 256;

/// Fills `out`, rows of `width` elements, in pieces of `rows` rows.
pub(crate) fn share<T: Send>(
    stream: &Stream,
    rows: usize,
    width: usize,
    start: u64,
    out: &mut [T],
    fill: impl Fn(&Stream, u64, &mut [T]) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let pieces = out.par_chunks_mut(rows * width).enumerate();
    pieces.try_for_each(|(i, part)| fill(stream, start + (i * rows) as u64, part))
}

impl Stream {
    /// Returns elements `range` of the stream as a parallel iterator, for example of
    /// [`Stream::fill_f64`]. The same values come for any pool and any way in which rayon splits
    /// the range.
    ///
    /// ```
    /// use headwater_streams::{Key, Stream};
    /// use rayon::prelude::*;
    ///
    /// let stream = Key::from_seed(42).stream(0)?;
    /// let inside = |(x, y): (f64, f64)| x * x + y * y < 1.0;
    /// let (x, y) = (stream.par_values(0..10_000, Stream::fill_f64)?,
    ///     stream.par_values(10_000..20_000, Stream::fill_f64)?);
    /// let pi = 4.0 * x.zip(y).filter(|&point| inside(point)).count() as f64 / 10_000.0;
    /// assert!((pi - 3.14).abs() < 0.1);
    /// # Ok::<(), headwater_streams::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of `fill`, which must occur for every range or for none, and
    /// [`Error::RangeTooLong`] for a range of 2^63 elements or more on 64-bit machines, which rayon
    /// cannot count.
    pub fn par_values<T, F>(&self, range: Range<u64>, fill: F) -> Result<Values<T, F>, Error>
    where
        T: Copy + Default + Send,
        F: Fn(&Stream, u64, &mut [T]) -> Result<(), Error> + Clone + Send + Sync,
    {
        let len = range.end.saturating_sub(range.start);
        let too_long = Error::RangeTooLong { start: range.start, len: usize::MAX };
        let len = usize::try_from(len).ok().filter(|len| *len <= isize::MAX as usize);
        let len = len.ok_or(too_long)?;
        check(range.start, len)?;
        // An error that the range does not cause shows before the first value.
        fill(self, range.start, &mut [])?;
        let one = &mut [T::default()];
        fill(self, range.start, if len == 0 { &mut [] } else { one })?;
        Ok(Values {
            stream: *self,
            start: range.start,
            len,
            fill,
            values: core::marker::PhantomData,
        })
    }
}

/// The parallel iterator of [`Stream::par_values`].
#[derive(Clone, Debug)]
pub struct Values<T, F> {
    stream: Stream,
    start: u64,
    len: usize,
    fill: F,
    values: core::marker::PhantomData<fn() -> T>,
}

impl<T, F> Values<T, F> {
    fn part(&self, from: usize, len: usize) -> Values<T, F>
    where
        F: Clone,
    {
        let (stream, start, fill) = (self.stream, self.start + from as u64, self.fill.clone());
        Values { stream, start, len, fill, values: self.values }
    }
}

impl<T, F> ParallelIterator for Values<T, F>
where
    T: Copy + Default + Send,
    F: Fn(&Stream, u64, &mut [T]) -> Result<(), Error> + Clone + Send + Sync,
{
    type Item = T;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.len)
    }
}

impl<T, F> IndexedParallelIterator for Values<T, F>
where
    T: Copy + Default + Send,
    F: Fn(&Stream, u64, &mut [T]) -> Result<(), Error> + Clone + Send + Sync,
{
    fn len(&self) -> usize {
        self.len
    }

    fn drive<C: Consumer<T>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn with_producer<CB: ProducerCallback<T>>(self, callback: CB) -> CB::Output {
        callback.callback(self)
    }
}

impl<T, F> Producer for Values<T, F>
where
    T: Copy + Default + Send,
    F: Fn(&Stream, u64, &mut [T]) -> Result<(), Error> + Clone + Send + Sync,
{
    type Item = T;
    type IntoIter = InOrder<T, F>;

    fn into_iter(self) -> InOrder<T, F> {
        InOrder { front: Ahead::new(), back: Ahead::new(), rest: self }
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        (self.part(0, index), self.part(index, self.len - index))
    }

    /// Returns the length of a buffer: shorter pieces would compute values that others compute too.
    fn min_len(&self) -> usize {
        AHEAD
    }
}

/// The values of one piece in order, from both ends.
#[derive(Debug)]
pub struct InOrder<T, F> {
    front: Ahead<T>,
    back: Ahead<T>,
    rest: Values<T, F>,
}

/// Values that are computed and not yet taken.
#[derive(Debug)]
struct Ahead<T> {
    values: [T; AHEAD],
    range: Range<usize>,
}

impl<T: Copy + Default> Ahead<T> {
    fn new() -> Ahead<T> {
        Ahead { values: [T::default(); AHEAD], range: 0..0 }
    }
}

impl<T, F> InOrder<T, F>
where
    T: Copy + Default,
    F: Fn(&Stream, u64, &mut [T]) -> Result<(), Error>,
{
    /// Computes up to a buffer of values from the front or the back of the rest.
    fn compute(&mut self, at_front: bool) {
        let len = self.rest.len.min(AHEAD);
        let skipped = if at_front { 0 } else { self.rest.len - len };
        let ahead = if at_front { &mut self.front } else { &mut self.back };
        let (stream, start) = (&self.rest.stream, self.rest.start + skipped as u64);
        let filled = (self.rest.fill)(stream, start, &mut ahead.values[..len]);
        filled.expect("this range is a part of one that was filled without an error");
        ahead.range = 0..len;
        self.rest.len -= len;
        if at_front {
            self.rest.start += len as u64;
        }
    }
}

impl<T, F> Iterator for InOrder<T, F>
where
    T: Copy + Default,
    F: Fn(&Stream, u64, &mut [T]) -> Result<(), Error>,
{
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.front.range.is_empty() && self.rest.len > 0 {
            self.compute(true);
        }
        let next = self.front.range.next().map(|i| self.front.values[i]);
        next.or_else(|| self.back.range.next().map(|i| self.back.values[i]))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.front.range.len() + self.rest.len + self.back.range.len();
        (len, Some(len))
    }
}

impl<T, F> DoubleEndedIterator for InOrder<T, F>
where
    T: Copy + Default,
    F: Fn(&Stream, u64, &mut [T]) -> Result<(), Error>,
{
    fn next_back(&mut self) -> Option<T> {
        if self.back.range.is_empty() && self.rest.len > 0 {
            self.compute(false);
        }
        let next = self.back.range.next_back().map(|i| self.back.values[i]);
        next.or_else(|| self.front.range.next_back().map(|i| self.front.values[i]))
    }
}

impl<T, F> ExactSizeIterator for InOrder<T, F>
where
    T: Copy + Default,
    F: Fn(&Stream, u64, &mut [T]) -> Result<(), Error>,
{
}
