//! Everything that is set up once: the facts of the machine, the guards, the memory of the pools.
//!
//! An arena is built in private and published by one compare-exchange ([`setup`](super::setup)); it is
//! never changed in place but through atomics, and never torn down, so that draws work in other
//! libraries' destructors and at exit.

#![allow(unsafe_code)]

use super::cipher::Backend;
use super::cpu::{CpuHint, Rseq};
use super::guard::epoch::{Canary, Epoch};
use super::guard::kernel::Kernel;
use super::guard::vmclock::Clock;
use super::guard::word::KernelWord;
use super::hwrng;
use super::ledger::Ledger;
use super::races::lock::Lock;
use super::races::settled::settle;
use super::source::vgetrandom::Vgetrandom;
use crate::mode::{self, CloneSignal, Evidence, Mode};
use crate::status::{CpuRng, Hardware, Page, Vmgenid};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

/// One slot: its lock and the ledger of its page, in memory that a fork clears and the kernel never drops.
/// Two cache lines, so that the adjacent-line prefetcher does not make neighbours share.
#[repr(C, align(128))]
pub(crate) struct Line {
    pub(crate) lock: Lock,
    pub(crate) ledger: Ledger,
    pub(crate) tally: Tally,
}

const _: () = assert!(size_of::<Line>() == 128);

/// What happened at a slot. Counted by whoever holds it, but `busy` and `fallbacks`.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) refills: AtomicU64,
    pub(crate) discarded_bytes: AtomicU64,
    pub(crate) retries: AtomicU64,
    pub(crate) busy: AtomicU64,
    pub(crate) fallbacks: AtomicU64,
    pub(crate) tripwires: AtomicU64,
}

impl Tally {
    #[inline]
    pub(crate) fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Relaxed);
    }
}

/// What is compared where forks cannot be told: an epoch that never changes.
static NO_CANARY: AtomicU64 = AtomicU64::new(u64::MAX << 32);

/// In this order: what each draw reads stands first, in two cache lines.
#[repr(C)]
pub(crate) struct Arena {
    /// The mode's number, and [`QUICK`].
    mode: AtomicU8,
    pub(crate) rseq: Rseq,
    pub(crate) memory: Memory,
    canary: *const AtomicU64,
    pub(crate) clock: Clock,
    pub(crate) word: KernelWord,
    reserved_epochs: AtomicU64,
    detects_forks: bool,
    /// The epoch of the process that did the set-up; memory locks are its own, and no child's.
    home: AtomicU64,
    pub(crate) cpu_hint: CpuHint,
    // What refills read.
    pub(crate) backend: Backend,
    /// Called through [`vgetrandom`](Arena::vgetrandom) only.
    vgetrandom: Option<Vgetrandom>,
    kernel: Kernel,
    cpu_rng: AtomicU8,
    // What the mode is chosen from, and the status shows.
    requested: AtomicU8,
    unknown_requested: AtomicBool,
    quiesced: AtomicBool,
    pub(crate) vmgenid: Vmgenid,
    pub(crate) hardware: Hardware,
    #[cfg(feature = "pools")]
    pub(crate) handles: super::handle::Registry,
}

/// The reservations, all made at set-up.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// `[BANKS][slots]`; dangling if there are no slots.
    pub(crate) lines: *const Line,
    /// `[BANKS][slots]` pages, [`stride`](Memory::stride) bytes apart.
    pub(crate) pages: *mut u8,
    /// The size of a page. Read through [`stride`](Memory::stride).
    pub(crate) page_size: usize,
    pub(crate) cpus: u32,
    pub(crate) slots: u32,
    pub(crate) page: Page,
}

impl Memory {
    pub(crate) const NONE: Memory = Memory {
        lines: core::ptr::dangling(),
        pages: core::ptr::null_mut(),
        page_size: 4096,
        cpus: 0,
        slots: 0,
        page: Page::None,
    };

    /// How far pages lie apart: one hardware page, so that each is dropped and cleared by itself.
    #[inline(always)]
    pub(crate) fn stride(&self) -> usize {
        // A constant where there is one page size: it turns a multiplication of the quick path into a shift.
        if cfg!(target_arch = "x86_64") { 4096 } else { self.page_size }
    }
}

/// The facts that set-up has found.
pub(crate) struct Facts {
    pub(crate) word: KernelWord,
    pub(crate) clock: Clock,
    pub(crate) canary: Option<*const AtomicU64>,
    pub(crate) cpu_hint: CpuHint,
    pub(crate) memory: Memory,
    pub(crate) backend: Backend,
    pub(crate) vgetrandom: Option<Vgetrandom>,
    pub(crate) cpu_rng: CpuRng,
    pub(crate) requested: Mode,
    pub(crate) unknown_requested: bool,
    pub(crate) vmgenid: Vmgenid,
    pub(crate) hardware: Hardware,
}

