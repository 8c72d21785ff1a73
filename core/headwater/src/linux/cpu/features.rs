//! The features of this CPU, asked once, at set-up.
//!
//! Why not `is_x86_feature_detected!`? It takes 42 us in a virtual machine, because each CPUID
//! leaves the guest, and that is nearly half of a process's whole first draw. Three leaves are
//! enough here (Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E). But under a second
//! hypervisor even one leaf takes 16 us, so the preload library passes on the words that glibc has
//! read already ([`know`]).

#![cfg_attr(target_arch = "x86_64", allow(unsafe_code))]
#![cfg_attr(target_arch = "aarch64", allow(unsafe_code))]

use crate::cpuid::CpuidWords;
use crate::linux::failpoint::{Force, forced};
use core::sync::atomic::{AtomicU32, Ordering};

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
    /// CPUID reports a hypervisor.
    pub(crate) hypervisor: bool,
    /// An Intel CPU, some of which have a slow random instruction. Words that were
    /// [passed on](know) lack the vendor: every CPU without a feature of AMD's counts then.
    pub(crate) intel: bool,
}

/// The words that were passed on, in the order of [`CpuidWords`]; all zero before.
static KNOWN: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];

/// Takes over words that another library has read, so that set-up executes no CPUID.
pub(crate) fn know(words: CpuidWords) {
    let CpuidWords { basic_ecx, leaf_7_ebx, leaf_7_ecx, amd_ecx } = words;
    let [basic, others @ ..] = &KNOWN;
    for (place, word) in others.iter().zip([leaf_7_ebx, leaf_7_ecx, amd_ecx]) {
        place.store(word, Ordering::Relaxed);
    }
    // Last, and Release: a reader that sees this word must see the others. Pairs with `known`.
    basic.store(basic_ecx, Ordering::Release);
}

/// Returns the words that were passed on. Every CPU has SSE3, whose bit is in the first one, so 0
/// means that none were.
#[cfg(target_arch = "x86_64")]
fn known() -> Option<CpuidWords> {
    let basic_ecx = KNOWN[0].load(Ordering::Acquire);
    let [_, leaf_7_ebx, leaf_7_ecx, amd_ecx] =
        KNOWN.each_ref().map(|word| word.load(Ordering::Relaxed));
    (basic_ecx != 0).then_some(CpuidWords { basic_ecx, leaf_7_ebx, leaf_7_ecx, amd_ecx })
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
    known().map_or_else(ask, |words| {
        const SSE4A: u32 = 1 << 6;
        Features { intel: words.amd_ecx & SSE4A == 0, ..named_by(&words) }
    })
}

/// Executes CPUID, once for each leaf.
#[cfg(target_arch = "x86_64")]
fn ask() -> Features {
    let vendor = cpuid(0);
    let basic = cpuid(1);
    let mut words = CpuidWords { basic_ecx: basic.ecx, ..CpuidWords::default() };
    if bit(basic.ecx, OSXSAVE) && vendor.eax >= 7 {
        let more = cpuid(7);
        (words.leaf_7_ebx, words.leaf_7_ecx) = (more.ebx, more.ecx);
    }
    let vendor = [vendor.ebx, vendor.edx, vendor.ecx];
    let intel = vendor == [*b"Genu", *b"ineI", *b"ntel"].map(u32::from_le_bytes);
    Features { intel, ..named_by(&words) }
}

/// The bit of the first leaf for XGETBV: the kernel saves what XCR0 says.
#[cfg(target_arch = "x86_64")]
const OSXSAVE: u32 = 27;

#[cfg(target_arch = "x86_64")]
fn bit(word: u32, bit: u32) -> bool {
    word >> bit & 1 == 1
}

/// Returns the features that the words name. A leaf that the CPU lacks is all zeros.
#[cfg(target_arch = "x86_64")]
fn named_by(words: &CpuidWords) -> Features {
    let CpuidWords { basic_ecx: basic, leaf_7_ebx: ebx, leaf_7_ecx: ecx, amd_ecx: _ } = *words;
    let mut features = Features {
        aes: bit(basic, 25) && bit(basic, 19),
        random: bit(basic, 30),
        hypervisor: bit(basic, 31),
        ..Features::default()
    };
    if bit(basic, OSXSAVE) {
        // SSE and AVX; then the three parts of AVX-512 as well.
        const AVX: u64 = 0b110;
        const AVX512: u64 = 0b1110_0110;
        let saved = xcr0();
        let avx512 = [16, 30, 31].into_iter().all(|f_bw_vl| bit(ebx, f_bw_vl));
        features.avx = bit(basic, 28) && saved & AVX == AVX;
        features.avx2 = features.avx && bit(ebx, 5);
        features.vaes256 = features.aes && features.avx2 && bit(ecx, 9);
        features.vaes512 = features.vaes256 && avx512 && bit(ebx, 8) && saved & AVX512 == AVX512;
        features.rdpid = bit(ecx, 22);
    }
    features
}

/// Reads a leaf of CPUID, first subleaf.
#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe)] // safe in newer compilers than the oldest that is supported
fn cpuid(leaf: u32) -> core::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 CPU has CPUID.
    unsafe { core::arch::x86_64::__cpuid_count(leaf, 0) }
}

/// Reads XCR0, whose bits show which registers the kernel saves.
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

    #[test]
    fn words_that_were_passed_on_say_the_same() {
        let (basic, more, amd) = (cpuid(1), cpuid(7), cpuid(0x8000_0001));
        know(CpuidWords {
            basic_ecx: basic.ecx,
            leaf_7_ebx: more.ebx,
            leaf_7_ecx: more.ecx,
            amd_ecx: amd.ecx,
        });
        let (by_words, asked) = (detect(), ask());
        // Only a CPU of another maker without SSE4A may count as Intel's by the words alone.
        assert!(by_words.intel || !asked.intel);
        let without_maker = |features| format!("{:?}", Features { intel: false, ..features });
        assert_eq!(without_maker(by_words), without_maker(asked));
        // Zeros are not an answer: CPUID is executed as before.
        know(CpuidWords::default());
        assert!(known().is_none());
        assert_eq!(detect().intel, asked.intel);
    }
}
