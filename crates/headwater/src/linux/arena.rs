//! Everything that is set up once: the facts of the machine, the guards, the memory of the pools.
//!
//! An arena is built in private and published by one compare-exchange ([`setup`](super::setup)); it is
//! never changed in place but through atomics, and never torn down, so that draws work in other
//! libraries' destructors and at exit.

#![allow(unsafe_code)]

use super::cipher::{self, Backend};
use super::cpu::{CpuHint, Rseq};
use super::guard::age::CoarseClock;
use super::guard::epoch::{BANKS, Canary, Epoch};
use super::guard::generation::KernelGeneration;
use super::guard::kernel::Kernel;
use super::guard::vmclock::Clock;
#[cfg(feature = "pools")]
use super::handle::Registry;
use super::hwrng;
use super::ledger::Ledger;
use super::races::lock::Lock;
use super::races::settled::settle;
use super::section;
use super::sections::{NoSections, Sections};
use super::source::vgetrandom::Vgetrandom;
use crate::mode::{self, CloneSignal, Evidence, Mode};
use crate::status::{CpuRng, Hardware, Page, Vmgenid};
use core::mem::offset_of;
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

#[cfg(feature = "pools")]
pub(crate) static NO_HANDLES: Registry = Registry::new();

/// In this order: what each draw reads stands first, in two cache lines.
#[repr(C)]
pub(crate) struct Arena {
    /// The mode's number, and [`QUICK`].
    mode: AtomicU8,
    pub(crate) rseq: Rseq,
    pub(crate) memory: Memory,
    canary: *const AtomicU64,
    pub(crate) clock: Clock,
    pub(crate) generation: KernelGeneration,
    pub(crate) sections: Sections,
    reserved_epochs: AtomicU64,
    detects_forks: bool,
    /// The epoch of the process that did the set-up; memory locks are its own, and no child's.
    home: AtomicU64,
    pub(crate) cpu_hint: CpuHint,
    // What refills read.
    pub(crate) backend: Backend,
    /// The CPU has AVX, so that callers may leave upper register halves dirty.
    pub(crate) avx: bool,
    coarse_clock: CoarseClock,
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
    pub(crate) handles: &'static Registry,
}

/// The reservations, all made at set-up.
///
/// One mapping holds the control line, the lines of sections and those of slots, in this order; another
/// one the pages of sections and those of slots.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// `[BANKS][slots]`; dangling if there are no slots.
    pub(crate) lines: *const Line,
    /// `[BANKS][slots]` pages, [`stride`](Memory::stride) bytes apart.
    pub(crate) pages: *mut u8,
    /// Bytes of the mapping of lines, the control line included.
    pub(crate) lines_len: usize,
    /// The size of a page. Read through [`stride`](Memory::stride).
    pub(crate) page_size: usize,
    pub(crate) cpus: u32,
    /// Slots of a bank: one for each CPU, and those that are shared under contention.
    pub(crate) slots: u32,
    /// Lines and pages of sections: one for each CPU, or none.
    pub(crate) sections: u32,
    pub(crate) page: Page,
}

impl Memory {
    pub(crate) const NONE: Memory = Memory {
        lines: core::ptr::dangling(),
        pages: core::ptr::null_mut(),
        lines_len: 0,
        page_size: 4096,
        cpus: 0,
        slots: 0,
        sections: 0,
        page: Page::None,
    };

    /// How far pages lie apart: one hardware page, so that each is dropped and cleared by itself.
    #[inline(always)]
    pub(crate) fn stride(&self) -> usize {
        // A constant where there is one page size: it turns a multiplication of the quick path into a shift.
        if cfg!(target_arch = "x86_64") { 4096 } else { self.page_size }
    }

    /// Returns the bytes of that mapping which this process uses, from the start: locked where that is needed.
    pub(crate) fn locked_len(&self) -> usize {
        (self.sections as usize + self.slots as usize) * self.stride()
    }

    /// Returns the mapping of pages: its start and its bytes.
    pub(crate) fn all_pages(&self) -> (*mut u8, usize) {
        let before = self.sections as usize * self.stride();
        let len = before + self.stride() * BANKS * self.slots as usize;
        (self.pages.wrapping_sub(before), len)
    }
}

