//! The restartable sequences of the running program, and breakpoints in them.
//!
//! A trap at each step aborts a sequence, so steps never come further than its first instruction. A
//! breakpoint does: the sequence runs up to it, and then the signal aborts it.

use iced_x86::{Decoder, DecoderOptions, Instruction};
use std::ffi::c_void;

/// A descriptor of a restartable sequence, as `struct rseq_cs` of Linux lays it out.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Section {
    version: u32,
    flags: u32,
    start: u64,
    len: u64,
    abort: u64,
}

impl Section {
    /// Returns the descriptors that the linker has gathered in this program.
    pub fn all() -> &'static [Section] {
        let (first, end): (*const Section, *const Section);
        // SAFETY: loads two addresses from the global offset table; null in a program without
        // sections.
        unsafe {
            std::arch::asm!(
                ".weak __start___rseq_cs",
                ".weak __stop___rseq_cs",
                "mov {first}, qword ptr [rip + __start___rseq_cs@GOTPCREL]",
                "mov {end}, qword ptr [rip + __stop___rseq_cs@GOTPCREL]",
                first = out(reg) first, end = out(reg) end,
                options(nostack, preserves_flags),
            );
        }
        if first.is_null() {
            return &[];
        }
        let len = (end.addr() - first.addr()) / size_of::<Section>();
        // SAFETY: the linker's array of descriptors, which nothing writes to.
        unsafe { std::slice::from_raw_parts(first, len) }
    }

    /// Returns the address to which the kernel sends a thread whose section it aborts.
    pub fn abort(&self) -> u64 {
        self.abort
    }

    /// Returns the version and the flags, which Linux wants to be 0.
    pub fn head(&self) -> [u32; 2] {
        [self.version, self.flags]
    }

    /// Returns the four bytes before the abort handler, which are the registered signature.
    pub fn signature(&self) -> u32 {
        let before: *const u32 = std::ptr::with_exposed_provenance(self.abort as usize - 4);
        // SAFETY: code of this program: the handler and the signature before it are in one
        // section of the file. The address need not be aligned.
        unsafe { before.read_unaligned() }
    }

    /// Returns the instructions between the start and the commit, the latter's included.
    pub fn instructions(&self) -> Vec<Instruction> {
        let start: *const u8 = std::ptr::with_exposed_provenance(self.start as usize);
        // SAFETY: code of this program.
        let code = unsafe { std::slice::from_raw_parts(start, self.len as usize) };
        Decoder::with_ip(64, code, self.start, DecoderOptions::NONE).into_iter().collect()
    }
}

/// A breakpoint instruction in place of one byte of this program's code, until it is dropped.
#[derive(Debug)]
pub struct Breakpoint {
    at: *mut u8,
    byte: u8,
}

impl Breakpoint {
    /// Sets a breakpoint at an instruction. Returns None if the system lets no code be written.
    ///
    /// # Safety
    ///
    /// `at` is the first byte of an instruction. Other threads do not run it while it is written.
    pub unsafe fn set(at: u64) -> Option<Breakpoint> {
        const INT3: u8 = 0xCC;
        let at: *mut u8 = std::ptr::with_exposed_provenance_mut(at as usize);
        let page = at.map_addr(|at| at & !4095);
        let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        // SAFETY: pages of code stay readable and executable. The instruction may end in the next
        // page, but only its first byte is written.
        unsafe {
            if libc::mprotect(page.cast::<c_void>(), 4096, access) != 0 {
                return None;
            }
            let byte = at.read();
            at.write_volatile(INT3);
            Some(Breakpoint { at, byte })
        }
    }

    /// Returns the address of the instruction.
    pub fn address(&self) -> u64 {
        self.at.addr() as u64
    }

    /// Writes the instruction back. Async-signal-safe; may be called again.
    pub fn clear(&self) {
        // SAFETY: `set` made the page writable, and the byte is the instruction's own.
        unsafe { self.at.write_volatile(self.byte) };
    }
}

impl Drop for Breakpoint {
    fn drop(&mut self) {
        self.clear();
    }
}
