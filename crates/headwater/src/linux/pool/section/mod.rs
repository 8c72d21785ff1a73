//! Draws and refills of a CPU's own page inside a restartable sequence (rseq(2), Linux 4.18).
//!
//! A restartable sequence is a stretch of instructions that the kernel restarts if the thread is
//! preempted, migrated or receives a signal inside it. So no two sections ever overlap on one CPU,
//! and a page that only sections of its CPU touch needs no lock: plain loads and stores are enough,
//! whatever the number of threads. The design follows the per-CPU lists of tcmalloc and librseq;
//! their `commit` is one store at the end, whereas a draw claims its bytes first, because bytes
//! cannot be returned.
//!
//! The proofs, step by step, are in DESIGN.md, "Why may a draw go without a lock?". In short:
//!
//! * **A draw** stores the smaller count before it reads. An abort after that loses the bytes for
//!   ever.
//! * **A put** makes the line worthless first (count 0) and stores the new count last. Between the
//!   two it writes the keystream into the page, so that no byte is staged anywhere else.
//! * **A fork** clears [`Control`](crate::linux::pool::section_switch::Control), the lines and the
//!   pages in the child. A put compares the stamp behind its last byte: a frame that began before a
//!   fork, or before `discard`, holds a key that must not be served, and its stamp is gone.
//! * **A dropped page** loses its tag. A draw compares the tag before and after its copy, for a CPU
//!   may see the old page first and the new one then. A put compares the tag of the page that it
//!   works in.
//!
//! A child in shared memory (vfork, or clone without a thread pointer of its own) reads its
//! parent's rseq area, and the kernel aborts nothing for it. Three things keep such a child apart:
//! RDPID, read between the load and the store of the count, detects a thread that runs on another
//! CPU than the area says; each word is erased by the draw that reads it, so that the second reader
//! finds zeros; and each word of a copy is compared with zero. A zero voids the draw and switches
//! sections off for the process. The same holds for a kernel that forgets to abort, as Linux 6.19
//! did on arm64.

#![allow(unsafe_code)]

use crate::linux::guards::Seen;
use crate::linux::pool::layout::{CAPACITY, DATA};
use crate::linux::pool::refused::Refused;
use crate::linux::process::Process;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

pub(crate) const AVAILABLE: bool = true;

/// The state of a CPU's page, read and written by sections of that CPU alone.
#[repr(C, align(128))]
pub(crate) struct CpuLine {
    /// Bytes left; a multiple of 8.
    left: AtomicU32,
    /// 1 if the last put left a hedge key in the page.
    hedge_key: AtomicU32,
    /// Number of the last put. It equals the page's tag, or the page is not the line's.
    number: AtomicU64,
    /// The kernel's reseed generation before the page's key was drawn.
    generation: AtomicU64,
    /// VMClock's marker before the page's key was drawn.
    marker: AtomicU64,
}

/// The descriptor, the abort handler and the first instruction of a section.
///
/// The section lies between the labels 2 and 3. Every way out passes label 7, which clears
/// `rseq_cs`: a pointer to a descriptor that `dlclose` unmaps would be a fault at the thread's next
/// preemption. `{rs}` is the offset of `cpu_id` in the rseq area from the thread pointer, and
/// `rseq_cs` is 4 behind it. The four bytes before label 4 are the signature that glibc registered.
macro_rules! enter {
    () => {
        concat!(
            ".pushsection __rseq_cs, \"aw\", @progbits\n",
            ".balign 32\n",
            "90: .long 0, 0\n",
            ".quad 2f, 3f - 2f, 4f\n",
            ".popsection\n",
            ".pushsection .text.headwater_abort, \"ax\", @progbits\n",
            ".byte 0x0f, 0xb9, 0x3d\n",
            ".long 0x53053053\n",
            "4: sub {st:e}, 1\n",
            "jnz 20f\n",
            "5: mov {st:e}, 1\n",
            "jmp 7f\n",
            "6: mov {st:e}, 2\n",
            "jmp 7f\n",
            "8: mov {st:e}, 3\n",
            "jmp 7f\n",
            ".popsection\n",
            "mov {st:e}, 8\n",
            "20: lea {t}, [rip + 90b]\n",
            "mov qword ptr fs:[{rs} + 4], {t}\n",
            "2:\n",
        )
    };
}

