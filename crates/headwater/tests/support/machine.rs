//! The machine a test runs on: what can be asked of it, and what can be done to it.

use std::fs::File;
use std::os::fd::AsRawFd;

/// Says out loud that (part of) a test did not run.
pub(crate) fn skip(what: &str, why: &str) {
    println!("skipped: {what}: {why}");
}

/// Makes the kernel reseed its generator now. False without the right to (CAP_SYS_ADMIN).
pub(crate) fn reseed() -> bool {
    const RNDRESEEDCRNG: libc::Ioctl = 0x5207; // include/uapi/linux/random.h
    let Ok(urandom) = File::open("/dev/urandom") else {
        return false;
    };
    // SAFETY: the request takes no argument.
    unsafe { libc::ioctl(urandom.as_raw_fd(), RNDRESEEDCRNG) == 0 }
}

/// As [`reseed`]; says so if `what` has to be skipped.
pub(crate) fn can_reseed(what: &str) -> bool {
    let can = reseed();
    if !can {
        skip(what, "RNDRESEEDCRNG needs CAP_SYS_ADMIN");
    }
    can
}

#[cfg(target_arch = "x86_64")]
fn cpuid(leaf: u32) -> core::arch::x86_64::CpuidResult {
    #[allow(unused_unsafe)] // no longer unsafe in newer compilers than the oldest supported
    // SAFETY: every x86-64 CPU has the instruction, which reads registers and nothing else.
    unsafe {
        core::arch::x86_64::__cpuid(leaf)
    }
}

/// The hypervisor bit of CPUID: while it is set, nothing in /sys can make the machine bare metal.
pub(crate) fn cpu_says_virtual() -> bool {
    #[cfg(target_arch = "x86_64")]
    return cpuid(1).ecx >> 31 == 1;
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether the CPU names Intel as its maker.
pub(crate) fn is_intel() -> bool {
    #[cfg(target_arch = "x86_64")]
    return {
        let leaf = cpuid(0);
        let name = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes).concat();
        name == b"GenuineIntel"
    };
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The CPUs this process may run on.
pub(crate) fn cpus() -> Vec<usize> {
    // SAFETY: a cpu_set_t is a bit mask, for which zeros are valid, and the call writes one.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &mut set), 0);
        set
    };
    // SAFETY: reads a bit of the mask, within it.
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Binds this thread, and those it starts, to these CPUs.
pub(crate) fn bind(cpus: &[usize]) {
    // SAFETY: as in `cpus`; the numbers came from there.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus {
            libc::CPU_SET(cpu, &mut set);
        }
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &set), 0);
    }
}

/// Sets `HEADWATER_MODE`, or removes it. For processes with one thread.
pub(crate) fn set_mode_variable(value: Option<&str>) {
    // SAFETY: no other thread reads the environment: the process has one thread (the caller's promise).
    unsafe {
        match value {
            Some(value) => std::env::set_var("HEADWATER_MODE", value),
            None => std::env::remove_var("HEADWATER_MODE"),
        }
    }
}
