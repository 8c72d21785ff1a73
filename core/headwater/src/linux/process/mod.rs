//! The state of the process: the facts of the machine, the guards, the memory of the pools.
//!
//! Set-up builds the state in private and publishes it by one compare-exchange
//! ([`setup`](crate::linux::setup)). From then on it changes through atomics only, and it is never
//! torn down: draws must work in other libraries' destructors and at exit.

#![allow(unsafe_code)]

mod cpu_words;
mod mode_choice;

use crate::linux::cipher::Backend;
use crate::linux::cpu::current::{CpuHint, Rseq};
use crate::linux::guards::Seen;
use crate::linux::guards::age::CoarseClock;
use crate::linux::guards::fork::{Canary, Epoch};
use crate::linux::guards::generation::KernelGeneration;
use crate::linux::guards::page_loss::PageLoss;
use crate::linux::guards::same_kernel::Kernel;
use crate::linux::guards::vmclock::Clock;
use crate::linux::guards::watch_page::WatchGuard;
use crate::linux::pool::owned::Registry;
use crate::linux::pool::reservation::Memory;
use crate::linux::pool::section;
use crate::linux::pool::section_switch::{NoSections, Sections};
use crate::linux::source::vgetrandom::Vgetrandom;
use crate::mode::Mode;
use crate::status::{CpuRng, Hardware, Vmgenid};
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Acquire, Ordering::Relaxed};

/// The epoch where forks cannot be detected: a constant that differs from every chosen one.
static NO_CANARY: AtomicU64 = AtomicU64::new(u64::MAX << 32);

pub(crate) static NO_HANDLES: Registry = Registry::new();

/// The state of this process.
///
/// The order of the first fields is part of the speed: each draw reads them, and they fill two
/// cache lines. The assembly of a section reads them by the offsets below.
#[repr(C)]
pub(crate) struct Process {
    /// The mode's number, and the bit of the path ([`mode_choice`]).
    mode: AtomicU8,
    pub(crate) rseq: Rseq,
    pub(crate) memory: Memory,
    canary: *const AtomicU64,
    pub(crate) clock: Clock,
    pub(crate) generation: KernelGeneration,
    pub(crate) sections: Sections,
    reserved_epochs: AtomicU64,
    reserved_losses: AtomicU64,
    detects_forks: bool,
    /// The epoch of the process that did the set-up. A child does not inherit its memory locks.
    home: AtomicU64,
    pub(crate) cpu_hint: CpuHint,
    // The fields from here on are read by refills.
    pub(crate) backend: Backend,
    /// The CPU has AVX, so callers may leave upper register halves dirty.
    pub(crate) avx: bool,
    coarse_clock: CoarseClock,
    /// Called through [`vgetrandom`](Process::vgetrandom) only.
    vgetrandom: Option<Vgetrandom>,
    kernel: Kernel,
    cpu_rng: AtomicU8,
    // The facts from which the mode is chosen.
    requested: AtomicU8,
    unknown_requested: AtomicBool,
    quiesced: AtomicBool,
    pub(crate) vmgenid: Vmgenid,
    pub(crate) hardware: Hardware,
    pub(crate) watch: WatchGuard,
    pub(crate) handles: &'static Registry,
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
    /// The reason why draws do not use restartable sequences; None if they do.
    pub(crate) no_sections: Option<NoSections>,
    pub(crate) avx: bool,
    pub(crate) coarse_clock: CoarseClock,
    pub(crate) cpu_rng: CpuRng,
    pub(crate) requested: Mode,
    pub(crate) unknown_requested: bool,
    pub(crate) vmgenid: Vmgenid,
    pub(crate) hardware: Hardware,
    pub(crate) watch: WatchGuard,
    /// Kept outside `Process`, which passes through the stack when it is built.
    pub(crate) handles: &'static Registry,
}

// SAFETY: the pointers lead to mappings that live for ever and are used through atomics, or under a
// slot's lock.
unsafe impl Sync for Process {}

#[allow(dead_code)] // builds without sections
impl Process {
    // Offsets for the assembly of sections.
    pub(crate) const CONTROL: usize = offset_of!(Process, sections.control);
    pub(crate) const LINES: usize = offset_of!(Process, sections.lines);
    pub(crate) const GENERATION: usize = offset_of!(Process, generation);
    pub(crate) const CLOCK: usize = offset_of!(Process, clock);

