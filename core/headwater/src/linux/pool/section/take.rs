//! Draws: claim, copy, erase, compare.

use super::{CpuLine, outcome};
use crate::linux::pool::layout::{GENERATION, MARKER, SERVED};
use crate::linux::pool::refused::Refused;
use crate::linux::pool::section_switch::Control;
use crate::linux::process::Process;
use core::mem::offset_of;

/// Claims `$bytes` bytes, or leaves if there are fewer. Afterwards `{at}` plus `{served}` is the
/// address of the first, and `{pg}` is the page.
///
/// The cursor is the page's address plus the bytes left, and bytes are served from the page's end
/// downwards. So one load says both what is left and where it lies. We tried the count and the
/// page's address as two words of the line: the bytes then wait for the second load and for an
/// addition, which took 16 bytes from 6.5 to 6.8 ns.
///
/// The comparison is signed, because a line without a page has a cursor of 0. The smaller cursor is
/// then negative, so it is below its "page" 0, and no other branch is needed.
///
/// A draw that nothing aborts may store a cursor into a line that has another page by now, or, in a
/// forked child, none. In the first case the old page does not have the line's number (DESIGN.md,
/// "One owner", has the exception). In the second both are 0, and so are the page's words, none of
/// which is served.
///
/// RDPID stands between load and store: see the head of this directory. The tag is compared after
/// the claim, although that loses the bytes if it differs. A page that has lost its tag serves
/// nothing more in any case, and RDPID, which waits for the loads before it, would wait for this
/// one too: when the change was made, a word went from 5.4 to 5.2 ns.
macro_rules! claim {
    ($bytes:literal) => {
        concat!(
            "mov {at}, qword ptr [{ln}]\n",
            "mov {n}, qword ptr [{ln} + {number}]\n",
            "mov {pg}, {at}\n",
            "and {pg}, -4096\n",
            "sub {at}, ",
            $bytes,
            "\n",
            "cmp {at}, {pg}\n",
            "jl 5b\n",
            on_this_cpu!(),
            "mov qword ptr [{ln}], {at}\n",
            "cmp qword ptr [{pg}], {n}\n",
            "jne 5b\n",
        )
    };
}

/// Leaves if the bytes are void: a guard moved, or the page is another by now.
macro_rules! guards {
    () => {
        concat!(
            "mov {t}, qword ptr [{ar} + {kernel}]\n",
            "mov {t}, qword ptr [{t}]\n",
            "cmp {t}, qword ptr [{pg} + {generation}]\n",
            "jne 6b\n",
            "mov {t}, qword ptr [{ar} + {clock}]\n",
            "mov {t}, qword ptr [{t}]\n",
            "cmp {t}, qword ptr [{pg} + {marker}]\n",
            "jne 6b\n",
            "cmp qword ptr [{pg}], {n}\n",
            "jne 6b\n",
        )
    };
}

/// The body of a draw of more than 16 bytes: copies, erases, and looks at every word.
macro_rules! copy_blocks {
    () => {
        concat!(
            // The claim is for whole words.
            "mov {c}, qword ptr [{request} + 8]\n",
            "add {c:e}, 7\n",
            "and {c:e}, -8\n",
            claim!("{c}"),
            "add {at}, {served}\n",
            "mov {c}, qword ptr [{request} + 8]\n",
            "mov {d}, qword ptr [{request}]\n",
            "vpxor ymm15, ymm15, ymm15\n",
            "vpxor ymm14, ymm14, ymm14\n",
            "sub {c:e}, 128\n",
            "jb 31f\n",
            "30:\n",
            ".irp b, 0, 1, 2, 3\n",
            "vmovdqu ymm\\b, ymmword ptr [{at} + 32 * \\b]\n",
            "vmovdqu ymmword ptr [{at} + 32 * \\b], ymm15\n",
            "vmovdqu ymmword ptr [{d} + 32 * \\b], ymm\\b\n",
            "vpcmpeqq ymm\\b, ymm\\b, ymm15\n",
            "vpor ymm14, ymm14, ymm\\b\n",
            ".endr\n",
            "sub {at}, -128\n",
            "sub {d}, -128\n",
            "sub {c:e}, 128\n",
            "jae 30b\n",
            "31: add {c:e}, 96\n",
            "jnc 33f\n",
            "32: vmovdqu ymm0, ymmword ptr [{at}]\n",
            "vmovdqu ymmword ptr [{at}], ymm15\n",
            "vmovdqu ymmword ptr [{d}], ymm0\n",
            "vpcmpeqq ymm0, ymm0, ymm15\n",
            "vpor ymm14, ymm14, ymm0\n",
            "add {at}, 32\n",
            "add {d}, 32\n",
            "sub {c:e}, 32\n",
            "jae 32b\n",
            "33: add {c:e}, 24\n",
            "jnc 35f\n",
            "34: mov {t}, qword ptr [{at}]\n",
            "mov qword ptr [{at}], 0\n",
            "test {t}, {t}\n",
            // A zero is judged only after the guards: a page that the kernel dropped reads as
            // zeros, and that is no fault.
            "jnz 38f\n",
            "vpcmpeqq ymm14, ymm15, ymm15\n",
            "38:\n",
            "mov qword ptr [{d}], {t}\n",
            "add {at}, 8\n",
            "add {d}, 8\n",
            "sub {c:e}, 8\n",
            "jae 34b\n",
            "35: add {c:e}, 8\n",
            "jz 37f\n",
            "mov {t}, qword ptr [{at}]\n",
            "mov qword ptr [{at}], 0\n",
            "test {t}, {t}\n",
            // A zero is judged only after the guards: a page that the kernel dropped reads as
            // zeros, and that is no fault.
            "jnz 38f\n",
            "vpcmpeqq ymm14, ymm15, ymm15\n",
            "38:\n",
            "36: mov byte ptr [{d}], {t:l}\n",
            "shr {t}, 8\n",
            "inc {d}\n",
            "dec {c:e}\n",
            "jnz 36b\n",
            "37:\n",
        )
    };
}

