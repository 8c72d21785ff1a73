//! Where a draw's values go, and which elements it draws.
//!
//! This is the only file of the table with `unsafe`, because the type of an array is a value here,
//! and a slice needs a type of Rust's.

#![allow(unsafe_code)]

use super::Dtype;
use crate::Error;
use core::marker::PhantomData;
use core::ptr::NonNull;

/// The elements that a draw writes, in the order of the places.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Elements<'a> {
    /// This element and those that follow it.
    From(u64),
    /// The same by several threads, as [`Stream::par`](crate::Stream::par) takes their number.
    #[cfg(feature = "std")]
    Shared {
        /// The first element.
        start: u64,
        /// The number of threads, or 0 for one per CPU.
        threads: usize,
    },
    /// The elements with these numbers.
    At(&'a [u64]),
}

/// Memory for values of one type, the type known while the program runs.
#[derive(Debug)]
pub struct Out<'a> {
    start: NonNull<u8>,
    len: usize,
    dtype: Dtype,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: the value is an exclusive reference to plain numbers in all but its type, because `new`
// takes one and `from_raw` asks for what makes one. And a reference to numbers may go to another
// thread.
unsafe impl Send for Out<'_> {}

impl<'a> Out<'a> {
    /// Returns a place for the values of a slice, whose type is the first that `T` can hold.
    pub fn new<T: Element>(out: &'a mut [T]) -> Out<'a> {
        Out {
            start: NonNull::from(&mut *out).cast(),
            len: out.len(),
            dtype: T::DTYPE,
            memory: PhantomData,
        }
    }

    /// Returns a place in bytes: an array of another library's, whose type is a value.
    ///
    /// # Errors
    ///
    /// [`Error::Bytes`] unless the bytes are aligned for the type and hold whole elements.
    pub fn bytes(dtype: Dtype, out: &'a mut [u8]) -> Result<Out<'a>, Error> {
        let start = NonNull::from(&mut *out).cast::<u8>();
        if !start.addr().get().is_multiple_of(dtype.align())
            || !out.len().is_multiple_of(dtype.size())
        {
            return Err(Error::Bytes { dtype });
        }
        Ok(Out { start, len: out.len() / dtype.size(), dtype, memory: PhantomData })
    }

    /// Returns a place for `len` values from `start` on.
    ///
    /// # Safety
    ///
    /// `start` is aligned for the type and valid for reads and writes of the values, whose bytes
    /// may be any, and nothing else uses them during `'a`.
    pub unsafe fn from_raw(dtype: Dtype, start: NonNull<u8>, len: usize) -> Out<'a> {
        Out { start, len, dtype, memory: PhantomData }
    }

    /// Returns the number of values.
    #[cfg(feature = "std")]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the type of the values.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Returns the values as numbers of a type that can hold them, otherwise `None`.
    pub(crate) fn elements<T: Element>(&mut self) -> Option<&mut [T]> {
        if !T::HOLDS.contains(&self.dtype) {
            return None;
        }
        // SAFETY: the constructors made sure of `len` values of the type `dtype`, aligned for it,
        // that nothing else uses during `'a`; `self` is borrowed, so this is the only slice of
        // them. `T` has the size and the alignment of each type in `HOLDS`, as the assertion below
        // the trait shows, and any bits are a `T`.
        Some(unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len) })
    }
}

/// A type of Rust's that can hold elements.
pub trait Element: Sealed {}

/// The code of [`Element`]. Other crates cannot name this trait, so none can hold elements in a
/// type that does not take any bits.
pub trait Sealed: Copy + Send {
    /// The type of elements that a slice of this type has by itself.
    #[doc(hidden)]
    const DTYPE: Dtype;
    /// All types of elements that have this form in memory.
    #[doc(hidden)]
    const HOLDS: &'static [Dtype];
}

macro_rules! elements {
    ($($type:ty: $dtype:ident $(, $other:ident)*;)*) => {$(
        impl Element for $type {}

        impl Sealed for $type {
            const DTYPE: Dtype = Dtype::$dtype;
            const HOLDS: &'static [Dtype] = &[Dtype::$dtype $(, Dtype::$other)*];
        }

        const _: () = {
            let all = <$type as Sealed>::HOLDS;
            let mut i = 0;
            while i < all.len() {
                assert!(size_of::<$type>() == all[i].size());
                assert!(align_of::<$type>() == all[i].align());
                i += 1;
            }
        };
    )*};
}

elements! {
    f64: F64;
    f32: F32;
    i8: I8;
    u8: U8;
    i16: I16;
    u16: U16, F16, Bf16;
    i32: I32;
    u32: U32;
    i64: I64;
    u64: U64, I64;
    [f64; 2]: C128;
    [f32; 2]: C64;
}