/// The facts that set-up has found.
pub(crate) struct Facts {
    pub(crate) generation: KernelGeneration,
    pub(crate) clock: Clock,
    pub(crate) canary: Option<*const AtomicU64>,
    pub(crate) cpu_hint: CpuHint,
    pub(crate) memory: Memory,
    pub(crate) backend: Backend,
    pub(crate) vgetrandom: Option<Vgetrandom>,
    /// Why draws take no restartable sequences; None if they do.
    pub(crate) no_sections: Option<NoSections>,
    pub(crate) avx: bool,
    pub(crate) coarse_clock: CoarseClock,
    pub(crate) cpu_rng: CpuRng,
    pub(crate) requested: Mode,
    pub(crate) unknown_requested: bool,
    pub(crate) vmgenid: Vmgenid,
    pub(crate) hardware: Hardware,
    /// Apart from the arena, which passes through the stack when it is made.
    #[cfg(feature = "pools")]
    pub(crate) handles: &'static Registry,
}

// SAFETY: the pointers lead to mappings that live for ever and are used through atomics, or under a
// slot's lock.
unsafe impl Sync for Arena {}

/// The numbers that `cpu_rng` is stored as.
const CPU_RNGS: [CpuRng; 5] =
    [CpuRng::Good, CpuRng::Absent, CpuRng::Broken, CpuRng::Slow, CpuRng::NotAsked];
const BROKEN: u8 = 2;

/// Set beside the mode's number where draws go through the CPU's slot by the quick path.
const QUICK: u8 = 0x80;
/// Set beside the mode's number where draws go through restartable sequences.
const SECTION: u8 = 0x40;

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

#[allow(dead_code)] // builds without sections
impl Arena {
    // Where the assembly of a section finds what it reads.
    pub(crate) const CONTROL: usize = offset_of!(Arena, sections.control);
    pub(crate) const LINES: usize = offset_of!(Arena, sections.lines);
    pub(crate) const PAGES: usize = offset_of!(Arena, sections.pages);
    pub(crate) const GENERATION: usize = offset_of!(Arena, generation);
    pub(crate) const CLOCK: usize = offset_of!(Arena, clock);

    pub(crate) const fn new(facts: Facts) -> Arena {
        Arena {
            rseq: Rseq::NONE,
            mode: AtomicU8::new(Mode::Kernel as u8),
            generation: facts.generation,
            clock: facts.clock,
            sections: Sections::new(facts.canary, &facts.memory, facts.no_sections),
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
            avx: facts.avx,
            coarse_clock: facts.coarse_clock,
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
            handles: facts.handles,
        }
    }

    /// The arena of a process that could not even get a page of memory: getrandom(2) and nothing else.
    pub(crate) const fn destitute() -> Arena {
        Arena::new(Facts {
            generation: KernelGeneration::absent("no memory could be had at set-up"),
            clock: Clock::off(),
            canary: None,
            cpu_hint: CpuHint::Stack,
            memory: Memory::NONE,
            backend: Backend::ChaCha,
            vgetrandom: None,
            no_sections: Some(NoSections::NothingBuffered),
            avx: false,
            coarse_clock: CoarseClock::NONE,
            cpu_rng: CpuRng::NotAsked,
            requested: Mode::Auto,
            unknown_requested: false,
            vmgenid: Vmgenid::NotAsked,
            hardware: Hardware::NotAsked,
            #[cfg(feature = "pools")]
            handles: &NO_HANDLES,
        })
    }

    /// The mode now.
    #[inline]
    pub(crate) fn mode(&self) -> Mode {
        mode_of(self.mode.load(Relaxed) & !(QUICK | SECTION))
    }

    /// Whether the mode is `buffered` and draws go through restartable sequences. Asked at each draw, before
    /// set-up as well ([`setup::quick_arena`](super::setup::quick_arena)).
    #[cfg(feature = "pools")]
    #[inline(always)]
    pub(crate) fn is_section(&self) -> bool {
        section::AVAILABLE && self.mode.load(Relaxed) == Mode::Buffered as u8 | SECTION
    }

    /// Whether draws go through restartable sequences, in any mode that has pages.
    #[cfg(feature = "pools")]
    #[inline(always)]
    pub(crate) fn has_sections(&self) -> bool {
        section::AVAILABLE && self.mode.load(Relaxed) & SECTION != 0
    }

