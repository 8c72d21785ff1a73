//! The CPU's random instruction: RDRAND on x86-64, RNDR on arm64. On most CPUs all cores share one
//! unit that serves it, so measure it on several threads, too.
//!
//! RDSEED and RNDRRS are for seeding other generators: slower, and refusing when they run dry.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::{Absent, Implementation, ready};
use std::arch::asm;

pub(crate) const IMPLEMENTATION: Implementation = Implementation {
    #[cfg(target_arch = "x86_64")]
    name: "rdrand",
    #[cfg(target_arch = "aarch64")]
    name: "rndr",
    version: &crate::system::facts::microcode,
    has_modes: false,
    open: &|| {
        if !present() {
            return Err(Absent("this CPU has no random instruction".to_owned()));
        }
        ready(Instruction(()))
    },
};

#[cfg(target_arch = "x86_64")]
fn present() -> bool {
    std::arch::is_x86_feature_detected!("rdrand")
}

#[cfg(target_arch = "aarch64")]
fn present() -> bool {
    std::arch::is_aarch64_feature_detected!("rand")
}

/// The CPU's generator. It exists only where the CPU has the instruction.
struct Instruction(());

/// The makers advise ten attempts before the unit is thought broken.
const ATTEMPTS: u32 = 10;

impl Instruction {
    /// Executes the CPU's random instruction once, and returns `None` if the instruction gave no
    /// number. The code is in assembler because the intrinsic could not be inlined into loops that
    /// are compiled for any CPU.
    #[inline(always)]
    fn once(&self) -> Option<u64> {
        let (word, success): (u64, u8);
        // SAFETY: `open` has seen that the CPU has the instruction. It writes a register and the
        // flags and reads no memory.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                "rdrand {word}",
                "setc {success}",
                word = out(reg) word,
                success = out(reg_byte) success,
                options(nomem, nostack),
            );
        }
        // SAFETY: `open` has seen that the CPU has the instruction. It reads no memory, and writes
        // a register and the flag Z, which is set if it has nothing to give. The register is RNDR.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            let flag: u32;
            asm!(
                "mrs {word}, s3_3_c2_c4_0",
                "cset {flag:w}, ne",
                word = out(reg) word,
                flag = out(reg) flag,
                options(nomem, nostack),
            );
            success = flag as u8;
        }
        (success != 0).then_some(word)
    }
}

impl Generator for Instruction {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        for chunk in buf.chunks_mut(8) {
            let bytes = self.u64()?.to_ne_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
        Ok(())
    }

    #[inline]
    fn u32(&mut self) -> Result<u32, Refused> {
        Ok(self.u64()? as u32)
    }

    #[inline]
    fn u64(&mut self) -> Result<u64, Refused> {
        (0..ATTEMPTS).find_map(|_| self.once()).ok_or(Refused)
    }
}