/// A draw of more than 16 bytes, in memory: its fields would take more registers than there are.
#[repr(C)]
struct Request {
    dst: *mut u8,
    len: usize,
}

/// Draws 8 bytes. The process was in section mode a moment ago ([`Process::has_sections`]).
#[inline(always)]
pub(crate) fn take_word(process: &Process) -> Result<u64, Refused> {
    let (word, status): (u64, u32);
    // SAFETY: the process is in section mode, so the rseq area is there, the CPU has RDPID, and
    // lines and pages are mapped for ever. The accesses stay in the line and a page, because each
    // cursor was stored by a put, as a page plus CAPACITY, or by a draw, which lowers it but not
    // below the page. Other code touches that memory through atomics and volatile reads alone.
    unsafe {
        section!(process, status, [
            claim!("8"),
            "mov {x}, qword ptr [{at} + {served}]",
            "mov qword ptr [{at} + {served}], 0",
            guards!(),
            "3: test {x}, {x}",
            "jz 8b",
            "xor {st:e}, {st:e}",
            "7: mov qword ptr fs:[{rs} + 4], 0",
            ],
            at = out(reg) _, u = out(reg) _, x = out(reg) word,
            kernel = const Process::GENERATION, clock = const Process::CLOCK,
            generation = const GENERATION, marker = const MARKER,
            served = const SERVED,
            options(nostack),
        );
    }
    outcome(process, status).map(|()| word)
}

/// Draws 16 bytes to `dst`, which is written only if they may leave.
///
/// The copy is one VEX-coded move: it waits for no upper half that a caller left dirty, and a
/// reader of all 16 bytes does not wait for two stores.
///
/// # Safety
///
/// `dst` is writable for 16 bytes, and the process was in section mode a moment ago.
#[inline(always)]
pub(crate) unsafe fn take_block(process: &Process, dst: *mut u8) -> Result<(), Refused> {
    let status: u32;
    // SAFETY: as in `take_word`; the CPU has AVX, and `dst` has room for the 16 bytes of the one
    // store to it.
    unsafe {
        section!(process, status, [
            claim!("16"),
            "vpxor {z}, {z}, {z}",
            "vmovdqu {x}, xmmword ptr [{at} + {served}]",
            "vmovdqu xmmword ptr [{at} + {served}], {z}",
            guards!(),
            "3: vpcmpeqq {z}, {z}, {x}",
            "vptest {z}, {z}",
            "jnz 8b",
            "vmovdqu xmmword ptr [{dst}], {x}",
            "xor {st:e}, {st:e}",
            "7: mov qword ptr fs:[{rs} + 4], 0",
            ],
            at = out(reg) _, u = out(reg) _, dst = in(reg) dst,
            x = out(xmm_reg) _, z = out(xmm_reg) _,
            kernel = const Process::GENERATION, clock = const Process::CLOCK,
            generation = const GENERATION, marker = const MARKER,
            served = const SERVED,
            options(nostack),
        );
    }
    outcome(process, status)
}

/// Draws 17 to 1,024 bytes to `dst`. After a refusal `dst` may hold void bytes.
///
/// # Safety
///
/// `dst` is writable for `len` bytes, and the process was in section mode a moment ago.
#[inline(never)]
pub(crate) unsafe fn take_blocks(
    process: &Process,
    dst: *mut u8,
    len: usize,
) -> Result<(), Refused> {
    let (request, status): (Request, u32);
    request = Request { dst, len };
    // SAFETY: as in `take_block`; the CPU has AVX2. An abort begins again from what the request
    // says.
    unsafe {
        section!(process, status, [
            copy_blocks!(),
            guards!(),
            "3: vptest ymm14, ymm14",
            "jnz 8b",
            "xor {st:e}, {st:e}",
            "7: mov qword ptr fs:[{rs} + 4], 0",
            "vzeroupper",
            ],
            at = out(reg) _, c = out(reg) _, d = out(reg) _, u = out(reg) _,
            request = in(reg) core::ptr::from_ref(&request),
            kernel = const Process::GENERATION, clock = const Process::CLOCK,
            generation = const GENERATION, marker = const MARKER,
            served = const SERVED,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _,
            out("ymm5") _, out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _,
            out("ymm10") _, out("ymm11") _, out("ymm12") _, out("ymm13") _, out("ymm14") _,
            out("ymm15") _,
            options(nostack),
        );
    }
    outcome(process, status)
}
