//! The features of this CPU, asked once, at set-up.
//!
//! The standard library's detection takes 42 us in a virtual machine, because each CPUID leaves the
//! guest: nearly half of a process's whole first draw. Three leaves are enough here (Intel SDM
//! volume 2, CPUID; AMD APM volume 3, appendix E).

#![cfg_attr(target_arch = "x86_64", allow(unsafe_code))]
#![cfg_attr(target_arch = "aarch64", allow(unsafe_code))]

use crate::linux::failpoint::{Force, forced};

/// Facts of the CPU; false where they are unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    /// AES instructions, on whole blocks.
    pub(crate) aes: bool,
    /// AVX, whose registers the kernel saves.
    pub(crate) avx: bool,
    /// AVX2, with AVX.
    pub(crate) avx2: bool,
    /// AES instructions on 256-bit registers, with AVX2.
    pub(crate) vaes256: bool,
    /// AES instructions on 512-bit registers, with AVX-512 (F, BW, VL) and BMI2.
    pub(crate) vaes512: bool,
    /// RDPID, which reads the number of the CPU that executes it.
    pub(crate) rdpid: bool,
    /// A random instruction: RDRAND, RNDR.
    pub(crate) random: bool,
    /// The CPU says that it is a hypervisor's.
    pub(crate) hypervisor: bool,
    /// An Intel CPU, some of which have a slow random instruction.
    pub(crate) intel: bool,
}

impl Features {
    pub(crate) fn detect() -> Features {
        let mut features = if cfg!(miri) { interpreted() } else { detect() };
        features.aes &= !forced(Force::NoAes);
        features.vaes256 &= features.aes && !forced(Force::NoVaes);
        features.vaes512 &= features.vaes256 && !forced(Force::NoAvx512);
        features.random &= !forced(Force::NoCpuRng);
        features.hypervisor &= !forced(Force::NoHypervisorBit);
        features
    }
}

/// Returns the features that an interpreter can follow: AES by intrinsics, if enabled, and no
/// assembly.
fn interpreted() -> Features {
    let aes = cfg!(all(target_feature = "aes", target_feature = "sse4.1"));
    Features { aes, random: true, ..Features::default() }
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Features {
    let bit = |word: u32, bit: u32| word >> bit & 1 == 1;
    let vendor = cpuid(0);
    let basic = cpuid(1);
    let mut features = Features {
        aes: bit(basic.ecx, 25) && bit(basic.ecx, 19),
        random: bit(basic.ecx, 30),
        hypervisor: bit(basic.ecx, 31),
        intel: [vendor.ebx, vendor.edx, vendor.ecx]
            == [*b"Genu", *b"ineI", *b"ntel"].map(u32::from_le_bytes),
        ..Features::default()
    };
    let saved_by_the_kernel = bit(basic.ecx, 27);
    if saved_by_the_kernel && vendor.eax >= 7 {
        let more = cpuid(7);
        // SSE and AVX; then the three parts of AVX-512 as well.
        const AVX: u64 = 0b110;
        const AVX512: u64 = 0b1110_0110;
        let saved = xcr0();
        let avx512 = [16, 30, 31].into_iter().all(|f_bw_vl| bit(more.ebx, f_bw_vl));
        features.avx = bit(basic.ecx, 28) && saved & AVX == AVX;
        features.avx2 = features.avx && bit(more.ebx, 5);
        features.vaes256 = features.aes && features.avx2 && bit(more.ecx, 9);
        features.vaes512 =
            features.vaes256 && avx512 && bit(more.ebx, 8) && saved & AVX512 == AVX512;
        features.rdpid = bit(more.ecx, 22);
    }
    features
}

/// A leaf of CPUID, first subleaf.
#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe)] // safe in newer compilers than the oldest that is supported
fn cpuid(leaf: u32) -> core::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 CPU has CPUID.
    unsafe { core::arch::x86_64::__cpuid_count(leaf, 0) }
}

/// The register that says which registers the kernel saves.
#[cfg(target_arch = "x86_64")]
fn xcr0() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: CPUID said OSXSAVE, so XGETBV is a valid instruction; it touches these registers
    // alone.
    unsafe {
        core::arch::asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high,
            options(nomem, nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(target_arch = "aarch64")]
fn detect() -> Features {
    const HWCAP_AES: usize = 1 << 3;
    const HWCAP2_RNG: usize = 1 << 16;
    let capabilities = crate::linux::sys::auxiliary(libc::AT_HWCAP);
    let more = crate::linux::sys::auxiliary(libc::AT_HWCAP2);
    Features {
        aes: capabilities & HWCAP_AES != 0,
        random: more & HWCAP2_RNG != 0,
        ..Features::default()
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn detect() -> Features {
    Features::default()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        use std::arch::is_x86_feature_detected as std;
        let features = detect();
        assert_eq!(features.aes, std!("aes") && std!("sse4.1"));
        assert_eq!(features.random, std!("rdrand"));
        assert_eq!((features.avx, features.avx2), (std!("avx"), std!("avx2")));
        assert_eq!(features.vaes256, features.aes && std!("avx2") && std!("vaes"));
        let avx512 = std!("avx512f") && std!("avx512bw") && std!("avx512vl") && std!("bmi2");
        assert_eq!(features.vaes512, features.vaes256 && avx512);
    }
}
