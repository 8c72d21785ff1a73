//! The operations that a step needs of a vector of words, and the vectors that have them.
//!
//! The functions are inlined into the step, and the step into a function that has the vector's
//! instructions. Otherwise each would be compiled for the oldest CPU, where it would be a call, and
//! vectors would go through memory.

#![allow(unsafe_code)]

/// A vector of 64-bit words.
///
/// # Safety
///
/// All functions need the vector's instructions. `load` reads and `store` writes `8 * LANES` bytes
/// at any alignment.
pub(super) unsafe trait Vector: Copy {
    const LANES: usize;

    unsafe fn load(from: *const u64) -> Self;
    unsafe fn store(self, to: *mut u8);
    /// Puts the bytes of each word into little-endian order.
    #[inline(always)]
    fn to_little_endian(self) -> Self {
        self
    }
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    /// Returns `self ^ (b ^ c)`. A step needs `b ^ c` twice, so the compiler computes it once.
    #[inline(always)]
    unsafe fn xor3(self, b: Self, c: Self) -> Self {
        // SAFETY: the instructions are there, as the trait's `# Safety` asks of every call.
        unsafe { self.xor(b.xor(c)) }
    }
    unsafe fn shift_left_17(self) -> Self;
    unsafe fn rotate_left_23(self) -> Self;
    unsafe fn rotate_left_45(self) -> Self;
}

/// Implements the trait for a vector of the CPU. `$rotate_left` is a macro, because rotations are
/// made differently, and the items after it replace defaults.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
macro_rules! vector {
    ($vector:ty, $lanes:literal, $load:expr, $store:expr, $add:ident, $xor:ident, $shift_left:expr, $rotate_left:ident $(, $other:item)?) => {
        // SAFETY: the intrinsics do what the trait says, at any alignment, on CPUs that have them.
        unsafe impl Vector for $vector {
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(from: *const u64) -> Self {
                // SAFETY: the instructions are there, and `from` has a vector's bytes to read, as
                // the trait asks; this load needs no alignment.
                unsafe { $load(from.cast()) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: the instructions are there, and `to` has room for a vector's bytes, as
                // the trait asks; this store needs no alignment.
                unsafe { $store(to.cast(), self) }
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: the instructions are there, as the trait's `# Safety` asks.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn xor(self, other: Self) -> Self {
                // SAFETY: the instructions are there, as the trait's `# Safety` asks.
                unsafe { $xor(self, other) }
            }

            #[inline(always)]
            unsafe fn shift_left_17(self) -> Self {
                // SAFETY: the instructions are there, as the trait's `# Safety` asks.
                unsafe { $shift_left(self) }
            }

            #[inline(always)]
            unsafe fn rotate_left_23(self) -> Self {
                // SAFETY: the instructions are there, as the trait's `# Safety` asks.
                unsafe { $rotate_left!(self, 23, 41) }
            }

            #[inline(always)]
            unsafe fn rotate_left_45(self) -> Self {
                // SAFETY: the instructions are there, as the trait's `# Safety` asks.
                unsafe { $rotate_left!(self, 45, 19) }
            }

            $($other)?
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Vector;
    use core::arch::x86_64::*;

    macro_rules! rotate_128 {
        ($v:expr, $left:literal, $right:literal) => {
            _mm_or_si128(_mm_slli_epi64::<$left>($v), _mm_srli_epi64::<$right>($v))
        };
    }
    macro_rules! rotate_256 {
        ($v:expr, $left:literal, $right:literal) => {
            _mm256_or_si256(_mm256_slli_epi64::<$left>($v), _mm256_srli_epi64::<$right>($v))
        };
    }
    macro_rules! rotate_512 {
        ($v:expr, $left:literal, $right:literal) => {
            _mm512_rol_epi64::<$left>($v)
        };
    }

    vector!(
        __m128i,
        2,
        _mm_loadu_si128,
        _mm_storeu_si128,
        _mm_add_epi64,
        _mm_xor_si128,
        _mm_slli_epi64::<17>,
        rotate_128
    );
    vector!(
        __m256i,
        4,
        _mm256_loadu_si256,
        _mm256_storeu_si256,
        _mm256_add_epi64,
        _mm256_xor_si256,
        _mm256_slli_epi64::<17>,
        rotate_256
    );
    vector!(
        __m512i,
        8,
        _mm512_loadu_si512,
        _mm512_storeu_si512,
        _mm512_add_epi64,
        _mm512_xor_si512,
        _mm512_slli_epi64::<17>,
        rotate_512,
        #[inline(always)]
        unsafe fn xor3(self, b: Self, c: Self) -> Self {
            // SAFETY: AVX-512F is there, as the trait asks. 0x96 is the table of a sum of three
            // bits.
            unsafe { _mm512_ternarylogic_epi64::<0x96>(self, b, c) }
        }
    );
}

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod arm {
    use super::Vector;
    use core::arch::aarch64::*;

    /// Shifts right, and inserts what was shifted out of the left: two instructions.
    macro_rules! rotate {
        ($v:expr, $left:literal, $right:literal) => {
            vsriq_n_u64::<$right>(vshlq_n_u64::<$left>($v), $v)
        };
    }

    vector!(
        uint64x2_t,
        2,
        vld1q_u64,
        |to: *mut u64, v| vst1q_u64(to, v),
        vaddq_u64,
        veorq_u64,
        vshlq_n_u64::<17>,
        rotate
    );
}

#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
mod plain {
    use super::Vector;

    // SAFETY: a word needs no instructions, and both accesses are 8 bytes at any alignment.
    unsafe impl Vector for u64 {
        const LANES: usize = 1;

        #[inline(always)]
        unsafe fn load(from: *const u64) -> Self {
            // SAFETY: `from` has 8 bytes to read, as the trait asks, at any alignment.
            unsafe { from.read_unaligned() }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            // SAFETY: `to` has room for 8 bytes, as the trait asks, at any alignment.
            unsafe { to.cast::<u64>().write_unaligned(self) }
        }

        #[inline(always)]
        fn to_little_endian(self) -> Self {
            self.to_le()
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            self.wrapping_add(other)
        }

        #[inline(always)]
        unsafe fn xor(self, other: Self) -> Self {
            self ^ other
        }

        #[inline(always)]
        unsafe fn shift_left_17(self) -> Self {
            self << 17
        }

        #[inline(always)]
        unsafe fn rotate_left_23(self) -> Self {
            self.rotate_left(23)
        }

        #[inline(always)]
        unsafe fn rotate_left_45(self) -> Self {
            self.rotate_left(45)
        }
    }
}
