//! Status of this process: the mode, every detector, and why each has its value.
//!
//! A detector that is not in use, or a slow path taken in silence, must show here.

use crate::mode::Mode;
use core::num::NonZeroU64;

/// The parts that serve this process and the guards in use, returned by
/// [`status()`](crate::status).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The mode that requests are served in now; never `Auto`.
    pub mode: Mode,
    /// The mode that was asked for, by `HEADWATER_MODE` or [`Config`](crate::Config).
    pub requested: Mode,
    /// True if `HEADWATER_MODE` held an unknown value; the mode is `strict` then.
    pub unknown_mode_requested: bool,
    /// The reason for `mode`, as one clause.
    pub reason: &'static str,
    /// The source of key material.
    pub source: Source,
    /// The kernel's reseed generation, read from the vDSO's data.
    pub reseed_generation: ReseedGeneration,
    /// The hypervisor's VMClock page.
    pub vmclock: Vmclock,
    /// The state of the kernel's vmgenid driver.
    pub vmgenid: Vmgenid,
    /// The page of `headwater clones watch`.
    pub watch_page: WatchPage,
    /// The kind of machine; only asked if the mode depends on it.
    pub hardware: Hardware,
    /// The CPU's random instruction.
    pub cpu_rng: CpuRng,
    /// The way in which small requests reach buffered bytes.
    pub path: Path,
    /// The cipher that expands keys.
    pub cipher: &'static str,
    /// The kind of memory of the pages.
    pub page: Page,
    /// True if the kernel clears pool memory in a forked child; false only where nothing is
    /// buffered.
    pub fork_detection: bool,
    /// The value that [`generation()`](crate::generation) returns now.
    pub generation: Option<NonZeroU64>,
    /// Size of the pools.
    pub pools: Pools,
    /// The events so far in this process; a forked child counts anew.
    pub counters: Counters,
}

/// The source of key material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The vDSO's getrandom, which needs no system call while the kernel has not reseeded.
    Vdso,
    /// The getrandom(2) system call.
    Getrandom,
    /// /dev/urandom, read after /dev/random said ready: getrandom(2) is missing or forbidden.
    Urandom,
    /// The `getrandom` crate, on systems other than Linux.
    Other,
    /// No source has answered yet: the kernel's generator is not seeded, or all sources are
    /// refused.
    None,
}

impl Source {
    /// Returns a stable name in snake_case.
    pub const fn name(self) -> &'static str {
        match self {
            Source::Vdso => "vdso",
            Source::Getrandom => "getrandom",
            Source::Urandom => "urandom",
            Source::Other => "other",
            Source::None => "none",
        }
    }
}

/// The way in which small requests reach buffered bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Path {
    /// In a restartable sequence of the kernel's, without a lock.
    Sections,
    /// Under a slot's try-lock, because restartable sequences cannot be used for this reason.
    Slots(&'static str),
    /// Nothing is buffered in this mode.
    Unbuffered,
}

impl Path {
    /// Returns a stable name in snake_case.
    pub const fn name(self) -> &'static str {
        match self {
            Path::Sections => "restartable_sequences",
            Path::Slots(_) => "locked_slots",
            Path::Unbuffered => "unbuffered",
        }
    }

    /// Returns why restartable sequences are not used; None if they are, or if nothing is buffered.
    pub const fn why(self) -> Option<&'static str> {
        match self {
            Path::Slots(why) => Some(why),
            Path::Sections | Path::Unbuffered => None,
        }
    }
}

/// The state of the kernel's reseed generation in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReseedGeneration {
    /// Found, verified at every draw from the vDSO.
    Live {
        /// The generation now.
        value: u64,
        /// Which page of `[vvar]` it lies in, counted from the mapping's start.
        page: u32,
        /// Its offset in that page, in bytes.
        offset: u32,
    },
    /// Several places look alike until a reseed singles one out. No request is served `buffered`
    /// until then.
    Undecided {
        /// The number of places left.
        candidates: u32,
    },
    /// The place stopped agreeing with the kernel and is not used again in this process.
    Retired,
    /// Dropped by [`quiesce()`](crate::quiesce), and not searched again since: on the kernel of a
    /// restored checkpoint the address may lead nowhere.
    Quiesced,
    /// No place was found, for this reason.
    Absent(&'static str),
}

