//! Each way to draw under a symbol of its own, compiled as in a program that calls it.
//!
//! `cargo xtask machine-code` walks the calls from here, and checks the order of memory accesses.
//! The functions are not `extern "C"`: such a function must end the process if it unwinds, so the
//! compiler would add a call into the panic machinery.

use headwater::{Error, Rng};

/// One word by the free function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_u64() -> Result<u64, Error> {
    headwater::u64()
}

/// Half a word by the free function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_u32() -> Result<u32, Error> {
    headwater::u32()
}

/// Any number of bytes by the free function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_fill(buf: &mut [u8]) -> Result<(), Error> {
    headwater::fill(buf)
}

/// Any number of bytes, or an error if the call would block.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_try_fill(buf: &mut [u8]) -> Result<(), Error> {
    headwater::try_fill(buf)
}

/// Sixteen bytes by the free function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_fill_16(buf: &mut [u8; 16]) -> Result<(), Error> {
    headwater::fill(buf)
}

/// One word of a handle.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_rng_u64(rng: &mut Rng) -> u64 {
    rng.next_u64()
}

/// Any number of bytes of a handle.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_rng_fill(rng: &mut Rng, buf: &mut [u8]) -> Result<(), Error> {
    rng.fill(buf)
}