/// Finds the line and the page of this CPU, or leaves. Leaves the CPU's number in `{t}`.
macro_rules! find {
    () => {
        concat!(
            "mov {t:e}, dword ptr fs:[{rs}]\n",
            "mov {pg}, qword ptr [{ar} + {control}]\n",
            "cmp {t:e}, dword ptr [{pg} + {cpus}]\n",
            "jae 5b\n",
            "mov {ln:e}, {t:e}\n",
            "shl {ln}, 7\n",
            "add {ln}, qword ptr [{ar} + {lines}]\n",
            "mov {pg:e}, {t:e}\n",
            "shl {pg}, 12\n",
            "add {pg}, qword ptr [{ar} + {pages}]\n",
        )
    };
}

/// Leaves if this thread does not run on the CPU in `{t}`: it is a child in shared memory.
macro_rules! on_this_cpu {
    () => {
        concat!("rdpid {u}\n", "and {u:e}, 0xFFF\n", "cmp {u:e}, {t:e}\n", "jne 5b\n",)
    };
}

/// One section: its text, its operands, and those that all sections share.
macro_rules! section {
    ($process:expr, $st:ident, [$($text:expr),* $(,)?], $($operands:tt)*) => {
        core::arch::asm!(
            enter!(), find!(), $($text,)*
            ar = in(reg) core::ptr::from_ref::<Process>($process),
            rs = in(reg) $process.rseq.offset(),
            st = out(reg) $st, t = out(reg) _, pg = out(reg) _, ln = out(reg) _,
            n = out(reg) _,
            control = const Process::CONTROL, lines = const Process::LINES,
            pages = const Process::PAGES,
            cpus = const offset_of!(Control, cpus),
            number = const offset_of!(CpuLine, number),
            $($operands)*
        )
    };
}

mod put;
mod take;

pub(crate) use put::{Put, put};
pub(crate) use take::{take_block, take_blocks, take_word};

/// The first byte behind the ones that are served.
const END: usize = DATA + CAPACITY;

/// Turns the status of a section into a result.
#[inline(always)]
fn outcome(process: &Process, status: u32) -> Result<(), Refused> {
    match status {
        0 => Ok(()),
        _ => Err(refused_by(process, status)),
    }
}

#[cold]
#[inline(never)]
fn refused_by(process: &Process, status: u32) -> Refused {
    // For the counters alone: another thread of this CPU may have changed it by now.
    let line = process.sections.line(process.rseq.get());
    let left = line.map_or(0, |line| line.left.load(Ordering::Relaxed));
    match status {
        1 => Refused::Empty,
        2 => Refused::Torn(left),
        _ => {
            process.switch_sections_off();
            Refused::Zeros(left)
        }
    }
}

impl CpuLine {
    /// Returns whether the last put left a hedge key in the page.
    #[inline(always)]
    pub(crate) fn has_hedge_key(&self) -> bool {
        self.hedge_key.load(Ordering::Relaxed) != 0
    }

    /// Returns how many bytes are left of a page that a guard has made void; 0 if the page is good.
    ///
    /// For the counters alone: sections change what is read here at any instant.
    pub(crate) fn void_bytes(&self, process: &Process, tag: u64) -> u32 {
        let seen = Seen {
            generation: self.generation.load(Ordering::Relaxed),
            marker: self.marker.load(Ordering::Relaxed),
        };
        let is_void = tag != self.number.load(Ordering::Relaxed) || seen != process.guards();
        if is_void { self.left.load(Ordering::Relaxed) } else { 0 }
    }

    /// Returns whether the page was ever put in this process.
    pub(crate) fn is_used(&self) -> bool {
        self.number.load(Ordering::Relaxed) != 0
    }
}
