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
//! * **A draw** stores the smaller cursor before it reads. An abort after that loses the bytes for
//!   ever.
//! * **A put** exchanges the CPU's page for one that a refill has filled elsewhere. A section never
//!   writes a keystream, so nothing can stop in the middle of one and continue over a page that
//!   draws take from.
//! * **A fork** clears [`Control`](crate::linux::pool::section_switch::Control), the lines and the
//!   pages in the child. A put compares the stamp: a frame that began before a fork, or before
//!   `discard`, holds a page that must not be served, and its stamp is gone.
//! * **A dropped page** loses its tag. A draw compares the tag before and after its copy, for a CPU
//!   may see the old page first and the new one then. Generation and marker lie beside the tag, so
//!   they are those of this page even if it leaves the line in the middle of the draw.
//!
//! A child in shared memory (vfork, or clone without a thread pointer of its own) reads its
//! parent's rseq area, and the kernel aborts nothing for it. So on another CPU than the area names
//! it would draw from a line beside the sections of that CPU. Three things keep it apart:
//!
//! * **RDPID**, read between the load and the store of the cursor, detects a thread that runs
//!   elsewhere than its area says. It leaves before it claims.
//! * **Erasure.** On the right CPU, too, the child may be preempted between load and store, and
//!   then claims bytes that another draw has claimed. But that draw has erased them, because each
//!   word is erased by the draw that reads it. So the child finds zeros.
//! * **The zero check.** Each word of a copy is compared with zero, which voids the draw and
//!   switches sections off for the process.
//!
//! One repeat is left. If the child is moved to another CPU between RDPID and the store, it claims
//! what a thread of the first CPU may be claiming at the same instant, and both can read before
//! either has erased. SECURITY.md, "Children in shared memory", has the size of this risk and three
//! ways out. The same holds for a kernel that forgets to abort, as Linux 6.19 did on arm64.

#![allow(unsafe_code)]

use crate::linux::guards::Seen;
use crate::linux::pool::layout::{GENERATION, MARKER, PAGE, TAG};
use crate::linux::pool::refused::Refused;
use crate::linux::pool::section_switch::NoSections;
use crate::linux::process::Process;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

pub(crate) const AVAILABLE: bool = true;

/// The state of a CPU's draws, read and written by sections of that CPU alone.
#[repr(C, align(128))]
pub(crate) struct CpuLine {
    /// The page that draws take from, plus the bytes left in it (a multiple of 8): the bytes end at
    /// this address plus `SERVED`. 0 if there is nothing to draw.
    cursor: AtomicUsize,
    /// Number of the last put. It equals the page's tag, or the page is not the line's.
    number: AtomicU64,
    /// The page that this line owns; null before the first put. Puts exchange it, and nothing else
    /// stores it, so a page has one owner even if a cursor is stored where the kernel should have
    /// aborted.
    page: AtomicPtr<u8>,
    /// Pages that were put, for the status. Counted in the section, where that takes no locked
    /// instruction.
    puts: AtomicU64,
    /// 1 if the last put left a hedge key in the page.
    hedge_key: AtomicU32,
}

/// The page that a refill owns after a put, and what became of its own.
pub(crate) struct Exchanged {
    /// The refill's page if nothing was exchanged, else the one that the CPU had; null if it had
    /// none.
    pub(crate) page: *mut u8,
    pub(crate) outcome: Outcome,
}

/// The outcome of a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The page is there for draws.
    Put,
    /// The CPU has bytes enough.
    Superfluous,
    /// RDPID does not return this CPU: the thread is a child in shared memory, and moved.
    Elsewhere,
    /// The section was aborted too often, the thread is on another CPU than the refill began on, or
    /// the stamp is another one.
    GivenUp,
}

/// The descriptor, the abort handler and the first instruction of a section.
///
/// The section lies between the labels 2 and 3. Every way out passes label 7, which clears
/// `rseq_cs`: a pointer to a descriptor that `dlclose` unmaps would be a fault at the thread's next
/// preemption. `{rs}` is the offset of `cpu_id` in the rseq area from the thread pointer, and
/// `rseq_cs` is 4 after it. The labels 2 to 8, 19, 20 and 90 are taken.
///
/// The four bytes before label 4 are the signature that glibc registered. The three bytes before
/// those make one undefined instruction (`ud1`) of all seven, so that a disassembler which reads
/// the function from its start does not lose its place.
///
/// The handler stands in the function, which jumps over it, and not in a section of its own, where
/// it would cost a draw nothing. A signal that arrives in a section finds the thread at the
/// handler, because the kernel has moved it there before it makes the signal's frame. An unwinder
/// then looks for the unwind information of that address. But only the compiler writes such
/// information, and only for the function that holds the assembly. Outside it a profiler lost two
/// samples of three, a crash report ended at the handler, and a cancelled thread skipped its
/// cleanup handlers. Inside it the information is right, because the block leaves the stack pointer
/// alone (`nostack`). The jump leads to a boundary of 16 bytes; elsewhere a word took 0.2 ns longer
/// on Zen 3.
macro_rules! enter {
    () => {
        concat!(
            ".pushsection __rseq_cs, \"aw\", @progbits\n",
            ".balign 32\n",
            "90: .long 0, 0\n",
            ".quad 2f, 3f - 2f, 4f\n",
            ".popsection\n",
            "jmp 19f\n",
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
            ".balign 16\n",
            "19: mov {st:e}, 8\n",
            "20: lea {t}, [rip + 90b]\n",
            "mov qword ptr fs:[{rs} + 4], {t}\n",
            "2:\n",
        )
    };
}

/// Finds the line of this CPU, or leaves. The CPU's number is in `{t}` afterwards.
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
    let left = line.map_or(0, CpuLine::left);
    match status {
        1 => Refused::Empty,
        2 => Refused::Torn(left),
        _ => {
            process.switch_sections_off(NoSections::Tripped);
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

    /// Returns the bytes left. Outside a section this is a hint, old at the next instant.
    #[inline(always)]
    pub(crate) fn left(&self) -> u32 {
        (self.cursor.load(Ordering::Relaxed) % PAGE) as u32
    }

    /// Returns the page of this CPU; None before the first put. It may be exchanged at any instant,
    /// so only its bytes' own guards say what they are worth.
    pub(crate) fn page(&self) -> Option<NonNull<u8>> {
        NonNull::new(self.page.load(Ordering::Relaxed))
    }

    /// Returns how many bytes are left of a page that a guard has made void; 0 if the page is good.
    ///
    /// For the counters alone: sections change what is read here at any instant.
    pub(crate) fn void_bytes(&self, process: &Process) -> u32 {
        let Some(page) = self.page() else { return 0 };
        // SAFETY: a page that a line has stays mapped, and these words of it are aligned. Other
        // code uses them as atomics, or in sections.
        let word = |at: usize| unsafe { AtomicU64::from_ptr(page.as_ptr().add(at).cast()) };
        let word = |at: usize| word(at).load(Ordering::Relaxed);
        let seen = Seen { generation: word(GENERATION), marker: word(MARKER) };
        let is_void = word(TAG) != self.number.load(Ordering::Relaxed) || seen != process.guards();
        if is_void { self.left() } else { 0 }
    }

    /// Returns the number of pages that were put in this process.
    pub(crate) fn puts(&self) -> u64 {
        self.puts.load(Ordering::Relaxed)
    }

    /// Returns whether the page was ever put in this process.
    pub(crate) fn is_used(&self) -> bool {
        self.number.load(Ordering::Relaxed) != 0
    }
}
