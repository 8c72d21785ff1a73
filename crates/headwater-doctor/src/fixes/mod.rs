//! How to mend it: for each cause, the settings of the platform found, the hypervisor's side before the machine's own.
//!
//! A check names the [`Cause`]; which words and which commands follow from the machine is decided here, so that a new
//! platform is one row of a table and no check knows any.

mod facts;

pub use facts::{BootLoader, Distribution, Initramfs, PlatformFacts};

use crate::Fix;

/// What is wrong, as far as the cure depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Nothing gives this machine entropy early: no instruction, no device, no seed. (HW001, HW002, HW006, HW007)
    NoSeed,
    /// A unit's start timeout is shorter than the wait. (HW004)
    StartTimeout,
    /// A kernel that cannot gather entropy by itself. (HW010)
    NoJitter,
    /// One lock for all CPUs. (HW011)
    OneLock,
    /// No getrandom in the vDSO, or no C library that uses it. (HW012)
    NoVdso,
    /// No word that tells of reseeds. (HW013)
    NoReseedWord,
    /// The CPU model, or the CPU, has no random instruction. (HW020)
    NoCpuRng,
    /// It has one that the kernel was told not to credit. (HW021)
    CpuRngUntrusted,
    /// It has one that is broken. (HW022)
    CpuRngBroken,
    /// No counter for the jitter loop. (HW023)
    NoCycleCounter,
    /// A VM without a random device. (HW024)
    NoHwrng,
    /// The device is there, its driver is not. (HW025)
    HwrngNoDriver,
    /// The driver is not in the initramfs. (HW026)
    HwrngLate,
    /// The device's numbers fail health tests. (HW027)
    HwrngUnhealthy,
    /// The firmware's seed is refused, or there is none to be had. (HW028)
    BootSeedUnused,
    /// No seed is saved at shutdown. (HW029)
    SavedSeedMissing,
    /// A seed is saved, and not credited. (HW029)
    SavedSeedUncredited,
    /// No clone signal from the hypervisor. (HW040)
    NoVmgenid,
    /// The hypervisor has one, and the kernel no driver. (HW041)
    VmgenidNoDriver,
    /// The hypervisor has a VMClock, and the kernel no driver. (HW042)
    VmclockNoDriver,
    /// Programs may not read the VMClock. (HW042)
    VmclockUnreadable,
    /// The machine was cloned while it ran. (HW043)
    Cloned,
    /// Process images are restored. (HW044)
    Checkpointing,
    /// Programs keep random state that no clone clears. (HW045)
    BlindGenerators,
    /// A filter kills or fails random system calls. (HW050)
    Sandbox,
    /// An entropy daemon without a use. (HW051)
    NeedlessDaemon,
    /// Pages with secure bytes may be swapped out. (HW052)
    SwappedPages,
}

/// How to mend it here, the best first: the hypervisor's side before the machine's own.
pub fn for_cause(cause: Cause, facts: &PlatformFacts) -> Vec<Fix> {
    let _ = (cause, facts);
    Vec::new()
}
