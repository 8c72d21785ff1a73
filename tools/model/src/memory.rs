//! The memory that threads share: lines, pages and the rest of a process's memory, and the areas of
//! rseq(2).

/// The CPUs of the machine.
pub(crate) const CPUS: usize = 2;
/// The most words that a page has room for.
pub(crate) const ROOM: usize = 3;

/// A random word: which stream it is from, and its place there. Zero and weak words are never to be
/// delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Word(pub(crate) u8);

impl Word {
    pub(crate) const ZERO: Word = Word(0);
    /// The output of a stream whose keys the kernel dropped: the same in every process.
    pub(crate) const WEAK: Word = Word(1);

    /// Returns the word at a place of the stream with this key. A dropped page leaves the key 0.
    pub(crate) fn of(stream: u8, place: usize) -> Word {
        if stream == 0 {
            return Word::WEAK;
        }
        Word(2 + (stream - 1) * (ROOM as u8 + 1) + place as u8)
    }

    /// Returns the stream that the word is from, if it is from any.
    pub(crate) fn stream(self) -> Option<u8> {
        self.0.checked_sub(2).map(|rest| rest / (ROOM as u8 + 1) + 1)
    }
}

/// The counts of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Line {
    pub(crate) left: u8,
    pub(crate) number: u8,
    pub(crate) generation: u8,
}

/// The words of one CPU, in memory that the kernel may drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Page {
    pub(crate) tag: u8,
    pub(crate) words: [Word; ROOM],
}

/// The page that holds the keys while words are made, in memory that the kernel may drop; the lock
/// is elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Work {
    pub(crate) locked: bool,
    pub(crate) tag: u8,
    pub(crate) keys: u8,
}

/// The memory of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Process {
    /// True if the lines are set up, which a fork undoes in the child. The real code stores the
    /// number of CPUs here.
    pub(crate) cpus: bool,
    /// The epoch, which a fork sets to 0 in the child.
    pub(crate) epoch: u8,
    /// The epochs that were ever chosen; a fork keeps it.
    pub(crate) epochs: u8,
    /// A section met a zero, so no draw tries one again.
    pub(crate) off: bool,
    pub(crate) lines: [Line; CPUS],
    pub(crate) pages: [Page; CPUS],
    pub(crate) work: Work,
}

/// The section that a descriptor announces to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Section {
    Take,
    Put,
}

/// The area that a thread and the kernel share by rseq(2): a child made by vfork(2) has its
/// parent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Area {
    pub(crate) cpu: u8,
    pub(crate) section: Option<Section>,
}
