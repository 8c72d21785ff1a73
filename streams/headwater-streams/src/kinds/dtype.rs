//! The types that elements can have.

/// The type of an element, with NumPy's name for it.
///
/// The numbers are part of the interface of the native libraries: they never change, and new types
/// are added at the end. The enum is exhaustive, so that a front that matches all types does not
/// compile without one that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Dtype {
    /// A float of 64 bits.
    F64 = 0,
    /// A float of 32 bits.
    F32 = 1,
    /// An integer with a sign, of 8 bits.
    I8 = 2,
    /// An integer without a sign, of 8 bits.
    U8 = 3,
    /// An integer with a sign, of 16 bits.
    I16 = 4,
    /// An integer without a sign, of 16 bits.
    U16 = 5,
    /// An integer with a sign, of 32 bits.
    I32 = 6,
    /// An integer without a sign, of 32 bits.
    U32 = 7,
    /// An integer with a sign, of 64 bits.
    I64 = 8,
    /// An integer without a sign, of 64 bits.
    U64 = 9,
    /// IEEE 754's binary16, as its bits.
    F16 = 10,
    /// The upper half of a float of 32 bits, as its bits.
    Bf16 = 11,
    /// Two floats of 64 bits: a real part and an imaginary one.
    C128 = 12,
    /// Two floats of 32 bits: a real part and an imaginary one.
    C64 = 13,
}

use Dtype::{Bf16, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

impl Dtype {
    /// All types, in the order of their numbers.
    pub const ALL: [Dtype; 14] =
        [F64, F32, I8, U8, I16, U16, I32, U32, I64, U64, F16, Bf16, C128, C64];

    /// Returns the type with this number.
    pub fn by_number(number: u8) -> Option<Dtype> {
        Dtype::ALL.get(usize::from(number)).copied()
    }

    /// Returns the type with this name, such as `float64`.
    pub fn by_name(name: &str) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Returns NumPy's name of the type, or `bfloat16` for the one type that NumPy lacks.
    pub const fn name(self) -> &'static str {
        match self {
            F64 => "float64",
            F32 => "float32",
            I8 => "int8",
            U8 => "uint8",
            I16 => "int16",
            U16 => "uint16",
            I32 => "int32",
            U32 => "uint32",
            I64 => "int64",
            U64 => "uint64",
            F16 => "float16",
            Bf16 => "bfloat16",
            C128 => "complex128",
            C64 => "complex64",
        }
    }

    /// Returns the bytes of an element.
    pub const fn size(self) -> usize {
        match self {
            I8 | U8 => 1,
            F16 | Bf16 | I16 | U16 => 2,
            F32 | I32 | U32 => 4,
            C64 | F64 | I64 | U64 => 8,
            C128 => 16,
        }
    }

    /// Returns the bytes at a multiple of which an element begins. A complex number is aligned as
    /// its parts are.
    pub const fn align(self) -> usize {
        match self {
            C64 => 4,
            C128 => 8,
            other => other.size(),
        }
    }
}
