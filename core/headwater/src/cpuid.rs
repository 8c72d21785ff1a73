//! The words of CPUID, in the form in which another library passes them on.

/// The words of CPUID that set-up needs, where another library has read them already. The preload
/// library has them from glibc.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuidWords {
    /// Leaf 1, ECX.
    pub basic_ecx: u32,
    /// Leaf 7, EBX.
    pub leaf_7_ebx: u32,
    /// Leaf 7, ECX.
    pub leaf_7_ecx: u32,
    /// Leaf 0x80000001, ECX.
    pub amd_ecx: u32,
}
