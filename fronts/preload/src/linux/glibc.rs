//! Functions of glibc that other C libraries lack. The references are weak, because a strong one
//! would keep programs of musl from starting.

use core::ffi::{CStr, c_char};

/// Returns the address of a function, or 0 where no library of the program has it.
macro_rules! weak {
    ($symbol:literal) => {{
        let address: usize;
        // SAFETY: reads an entry of this library's global offset table, which the dynamic linker
        // has filled before it runs any code of this library.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("mov {}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                out(reg) address,
                options(nostack, readonly, preserves_flags),
            );
        }
        // SAFETY: the same table, read by this CPU's two instructions for it. They write one
        // register and no memory.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("adrp {0}, :got:", $symbol),
                concat!("ldr {0}, [{0}, :got_lo12:", $symbol, "]"),
                out(reg) address,
                options(nostack, readonly, preserves_flags),
            );
        }
        address
    }};
}
pub(super) use weak;

/// Returns the words of CPUID that glibc has read (2.33 and later).
#[cfg(target_arch = "x86_64")]
pub(super) fn cpuid_words() -> Option<headwater::internal::CpuidWords> {
    /// `struct cpuid_feature` of `<sys/platform/x86.h>`; registers in the order EAX, EBX, ECX, EDX.
    #[repr(C)]
    struct Leaf {
        read: [u32; 4],
        active: [u32; 4],
    }
    type GetLeaf = unsafe extern "C" fn(u32) -> *const Leaf;
    // The numbers of `CPUID_INDEX_1`, `CPUID_INDEX_7` and `CPUID_INDEX_80000001`.
    const BASIC: u32 = 0;
    const LEAF_7: u32 = 1;
    const AMD: u32 = 2;
    let address = weak!("__x86_get_cpuid_feature_leaf");
    // SAFETY: the address of a weak symbol, or null, which is `None`.
    let get = unsafe { core::mem::transmute::<usize, Option<GetLeaf>>(address) }?;
    // The words as read. The active ones lack what the administrator hides from glibc's own string
    // functions (GLIBC_TUNABLES).
    // SAFETY: returns a place of glibc's own for every number; an unknown one is all zeros.
    let [basic, more, amd] = [BASIC, LEAF_7, AMD].map(|leaf| unsafe { (*get(leaf)).read });
    let ([_, _, basic_ecx, _], [_, leaf_7_ebx, leaf_7_ecx, _], [_, _, amd_ecx, _]) =
        (basic, more, amd);
    Some(headwater::internal::CpuidWords { basic_ecx, leaf_7_ebx, leaf_7_ecx, amd_ecx })
}

/// Returns true if the C library's own getrandom asks the vDSO, where the kernel has it: glibc 2.41
/// and later.
pub(super) fn asks_vdso() -> bool {
    type Version = unsafe extern "C" fn() -> *const c_char;
    let address = weak!("gnu_get_libc_version");
    // SAFETY: the address of a weak symbol, or null, which is `None`.
    let version = unsafe { core::mem::transmute::<usize, Option<Version>>(address) };
    let Some(version) = version else { return false };
    // SAFETY: returns a string that lives as long as the process.
    let version = unsafe { CStr::from_ptr(version()) }.to_bytes();
    let mut parts = version.split(|byte| *byte == b'.').map(number);
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    (major, minor) >= (2, 41)
}

/// Returns the decimal number at the start of `digits`.
fn number(digits: &[u8]) -> u32 {
    digits
        .iter()
        .map_while(|byte| byte.is_ascii_digit().then(|| u32::from(byte - b'0')))
        .fold(0, |number, digit| number.saturating_mul(10).saturating_add(digit))
}
