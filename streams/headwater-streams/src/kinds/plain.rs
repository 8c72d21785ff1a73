//! Kinds that need no maker: the stream's words, and numbers of fixed parameters.

use super::draw::{Held, Job};
use super::{Dtype, Elements};
use crate::Error;

pub(super) struct Words;
pub(super) struct Uniform;
pub(super) struct Normal;
pub(super) struct Exponential;
pub(super) struct ComplexNormal;

/// Integers from `low` to `high`, both ends included.
pub(super) struct Integers {
    pub(super) low: i128,
    pub(super) high: i128,
}

/// The numbers below `n` in random order.
pub(super) struct Order {
    pub(super) n: u64,
}

/// Calls a stream's functions for elements of this type: `fill` for a range, and `at` for a list.
macro_rules! write {
    ($job:ident, $type:ty, $fill:ident, $at:ident $(, $range:expr)?) => {{
        let wrong = $job.wrong_type();
        let out = $job.out.elements::<$type>().ok_or(wrong)?;
        match $job.elements {
            Elements::From(start) => $job.stream.$fill($($range,)? start, out),
            #[cfg(feature = "std")]
            Elements::Shared { start, threads } => {
                $job.stream.par(threads).$fill($($range,)? start, out)
            }
            Elements::At(indices) => $job.stream.$at($($range,)? indices, out),
        }
    }};
}

impl Held for Words {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        match job.out.dtype() {
            Dtype::U8 => write!(job, u8, fill_u8, u8_at),
            Dtype::U32 => write!(job, u32, fill_u32, u32_at),
            _ => write!(job, u64, fill_u64, u64_at),
        }
    }
}

impl Held for Uniform {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        match job.out.dtype() {
            Dtype::F32 => write!(job, f32, fill_f32, f32_at),
            Dtype::F16 => write!(job, u16, fill_f16_bits, f16_bits_at),
            Dtype::Bf16 => write!(job, u16, fill_bf16_bits, bf16_bits_at),
            _ => write!(job, f64, fill_f64, f64_at),
        }
    }
}

impl Held for Normal {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        match job.out.dtype() {
            Dtype::F32 => write!(job, f32, fill_normal_f32, normal_f32_at),
            Dtype::F16 => write!(job, u16, fill_normal_f16_bits, normal_f16_bits_at),
            Dtype::Bf16 => write!(job, u16, fill_normal_bf16_bits, normal_bf16_bits_at),
            _ => write!(job, f64, fill_normal_f64, normal_f64_at),
        }
    }
}

impl Held for Exponential {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        write!(job, f64, fill_exponential_f64, exponential_f64_at)
    }
}

impl Held for ComplexNormal {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        match job.out.dtype() {
            Dtype::C64 => write!(job, [f32; 2], fill_complex_normal_f32, complex_normal_f32_at),
            _ => write!(job, [f64; 2], fill_complex_normal_f64, complex_normal_f64_at),
        }
    }
}

impl Held for Integers {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        macro_rules! range {
            ($type:ty) => {
                write!(job, $type, fill_range, range_at, self.low as $type..=self.high as $type)
            };
        }
        match job.out.dtype() {
            Dtype::I8 => range!(i8),
            Dtype::U8 => range!(u8),
            Dtype::I16 => range!(i16),
            Dtype::U16 => range!(u16),
            Dtype::I32 => range!(i32),
            Dtype::U32 => range!(u32),
            Dtype::I64 => range!(i64),
            _ => range!(u64),
        }
    }

    fn fits(&self, dtype: Dtype) -> Result<(), Error> {
        let bits = 8 * dtype.size() as u32;
        let is_signed = matches!(dtype, Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64);
        let (least, most) = match is_signed {
            true => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
            false => (0, (1_i128 << bits) - 1),
        };
        // The cast in `write` would cut off the upper bits of an end outside.
        let ends = [("low", self.low), ("high", self.high)];
        match ends.into_iter().find(|(_, end)| !(least..=most).contains(end)) {
            Some((name, _)) => {
                Err(Error::Parameter { name, need: "a value of the elements' type" })
            }
            None => Ok(()),
        }
    }
}

impl Held for Order {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        let wrong = job.wrong_type();
        let order = job.stream.permutation(self.n);
        let out = job.out.elements::<u64>().ok_or(wrong)?;
        let indices = match job.elements {
            Elements::From(start) => return order.fill(start, out),
            #[cfg(feature = "std")]
            Elements::Shared { start, .. } => return order.fill(start, out),
            Elements::At(indices) => indices,
        };
        if indices.len() != out.len() {
            return Err(Error::Lengths { indices: indices.len(), out: out.len() });
        }
        if let Some(&start) = indices.iter().find(|&&index| index >= self.n) {
            return Err(Error::PastEnd { start, len: 1, n: self.n });
        }
        for (out, &index) in out.iter_mut().zip(indices) {
            *out = order.at(index).unwrap_or_default();
        }
        Ok(())
    }

    fn fits(&self, dtype: Dtype) -> Result<(), Error> {
        let fits = dtype != Dtype::I64 || self.n <= 1 << 63;
        super::draw::unless(fits, "n", "at most 2^63 for numbers of int64, while uint64 holds more")
    }
}
