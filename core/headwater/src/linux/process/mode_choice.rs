//! The choice of the mode: facts become evidence, and [`mode::select`] decides.
//!
//! The mode and the path of small draws share one byte, so that each draw asks for both by one
//! load.

use super::Process;
use crate::linux::pool::section;
use crate::linux::sync::recompute::recompute;
use crate::mode::{self, CloneSignal, Evidence, Mode};
use crate::status::{Hardware, Vmgenid};
use core::sync::atomic::Ordering::Relaxed;

/// Set beside the mode's number where draws go through the CPU's slot by the quick path.
const QUICK: u8 = 0x80;
/// Set beside the mode's number where draws go through restartable sequences.
const SECTION: u8 = 0x40;

/// Returns the mode that was stored as this number.
#[inline]
fn mode_of(number: u8) -> Mode {
    match number {
        1 => Mode::Buffered,
        2 => Mode::Hedged,
        3 => Mode::Strict,
        4 => Mode::Kernel,
        _ => Mode::Auto,
    }
}

#[allow(dead_code)] // builds without sections
impl Process {
    /// Returns the mode in use.
    #[inline]
    pub(crate) fn mode(&self) -> Mode {
        mode_of(self.mode.load(Relaxed) & !(QUICK | SECTION))
    }

    /// Returns whether the mode is `buffered` and draws go through restartable sequences. Asked at
    /// each draw, before set-up as well ([`setup::current`](crate::linux::setup::current)).
    #[inline(always)]
    pub(crate) fn is_section(&self) -> bool {
        section::AVAILABLE && self.mode.load(Relaxed) == Mode::Buffered as u8 | SECTION
    }

    /// Returns whether draws go through restartable sequences, in any mode that has pages.
    #[inline(always)]
    pub(crate) fn has_sections(&self) -> bool {
        section::AVAILABLE && self.mode.load(Relaxed) & SECTION != 0
    }

    /// Returns whether the quick path through the CPU's slot may be tried: the mode is `buffered`,
    /// one load returns the CPU's number, and there are no sections.
    #[inline(always)]
    pub(crate) fn is_quick(&self) -> bool {
        self.mode.load(Relaxed) == Mode::Buffered as u8 | QUICK
    }

    /// Returns whether the quick path may be tried in mode `hedged`.
    #[inline(always)]
    pub(crate) fn is_quick_hedged(&self) -> bool {
        self.mode.load(Relaxed) == Mode::Hedged as u8 | QUICK
    }

    /// Returns whether the mode is `hedged` and draws go through restartable sequences.
    #[inline(always)]
    pub(crate) fn is_section_hedged(&self) -> bool {
        section::AVAILABLE && self.mode.load(Relaxed) == Mode::Hedged as u8 | SECTION
    }

    /// Returns whether the mode is `buffered`.
    #[inline(always)]
    pub(crate) fn is_buffered(&self) -> bool {
        self.mode.load(Relaxed) & !(QUICK | SECTION) == Mode::Buffered as u8
    }

    /// Chooses the mode anew, after something it depends on has changed.
    pub(crate) fn choose_mode(&self) {
        recompute(&self.mode, || self.chosen());
    }

    /// Returns the byte for the facts as they are now.
    ///
    /// Without a registered rseq area neither path is set: the CPU's number would cost a call, and
    /// the cold path finds a slot by itself.
    fn chosen(&self) -> u8 {
        let mode = mode::select(self.evidence()).0;
        let paged = matches!(mode, Mode::Buffered | Mode::Hedged);
        let path = if !paged || self.cpu_hint.rseq().is_none() {
            0
        } else if self.sections.missing().is_none() {
            SECTION
        } else {
            QUICK
        };
        mode as u8 | path
    }

    /// Returns the reason for the mode, computed anew, because a stored one could belong to another
    /// mode.
    pub(crate) fn reason(&self) -> &'static str {
        mode::select(self.evidence()).1
    }

    /// Returns the evidence that a clone of this machine is reported. A report alone does not
    /// reseed anything: see `mode::select`.
    pub(crate) fn clone_signal(&self) -> Option<CloneSignal> {
        if self.vmgenid == Vmgenid::Bound {
            Some(CloneSignal::Vmgenid)
        } else if self.clock.reports_clones() {
            Some(CloneSignal::Vmclock)
        } else if self.hardware == Hardware::BareMetal {
            Some(CloneSignal::BareMetal)
        } else {
            None
        }
    }

    fn evidence(&self) -> Evidence {
        Evidence {
            requested: self.requested(),
            unknown_requested: self.unknown_requested(),
            fork_detection: self.detects_forks(),
            examined: self.vmgenid != Vmgenid::NotAsked,
            pools: self.memory.slots > 0,
            quiesced: self.is_quiesced(),
            generation: self.generation.is_live(),
            clone_signal: self.clone_signal(),
            fresh_bits: self.has_cpu_words(),
            hedge: self.can_hedge(),
        }
    }

    pub(crate) fn requested(&self) -> Mode {
        mode_of(self.requested.load(Relaxed))
    }

    pub(crate) fn unknown_requested(&self) -> bool {
        self.unknown_requested.load(Relaxed)
    }

    /// Stores the program's request, which overrides the environment's.
    pub(crate) fn request(&self, mode: Mode) {
        self.requested.store(mode as u8, Relaxed);
        self.unknown_requested.store(false, Relaxed);
    }

    pub(crate) fn set_quiesced(&self, quiesced: bool) {
        self.quiesced.store(quiesced, Relaxed);
    }
}