// SAFETY: the pointers lead to mappings that live for ever and are used through atomics, or under a
// slot's lock.
unsafe impl Sync for Arena {}

/// The numbers that `cpu_rng` is stored as.
const CPU_RNGS: [CpuRng; 5] =
    [CpuRng::Good, CpuRng::Absent, CpuRng::Broken, CpuRng::Slow, CpuRng::NotAsked];
const BROKEN: u8 = 2;

/// Set beside the mode's number where the quick path may be tried.
const QUICK: u8 = 0x80;

/// The mode that was stored as this number.
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

impl Arena {
    pub(crate) const fn new(facts: Facts) -> Arena {
        Arena {
            rseq: Rseq::NONE,
            mode: AtomicU8::new(Mode::Kernel as u8),
            word: facts.word,
            clock: facts.clock,
            reserved_epochs: AtomicU64::new(0),
            detects_forks: facts.canary.is_some(),
            home: AtomicU64::new(0),
            canary: match facts.canary {
                Some(canary) => canary,
                None => &raw const NO_CANARY,
            },
            cpu_hint: facts.cpu_hint,
            memory: facts.memory,
            backend: facts.backend,
            vgetrandom: facts.vgetrandom,
            kernel: Kernel::here(),
            cpu_rng: AtomicU8::new(match facts.cpu_rng {
                CpuRng::Good => 0,
                CpuRng::Absent => 1,
                CpuRng::Broken => 2,
                CpuRng::Slow => 3,
                CpuRng::NotAsked => 4,
            }),
            requested: AtomicU8::new(facts.requested as u8),
            unknown_requested: AtomicBool::new(facts.unknown_requested),
            quiesced: AtomicBool::new(false),
            vmgenid: facts.vmgenid,
            hardware: facts.hardware,
            #[cfg(feature = "pools")]
            handles: super::handle::Registry::new(),
        }
    }

    /// The arena of a process that could not even get a page of memory: getrandom(2) and nothing else.
    pub(crate) const fn destitute() -> Arena {
        Arena::new(Facts {
            word: KernelWord::absent("no memory could be had at set-up"),
            clock: Clock::off(),
            canary: None,
            cpu_hint: CpuHint::Stack,
            memory: Memory::NONE,
            backend: Backend::ChaCha,
            vgetrandom: None,
            cpu_rng: CpuRng::NotAsked,
            requested: Mode::Auto,
            unknown_requested: false,
            vmgenid: Vmgenid::NotAsked,
            hardware: Hardware::NotAsked,
        })
    }

    /// The mode now.
    #[inline]
    pub(crate) fn mode(&self) -> Mode {
        mode_of(self.mode.load(Relaxed) & !QUICK)
    }

    /// Whether the quick path may be tried: the mode is `buffered`, and one load tells the CPU. Asked at each
    /// draw, before set-up as well ([`setup::quick_arena`](super::setup::quick_arena)).
    #[cfg(feature = "pools")]
    #[inline(always)]
    pub(crate) fn is_quick(&self) -> bool {
        self.mode.load(Relaxed) == Mode::Buffered as u8 | QUICK
    }

    /// The same for mode `hedged`.
    #[cfg(feature = "pools")]
    #[inline(always)]
    pub(crate) fn is_quick_hedged(&self) -> bool {
        self.mode.load(Relaxed) == Mode::Hedged as u8 | QUICK
    }

    /// Whether the mode is `buffered`.
    #[cfg(feature = "pools")]
    #[inline(always)]
    pub(crate) fn is_buffered(&self) -> bool {
        self.mode.load(Relaxed) & !QUICK == Mode::Buffered as u8
    }

    /// Chooses the mode anew, after something it depends on has changed.
    pub(crate) fn choose_mode(&self) {
        settle(&self.mode, || self.chosen());
    }

    fn chosen(&self) -> u8 {
        let mode = mode::select(self.evidence()).0;
        let paged = matches!(mode, Mode::Buffered | Mode::Hedged);
        let quick = paged && self.cpu_hint.rseq().is_some();
        mode as u8 | if quick { QUICK } else { 0 }
    }

