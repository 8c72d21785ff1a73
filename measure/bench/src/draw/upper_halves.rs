//! Clean and dirty upper halves of vector registers, before a draw.

/// The registers' upper halves are in one of two states when a draw begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halves {
    Clean,
    Dirty,
}

impl Halves {
    pub(crate) const BOTH: [Halves; 2] = [Halves::Clean, Halves::Dirty];

    /// Returns the note of the rows with this state, which a target looks for.
    pub(crate) const fn note(self) -> &'static str {
        match self {
            Halves::Clean => CLEAN,
            Halves::Dirty => DIRTY,
        }
    }
}

/// Rows with clean upper halves have this note, and are the baseline.
pub(crate) const CLEAN: &str = "clean upper halves";
/// Rows with dirty upper halves have this note.
pub(crate) const DIRTY: &str = "dirty upper halves";

/// Reports whether this CPU has registers with upper halves, and instructions for integers in them.
pub(crate) fn exist() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Writes a register of 256 bits, and leaves its upper half dirty.
#[inline(always)]
pub(crate) fn make_dirty() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the case is planned on CPUs with AVX2 only. The compiler keeps nothing in a register
    // that a C function may change.
    unsafe {
        std::arch::asm!(
            "vpcmpeqd ymm15, ymm15, ymm15",
            clobber_abi("C"),
            options(nostack, preserves_flags)
        );
    }
}

/// Writes the same register, and then clears all upper halves.
#[inline(always)]
pub(crate) fn clean() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the reasons are those of `make_dirty`.
    unsafe {
        std::arch::asm!(
            "vpcmpeqd ymm15, ymm15, ymm15",
            "vzeroupper",
            clobber_abi("C"),
            options(nostack, preserves_flags)
        );
    }
}
