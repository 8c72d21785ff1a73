//! Puts: a page's keystream is made where it will be served, inside the section.

use super::CpuLine;
use crate::linux::cipher::Backend;
use crate::linux::cipher::x86::CONSTANTS;
use crate::linux::cipher::x86::aesni::{clear_128, load_128, store_128, strip_128};
use crate::linux::cipher::x86::vaes256::{clear_256, load_256, store_256, strip_256};
use crate::linux::cipher::x86::vaes512::{clear_512, load_512, store_512, strip_512};
use crate::linux::pool::layout::{CAPACITY, PAGE, ROUND_KEYS, STAGED_KEYS, STREAM};
use crate::linux::pool::section_switch::Control;
use crate::linux::process::Process;
use core::mem::offset_of;

/// A page to be put, in the order in which the assembly reads it.
#[repr(C)]
pub(crate) struct Put {
    /// [`Control::stamp`](Control) before the key was drawn.
    pub(crate) stamp: u64,
    /// The reseed generation before the key was drawn.
    pub(crate) generation: u64,
    /// VMClock's marker before the key was drawn.
    pub(crate) marker: u64,
    /// The tag of the work page, whose round keys the put reads.
    pub(crate) work_number: u64,
    /// Bytes that a line must have for the put to be superfluous.
    pub(crate) need: u32,
    /// 1 if the work page holds an expanded hedge key as well.
    pub(crate) hedge_key: u32,
}

/// Leaves if the line already has what this put would store: another thread was quicker.
macro_rules! unless_current {
    () => {
        concat!(
            "mov {n}, qword ptr [{ln} + {number}]\n",
            "mov {u:e}, dword ptr [{ln}]\n",
            "cmp {u:e}, dword ptr [{order} + {need}]\n",
            "jb 21f\n",
            "cmp qword ptr [{pg}], {n}\n",
            "jne 21f\n",
            "mov {u}, qword ptr [{ar} + {kernel}]\n",
            "mov {u}, qword ptr [{u}]\n",
            "cmp {u}, qword ptr [{ln} + {generation}]\n",
            "jne 21f\n",
            "mov {u}, qword ptr [{ar} + {clock}]\n",
            "mov {u}, qword ptr [{u}]\n",
            "cmp {u}, qword ptr [{ln} + {marker}]\n",
            "je 5b\n",
            "21:\n",
        )
    };
}

/// Makes the line worthless, then numbers line and page.
///
/// The count comes first: whatever aborts the section from here on leaves nothing to draw. The tag
/// comes before the bytes: a page that is dropped in between has lost it, whatever is written
/// later.
macro_rules! begin_page {
    () => {
        concat!(
            "mov {st:e}, 1\n", // an abort from here on ends the put
            "mov dword ptr [{ln}], 0\n",
            "inc {n}\n",
            "mov qword ptr [{ln} + {number}], {n}\n",
            "mov qword ptr [{pg}], {n}\n",
            "mov {u}, qword ptr [{order} + {order_generation}]\n",
            "mov qword ptr [{ln} + {generation}], {u}\n",
            "mov {u}, qword ptr [{order} + {order_marker}]\n",
            "mov qword ptr [{ln} + {marker}], {u}\n",
            "mov {u:e}, dword ptr [{order} + {order_hedge}]\n",
            "mov dword ptr [{ln} + {hedge}], {u:e}\n",
            "test {u:e}, {u:e}\n",
            "jz 22f\n",
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14\n",
            "mov {u}, qword ptr [{rk} + {staged} + 16 * \\b]\n",
            "mov qword ptr [{pg} + {round_keys} + 16 * \\b], {u}\n",
            "mov {u}, qword ptr [{rk} + {staged} + 16 * \\b + 8]\n",
            "mov qword ptr [{pg} + {round_keys} + 16 * \\b + 8], {u}\n",
            ".endr\n",
            "22:\n",
        )
    };
}

/// Commits the page, unless something happened since its key was drawn.
///
/// The stamp: a fork or a `discard` makes the key one that must not be served; it is compared
/// behind the last byte and in one section with the commit. The work page: if it was dropped, the
/// round keys read as zeros from then on. The number: only a put that the kernel failed to abort
/// can have changed it.
macro_rules! commit_page {
    () => {
        concat!(
            ".irp b, 0, 8, 16, 24\n", // the hedge key
            "mov qword ptr [{pg} + {stream} + \\b], 0\n",
            ".endr\n",
            "mov {u}, qword ptr [{order} + {order_work}]\n",
            "cmp qword ptr [{rk} - {round_keys}], {u}\n",
            "jne 5b\n",
            "mov {t}, qword ptr [{ar} + {control}]\n",
            "mov {u}, qword ptr [{order} + {order_stamp}]\n",
            "cmp qword ptr [{t} + {stamp}], {u}\n",
            "jne 5b\n",
            "cmp qword ptr [{ln} + {number}], {n}\n",
            "jne 5b\n",
            "mov {u}, {ln}\n", // the CPU whose line this is
            "sub {u}, qword ptr [{ar} + {lines}]\n",
            "shr {u}, 7\n",
            "mov {t:e}, dword ptr fs:[{rs}]\n",
            "cmp {u:e}, {t:e}\n",
            "jne 5b\n",
            on_this_cpu!(),
            "mov dword ptr [{ln}], {capacity}\n",
            "3: xor {st:e}, {st:e}\n",
            "7: mov qword ptr fs:[{rs} + 4], 0\n",
        )
    };
}