impl ReseedGeneration {
    /// Returns a stable name in snake_case.
    pub const fn name(self) -> &'static str {
        match self {
            ReseedGeneration::Live { .. } => "live",
            ReseedGeneration::Undecided { .. } => "undecided",
            ReseedGeneration::Retired => "retired",
            ReseedGeneration::Quiesced => "quiesced",
            ReseedGeneration::Absent(_) => "absent",
        }
    }
}

/// The state of the VMClock mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Vmclock {
    /// Mapped, and its marker compared at each draw. The clock is evidence that clones are noticed
    /// only with a `vm_generation`.
    Mapped {
        /// `disruption_marker`: changes on snapshot load and on live migration.
        marker: u64,
        /// `vm_generation_counter`, which changes on snapshot load only. `None` if the hypervisor
        /// does not promise to keep the counter (flag VM_GEN_COUNTER_PRESENT): nothing says then
        /// that the page reports clones.
        vm_generation: Option<u64>,
    },
    /// No /dev/vmclock0.
    Absent,
    /// /dev/vmclock0 is there, and this process may not read it (`chmod a+r` or a udev rule helps).
    Unreadable,
    /// The device answered something that is not a VMClock page.
    Invalid,
    /// Its loads take too long (an uncached mapping), so it is not used.
    Slow,
    /// Left unmapped, by [`Config::vmclock`](crate::Config).
    Off,
    /// Unmapped by [`quiesce()`](crate::quiesce) and not mapped again since.
    Quiesced,
}

impl Vmclock {
    /// Returns a stable name in snake_case.
    pub const fn name(self) -> &'static str {
        match self {
            Vmclock::Mapped { .. } => "mapped",
            Vmclock::Absent => "absent",
            Vmclock::Unreadable => "unreadable",
            Vmclock::Invalid => "invalid",
            Vmclock::Slow => "slow",
            Vmclock::Off => "off",
            Vmclock::Quiesced => "quiesced",
        }
    }
}

/// The binding of a vmgenid device to its driver in this kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Vmgenid {
    /// The driver has a device: the kernel reseeds when the VM is cloned.
    Bound,
    /// The driver is missing, or has no device.
    NotBound,
    /// /sys cannot be read.
    Unknown,
    /// Never asked, because nothing depended on it.
    NotAsked,
}

impl Vmgenid {
    /// Returns a stable name in snake_case.
    pub const fn name(self) -> &'static str {
        match self {
            Vmgenid::Bound => "bound",
            Vmgenid::NotBound => "not_bound",
            Vmgenid::Unknown => "unknown",
            Vmgenid::NotAsked => "not_asked",
        }
    }
}

/// The page in which `headwater clones watch` counts the copies of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchPage {
    /// Mapped, and part of [`generation()`](crate::generation).
    Mapped {
        /// The number of copies that were counted, and of starts of the watcher.
        copies: u64,
        /// True while the watcher runs. The count of a watcher that ended stands still.
        is_alive: bool,
        /// True if the watcher hears of each copy from the kernel or the hypervisor, and false if
        /// it can only follow the wall clock.
        is_exact: bool,
    },
    /// No /run/headwater/copies when this process was set up.
    Absent,
    /// The file cannot be read, is no such page, or belongs to another user than root and this one.
    Refused,
    /// Not looked for: mode `kernel`, or [`Config::vmclock(false)`](crate::Config::vmclock).
    Off,
    /// Unmapped by [`quiesce()`](crate::quiesce).
    Quiesced,
}

