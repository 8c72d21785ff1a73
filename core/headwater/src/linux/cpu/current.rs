//! The number of the CPU that this thread runs on: a hint that spreads threads over slots, never
//! relied upon.
//!
//! One load from the area that glibc (2.35 and later) registers with the kernel for restartable
//! sequences; the kernel keeps the CPU number there current. Without it, the vDSO's getcpu; without
//! that, some bits of the stack's address, which differ between threads.

#![allow(unsafe_code)]

use crate::linux::failpoint::{Force, forced};
use crate::linux::source::vdso::Vdso;
use core::ffi::c_void;
use core::ptr::null_mut;

type Getcpu = unsafe extern "C" fn(*mut u32, *mut u32, *mut c_void) -> i32;

/// The way to ask for the CPU's number.
#[derive(Clone, Copy)]
pub(crate) enum CpuHint {
    Rseq(Rseq),
    Getcpu(Getcpu),
    Stack,
}

impl CpuHint {
    pub(crate) fn find(vdso: Option<&Vdso>) -> CpuHint {
        if !forced(Force::NoRseq)
            && let Some(offset) = rseq_offset()
        {
            return CpuHint::Rseq(Rseq(offset + Rseq::CPU_ID));
        }
        if !forced(Force::NoGetcpu)
            && cfg!(target_arch = "x86_64")
            && let Some(function) = vdso.and_then(|vdso| vdso.function(c"__vdso_getcpu"))
        {
            // SAFETY: the symbol of this name has had this signature since it exists.
            return CpuHint::Getcpu(unsafe {
                core::mem::transmute::<*mut c_void, Getcpu>(function.as_ptr())
            });
        }
        CpuHint::Stack
    }

    /// Returns the CPU's number where one is available, else any number.
    pub(crate) fn get(self) -> u32 {
        let mut cpu = 0;
        match self {
            CpuHint::Rseq(rseq) => cpu = rseq.get(),
            CpuHint::Getcpu(getcpu) => {
                // SAFETY: writes one u32; the node and the cache are optional.
                unsafe { getcpu(&mut cpu, null_mut(), null_mut()) };
            }
            // Stacks of threads lie megabytes apart.
            CpuHint::Stack => cpu = ((&raw const cpu).addr() >> 20) as u32,
        }
        cpu
    }

    /// Returns the rseq area, if one is registered.
    pub(crate) fn rseq(self) -> Option<Rseq> {
        match self {
            CpuHint::Rseq(rseq) => Some(rseq),
            _ => None,
        }
    }
}

/// Offset of the rseq area's `cpu_id` from the thread pointer.
#[derive(Clone, Copy)]
pub(crate) struct Rseq(isize);

impl Rseq {
    /// `cpu_id` in `struct rseq`; `cpu_id_start` is before it.
    const CPU_ID: isize = 4;
    /// A placeholder for processes without an area, which never read it.
    pub(crate) const NONE: Rseq = Rseq(0);

    #[allow(dead_code)] // builds without sections
    /// Returns the offset of `cpu_id` from the thread pointer.
    #[inline(always)]
    pub(crate) fn offset(self) -> isize {
        self.0
    }

    #[inline(always)]
    pub(crate) fn get(self) -> u32 {
        load_from_thread_pointer(self.0)
    }
}

/// Returns the CPU's number by RDPID, which sections compare; the CPU has the instruction. Returns
/// None where there are no sections.
pub(crate) fn rdpid() -> Option<u32> {
    #[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
    {
        let number: u64;
        // SAFETY: callers know that the CPU has the instruction; it reads one register.
        unsafe { core::arch::asm!("rdpid {}", out(reg) number, options(nomem, nostack)) };
        Some(number as u32 & 0xFFF)
    }
    #[cfg(not(all(target_arch = "x86_64", not(any(miri, sanitized)))))]
    None
}