    pub(crate) const fn new(facts: Facts) -> Process {
        Process {
            rseq: Rseq::NONE,
            mode: AtomicU8::new(Mode::Kernel as u8),
            generation: facts.generation,
            clock: facts.clock,
            sections: Sections::new(facts.canary, &facts.memory, facts.no_sections),
            reserved_epochs: AtomicU64::new(0),
            reserved_losses: AtomicU64::new(0),
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
            watch: facts.watch,
            handles: facts.handles,
        }
    }

    /// Returns the state for a process that cannot get a page of memory: it draws by getrandom(2)
    /// alone.
    pub(crate) const fn destitute() -> Process {
        Process::new(Facts {
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
            watch: WatchGuard::off(),
            handles: &NO_HANDLES,
        })
    }

    /// Stops every load of the vDSO's data: a restored checkpoint may lack them. The mode is
    /// `strict` by then.
    pub(crate) fn leave_kernel(&self) {
        self.kernel.leave();
        self.generation.withdraw();
    }

    /// Uses the vDSO and the reseed generation again, if the kernel is the one that was left.
    pub(crate) fn come_back_to_kernel(&self) {
        if self.kernel.come_back() {
            self.generation.restore();
        }
    }

    /// Returns the vDSO's getrandom; None after `quiesce`, because it loads data that may be gone.
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

    /// Chooses the first epoch before publication. If threads raced for it afterwards, each would
    /// use up a number, and with the numbers banks.
    pub(crate) fn choose_first_epoch(&self) {
        self.home.store(self.epoch().get(), Relaxed);
    }

    /// Returns whether this is the process that did the set-up, and not a child.
    pub(crate) fn is_home(&self) -> bool {
        self.home.load(Relaxed) == self.epoch().get()
    }

    /// Returns the epoch; None in a child that has not chosen one yet.
    #[inline(always)]
    pub(crate) fn current_epoch(&self) -> Option<Epoch> {
        self.fork_canary().current()
    }

    /// Returns the epoch, chosen now in a new child; a constant where forks cannot be detected.
    #[inline(always)]
    pub(crate) fn epoch(&self) -> Epoch {
        self.current_epoch().unwrap_or_else(|| self.enter_epoch())
    }

    /// Chooses an epoch, and switches the sections of this process on.
    #[cold]
    fn enter_epoch(&self) -> Epoch {
        let epoch = self.fork_canary().choose();
        self.sections.switch_on();
        epoch
    }

    /// Switches sections off for the life of the process.
    #[cold]
    pub(crate) fn switch_sections_off(&self, reason: NoSections) {
        self.sections.switch_off(reason);
        self.choose_mode();
    }

    /// Returns whether `epoch` is still the process's. A comparison before a copy would prove
    /// nothing.
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

    /// Returns a number that changes when the kernel has dropped the pools' pages, by which a
    /// restored process may be known; a constant where there are no pages.
    pub(crate) fn page_losses(&self) -> u64 {
        let Some(word) = self.memory.loss_word() else { return 0 };
        PageLoss { word, reserved: &self.reserved_losses }.number()
    }

    /// Returns the values of the guards now. Acquire: a key drawn afterwards is at least as new as
    /// they are.
    pub(crate) fn guards(&self) -> Seen {
        let generation = self.generation.get().load(Acquire);
        Seen { generation, marker: self.clock.marker().load(Acquire) }
    }

    /// Returns whether this CPU's page has a hedge key.
    pub(crate) fn has_hedge_key(&self) -> bool {
        self.sections.line(self.cpu_hint.get()).is_some_and(section::CpuLine::has_hedge_key)
    }

    /// Returns whether copies may use registers that only AVX-512 has.
    #[inline(always)]
    pub(crate) fn is_wide(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.backend == Backend::Vaes512;
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// Clears upper register halves that a caller left dirty: SSE instructions after them would be
    /// slow.
    #[inline(always)]
    pub(crate) fn clean_registers(&self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if self.avx {
            crate::linux::cipher::clean_upper_halves();
        }
    }

    /// Lets pages expire if no reseed generation is live. Called at each draw of mode `hedged`.
    #[inline]
    pub(crate) fn expire(&self) {
        self.generation.expire(self.coarse_clock, !self.kernel.is_left());
    }
}
