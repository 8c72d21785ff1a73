//! The integers that ranges can be asked of.

use super::Number;
use super::bounded::{Bounded32, Bounded64};
use core::ops::RangeInclusive;

/// An integer type of 8 to 64 bits: the types of [`fill_range`](crate::Stream::fill_range).
///
/// The 64-bit types are made of the stream's `u64`s and the others of its `u32`s, element by
/// element. Types of 8, 16 and 32 bits therefore have the same values in the same range.
pub trait Integer: Sealed {}

/// The generator of a type's elements. Other crates cannot name this trait, so they cannot make a
/// type an [`Integer`].
pub trait Sealed: Copy + Default + Send {
    #[doc(hidden)]
    type Range: Number<Value = Self>;

    /// Returns `None` if the range is empty.
    #[doc(hidden)]
    fn range(range: &RangeInclusive<Self>) -> Option<Self::Range>;
}

macro_rules! integers {
    ($($integer:ty, $word:ty, $range:ident;)*) => {$(
        impl Integer for $integer {}

        impl Sealed for $integer {
            type Range = $range<$integer>;

            fn range(range: &RangeInclusive<$integer>) -> Option<Self::Range> {
                let (&low, &high) = (range.start(), range.end());
                // The number of values in the range, or 0 if it has all values of the type.
                let many = (high as $word).wrapping_sub(low as $word).wrapping_add(1);
                (low <= high).then(|| $range::new(low as $word, many))
            }
        }
    )*};
}

integers! {
    u64, u64, Bounded64;
    i64, u64, Bounded64;
    u32, u32, Bounded32;
    i32, u32, Bounded32;
    u16, u32, Bounded32;
    i16, u32, Bounded32;
    u8, u32, Bounded32;
    i8, u32, Bounded32;
}
