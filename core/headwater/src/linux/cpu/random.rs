//! The CPU's random instruction, and the cycle counter that stands in where there is none.
//!
//! The words are never used alone: they enter keys and masks through a one-way function together
//! with bytes of the kernel (`cipher::Backend::derive`, `cipher::hedge`), so that an instruction
//! which lies cannot steer a key. They make two clones of a VM part at once, whose kernels may
//! answer alike.

#![allow(unsafe_code)]

use crate::linux::cpu::features::Features;
use crate::linux::failpoint::{Force, forced};
use crate::status::CpuRng;
use core::sync::atomic::{AtomicU64, Ordering};

/// The number of attempts while an instruction says "not now": Intel's advice for RDRAND.
const ATTEMPTS: u32 = 10;

/// Returns one word; None if the instruction returned none, or an answer typical of a broken one:
/// 0, all ones (AMD parts after resume), or the previous word.
#[inline(always)]
pub(crate) fn word(previous: u64) -> Option<u64> {
    let word = match instruction() {
        Some(word) => word,
        None => asked_again()?,
    };
    let broken = word == 0 || word == u64::MAX || word == previous;
    (!broken).then_some(word)
}

/// Tries again after a first failure. This is a function of its own, because the compiler unrolled
/// nine attempts into every caller when it was inlined.
#[cold]
#[inline(never)]
fn asked_again() -> Option<u64> {
    (1..ATTEMPTS).find_map(|_| instruction())
}

/// The words that were made in place of the instruction's.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Returns how many words were made in place of the instruction's.
#[cfg(feature = "testing")]
pub(crate) fn calls() -> u64 {
    CALLS.load(Ordering::Relaxed)
}

/// Executes the instruction once.
#[inline(always)]
fn instruction() -> Option<u64> {
    if forced(Force::CpuRngStuck) {
        return Some(0x1234_5678_9ABC_DEF0);
    }
    if forced(Force::CpuRngOnes) {
        return Some(u64::MAX);
    }
    if forced(Force::CpuRngZero) {
        return Some(0);
    }
    if forced(Force::CpuRngFails) {
        return None;
    }
    if cfg!(miri) || forced(Force::CpuRngKnown) {
        // Distinct values are enough for an interpreter, which follows only their use, and a test
        // can compute them.
        let call = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
        return Some(call.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    }
    let word: u64;
    let given: u8;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: callers reach this only if `Features::random`, so RDRAND is a valid instruction. It
    // touches registers and flags alone.
    unsafe {
        core::arch::asm!("rdrand {word}", "setc {given}", word = out(reg) word,
            given = out(reg_byte) given, options(nomem, nostack));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: callers reach this only if `Features::random`, so RNDR (S3_3_C2_C4_0) is a valid
    // register. The instruction sets Z if it has no word.
    unsafe {
        let flag: u64;
        core::arch::asm!("mrs {word}, s3_3_c2_c4_0", "cset {flag}, ne", word = out(reg) word,
            flag = out(reg) flag, options(nomem, nostack));
        given = flag as u8;
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        (word, given) = (0, 0);
    }
    (given == 1).then_some(word)
}

/// Decides by sixteen draws whether the instruction is sane: each must return a word that differs
/// from 0, from all ones and from the word before. A sound instruction fails with probability below
/// 2^-58. The CPU has the instruction.
pub(crate) fn is_sane() -> bool {
    let mut previous = 0;
    (0..16).all(|_| word(previous).inspect(|word| previous = *word).is_some())
}

/// Returns the state of the instruction, which set-up looks at once.
pub(crate) fn assess(features: Features, slow: impl FnOnce() -> bool) -> CpuRng {
    if !features.random {
        return CpuRng::Absent;
    }
    if !is_sane() {
        return CpuRng::Broken;
    }
    if forced(Force::CpuRngSlow) || (features.intel && slow()) {
        CpuRng::Slow
    } else {
        CpuRng::Good
    }
}

/// Reads the cycle counter, which makes a repeat between two clones unlikely and no output
/// unpredictable.
pub(crate) fn cycles() -> u64 {
    if cfg!(miri) {
        return 0;
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: RDTSC is part of x86-64. A process that has forbidden it to itself by
    // prctl(PR_SET_TSC) gets the SIGSEGV that it asked for.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(target_arch = "aarch64")]
    {
        let count: u64;
        // SAFETY: Linux lets user space read the virtual counter on every arm64 machine.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack)) };
        return count;
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let (seconds, nanoseconds) = crate::linux::sys::since_1970();
        return seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds.into());
    }
}
