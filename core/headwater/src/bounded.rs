//! Unbiased draws below a bound.
//!
//! Method: D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019: the
//! high half of `random * bound` is the result; the few low halves that would favour some results
//! are drawn again. The bound is a non-zero type, so nothing can divide by zero or panic.

use crate::Error;
use core::num::{NonZeroU32, NonZeroU64};

/// Draws below a bound, by words of an expression that returns a `Result`. The function around it
/// returns the result.
///
/// A macro and not a function over a closure: at low optimisation levels the closure would be
/// called, and would return its `Result` in memory, where the word that is served would stay.
macro_rules! below {
    ($bound:expr, $word:ty, $wide:ty, $draw:expr) => {{
        let bound = $bound;
        let product = loop {
            let product = <$wide>::from($draw?) * <$wide>::from(bound.get());
            // The division is rarely reached, because only low halves below `bound` can be biased.
            let low = product as $word;
            if low >= bound.get() || low >= bound.get().wrapping_neg() % bound {
                break product;
            }
        };
        Ok((product >> <$word>::BITS) as $word)
    }};
}
pub(crate) use below;

/// Returns an unbiased draw from `0..bound`.
///
/// # Errors
///
/// The errors of [`fill`](crate::fill).
#[inline(always)]
pub fn u32_below(bound: NonZeroU32) -> Result<u32, Error> {
    below!(bound, u32, u64, crate::u32())
}

/// Returns an unbiased draw from `0..bound`.
///
/// # Errors
///
/// The errors of [`fill`](crate::fill).
#[inline(always)]
pub fn u64_below(bound: NonZeroU64) -> Result<u64, Error> {
    below!(bound, u64, u128, crate::u64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::convert::Infallible;
    use core::num::NonZeroU8;

    /// The method over a whole (small) word: runs it on every input and counts.
    #[test]
    fn every_result_is_equally_likely() {
        fn below(bound: NonZeroU8, draws: &mut Option<u8>) -> Result<u8, ()> {
            below!(bound, u8, u16, draws.take().ok_or(()))
        }
        let every = if cfg!(miri) { 51 } else { 1 }; // miri is 1,000 times slower
        for bound in (1..=255u8).step_by(every) {
            let bound = NonZeroU8::new(bound).unwrap();
            let mut counts = [0u32; 256];
            for first in 0..=255u8 {
                // A rejected first draw is not counted: `Err` stands for "draws again".
                if let Ok(result) = below(bound, &mut Some(first)) {
                    assert!(result < bound.get());
                    counts[usize::from(result)] += 1;
                }
            }
            let accepted = counts[0];
            assert!(accepted > 0);
            assert!(counts[..usize::from(bound.get())].iter().all(|&count| count == accepted));
        }
    }

    #[test]
    fn edges() {
        fn below(bound: NonZeroU64) -> Result<u64, Infallible> {
            below!(bound, u64, u128, Ok::<u64, Infallible>(u64::MAX))
        }
        assert_eq!((below(NonZeroU64::MIN), below(NonZeroU64::MAX)), (Ok(0), Ok(u64::MAX - 1)));
    }
}
