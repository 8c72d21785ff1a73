//! The switch of restartable sequences: whether this process draws in them, and the reason if not.

#![allow(unsafe_code)]

use crate::linux::failpoint::{Point, hook};
use crate::linux::pool::reservation::Memory;
use crate::linux::pool::section;
use crate::linux::pool::slot_line::SlotLine;
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// The state of sections in memory that a fork clears, in the first line of the lines' mapping.
#[repr(C)]
pub(crate) struct Control {
    /// The fork canary (`guards::fork`).
    pub(crate) epoch: AtomicU64,
    /// Unique for each process and each `discard`; 0 in a child that has not drawn yet.
    pub(crate) stamp: AtomicU64,
    /// CPUs that have a line and a page; 0 while sections are off.
    pub(crate) cpus: AtomicU32,
}

/// The reason why draws of a process take the slots' locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum NoSections {
    NothingBuffered = 1,
    OtherCpu,
    Instrumented,
    NoRoom,
    Forbidden,
    NoRseq,
    NoRdpid,
    WrongRdpid,
    NoAvx2,
    NoAes,
    Tripped,
    NeverPut,
}

impl NoSections {
    const ALL: [NoSections; 12] = [
        NoSections::NothingBuffered,
        NoSections::OtherCpu,
        NoSections::Instrumented,
        NoSections::NoRoom,
        NoSections::Forbidden,
        NoSections::NoRseq,
        NoSections::NoRdpid,
        NoSections::WrongRdpid,
        NoSections::NoAvx2,
        NoSections::NoAes,
        NoSections::Tripped,
        NoSections::NeverPut,
    ];

    /// Returns the reason as one clause.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            NoSections::NothingBuffered => "nothing is buffered in this process",
            NoSections::OtherCpu => "restartable sequences are used on x86-64 only",
            NoSections::Instrumented => "this build runs under a sanitizer or an interpreter",
            NoSections::NoRoom => "a limit on memory leaves no room for their pages",
            NoSections::Forbidden => "HEADWATER_NO_RSEQ is set",
            NoSections::NoRseq => {
                "the C library registers no restartable sequences (glibc 2.35 does, unless its tunable says no)"
            }
            NoSections::NoRdpid => {
                "this CPU has no RDPID, which separates children in shared memory"
            }
            NoSections::WrongRdpid => {
                "RDPID does not return the number of the CPU that the kernel reports"
            }
            NoSections::NoAvx2 => "this CPU has no AVX2",
            NoSections::NoAes => "this CPU has no AES instructions",
            NoSections::Tripped => {
                "a draw met a word that was erased before: a child in shared memory, or a kernel that fails to restart sequences"
            }
            NoSections::NeverPut => {
                "a thousand refills in a row could not leave a page for later draws, as under a debugger that steps"
            }
        }
    }
}

/// The memory of sections, and the switch that says whether they are in use.
#[repr(C)]
pub(crate) struct Sections {
    pub(crate) control: *const Control,
    pub(crate) lines: *const u8,
    cpus: u32,
    /// 0 while sections are on, else the number of a [`NoSections`].
    missing: AtomicU8,
    /// The last stamp that was handed out, in memory that a fork keeps.
    stamps: AtomicU64,
}

impl Sections {
    pub(crate) const fn new(
        canary: Option<*const AtomicU64>,
        memory: &Memory,
        missing: Option<NoSections>,
    ) -> Sections {
        let sections = memory.sections as usize;
        let control: *const Control = match canary {
            Some(canary) => canary.cast(),
            None => core::ptr::null(),
        };
        Sections {
            control,
            lines: memory.lines.wrapping_sub(sections).cast(),
            cpus: memory.sections,
            missing: AtomicU8::new(match missing {
                None if memory.sections == 0 => NoSections::NothingBuffered as u8,
                None => 0,
                Some(missing) => missing as u8,
            }),
            stamps: AtomicU64::new(0),
        }
    }

    /// Returns why sections are off; None if they are on.
    pub(crate) fn missing(&self) -> Option<NoSections> {
        let missing = self.missing.load(Ordering::Relaxed);
        NoSections::ALL.into_iter().find(|&reason| reason as u8 == missing)
    }

