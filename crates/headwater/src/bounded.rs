//! Unbiased draws below a bound.
//!
//! Method: D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019: the
//! high half of `random * bound` is the result; the few low halves that would favour some results
//! are drawn again. The bound is a non-zero type, so nothing can divide by zero or panic.

use crate::Error;
use core::num::{NonZeroU32, NonZeroU64};

/// Returns an unbiased draw from `0..bound`.
///
/// # Errors
///
/// The errors of [`fill`](crate::fill).
#[inline]
pub fn u32_below(bound: NonZeroU32) -> Result<u32, Error> {
    below_u32(bound, crate::u32)
}

/// Returns an unbiased draw from `0..bound`.
///
/// # Errors
///
/// The errors of [`fill`](crate::fill).
#[inline]
pub fn u64_below(bound: NonZeroU64) -> Result<u64, Error> {
    below_u64(bound, crate::u64)
}

macro_rules! below {
    ($name:ident, $word:ty, $wide:ty, $nonzero:ty) => {
        #[inline]
        pub(crate) fn $name<E>(
            bound: $nonzero,
            mut draw: impl FnMut() -> Result<$word, E>,
        ) -> Result<$word, E> {
            let mut product = <$wide>::from(draw()?) * <$wide>::from(bound.get());
            // The division is rarely reached, because only low halves below `bound` can be biased.
            if (product as $word) < bound.get() {
                let biased = bound.get().wrapping_neg() % bound;
                while (product as $word) < biased {
                    product = <$wide>::from(draw()?) * <$wide>::from(bound.get());
                }
            }
            Ok((product >> <$word>::BITS) as $word)
        }
    };
}

below!(below_u32, u32, u64, NonZeroU32);
below!(below_u64, u64, u128, NonZeroU64);

#[cfg(test)]
mod tests {
    use super::*;
    use core::convert::Infallible;

    /// The method over a whole (small) word: run it on every input and count. An 8-bit word would
    /// need another instantiation, so the macro is used once more here.
    #[test]
    fn every_result_is_equally_likely() {
        below!(below_u8, u8, u16, core::num::NonZeroU8);
        let every = if cfg!(miri) { 51 } else { 1 }; // miri is 1,000 times slower
        for bound in (1..=255u8).step_by(every) {
            let bound = core::num::NonZeroU8::new(bound).unwrap();
            let mut counts = [0u32; 256];
            for first in 0..=255u8 {
                // A rejected first draw is not counted: `Err` stands for "draws again".
                let mut draws = Some(first);
                if let Ok(result) = below_u8(bound, || draws.take().ok_or(())) {
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
        let draw = || Ok::<u64, Infallible>(u64::MAX);
        let (Ok(one), Ok(most)) =
            (below_u64(NonZeroU64::MIN, draw), below_u64(NonZeroU64::MAX, draw));
        assert_eq!((one, most), (0, u64::MAX - 1));
    }
}
