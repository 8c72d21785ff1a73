//! A claim inside a restartable sequence (rseq(2)): an addition without the lock prefix.
//!
//! On Intel CPUs the lock prefix costs about 20 cycles. Without it an addition is atomic against
//! everything else on its CPU, because it is one instruction, but not against other CPUs. So it
//! must reach the counter of the CPU that adds, and a thread that has read its CPU's number may be
//! moved before it adds. But the kernel restarts the sequence if the thread is preempted, migrated
//! or given a signal inside it.
//!
//! A child in shared memory (vfork, or clone without a thread pointer of its own) reads its
//! parent's rseq area, and the kernel restarts nothing for it. If such a child is on the CPU that
//! the area names, it is harmless all the same, because the addition is one instruction. Otherwise
//! RDPID finds another number, and the child does not add. So only a migration between RDPID and
//! the addition, two neighbouring instructions, could do harm. The same holds for a kernel that
//! fails to restart a sequence.
//!
//! The core decides whether sections may be used (`internal::rseq_of_sections`), so that both
//! crates follow the same facts. A reader would share the assembly as well. But a draw of the core
//! claims bytes, reads them and compares guards, so it has nothing but the descriptor in common
//! with these few instructions.

#![allow(unsafe_code)]

use super::counters::{Claim, Counters};
use super::pool::Pool;
use core::mem::offset_of;

pub(crate) const AVAILABLE: bool = true;

/// Claims `blocks` values of this CPU's own counter. Returns `None` if the section cannot serve:
/// sections are off, the CPU has no counter, the thread is not registered or runs on another CPU
/// than its rseq area says, or eight attempts were aborted.
///
/// `rseq` is the offset of `cpu_id` in the rseq area from the thread pointer; `rseq_cs` is 4 after
/// it. Every way out passes label 7, which clears `rseq_cs`, because a pointer to a descriptor that
/// `dlclose` unmaps would be a fault at the thread's next preemption. The four bytes before label 4
/// are the signature that glibc registered.
///
/// Abort handlers are usually in a section of their own, out of the way. This one is in the
/// function, after a jump, because a signal that arrives in the section finds the thread there, and
/// the compiler writes unwind information for the function alone, so an unwinder would not find the
/// way out from elsewhere.
#[inline(always)]
pub(crate) fn claim(pool: &Pool, rseq: isize, blocks: u64) -> Option<Claim> {
    let (first, cpu): (u64, u64);
    let status: u32;
    // SAFETY: the core found the offset of the rseq area, which is the same in all threads, and a
    // CPU with RDPID. The counters of a CPU below `cpus` are in the pool, which is never unmapped,
    // and sections of its CPU alone touch `own`, so no other write is lost.
    unsafe {
        core::arch::asm!(
            ".pushsection __rseq_cs, \"aw\", @progbits",
            ".balign 32",
            "90: .long 0, 0",
            ".quad 2f, 3f - 2f, 4f",
            ".popsection",
            "jmp 19f",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "4: sub {st:e}, 1",
            "jnz 20f",
            "5: mov {st:e}, 1",
            "jmp 7f",
            "19: mov {st:e}, 8",
            "20: lea {t}, [rip + 90b]",
            "mov qword ptr fs:[{rs} + 4], {t}",
            "2:",
            "mov {t:e}, dword ptr fs:[{rs}]",
            // Inside the section: a fork in a handler restarts the section in the child, which
            // finds 0.
            "cmp {t:e}, dword ptr [{pool} + {cpus}]",
            "jae 5b",
            "mov {at:e}, {t:e}",
            "shl {at}, 7",
            "rdpid {u}",
            "and {u:e}, 0xFFF",
            "cmp {u:e}, {t:e}",
            "jne 5b",
            "xadd qword ptr [{pool} + {at} + {own}], {n}",
            "3: xor {st:e}, {st:e}",
            "7: mov qword ptr fs:[{rs} + 4], 0",
            pool = in(reg) core::ptr::from_ref(pool),
            rs = in(reg) rseq,
            n = inout(reg) blocks => first,
            st = out(reg) status, t = out(reg) cpu, u = out(reg) _, at = out(reg) _,
            cpus = const offset_of!(Pool, cpus),
            own = const offset_of!(Pool, counters) + offset_of!(Counters, own),
            options(nostack),
        );
    }
    (status == 0).then_some(Claim { first, counter: 2 * cpu })
}

// The shift by 7 in the section.
const _: () = assert!(size_of::<Counters>() == 128);