    fn control(&self) -> Option<&Control> {
        // SAFETY: null, or the first line of a mapping that lives for ever; used as atomics alone.
        unsafe { self.control.as_ref() }
    }

    /// Switches sections on in a process that has just chosen its epoch, unless they are off for
    /// good.
    ///
    /// The stamp is stored before the number of CPUs: a put that finds its CPU in use compares a
    /// stamp that is this process's. Two threads may do this at once: the later stamp voids a put
    /// that is under way with the earlier one, which costs a page.
    pub(crate) fn switch_on(&self) {
        let Some(control) = self.control() else { return };
        if self.missing.load(Ordering::SeqCst) != 0 {
            return;
        }
        control.stamp.store(self.new_stamp(), Ordering::SeqCst);
        hook(Point::HalfSwitched);
        control.cpus.store(self.cpus, Ordering::SeqCst);
        // Switched off meanwhile by another thread, whose store may have come before ours.
        if self.missing.load(Ordering::SeqCst) != 0 {
            control.cpus.store(0, Ordering::SeqCst);
        }
    }

    /// Switches sections off for the life of the process and its children.
    #[allow(dead_code)] // builds without sections
    pub(crate) fn switch_off(&self, reason: NoSections) {
        // The first reason stays: a trip says more than refills that were never put.
        let (seq, reason) = (Ordering::SeqCst, reason as u8);
        let _ = self.missing.compare_exchange(0, reason, seq, seq);
        if let Some(control) = self.control() {
            control.cpus.store(0, Ordering::SeqCst);
        }
    }

    /// Makes every key that was drawn before worthless for a put: see `discard`.
    pub(crate) fn void_keys(&self) {
        if let Some(control) = self.control() {
            control.stamp.store(self.new_stamp(), Ordering::SeqCst);
        }
    }

    /// Returns the stamp to be compared by a put whose key is drawn afterwards; 0 allows no put.
    ///
    /// A frame may have been left by siglongjmp between the choice of an epoch and the switch, or
    /// in the switch, between its two stores. Sections would then be off without a reason, so both
    /// stores are looked for, and made again if one is missing.
    pub(crate) fn stamp_or_switch_on(&self) -> u64 {
        let Some(control) = self.control() else { return 0 };
        let stamp = || control.stamp.load(Ordering::Acquire);
        if stamp() == 0 || control.cpus.load(Ordering::Relaxed) == 0 {
            self.switch_on();
        }
        stamp()
    }

    /// Returns whether this number is a CPU with a line and a page. The number of an unregistered
    /// thread is not.
    #[inline]
    pub(crate) fn has(&self, cpu: u32) -> bool {
        cpu < self.cpus
    }

    fn new_stamp(&self) -> u64 {
        self.stamps.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the line of a CPU that is below the number of CPUs.
    #[inline(always)]
    pub(crate) fn line(&self, cpu: u32) -> Option<&section::CpuLine> {
        let lines: *const section::CpuLine = self.lines.cast();
        // SAFETY: the mapping holds `cpus` lines and lives for ever; they are read as atomics
        // alone.
        (cpu < self.cpus).then(|| unsafe { &*lines.add(cpu as usize) })
    }

    /// Returns the number of CPUs whose page was ever put in this process.
    pub(crate) fn used(&self) -> u32 {
        self.every_line().filter(|line| line.is_used()).count() as u32
    }

    /// Returns the number of pages that were put in this process.
    pub(crate) fn puts(&self) -> u64 {
        self.every_line().map(section::CpuLine::puts).sum()
    }

    fn every_line(&self) -> impl Iterator<Item = &section::CpuLine> {
        (0..self.cpus).filter_map(|cpu| self.line(cpu))
    }
}

// The lines of sections and of slots lie in one array.
const _: () = assert!(size_of::<Control>() <= size_of::<SlotLine>());
const _: () =
    assert!(size_of::<section::CpuLine>() == size_of::<SlotLine>() || !section::AVAILABLE);