/// One put, with the pieces of one backend: its constants, its strip of `$bytes` bytes, and the
/// counter that each attempt begins with.
macro_rules! put_with {
    ($process:ident, $work:ident, $order:ident,
     $load:expr, $counter:literal, $strip:expr, $store:expr, $clear:expr, $bytes:literal) => {{
        const _: () = assert!((PAGE - STREAM).is_multiple_of($bytes));
        let status: u32;
        // SAFETY: the process is in section mode; line and page are this CPU's, and only sections
        // of this CPU write them. The strips end with the page. `work` is a page that the caller
        // owns and `order` a structure of the layout that the offsets name. All vector registers
        // are declared, and cleared before the block ends.
        unsafe {
            core::arch::asm!(
                $load,
                enter!(), find!(), unless_current!(), on_this_cpu!(), begin_page!(),
                $counter,
                "lea {at}, [{pg} + {stream}]",
                "lea {t}, [{pg} + {page}]",
                "23:",
                $strip,
                $store,
                concat!("add {at}, ", $bytes),
                "cmp {at}, {t}",
                "jb 23b",
                commit_page!(),
                $clear,
                ar = in(reg) core::ptr::from_ref::<Process>($process),
                rs = in(reg) $process.rseq.offset(),
                rk = in(reg) $work.add(ROUND_KEYS),
                order = in(reg) core::ptr::from_ref::<Put>($order),
                st = out(reg) status, t = out(reg) _, u = out(reg) _, n = out(reg) _,
                pg = out(reg) _, ln = out(reg) _, at = out(reg) _,
                constants = sym CONSTANTS,
                control = const Process::CONTROL, lines = const Process::LINES,
                pages = const Process::PAGES, kernel = const Process::GENERATION, clock = const Process::CLOCK,
                cpus = const offset_of!(Control, cpus), stamp = const offset_of!(Control, stamp),
                number = const offset_of!(CpuLine, number), hedge = const offset_of!(CpuLine, hedge_key),
                generation = const offset_of!(CpuLine, generation),
                marker = const offset_of!(CpuLine, marker),
                order_stamp = const offset_of!(Put, stamp),
                order_generation = const offset_of!(Put, generation),
                order_marker = const offset_of!(Put, marker),
                order_work = const offset_of!(Put, work_number),
                order_hedge = const offset_of!(Put, hedge_key),
                need = const offset_of!(Put, need),
                round_keys = const ROUND_KEYS, staged = const STAGED_KEYS - ROUND_KEYS,
                stream = const STREAM, page = const PAGE, capacity = const CAPACITY,
                out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _, out("zmm4") _,
                out("zmm5") _, out("zmm6") _, out("zmm7") _, out("zmm8") _, out("zmm9") _,
                out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _, out("zmm14") _,
                out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
                out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _, out("zmm24") _,
                out("zmm25") _, out("zmm26") _, out("zmm27") _, out("zmm28") _, out("zmm29") _,
                out("zmm30") _, out("zmm31") _,
                options(nostack),
            );
        }
        status == 0
    }};
}

/// Fills this CPU's page with the stream of the round keys in `work`. True if the page was put.
///
/// A put without effect is not an error: another thread was quicker, a fork or a `discard` came in
/// between, or the thread was interrupted while it wrote the page. It is not tried again then: a
/// kernel that failed to restart an earlier attempt could leave the same stream in two pages.
///
/// # Safety
///
/// The caller owns the page at `work`, which holds round keys of the process's backend, and
/// the process was in section mode a moment ago.
#[inline(never)]
pub(crate) unsafe fn put(process: &Process, work: *mut u8, order: &Put) -> bool {
    // SAFETY (each): the caller's promise, and the backend was chosen by what this CPU has.
    match process.backend {
        Backend::Vaes512 => put_with!(
            process,
            work,
            order,
            load_512!(),
            "vmovdqa64 zmm31, zmmword ptr [rip + {constants}]",
            strip_512!(),
            store_512!(),
            clear_512!(),
            512
        ),
        Backend::Vaes256 => put_with!(
            process,
            work,
            order,
            load_256!(),
            "vmovdqa ymm13, ymmword ptr [rip + {constants}]",
            strip_256!(),
            store_256!(),
            clear_256!(),
            256
        ),
        Backend::AesNi { .. } => put_with!(
            process,
            work,
            order,
            load_128!(),
            "movdqa xmm13, xmmword ptr [rip + {constants}]",
            strip_128!(),
            store_128!(),
            clear_128!(),
            128
        ),
        Backend::ChaCha => false,
    }
}
