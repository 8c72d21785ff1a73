//! The machine on which a test runs: its CPUs, its kernel's generator, and the environment.

use std::fs::File;
use std::os::fd::AsRawFd;

/// Reports that a test, or a part of it, did not run.
pub fn skip(what: &str, why: &str) {
    println!("skipped: {what}: {why}");
}

/// Makes the kernel reseed its generator. Returns false without CAP_SYS_ADMIN.
pub fn reseed() -> bool {
    const RNDRESEEDCRNG: libc::Ioctl = 0x5207; // include/uapi/linux/random.h
    let Ok(urandom) = File::open("/dev/urandom") else {
        return false;
    };
    // SAFETY: the request takes no argument.
    unsafe { libc::ioctl(urandom.as_raw_fd(), RNDRESEEDCRNG) == 0 }
}

/// Makes the kernel reseed its generator, or reports that `what` is skipped and returns false.
pub fn can_reseed(what: &str) -> bool {
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

/// Reads the hypervisor bit of CPUID. While it is set, no file in /sys can make the machine bare
/// metal.
pub fn cpu_says_virtual() -> bool {
    #[cfg(target_arch = "x86_64")]
    return cpuid(1).ecx >> 31 == 1;
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Returns true if CPUID names Intel as the vendor.
pub fn is_intel() -> bool {
    #[cfg(target_arch = "x86_64")]
    return {
        let leaf = cpuid(0);
        let name = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes).concat();
        name == b"GenuineIntel"
    };
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Returns the CPUs on which this process may run.
pub fn cpus() -> Vec<usize> {
    // SAFETY: a cpu_set_t is a bit mask, for which zeros are valid, and the call writes one.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &mut set), 0);
        set
    };
    // SAFETY: reads a bit of the mask, within it.
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Binds this thread, and the threads it will start, to `cpus`.
pub fn bind(cpus: &[usize]) {
    // SAFETY: a cpu_set_t is a bit mask, for which zeros are valid; the numbers came from `cpus`,
    // so they fit.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus {
            libc::CPU_SET(cpu, &mut set);
        }
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &set), 0);
    }
}

/// Sets `HEADWATER_MODE`, or removes it. The process must have one thread.
pub fn set_mode_variable(value: Option<&str>) {
    // SAFETY: no other thread reads the environment: the process has one thread (the caller's
    // promise).
    unsafe {
        match value {
            Some(value) => std::env::set_var("HEADWATER_MODE", value),
            None => std::env::remove_var("HEADWATER_MODE"),
        }
    }
}
