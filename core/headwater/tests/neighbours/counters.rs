//! A program's own restartable sequence: one counter for each CPU, and the cache of tcmalloc.
//!
//! tcmalloc of September 2023 to 2026 keeps the address of this CPU's slab in eight bytes whose
//! upper half is `cpu_id_start`, with bit 63 set (tcmalloc/internal/percpu.h). The kernel's next
//! store to `cpu_id_start` clears the bit, so that a set bit says that the address is still this
//! CPU's. A counter stands here for the slab.

use super::area::Area;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The bit of a cached address (`TCMALLOC_CACHED_SLABS_MASK`).
const CACHED: u64 = 1 << 63;
/// CPUs that have a counter.
const CPUS: usize = 1024;

/// The cache line of tcmalloc: an area at offset 32, and an address at offset 28, whose upper half
/// is the area's first field.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Line {
    before: [AtomicU32; 8],
    pub(crate) area: Area,
}

/// One counter for each CPU, on a cache line each.
#[derive(Debug)]
pub(crate) struct Counters(Vec<[AtomicU64; 8]>);

/// The end of an attempt to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    Counted,
    /// The kernel aborted the section.
    Aborted,
    /// The thread has no cached address, or no CPU.
    Missed,
}

/// One section that adds 1 at the address that `$find` leaves in `{t}`, by a load and a store that
/// lie apart. A section that is not aborted between them loses what others count meanwhile.
macro_rules! add_one {
    ($area:expr, [$($find:literal),*], $($operands:tt)*) => {{
        let status: u32;
        // SAFETY: the kernel jumps to label 4 only, which the signature precedes, and from there
        // every register that is used later is set. The section writes to a counter that the
        // caller borrows, because `$find` computes its address from the borrow or from a cache
        // that `cache` filled from it; and to the area that this thread registered. It makes no
        // call and leaves the stack alone.
        unsafe {
            std::arch::asm!(
                ".pushsection .data.rel.neighbour, \"aw\", @progbits",
                ".balign 32",
                "90: .long 0, 0",
                ".quad 2f, 3f - 2f, 4f",
                ".popsection",
                ".pushsection .text.neighbour, \"ax\", @progbits",
                ".byte 0x0f, 0xb9, 0x3d",
                ".long 0x53053053",
                "4: mov {st:e}, 1",
                "jmp 7f",
                "5: mov {st:e}, 2",
                "jmp 7f",
                ".popsection",
                "lea {t}, [rip + 90b]",
                "mov qword ptr [{ar} + 8], {t}",
                "2:",
                $($find,)*
                "mov {v}, qword ptr [{t}]",
                "pause", "pause", "pause", "pause",
                "add {v}, 1",
                "mov qword ptr [{t}], {v}",
                "3:",
                "xor {st:e}, {st:e}",
                "7: mov qword ptr [{ar} + 8], 0",
                ar = in(reg) std::ptr::from_ref::<Area>($area),
                st = out(reg) status, t = out(reg) _, v = out(reg) _,
                $($operands)*
                options(nostack),
            );
        }
        match status {
            0 => Attempt::Counted,
            1 => Attempt::Aborted,
            _ => Attempt::Missed,
        }
    }};
}

impl Counters {
    pub(crate) fn new() -> Counters {
        Counters((0..CPUS).map(|_| Default::default()).collect())
    }

    /// Adds 1 to the counter of this CPU.
    pub(crate) fn add(&self, area: &Area) -> Attempt {
        add_one!(area, [
                "mov {t:e}, dword ptr [{ar} + 4]",
                "cmp {t:e}, {cpus}",
                "jae 5b",
                "shl {t}, 6",
                "add {t}, {counters}"
            ],
            cpus = const CPUS, counters = in(reg) self.0.as_ptr(),
        )
    }

    /// Adds 1 to the counter whose address the line has cached, as tcmalloc allocates.
    pub(crate) fn add_by_cache(&self, line: &Line) -> Attempt {
        add_one!(&line.area, ["mov {t}, qword ptr [{ar} - 4]", "btr {t}, 63", "jnc 5b"],)
    }

    pub(crate) fn sum(&self) -> u64 {
        self.0.iter().map(|line| line[0].load(Relaxed)).sum()
    }

    /// Caches the address of this CPU's counter in the line, as tcmalloc does on its slow path:
    /// the bit first, then the address if the kernel has not cleared the bit since.
    pub(crate) fn cache(&self, line: &Line) {
        loop {
            line.area.cpu_id_start.store((CACHED >> 32) as u32, Relaxed);
            let cpu = line.area.cpu_id.load(Relaxed) as usize;
            let address = (self.0.as_ptr().addr() + 64 * cpu) as u64 | CACHED;
            if store_if_cached(line, address) {
                return;
            }
        }
    }
}

/// Stores a cached address if the line's bit is still set. One section, because the kernel may
/// clear the bit between the look and the store.
fn store_if_cached(line: &Line, address: u64) -> bool {
    let status: u32;
    // SAFETY: the kernel jumps to label 4 only, as in `add_one!`. The section writes to the eight
    // bytes at offset 28 of the line. They are atomics of the line, which this thread and the
    // kernel alone use, so that nothing else can see a half of the store.
    unsafe {
        std::arch::asm!(
            ".pushsection .data.rel.neighbour, \"aw\", @progbits",
            ".balign 32",
            "90: .long 0, 0",
            ".quad 2f, 3f - 2f, 4f",
            ".popsection",
            ".pushsection .text.neighbour, \"ax\", @progbits",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "4: xor {st:e}, {st:e}",
            "jmp 7f",
            ".popsection",
            "xor {st:e}, {st:e}",
            "lea {t}, [rip + 90b]",
            "mov qword ptr [{ar} + 8], {t}",
            "2:",
            "bt dword ptr [{ar}], 31",
            "jnc 7f",
            "mov {st:e}, 1",
            "mov qword ptr [{ar} - 4], {address}",
            "3:",
            "7: mov qword ptr [{ar} + 8], 0",
            ar = in(reg) &raw const line.area,
            address = in(reg) address,
            st = out(reg) status, t = out(reg) _,
            options(nostack),
        );
    }
    status == 1
}
