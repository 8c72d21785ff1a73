//! Puts: the page that a refill has filled becomes the one that this CPU's draws take from.
//!
//! The obvious put writes the keystream into the page that draws take from. It was built, and it
//! served public constants: a child in shared memory, for which the kernel aborts nothing, could be
//! preempted in the middle of those 3.5 KiB, lose its keys to a page drop, continue, and write AES
//! under keys of zeros over a page that another thread had put meanwhile. Comparing more values
//! only makes such a window smaller. So no section writes a keystream at all: a refill fills a page
//! that it alone owns, and a put exchanges it for the CPU's page by one instruction.

use super::{CpuLine, Exchanged, Outcome};
use crate::linux::pool::layout::{CAPACITY, GENERATION, MARKER};
use crate::linux::pool::section_switch::Control;
use crate::linux::process::Process;
use core::mem::offset_of;

/// A page to be put, with what the put compares.
#[repr(C)]
pub(crate) struct Put {
    /// [`Control::stamp`](Control) before the key was drawn.
    pub(crate) stamp: u64,
    /// The number of the page's refill, which is its tag.
    pub(crate) number: u64,
    /// Bytes that a line must have for the put to be superfluous.
    pub(crate) need: u32,
    /// 1 if the page holds an expanded hedge key.
    pub(crate) hedge_key: u32,
    /// The CPU on which the refill began. A page that is put by another CPU would leave its node.
    pub(crate) cpu: u32,
}

/// Leaves if the line already has what this put would store: another thread was quicker.
///
/// The cursor may name a page that the line has lost, if a draw that nothing aborts stored it. It
/// may even be the very one that is to be put, with the number that the line has since an attempt
/// which was aborted. So the line must own the page as well; otherwise this refill would keep a
/// page that draws take from.
macro_rules! unless_current {
    () => {
        concat!(
            "mov {u}, qword ptr [{ln}]\n",
            "mov {pg}, {u}\n",
            "and {pg}, -4096\n",
            "jz 21f\n",
            "cmp {pg}, qword ptr [{ln} + {line_page}]\n",
            "jne 21f\n",
            "and {u:e}, 4095\n",
            "cmp {u:e}, dword ptr [{order} + {need}]\n",
            "jb 21f\n",
            "mov {n}, qword ptr [{ln} + {number}]\n",
            "cmp qword ptr [{pg}], {n}\n",
            "jne 21f\n",
            "mov {u}, qword ptr [{ar} + {kernel}]\n",
            "mov {u}, qword ptr [{u}]\n",
            "cmp {u}, qword ptr [{pg} + {generation}]\n",
            "jne 21f\n",
            "mov {u}, qword ptr [{ar} + {clock}]\n",
            "mov {u}, qword ptr [{u}]\n",
            "cmp {u}, qword ptr [{pg} + {marker}]\n",
            "je 6b\n",
            "21:\n",
        )
    };
}

/// Exchanges the pages and stores the cursor.
///
/// The old cursor is cleared first. If it stayed, an abort after the exchange would leave it in a
/// line that has lost its page; the slot's next refill would bring that page back, and an abort of
/// its put after the number would let draws take from a page that is not the line's. Once the
/// cursor is 0, nothing can be drawn until the new one is there, whatever aborts the section.
///
/// An abort after the exchange must not try again, because `{w}` is the old page then. `{st}` says
/// so before the exchange, not after it, because the abort could come in between.
///
/// RDPID is compared again for children in shared memory. One that was moved to another CPU would
/// otherwise store a full cursor beside a thread that draws from this line.
macro_rules! exchange {
    () => {
        concat!(
            "mov {n}, qword ptr [{order} + {order_number}]\n",
            "mov {u:e}, dword ptr [{order} + {order_hedge}]\n",
            "mov qword ptr [{ln}], 0\n",
            "mov qword ptr [{ln} + {number}], {n}\n",
            "lea {n}, [{w} + {capacity}]\n",
            "mov dword ptr [{ln} + {hedge}], {u:e}\n",
            "mov {st:e}, 1\n",
            "xchg qword ptr [{ln} + {line_page}], {w}\n",
            on_this_cpu!(),
            "inc qword ptr [{ln} + {puts}]\n",
            "mov qword ptr [{ln}], {n}\n",
            "3: xor {st:e}, {st:e}\n",
            "7: mov qword ptr fs:[{rs} + 4], 0\n",
        )
    };
}

/// Puts the page at `work`, which a refill has filled and tagged, for the draws of this CPU.
///
/// The stamp is compared in one section with the exchange. If a fork or a `discard` comes before
/// the comparison, the page is not put. If a `discard` comes after it, it drops this page with all
/// others, so the page has lost its tag when a draw looks at it; and a fork that comes after it
/// leaves the child a line without a page.
///
/// The exchange is atomic, so each page has one owner at any instant, even if the kernel aborts
/// nothing: a line, a slot's holder, or the slot itself.
///
/// # Safety
///
/// The caller owns the page at `work`, which holds a complete page whose tag is `order.number`,
/// and the process was in section mode a moment ago.
#[inline(never)]
pub(crate) unsafe fn put(process: &Process, work: *mut u8, order: &Put) -> Exchanged {
    let (taken, status): (*mut u8, u32);
    // SAFETY: the process is in section mode, so the rseq area is there, the CPU has RDPID, and
    // lines are mapped for ever; so is each page that a line has. The section writes the line
    // alone, which other code reads through atomics alone. `order` is a structure of the layout
    // that the offsets name.
    unsafe {
        section!(process, status, [
            "cmp {t:e}, dword ptr [{order} + {order_cpu}]",
            "jne 5b",
            // Before the look at the line: a thread that is never here would find it full.
            "rdpid {u}",
            "and {u:e}, 0xFFF",
            "cmp {u:e}, {t:e}",
            "jne 8b",
            unless_current!(),
            "mov {pg}, qword ptr [{ar} + {control}]",
            "mov {u}, qword ptr [{order} + {order_stamp}]",
            "cmp qword ptr [{pg} + {stamp}], {u}",
            "jne 5b",
            exchange!(),
            ],
            u = out(reg) _, w = inout(reg) work => taken,
            order = in(reg) core::ptr::from_ref::<Put>(order),
            kernel = const Process::GENERATION, clock = const Process::CLOCK,
            stamp = const offset_of!(Control, stamp),
            line_page = const offset_of!(CpuLine, page),
            hedge = const offset_of!(CpuLine, hedge_key), puts = const offset_of!(CpuLine, puts),
            generation = const GENERATION, marker = const MARKER,
            order_stamp = const offset_of!(Put, stamp),
            order_number = const offset_of!(Put, number),
            order_hedge = const offset_of!(Put, hedge_key),
            order_cpu = const offset_of!(Put, cpu),
            need = const offset_of!(Put, need),
            capacity = const CAPACITY,
            options(nostack),
        );
    }
    Exchanged {
        page: taken,
        outcome: match status {
            0 => Outcome::Put,
            2 => Outcome::Superfluous,
            3 => Outcome::Elsewhere,
            _ => Outcome::GivenUp,
        },
    }
}
