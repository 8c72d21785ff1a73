//! Each way to draw under a symbol of its own, compiled as in a program that calls it.
//!
//! `cargo xtask machine-code` walks the calls from here, and checks the order of memory accesses.
//! The functions are not `extern "C"`: such a function must end the process if it unwinds, so the
//! compiler would add a call into the panic machinery.

use headwater::{Error, Rng};

/// Draws one word by the free function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_u64() -> Result<u64, Error> {
    headwater::u64()
}

/// Draws half a word by the free function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_u32() -> Result<u32, Error> {
    headwater::u32()
}

/// Draws any number of bytes by the free function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_fill(buf: &mut [u8]) -> Result<(), Error> {
    headwater::fill(buf)
}

/// Draws any number of bytes, or returns an error if the call would block.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_try_fill(buf: &mut [u8]) -> Result<(), Error> {
    headwater::try_fill(buf)
}

/// Draws sixteen bytes by the free function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_fill_16(buf: &mut [u8; 16]) -> Result<(), Error> {
    headwater::fill(buf)
}

/// Draws one word from a handle.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_rng_u64(rng: &mut Rng) -> u64 {
    rng.next_u64()
}

/// Draws any number of bytes from a handle.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_rng_fill(rng: &mut Rng, buf: &mut [u8]) -> Result<(), Error> {
    rng.fill(buf)
}