impl WatchPage {
    /// Returns a stable name in snake_case.
    pub const fn name(self) -> &'static str {
        match self {
            WatchPage::Mapped { .. } => "mapped",
            WatchPage::Absent => "absent",
            WatchPage::Refused => "refused",
            WatchPage::Off => "off",
            WatchPage::Quiesced => "quiesced",
        }
    }
}

/// The kind of machine, by its own files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hardware {
    /// Positive evidence of bare metal: it cannot be cloned while it runs.
    BareMetal,
    /// A virtual machine.
    Virtual,
    /// Undecided; treated as a virtual machine.
    Unknown,
    /// Never asked, because nothing depended on it.
    NotAsked,
}

impl Hardware {
    /// Returns a stable name in snake_case.
    pub const fn name(self) -> &'static str {
        match self {
            Hardware::BareMetal => "bare_metal",
            Hardware::Virtual => "virtual",
            Hardware::Unknown => "unknown",
            Hardware::NotAsked => "not_asked",
        }
    }
}

/// The state of the CPU's random instruction (RDRAND on x86-64).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CpuRng {
    /// It passed its checks and is mixed into keys.
    Good,
    /// The CPU has none.
    Absent,
    /// It returned 0, all ones, a repeat, or nothing; not used again in this process.
    Broken,
    /// It carries the SRBDS mitigation, which takes microseconds and a lock across cores: mixed
    /// into page keys, too slow for each request.
    Slow,
    /// Never asked, because nothing depended on it.
    NotAsked,
}

impl CpuRng {
    /// Returns a stable name in snake_case.
    pub const fn name(self) -> &'static str {
        match self {
            CpuRng::Good => "good",
            CpuRng::Absent => "absent",
            CpuRng::Broken => "broken",
            CpuRng::Slow => "slow",
            CpuRng::NotAsked => "not_asked",
        }
    }
}

/// The kind of memory of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Page {
    /// `MAP_DROPPABLE`: never in swap or a core dump, cleared in a forked child.
    Droppable,
    /// Private, cleared on fork, locked in memory, kept out of core dumps.
    WipeOnForkLocked,
    /// Private, cleared on fork, kept out of core dumps; **bytes may reach swap**.
    WipeOnFork,
    /// No page: nothing is buffered.
    None,
}

impl Page {
    /// Returns a stable name in snake_case.
    pub const fn name(self) -> &'static str {
        match self {
            Page::Droppable => "droppable",
            Page::WipeOnForkLocked => "wipe_on_fork_locked",
            Page::WipeOnFork => "wipe_on_fork",
            Page::None => "none",
        }
    }
}

/// Size of the pools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pools {
    /// Slots: one for each configured CPU (1,024 at most), and others that all CPUs share.
    pub slots: u32,
    /// Slots that have been filled at least once in this process, and pages of CPUs that have been
    /// put.
    pub used: u32,
    /// Slots that are taken at this moment. One that stays so was lost by a thread that was killed,
    /// or left by siglongjmp, in the middle of a draw; it is not used again in this process.
    pub taken: u32,
    /// Owned handles ([`Rng`](crate::Rng)) alive.
    pub handles: u32,
    /// Bytes one page serves before it is refilled.
    pub page_bytes: u32,
}

/// The events so far in this process. Each counter is exact for its slot and read without a lock,
/// so the sum may lack draws under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Pages filled.
    pub refills: u64,
    /// Bytes of pages thrown away before they were served, because a guard said so.
    pub discarded_bytes: u64,
    /// Draws that were thrown away, and made again, because a guard had moved.
    pub retries: u64,
    /// Requests and refills that found this CPU's slot taken.
    pub busy: u64,
    /// Requests served by a fresh kernel key because no slot could serve them.
    pub fallbacks: u64,
    /// Times that bytes which were never served were zero: 16 in a row under a slot's lock, or 8 in
    /// a restartable sequence, which is not used any more in this process afterwards.
    pub tripwires: u64,
}