    /// Whether the quick path through the CPU's slot may be tried: the mode is `buffered`, one load tells the
    /// CPU, and there are no sections.
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
        self.mode.load(Relaxed) & !(QUICK | SECTION) == Mode::Buffered as u8
    }

    /// Chooses the mode anew, after something it depends on has changed.
    pub(crate) fn choose_mode(&self) {
        settle(&self.mode, || self.chosen());
    }

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

    pub(crate) fn reason(&self) -> &'static str {
        mode::select(self.evidence()).1
    }

    /// What would tell of a clone of this machine: told is not yet reseeded, see `mode::select`.
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
        self.generation.withdraw();
    }

    /// Takes the vDSO and the kernel's word back, if this still is the kernel that was left.
    pub(crate) fn come_back_to_kernel(&self) {
        if self.kernel.come_back() {
            self.generation.restore();
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
        self.settled_epoch().unwrap_or_else(|| self.enter_epoch())
    }

    /// Chooses an epoch, and switches the sections of this process on.
    #[cold]
    fn enter_epoch(&self) -> Epoch {
        let epoch = self.fork_canary().choose();
        self.sections.switch_on();
        epoch
    }

    /// Switches sections off for the life of the process, after a draw has met a word that was erased.
    #[cold]
    pub(crate) fn switch_sections_off(&self) {
        self.sections.switch_off();
        self.choose_mode();
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

    /// Whether this CPU's page has a hedge key.
    pub(crate) fn has_hedge_key(&self) -> bool {
        self.sections.line(self.cpu_hint.get()).is_some_and(section::Line::has_hedge_key)
    }

    /// Whether copies may use registers that only AVX-512 has.
    #[inline(always)]
    pub(crate) fn is_wide(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.backend == Backend::Vaes512;
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// Clears upper register halves that a caller left dirty, before legacy SSE instructions follow.
    #[inline(always)]
    pub(crate) fn clean_registers(&self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if self.avx {
            super::cipher::clean_upper_halves();
        }
    }

    /// Whether the CPU's words enter each key: the instruction is there and sound, quick or slow.
    pub(crate) fn has_cpu_words(&self) -> bool {
        matches!(self.cpu_rng(), CpuRng::Good | CpuRng::Slow)
    }

    /// Lets pages expire where no word tells of reseeds. Asked at each draw of mode `hedged`.
    #[inline]
    pub(crate) fn expire(&self) {
        self.generation.expire(self.coarse_clock, !self.kernel.is_left());
    }

    /// Whether requests can be hedged: AES, and a random instruction that is sound and quick.
    pub(crate) fn can_hedge(&self) -> bool {
        // Miri has the instructions of the masks, and not those of the other back ends.
        let aes = self.backend.is_aes() || cfg!(all(miri, target_feature = "aes"));
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

    /// Whether `mask` differs from the one that `last` holds, which it replaces. If not, the CPU's instruction
    /// gave a word twice; a sound one does so with probability 2^-64.
    #[inline(always)]
    pub(crate) fn is_new(&self, last: &AtomicU64, mask: u64) -> bool {
        if last.load(Relaxed) == mask {
            self.distrust_cpu_rng();
            return false;
        }
        last.store(mask, Relaxed);
        true
    }

    /// Ends the use of the CPU's instruction in this process.
    #[cold]
    pub(crate) fn distrust_cpu_rng(&self) {
        self.cpu_rng.store(BROKEN, Relaxed);
        self.choose_mode();
    }

    /// Writes the half of a seed that is not the kernel's to `at`: random words of the CPU, if its instruction
    /// can be believed, bound to the epoch and the CPU; the cycle counter where there are no such words.
    ///
    /// # Safety
    ///
    /// `at` is writable for 32 bytes and aligned to 8.
    pub(crate) unsafe fn mix(&self, at: *mut u8) {
        let mut words = [0; 2];
        let drawn = self.has_cpu_words() && self.draw_words(&mut words);
        // Not read beside good words: a process may have forbidden itself the counter (prctl PR_SET_TSC).
        let cycles = if drawn { 0 } else { hwrng::cycles() };
        let (epoch, cpu) = (self.epoch().get(), self.cpu_hint.get());
        // SAFETY: the caller's promise.
        unsafe { cipher::write_mix(at.cast(), &mut words, cycles, epoch, cpu) };
    }

    /// Draws words of the CPU, each unlike the one before. False if the instruction failed.
    fn draw_words(&self, words: &mut [u64; 2]) -> bool {
        let mut previous = 0;
        words.iter_mut().all(|word| {
            let drawn = self.cpu_word(previous);
            *word = drawn.unwrap_or(0);
            previous = *word;
            drawn.is_some()
        })
    }
}
