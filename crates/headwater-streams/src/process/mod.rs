//! Numbers for a process that need not be reproduced: as quick as a generator of one's own, with nothing to keep.

// The one place that chooses between systems whose memory tells of a fork and the rest.
#[cfg(target_os = "linux")]
mod atomic;
#[cfg(target_os = "linux")]
mod hook;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod pool;
#[cfg(target_os = "linux")]
mod races;
#[cfg(target_os = "linux")]
mod slot;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use headwater::Error;

/// Fills `buf` with numbers that nobody has to repeat and nobody has to be kept from guessing. **Not for
/// secrets**: whoever sees 32 bytes in a row can compute the next. Tokens, keys, nonces and hash seeds come
/// from `headwater`.
///
/// For sampling, backoff, load balancing, jitter, test data. One state of xoshiro256++ for each CPU and one beside it, all
/// seeded once by [`headwater::fill`] and 2^192 words apart, so that no two ever come to the same part of
/// the sequence. A state is taken by a try-lock: whoever finds it taken (another thread, or the code that a signal handler interrupted) takes
/// another one and never waits. From 256 bytes on, eight generators run side by side.
///
/// The states are the process's: a child made by fork or clone, from a handler or not, starts its own from fresh
/// seeds. A virtual machine that is cloned or restored repeats them.
///
/// A buffer of more than 32 bytes has one of 2^256 contents, since a state has 256 bits.
///
/// Async-signal-safe, first call included; that one takes up to 8 KiB of the handler's stack, which an alternate stack of
/// SIGSTKSZ does not have where the kernel puts AVX-512 registers on it as well. A thread that is killed in the middle of a draw, or leaves it by
/// siglongjmp, keeps its state taken for good; where a CPU's states and its neighbour's are all taken, [`headwater::fill`]
/// serves. The first call of a process maps 200 KiB, of which it touches a few pages. On systems other than Linux, and
/// where memory that a fork clears cannot be had, this is [`headwater::fill`].
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
/// Only if the kernel refuses random bytes, and then only from a process's first call, or where all states are
/// taken. The buffer is then all zeros.
#[inline]
pub fn random_pseudo_bytes(buf: &mut [u8]) -> Result<(), Error> {
    #[cfg(target_os = "linux")]
    if pool::draw(|slot, at| slot.fill(at, buf)).is_some() {
        return Ok(());
    }
    headwater::fill(buf)
}

/// One word, as [`random_pseudo_bytes`] draws it. **Not for secrets.**
///
/// # Errors
///
/// As [`random_pseudo_bytes`].
#[inline]
pub fn random_pseudo_u64() -> Result<u64, Error> {
    let mut word = [0; 8];
    random_pseudo_bytes(&mut word)?;
    Ok(u64::from_le_bytes(word))
}
