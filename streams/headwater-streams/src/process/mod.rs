//! Numbers that need not be reproduced: as quick as an owned generator, with nothing to keep.

// The one place that chooses between systems whose memory shows a fork and the rest.
#[cfg(target_os = "linux")]
mod atomic;
#[cfg(target_os = "linux")]
#[cfg_attr(not(all(target_arch = "x86_64", not(any(miri, sanitized)))), path = "block_none.rs")]
mod block;
#[cfg(target_os = "linux")]
mod counters;
#[cfg(target_os = "linux")]
mod hook;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod pool;
#[cfg(target_os = "linux")]
mod races;
#[cfg(target_os = "linux")]
#[cfg_attr(not(all(target_arch = "x86_64", not(any(miri, sanitized)))), path = "section_none.rs")]
mod section;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use headwater::Error;

/// Fills `buf` with numbers that need neither be reproduced nor be kept secret. **Not for
/// secrets**: tokens, keys, nonces and hash seeds come from `headwater`.
///
/// The numbers serve sampling, backoff, load balancing, jitter and test data. Each process has one
/// random function from counters to blocks of 16 bytes: [`ars7`](crate::Engine::Ars7), or Philox
/// where the CPU has no AES instructions, under a key from [`headwater::fill`]. Each CPU has a
/// counter, and a draw adds to it once. So no block of a process repeats, a draw never waits, and a
/// thread that is killed or leaves a draw by siglongjmp holds no lock. Where the core draws in
/// restartable sequences, this function does too; otherwise the addition is an atomic one.
///
/// The key is the process's: a child made by fork or clone, from a handler or not, makes a fresh
/// one. But a virtual machine that is cloned or restored repeats its numbers.
///
/// A buffer of more than 16 bytes has one of 2^255 contents: the number of keys times the number of
/// first counter values.
///
/// Async-signal-safe, first call included. But the first call takes up to 8 KiB of the handler's
/// stack, which an alternate stack of SIGSTKSZ does not have where the kernel puts AVX-512
/// registers on it as well. It also maps 40 KiB, of which it touches a few pages. Without memory
/// that a fork clears, a child would repeat its parent's numbers, so on systems other than Linux,
/// and where the kernel lacks such memory, this is [`headwater::fill`].
///
/// ```
/// # fn main() -> Result<(), headwater::Error> {
/// let mut sample = [0; 8];
/// headwater_streams::random_pseudo_bytes(&mut sample)?;
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// Returns an error only if the kernel refuses random bytes, and then only from a process's first
/// call. The buffer is then all zeros.
#[inline]
pub fn random_pseudo_bytes(buf: &mut [u8]) -> Result<(), Error> {
    #[cfg(target_os = "linux")]
    {
        let drawn = if let Ok(word) = <&mut [u8; 8]>::try_from(&mut *buf) {
            pool::draw(|pool| *word = pool.word().to_le_bytes())
        } else if let Ok(block) = <&mut [u8; 16]>::try_from(&mut *buf) {
            pool::draw(|pool| *block = pool.bytes())
        } else {
            pool::draw(|pool| pool.fill(buf))
        };
        if drawn.is_some() {
            return Ok(());
        }
    }
    headwater::fill(buf)
}

/// Returns one word, as [`random_pseudo_bytes`] draws it. **Not for secrets.**
///
/// # Errors
///
/// Returns the errors of [`random_pseudo_bytes`].
#[inline]
pub fn random_pseudo_u64() -> Result<u64, Error> {
    #[cfg(target_os = "linux")]
    if let Some(word) = pool::draw(pool::Pool::word) {
        return Ok(word);
    }
    let mut word = [0; 8];
    headwater::fill(&mut word)?;
    Ok(u64::from_le_bytes(word))
}
