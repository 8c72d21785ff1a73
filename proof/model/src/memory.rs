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

/// The counts of one CPU, and its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Line {
    /// Where the next take takes from; None stands for the zeros that a fork leaves.
    pub(crate) cursor: Option<Cursor>,
    pub(crate) number: u8,
    /// The page that this line owns, by its place in [`Process::pages`]; None before the first put.
    pub(crate) page: Option<u8>,
    /// The generation of the last put, for a mutant that compares it here.
    pub(crate) generation: u8,
}

/// A page and the words that are left in it: in the real code one pointer, so that one instruction
/// loads or stores both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cursor {
    pub(crate) page: u8,
    pub(crate) left: u8,
}

/// A page: words, the guards under which they were made, and for a while the keys that make them.
/// It is memory that the kernel may drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Page {
    pub(crate) tag: u8,
    pub(crate) generation: u8,
    pub(crate) keys: u8,
    /// The stream that a following refill makes: a part of its seed is in the page.
    pub(crate) link: u8,
    /// The refills that may still follow.
    pub(crate) links: u8,
    pub(crate) words: [Word; ROOM],
}

/// A slot: its lock, and the page in which its holder's refills work; None stands for the first
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Slot {
    pub(crate) locked: bool,
    pub(crate) work: Option<u8>,
    /// The refills so far, for a mutant that numbers them by slot.
    pub(crate) count: u8,
}

/// The slots of a bank: one for each CPU, and one that is shared.
pub(crate) const SLOTS: usize = CPUS + 1;
/// The banks: that of the first process, and that of a forked child.
const BANKS: usize = 2;
/// The pages of a bank: one for each line and one for each slot.
const OF_BANK: usize = CPUS + SLOTS;

/// Returns the page that a line of this bank stands for until the first put.
pub(crate) fn first_page(bank: u8, cpu: u8) -> u8 {
    bank * OF_BANK as u8 + cpu
}

/// Returns the page in which a slot's refills work until they exchange it.
pub(crate) fn first_work_page(bank: u8, slot: u8) -> u8 {
    bank * OF_BANK as u8 + CPUS as u8 + slot
}

/// The memory of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Process {
    /// True if the lines are set up, which a fork undoes in the child. The real code stores the
    /// number of CPUs here.
    pub(crate) cpus: bool,
    /// The epoch, which a fork sets to 0 in the child. Its bank is the one before it.
    pub(crate) epoch: u8,
    /// The epochs that were ever chosen; a fork keeps it.
    pub(crate) epochs: u8,
    /// The stamp that a put compares, which a fork sets to 0 in the child.
    pub(crate) stamp: u8,
    /// The stamps that were ever handed out; a fork keeps it.
    pub(crate) stamps: u8,
    /// A section met a zero, so no draw tries one again.
    pub(crate) off: bool,
    pub(crate) lines: [Line; CPUS],
    pub(crate) pages: [Page; BANKS * OF_BANK],
    pub(crate) slots: [[Slot; SLOTS]; BANKS],
}

impl Process {
    /// Leaves a link in the pages of lines that have words, and in those of slots.
    pub(crate) fn leave_links(&mut self, links: u8) {
        let lines = self.lines.into_iter().filter_map(|line| line.page);
        let slots = (0..SLOTS as u8).map(|slot| first_work_page(0, slot));
        for (n, at) in lines.chain(slots).enumerate() {
            let (page, name) = (&mut self.pages[usize::from(at)], (CPUS + 1 + 2 * n) as u8);
            if page.tag == 0 {
                page.tag = name;
            }
            (page.generation, page.link, page.links) = (1, name + 1, links);
        }
    }
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
