//! The input of a search: the threads' scripts, the kernel's possible actions and their number, and
//! the step that is left out.

/// One thing that a thread does, after the one before it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Draws one word.
    Draw,
    /// Forks: the child has a copy of all frames of this thread, and both go on.
    Fork,
    /// Starts a child in shared memory and waits until it has ended: vfork(2).
    Vfork,
    /// Starts a child in shared memory and goes on: clone(2) with `CLONE_VM` and without
    /// `CLONE_SETTLS`.
    Clone,
    /// Makes all pages worthless: a fresh epoch, then a drop of every page.
    Discard,
}

/// The operations of a thread, in order.
pub type Script = &'static [Op];

/// The number of times that an event may happen in one execution; `None` is without limit.
pub type Budget = Option<u8>;

/// One step of the protocol, or one order of two steps, that a mutant does without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Without {
    /// No descriptor is stored, so the kernel aborts nothing.
    Descriptor,
    /// Take does not look whether a fork wiped the lines.
    TakeCtl,
    /// Take does not compare the tag before it reads what is left.
    TagBefore,
    /// Take does not compare the CPU with the result of RDPID.
    TakeRdpid,
    /// Take claims the word behind its read and its erasure.
    ClaimFirst,
    /// Take claims the word between its read and its erasure.
    ClaimBeforeRead,
    /// Take leaves the word in the page.
    Erase,
    /// Take does not compare the generation.
    TakeGeneration,
    /// Take does not compare the tag behind the copy.
    TagBehind,
    /// Take does not look for a zero.
    Zero,
    /// The work page's tag is stored behind its keys.
    TagBeforeKeys,
    /// Put does not look whether a fork wiped the lines.
    PutCtl,
    /// Put does not compare the epoch when it begins.
    PutEpoch,
    /// Put does not check whether another refill came first.
    PutLost,
    /// Put does not compare the CPU when it begins.
    PutRdpid,
    /// Put leaves the old count while it writes.
    PutEmpty,
    /// Put does not compare the work page's tag.
    PutWork,
    /// Put does not compare the epoch behind its last word.
    PutEpochAgain,
    /// Put does not compare the number behind its last word.
    PutNumberAgain,
    /// Put does not compare the CPU behind its last word.
    PutRdpidAgain,
    /// Neither take nor put compares the CPU at any place.
    Rdpid,
    /// The own word is delivered whether or not there was a reseed.
    OwnGeneration,
    /// The own word is delivered whether or not the work page was dropped.
    OwnWork,
    /// The own word is delivered whether or not the epoch moved.
    OwnEpoch,
}

impl Without {
    /// All mutants.
    pub const ALL: [Without; 24] = [
        Without::Descriptor,
        Without::TakeCtl,
        Without::TagBefore,
        Without::TakeRdpid,
        Without::ClaimFirst,
        Without::ClaimBeforeRead,
        Without::Erase,
        Without::TakeGeneration,
        Without::TagBehind,
        Without::Zero,
        Without::TagBeforeKeys,
        Without::PutCtl,
        Without::PutEpoch,
        Without::PutLost,
        Without::PutRdpid,
        Without::PutEmpty,
        Without::PutWork,
        Without::PutEpochAgain,
        Without::PutNumberAgain,
        Without::PutRdpidAgain,
        Without::Rdpid,
        Without::OwnGeneration,
        Without::OwnWork,
        Without::OwnEpoch,
    ];
}

/// One search.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name in reports.
    pub name: &'static str,
    /// The script of each thread of the first process; at the start no thread runs on any CPU.
    pub threads: Vec<Script>,
    /// The script of a signal's handler.
    pub handler: Script,
    /// The script of a child in shared memory.
    pub child: Script,
    /// The words of a page.
    pub cap: u8,
    /// The pages that have words at the start.
    pub filled: [bool; 2],
    /// The number of tries of a section before the draw continues without it.
    pub tries: u8,
    /// The number of refills before the draw asks the kernel.
    pub rounds: u8,
    /// Preemptions of each thread, wherever it is; a forked child has what its parent has left.
    pub preemptions: Budget,
    /// Preemptions inside a section that do not abort it; a registered thread on a sound kernel has
    /// none.
    pub inside: Budget,
    /// True if a thread preempted inside a section, and not aborted, may continue on another CPU.
    pub migrates_inside: bool,
    /// Signals; a thread in a handler gets none.
    pub signals: Budget,
    /// Drops of a CPU's page.
    pub drops: Budget,
    /// Drops of the work page.
    pub work_drops: Budget,
    /// Reseeds, each of which moves the word.
    pub reseeds: Budget,
    /// A fork leaves the child a copy of the work page, as if it lay on the stack, instead of a
    /// page of zeros.
    pub work_survives_fork: bool,
    /// A draw that finds the work page locked makes its words on the stack; else the kernel's bytes
    /// answer it.
    pub stack_if_locked: bool,
    /// A kernel that forgets to abort a section whose thread it preempted and resumed on the same
    /// CPU.
    pub forgets_preemption: bool,
    /// A kernel that forgets to abort a section whose thread it moved to another CPU.
    pub forgets_migration: bool,
    /// True if a zero found by a section is an error, as with registered threads on a sound kernel.
    pub trips_are_errors: bool,
    /// Put reads the number and stores it in two instructions, which another thread can come
    /// between.
    pub number_in_two: bool,
    /// The step that is left out, if any.
    pub without: Option<Without>,
}

impl Config {
    /// Makes threads that draw, on a sound kernel that only schedules them: everything else is off.
    #[must_use]
    pub fn new(name: &'static str, threads: &[Script]) -> Config {
        Config {
            name,
            threads: threads.to_vec(),
            handler: &[],
            child: &[],
            cap: 2,
            filled: [true, false],
            tries: 2,
            rounds: 2,
            preemptions: None,
            inside: None,
            migrates_inside: true,
            signals: Some(0),
            drops: Some(0),
            work_drops: Some(0),
            reseeds: Some(0),
            work_survives_fork: true,
            stack_if_locked: false,
            forgets_preemption: false,
            forgets_migration: false,
            trips_are_errors: true,
            number_in_two: false,
            without: None,
        }
    }

    /// Returns the same search of the protocol without one step.
    #[must_use]
    pub fn without(&self, step: Without) -> Config {
        Config { without: Some(step), ..self.clone() }
    }

    pub(crate) fn has(&self, step: Without) -> bool {
        self.without != Some(step)
    }
}
