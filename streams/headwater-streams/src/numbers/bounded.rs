//! Integers below a bound, each exactly as likely as any other.
//!
//! Method: D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019. The
//! upper half of `random * bound` is the number. If every lower half were accepted, some numbers
//! would have one word more than others, so a few lower halves are rejected. A generator with a
//! state would then take the next word, which here belongs to the next element. So a rejected
//! element takes the same place of the stream's next draw, and no element depends on the rejection
//! of another.

use super::Number;
use super::uniform::halves;
use crate::Error;
use core::marker::PhantomData;

/// Integers from a range: element e is `low` plus a number below `bound`, from word e. All sums
/// wrap around, as a signed type needs it.
pub struct Bounded64<T> {
    low: u64,
    /// 0 means 2^64: the words as they are.
    bound: u64,
    /// Lower halves below it are rejected: 2^64 modulo the bound.
    threshold: u64,
    value: PhantomData<fn() -> T>,
}

/// Integers from a range, as [`Bounded64`] makes them, but from the e-th `u32`, and below a bound
/// of up to 2^32.
pub struct Bounded32<T> {
    low: u32,
    bound: u32,
    threshold: u32,
    value: PhantomData<fn() -> T>,
}

/// Integers made of a word of their width, with a sign or without.
pub(crate) trait Wrapped<Word>: Copy + Default + Send {
    fn wrapped(word: Word) -> Self;
}

macro_rules! wrapped {
    ($($value:ty: $word:ty),*) => {$(
        impl Wrapped<$word> for $value {
            #[inline(always)]
            fn wrapped(word: $word) -> Self {
                word as Self
            }
        }
    )*};
}

wrapped!(u64: u64, i64: u64, u32: u32, i32: u32, u16: u32, i16: u32, u8: u32, i8: u32);

impl Bounded64<u64> {
    /// Returns the kind of the numbers in `0..bound`.
    pub(crate) fn below(bound: u64) -> Result<Self, Error> {
        if bound == 0 { Err(Error::ZeroBound) } else { Ok(Bounded64::new(0, bound)) }
    }
}

impl<T> Bounded64<T> {
    /// Returns the kind of the numbers in `low..low + bound`, where a bound of 0 means 2^64.
    pub(crate) fn new(low: u64, bound: u64) -> Self {
        let threshold = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
        Bounded64 { low, bound, threshold, value: PhantomData }
    }
}

impl Bounded32<u32> {
    /// Returns the kind of the numbers in `0..bound`.
    pub(crate) fn below(bound: u32) -> Result<Self, Error> {
        if bound == 0 { Err(Error::ZeroBound) } else { Ok(Bounded32::new(0, bound)) }
    }
}

impl<T> Bounded32<T> {
    /// Returns the kind of the numbers in `low..low + bound`, where a bound of 0 means 2^32.
    pub(crate) fn new(low: u32, bound: u32) -> Self {
        let threshold = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
        Bounded32 { low, bound, threshold, value: PhantomData }
    }
}

impl<T: Wrapped<u64>> Number for Bounded64<T> {
    type Value = T;
    const WORDS: usize = 1;
    const VALUES: usize = 1;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [T]) -> bool {
        let &Bounded64 { low, bound, threshold, .. } = self;
        let mut rejected = false;
        if bound == 0 {
            for (out, word) in out.iter_mut().zip(words) {
                *out = T::wrapped(word.wrapping_add(low));
            }
        } else if bound <= u64::from(u32::MAX) {
            // Two products of 32 bits: vectors multiply those, and none wider.
            let lower_half = u64::from(u32::MAX);
            for (out, word) in out.iter_mut().zip(words) {
                let below = (word & lower_half) * bound;
                let above = (word >> 32) * bound + (below >> 32);
                rejected |= (above << 32 | below & lower_half) < threshold;
                *out = T::wrapped((above >> 32).wrapping_add(low));
            }
        } else {
            for (out, &word) in out.iter_mut().zip(words) {
                let product = u128::from(word) * u128::from(bound);
                rejected |= (product as u64) < threshold;
                *out = T::wrapped(((product >> 64) as u64).wrapping_add(low));
            }
        }
        rejected
    }

    fn rejects(&self, words: &[u64], i: usize) -> bool {
        words.get(i).is_some_and(|word| word.wrapping_mul(self.bound) < self.threshold)
    }
}

impl<T: Wrapped<u32>> Number for Bounded32<T> {
    type Value = T;
    const WORDS: usize = 1;
    const VALUES: usize = 2;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [T]) -> bool {
        let &Bounded32 { low, bound, threshold, .. } = self;
        let mut rejected = false;
        let groups = out.as_chunks_mut::<2>().0.iter_mut().zip(words);
        if bound == 0 {
            for (out, &word) in groups {
                *out = halves(word).map(|half| T::wrapped(half.wrapping_add(low)));
            }
        } else {
            for (out, &word) in groups {
                *out = halves(word).map(|half| {
                    let product = u64::from(half) * u64::from(bound);
                    rejected |= (product as u32) < threshold;
                    T::wrapped(((product >> 32) as u32).wrapping_add(low))
                });
            }
        }
        rejected
    }

    fn rejects(&self, words: &[u64], i: usize) -> bool {
        let half = words.get(i / 2).map(|&word| halves(word)[i % 2]);
        half.is_some_and(|half| half.wrapping_mul(self.bound) < self.threshold)
    }
}
