//! Hands entropy to the kernel, has it taken, and reads the proof.

use crate::builtin::reseed_generation;
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::time::Instant;
use zeroize::Zeroize;

/// The way in which a reseed was shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Proof {
    /// The kernel's reseed generation moved at each of two reseeds.
    Generation,
    /// The kernel accepted both calls, and shows no generation (before Linux 6.11, or another
    /// kernel under Linux's name).
    Calls,
    /// The generation can be read, and did not move.
    None,
}

/// The result of two reseeds.
pub(super) struct Reseeded {
    pub(super) generations: [Option<u64>; 2],
    has_moved_twice: bool,
    pub(super) us: u64,
}

impl Reseeded {
    pub(super) fn proof(&self) -> Proof {
        match self.generations {
            [Some(_), Some(_)] if self.has_moved_twice => Proof::Generation,
            [None, None] => Proof::Calls,
            _ => Proof::None,
        }
    }
}

// linux/random.h: _IOW('R', 0x03, int[2]) and _IO('R', 0x07).
const RNDADDENTROPY: libc::c_ulong = 0x4008_5203;
const RNDRESEEDCRNG: libc::c_ulong = 0x5207;

/// The argument of RNDADDENTROPY: `struct rand_pool_info` with room for its bytes.
#[repr(C)]
struct PoolInfo {
    bits: libc::c_int,
    size: libc::c_int,
    bytes: [u8; 512],
}

/// Adds the bytes to the kernel's pool, and makes the kernel take a new key from it.
///
/// The kernel reseeds twice, and its generation has to move both times. Once would do, but for the
/// kernel's own reseed: if a sandbox accepts the calls and ignores them, the generation could still
/// move between two readings, though not in the same microseconds twice.
///
/// # Errors
///
/// If the kernel refuses a call. Only root may make them.
pub(super) fn reseed(entropy: &[u8]) -> Result<Reseeded> {
    let device = File::options().write(true).open("/dev/random").context("/dev/random")?;
    let mut info = PoolInfo { bits: 0, size: 0, bytes: [0; 512] };
    ensure!(entropy.len() <= info.bytes.len(), "more entropy than a call can take");
    info.bytes[..entropy.len()].copy_from_slice(entropy);
    info.size = libc::c_int::try_from(entropy.len())?;
    info.bits = info.size * 8;
    // Before the first reading, because the first reading of a process searches for the generation.
    let _ = reseed_generation();
    let begun = Instant::now();
    let before = reseed_generation();
    // SAFETY: the request reads two ints and as many bytes as the second says, and `info` has them:
    // at most 512. The descriptor is open while `device` is.
    let added = unsafe { libc::ioctl(device.as_raw_fd(), RNDADDENTROPY as _, &raw const info) };
    let error = std::io::Error::last_os_error();
    info.bytes.zeroize();
    // Root of a container is no root to the kernel, and other errors are no matter of rights.
    let advice = match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            "run this as root, which in a container needs CAP_SYS_ADMIN"
        }
        _ => "/dev/random is not the one of Linux",
    };
    ensure!(added == 0, "the kernel refuses entropy (RNDADDENTROPY: {error}); {advice}");
    take(&device)?;
    let between = reseed_generation();
    take(&device)?;
    let after = reseed_generation();
    let us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    let has_moved_twice = before < between && between < after;
    Ok(Reseeded { generations: [before, after], has_moved_twice, us })
}

/// Makes the kernel take a new key from what its pool holds and what the CPU returns.
///
/// # Errors
///
/// If the kernel refuses the call. Only root may make it.
pub(crate) fn reseed_now() -> Result<()> {
    take(&File::options().write(true).open("/dev/random").context("/dev/random")?)
}

fn take(device: &File) -> Result<()> {
    // SAFETY: the request has no argument; the descriptor is open while `device` is.
    let taken = unsafe { libc::ioctl(device.as_raw_fd(), RNDRESEEDCRNG as _) };
    let error = std::io::Error::last_os_error();
    ensure!(taken == 0, "the kernel does not reseed (RNDRESEEDCRNG: {error}; Linux 4.14 has it)");
    Ok(())
}

/// Returns 64 bits of a hash over a value that the kernel makes now.
pub(super) fn fingerprint() -> Result<String> {
    let path = "/proc/sys/kernel/random/uuid";
    let value = fs::read(path).context(path)?;
    Ok(Sha256::digest(&value)[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_that_stands_still_proves_nothing() {
        let proof =
            |generations, has_moved_twice| Reseeded { generations, has_moved_twice, us: 0 }.proof();
        assert_eq!(proof([Some(7), Some(9)], true), Proof::Generation);
        assert_eq!(proof([Some(7), Some(8)], false), Proof::None, "moved once: by the clock");
        assert_eq!(proof([Some(7), Some(7)], false), Proof::None);
        assert_eq!(proof([None, None], false), Proof::Calls);
        assert_eq!(proof([Some(7), None], false), Proof::None, "it was lost meanwhile");
    }
}
