//! The input of a search: the threads' scripts, the kernel's possible actions and their number, and
//! the step that is left out.

/// One thing that a thread does, after the one before it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Draws one word.
    Draw,
    /// Forks: the child has a copy of all frames of this thread, and both continue.
    Fork,
    /// Starts a child in shared memory and waits until it has ended: vfork(2).
    Vfork,
    /// Starts a child in shared memory and continues: clone(2) with `CLONE_VM` and without
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
    /// Take does not compare the tag before it reads the word.
    TagBefore,
    /// Take does not compare the CPU with the result of RDPID.
    TakeRdpid,
    /// Take claims the word after its read and its erasure.
    ClaimFirst,
    /// Take claims the word between its read and its erasure.
    ClaimBeforeRead,
    /// Take leaves the word in the page.
    Erase,
    /// Take does not compare the generation.
    TakeGeneration,
    /// The generation that take compares lies in the line, which each put stores, and not in the
    /// page.
    GenerationInPage,
    /// Take does not compare the tag after the copy.
    TagBehind,
    /// Take does not look for a zero.
    Zero,
    /// The page's tag is stored after its keys.
    TagBeforeKeys,
    /// A refill's number is its slot's count, which another slot may have reached as well.
    UniqueNumber,
    /// Put does not look whether a fork wiped the lines.
    PutCtl,
    /// Put does not check whether another refill came first.
    PutLost,
    /// Put takes a page for the line's although the line does not own it.
    PutOwn,
    /// Put does not compare the CPU when it begins.
    PutRdpid,
    /// Put does not compare the stamp.
    PutStamp,
    /// Put leaves the old cursor in the line until it stores the new one.
    PutClear,
    /// Put exchanges the pages before it stores the number.
    NumberFirst,
    /// Put exchanges the pages by a load and a store.
    OneExchange,
    /// An abort after the exchange tries the put again.
    NoRetry,
    /// Put fills the CPU's page, word by word, with what the keys in the work page make.
    FillElsewhere,
    /// Put does not compare the CPU after the exchange.
    PutRdpidAgain,
    /// Neither take nor put compares the CPU at any place.
    Rdpid,
    /// A refill follows the link of a page that has no tag.
    FollowTag,
    /// A refill follows a link that was made under another generation.
    FollowGeneration,
    /// A refill that follows a link stores its tag after a compare, and not by one instruction.
    FollowExchange,
    /// The own word is delivered whether or not there was a reseed.
    OwnGeneration,
    /// The own word is delivered whether or not the work page was dropped.
    OwnWork,
    /// The own word is delivered whether or not there was a fork since it was made.
    OwnEpoch,
    /// The own word is delivered whether or not there was a fork in the put.
    OwnEpochAgain,
}

impl Without {
    /// All mutants.
    pub const ALL: [Without; 32] = [
        Without::Descriptor,
        Without::TakeCtl,
        Without::TagBefore,
        Without::TakeRdpid,
        Without::ClaimFirst,
        Without::ClaimBeforeRead,
        Without::Erase,
        Without::TakeGeneration,
        Without::GenerationInPage,
        Without::TagBehind,
        Without::Zero,
        Without::TagBeforeKeys,
        Without::UniqueNumber,
        Without::PutCtl,
        Without::PutLost,
        Without::PutOwn,
        Without::PutRdpid,
        Without::PutStamp,
        Without::PutClear,
        Without::NumberFirst,
        Without::OneExchange,
        Without::NoRetry,
        Without::FillElsewhere,
        Without::PutRdpidAgain,
        Without::Rdpid,
        Without::FollowTag,
        Without::FollowGeneration,
        Without::FollowExchange,
        Without::OwnGeneration,
        Without::OwnWork,
        Without::OwnEpoch,
        Without::OwnEpochAgain,
    ];
}

/// The instructions of a section at which the kernel may move a thread that it does not abort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// At no instruction: the thread continues on its CPU.
    Nowhere,
    /// At each.
    Anywhere,
    /// At the claim of a draw, which follows RDPID, and at no other.
    AtTheClaim,
    /// At each but the claim of a draw.
    NotAtTheClaim,
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
    /// The CPUs of the machine, 1 or 2. With one, threads meet only where one of them is preempted.
    pub cpus: u8,
    /// The words of a page.
    pub cap: u8,
    /// The pages that have words at the start.
    pub filled: [bool; 2],
    /// The number of tries of a section before the draw continues without it.
    pub tries: u8,
    /// The number of refills before the draw asks the kernel.
    pub rounds: u8,
    /// The refills that may follow each other by links before one asks the kernel; with 0 each
    /// asks.
    pub links: u8,
    /// Preemptions of each thread, wherever it is; a forked child has what its parent has left.
    pub preemptions: Budget,
    /// Preemptions inside a section that do not abort it; a registered thread on a sound kernel has
    /// none.
    pub inside: Budget,
    /// Where a thread preempted inside a section, and not aborted, may continue on another CPU.
    pub moves: Moves,
    /// Signals; a thread in a handler gets none.
    pub signals: Budget,
    /// Drops of a CPU's page.
    pub drops: Budget,
    /// Drops of a page that is no CPU's at the time: of one that a refill works in, for instance.
    pub work_drops: Budget,
    /// Reseeds, each of which moves the word.
    pub reseeds: Budget,
    /// A refill whose CPU's slot is locked takes the shared slot; else the kernel's bytes answer
    /// the draw.
    pub shares: bool,
    /// A kernel that forgets to abort a section whose thread it preempted and resumed on the same
    /// CPU.
    pub forgets_preemption: bool,
    /// A kernel that forgets to abort a section whose thread it moved to another CPU.
    pub forgets_migration: bool,
    /// True if a zero found by a section is an error, as with registered threads on a sound kernel.
    pub trips_are_errors: bool,
    /// True if a word that is delivered twice is an error. A search that tolerates this looks for
    /// what is worse.
    pub repeats_are_errors: bool,
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
            cpus: 2,
            cap: 2,
            filled: [true, false],
            tries: 2,
            rounds: 2,
            links: 0,
            preemptions: None,
            inside: None,
            moves: Moves::Anywhere,
            signals: Some(0),
            drops: Some(0),
            work_drops: Some(0),
            reseeds: Some(0),
            shares: false,
            forgets_preemption: false,
            forgets_migration: false,
            trips_are_errors: true,
            repeats_are_errors: true,
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
