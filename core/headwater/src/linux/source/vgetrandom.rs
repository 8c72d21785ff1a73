//! The vDSO's getrandom (x86-64: Linux 6.11; arm64, loongarch: 6.12; riscv: 6.16).
//!
//! It is a ChaCha20 generator that runs here, not in the kernel. Its state lies in memory of ours;
//! the kernel keys it, and keys it anew whenever it reseeds. `lib/vdso/getrandom.c` in the kernel's
//! tree is the description: a state belongs to one caller at a time, may not straddle pages, and
//! lies in memory that the kernel may drop and that is zero in a forked child. A state of zeros is
//! a valid, unkeyed one.

#![allow(unsafe_code)]

use crate::linux::source::vdso::Vdso;
use core::ffi::{CStr, c_uint, c_void};
use core::mem::transmute;
use core::ptr::{self, NonNull};

#[cfg(target_arch = "aarch64")]
const NAME: Option<&CStr> = Some(c"__kernel_getrandom");
#[cfg(any(target_arch = "x86_64", target_arch = "riscv64", target_arch = "loongarch64"))]
const NAME: Option<&CStr> = Some(c"__vdso_getrandom");
/// Elsewhere the call returns its error in a flag of the CPU (powerpc) or has never been tried.
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "riscv64",
    target_arch = "loongarch64"
)))]
const NAME: Option<&CStr> = None;

type Function = unsafe extern "C" fn(*mut c_void, usize, c_uint, *mut c_void, usize) -> isize;

/// The function's description of its states (`struct vgetrandom_opaque_params`).
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Parameters {
    state_size: u32,
    mmap_prot: u32,
    mmap_flags: u32,
    reserved: [u32; 13],
}

/// The function, and the size of its state.
#[derive(Clone, Copy)]
pub(crate) struct Vgetrandom {
    function: Function,
    state_size: usize,
}

/// Offset of the reseed generation in a state. The offset is not ABI, so it is verified at set-up
/// and at every draw before anything relies on it (see `guards::generation`).
const GENERATION: usize = 128;

impl Vgetrandom {
    /// Returns the function, if this kernel has it and a state fits into `room` bytes.
    pub(crate) fn find(vdso: &Vdso, room: usize) -> Option<Vgetrandom> {
        let function: NonNull<c_void> = vdso.function(NAME?)?;
        // SAFETY: the symbol of this name has had this signature since it exists.
        let function: Function = unsafe { transmute(function.as_ptr()) };
        let mut parameters = Parameters::default();
        let out = (&raw mut parameters).cast();
        // SAFETY: with no buffer and this length the function fills in its parameters and does
        // nothing else.
        let answer = unsafe { function(ptr::null_mut(), 0, 0, out, usize::MAX) };
        let state_size = parameters.state_size as usize;
        // glibc insists on 0 as well: a positive answer is an errno on a kernel that lacks the
        // feature.
        let fits = (GENERATION + 8..=room).contains(&state_size);
        (answer == 0 && fits).then_some(Vgetrandom { function, state_size })
    }

    /// Fills `len` bytes, at most 256; returns false unless all of them were written.
    ///
    /// May make the getrandom(2) system call: at the first use of a state, and after each reseed.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes. `state` points to [`state_size`](Self::state_size)
    /// bytes within one page, which is not in use elsewhere during the call, zero or left there by
    /// an earlier call.
    #[inline]
    pub(crate) unsafe fn fill(&self, dst: *mut u8, len: usize, state: *mut u8) -> bool {
        // SAFETY: the function writes `len` bytes at `dst`, and keeps to the size of a state that
        // it reported itself in `find`; the caller has both, and uses the state nowhere else
        // meanwhile. Zero flags: the kernel is seeded by now, so it does not block.
        let answer = unsafe { (self.function)(dst.cast(), len, 0, state.cast(), self.state_size) };
        answer == len as isize
    }

    /// Returns the generation that the state was keyed under; 0 if it is not keyed, or was dropped
    /// since.
    ///
    /// # Safety
    ///
    /// The promise for `state` in [`fill`](Self::fill).
    #[inline]
    pub(crate) unsafe fn generation(&self, state: *const u8) -> u64 {
        // SAFETY: `find` made sure that a state reaches this far; states are aligned to 16 bytes.
        // The kernel may drop the page at any time, hence volatile.
        unsafe { state.add(GENERATION).cast::<u64>().read_volatile() }
    }
}