/// Returns the offset of the rseq area from the thread pointer, if glibc registered one.
///
/// `__rseq_offset` and `__rseq_size` are referenced weakly, so that this links and loads with an
/// older glibc or another C library, where their addresses are null.
fn rseq_offset() -> Option<isize> {
    if cfg!(miri) {
        return Some(0); // an interpreter's only CPU, so that the quick path is taken
    }
    let (offset, size): (*const isize, *const u32);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: loads two addresses from the global offset table.
    unsafe {
        core::arch::asm!(
            ".weak __rseq_offset",
            ".weak __rseq_size",
            "mov {offset}, qword ptr [rip + __rseq_offset@GOTPCREL]",
            "mov {size}, qword ptr [rip + __rseq_size@GOTPCREL]",
            offset = out(reg) offset, size = out(reg) size,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: loads two addresses from the global offset table.
    unsafe {
        core::arch::asm!(
            ".weak __rseq_offset",
            ".weak __rseq_size",
            "adrp {offset}, :got:__rseq_offset",
            "ldr {offset}, [{offset}, :got_lo12:__rseq_offset]",
            "adrp {size}, :got:__rseq_size",
            "ldr {size}, [{size}, :got_lo12:__rseq_size]",
            offset = out(reg) offset, size = out(reg) size,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        (offset, size) = (core::ptr::null(), core::ptr::null());
    }
    if offset.is_null() || size.is_null() {
        return None;
    }
    // SAFETY: constants of glibc, set before any code of ours runs. Size 0 means that registration
    // failed or is switched off (glibc.pthread.rseq=0).
    unsafe { (size.read() != 0).then(|| offset.read()) }
}

#[inline(always)]
fn load_from_thread_pointer(offset: isize) -> u32 {
    if cfg!(miri) {
        return 0;
    }
    let value: u32;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: an aligned u32 of this thread's rseq area.
    unsafe {
        core::arch::asm!("mov {value:e}, dword ptr fs:[{offset}]", value = out(reg) value,
            offset = in(reg) offset, options(nostack, preserves_flags, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: an aligned u32 of this thread's rseq area.
    unsafe {
        core::arch::asm!("mrs {at}, tpidr_el0", "ldr {value:w}, [{at}, {offset}]",
            at = out(reg) _, value = out(reg) value, offset = in(reg) offset,
            options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        value = offset as u32;
    }
    value
}

/// Returns the number of configured CPUs, which is the size of the pools.
///
/// `present`, not `possible`, which is 8,192 on some kernels; and not the CPUs of this process,
/// which may be allowed more later. Without /sys the highest CPU of the affinity mask.
pub(crate) fn configured() -> usize {
    if forced(Force::OneCpu) {
        return 1;
    }
    let mut text = [0; 256];
    crate::linux::guards::read_file(c"/sys/devices/system/cpu/present", &mut text)
        .and_then(last_of_list)
        .or_else(crate::linux::sys::cpus_in_affinity)
        .unwrap_or(1)
}

/// Returns one more than the last number of a list like `0-3,8-11`.
fn last_of_list(list: &[u8]) -> Option<usize> {
    let last = list.trim_ascii().rsplit(|byte| !byte.is_ascii_digit()).next()?;
    let number: usize = core::str::from_utf8(last).ok()?.parse().ok()?;
    number.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(last_of_list(b"0\n"), Some(1));
        assert_eq!(last_of_list(b"0-1\n"), Some(2));
        assert_eq!(last_of_list(b"0-3,8-11\n"), Some(12));
        assert_eq!(last_of_list(b"\n"), None);
        assert_eq!(last_of_list(b"0-18446744073709551615"), None);
    }

    #[test]
    fn every_way_to_ask_answers() {
        let vdso = Vdso::find();
        let cpus = configured() as u32;
        let hint = CpuHint::find(vdso.as_ref());
        if !matches!(hint, CpuHint::Stack) {
            assert!(hint.get() < cpus, "CPU {} of {cpus}", hint.get());
        }
        CpuHint::Stack.get();
    }
}