    pub(crate) fn reason(&self) -> &'static str {
        mode::select(self.evidence()).1
    }

    /// What would tell of a clone of this machine: told is not yet reseeded, see `mode::select`.
    pub(crate) fn clone_signal(&self) -> Option<CloneSignal> {
        if self.vmgenid == Vmgenid::Bound {
            Some(CloneSignal::Vmgenid)
        } else if self.clock.tells_of_clones() {
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
            word: self.word.is_live(),
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

    /// Takes a request of the program, which overrides the environment's.
    pub(crate) fn request(&self, mode: Mode) {
        self.requested.store(mode as u8, Relaxed);
        self.unknown_requested.store(false, Relaxed);
    }

    pub(crate) fn set_quiesced(&self, quiesced: bool) {
        self.quiesced.store(quiesced, Relaxed);
    }

    /// Lets go of the vDSO's data, which a checkpoint may be restored without. The mode is `strict` by then.
    pub(crate) fn leave_kernel(&self) {
        self.kernel.leave();
        self.word.withdraw();
    }

    /// Takes the vDSO and the kernel's word back, if this still is the kernel that was left.
    pub(crate) fn come_back_to_kernel(&self) {
        if self.kernel.come_back() {
            self.word.restore();
        }
    }

    /// The vDSO's getrandom, which loads the vDSO's data: None while these may be gone.
    #[inline]
    pub(crate) fn vgetrandom(&self) -> Option<Vgetrandom> {
        if self.kernel.is_left() { None } else { self.vgetrandom }
    }

    pub(crate) fn is_quiesced(&self) -> bool {
        self.quiesced.load(Relaxed)
    }

    pub(crate) fn canary(&self) -> Option<*const AtomicU64> {
        self.detects_forks.then_some(self.canary)
    }

    pub(crate) fn detects_forks(&self) -> bool {
        self.detects_forks
    }

    /// Chooses the first epoch, before anybody else can: threads that race for one lose numbers, and so banks.
    pub(crate) fn settle_in(&self) {
        self.home.store(self.epoch().get(), Relaxed);
    }

    /// Whether this is the process that did the set-up.
    #[cfg(feature = "pools")]
    pub(crate) fn is_home(&self) -> bool {
        self.home.load(Relaxed) == self.epoch().get()
    }

    /// The epoch, if it is settled; a child that has not drawn yet has to choose one first.
    #[inline(always)]
    pub(crate) fn settled_epoch(&self) -> Option<Epoch> {
        self.fork_canary().settled()
    }

    /// The epoch: constant where forks cannot be told, and nothing is buffered.
    #[inline(always)]
    pub(crate) fn epoch(&self) -> Epoch {
        self.settled_epoch().unwrap_or_else(|| self.fork_canary().choose())
    }

    /// Whether this still is the epoch: asked after a copy.
    #[inline(always)]
    pub(crate) fn is_epoch(&self, epoch: Epoch) -> bool {
        self.fork_canary().is(epoch)
    }

    #[inline(always)]
    fn fork_canary(&self) -> Canary<'_> {
        // SAFETY: a static, or mapped for ever.
        let epoch = unsafe { &*self.canary };
        Canary { epoch, reserved: &self.reserved_epochs, slots: self.memory.slots }
    }

    pub(crate) fn cpu_rng(&self) -> CpuRng {
        CPU_RNGS[usize::from(self.cpu_rng.load(Relaxed)) % CPU_RNGS.len()]
    }

    /// Whether the CPU's words enter each key: the instruction is there and sound, quick or slow.
    pub(crate) fn has_cpu_words(&self) -> bool {
        matches!(self.cpu_rng(), CpuRng::Good | CpuRng::Slow)
    }

    /// Whether requests can be hedged: AES, and a random instruction that is sound and quick.
    pub(crate) fn can_hedge(&self) -> bool {
        // Miri has the instructions of the masks, and not those of the other back ends.
        let aes = self.backend != Backend::ChaCha || cfg!(all(miri, target_feature = "aes"));
        self.cpu_rng() == CpuRng::Good && aes
    }

    /// A checked word of the CPU's instruction. The first bad one ends its use in this process: hedging
    /// with an instruction that lies would be hedging in name only.
    #[inline]
    pub(crate) fn cpu_word(&self, previous: u64) -> Option<u64> {
        let word = hwrng::word(previous);
        if word.is_none() {
            self.distrust_cpu_rng();
        }
        word
    }

    /// Ends the use of the CPU's instruction in this process.
    #[cold]
    pub(crate) fn distrust_cpu_rng(&self) {
        self.cpu_rng.store(BROKEN, Relaxed);
        self.choose_mode();
    }

    /// What is mixed into a key that the kernel gives: two words of the CPU, or, where it has none that can
    /// be believed, of the cycle counter. To be read before the kernel's half exists.
    #[inline]
    pub(crate) fn second_half(&self) -> [u64; 2] {
        self.cpu_words().unwrap_or_else(|| [hwrng::cycles(), 0])
    }

    /// Two fresh words of the CPU, if its instruction can be believed.
    #[inline]
    pub(crate) fn cpu_words(&self) -> Option<[u64; 2]> {
        if !self.has_cpu_words() {
            return None;
        }
        let first = self.cpu_word(0)?;
        Some([first, self.cpu_word(first)?])
    }
}
