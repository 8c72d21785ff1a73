//! A model of headwater, no more than which system calls it makes: what a program of draws must
//! show to a tracer.
//!
//! Written from PLATFORM.md, and as slow and plain as it can be. No call is allowed for: what is
//! not here must not be made.

use super::answers::{Answers, Devices, SHORT};
use headwater::{Mode, Source};

/// The actions of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Draw {
    Word,
    TryFill(usize),
    Fill(usize),
    NewHandle,
    HandleFill(usize),
    /// [`MANY`] times 40 bytes: page after page.
    ManyFills,
    AskStatus,
}

pub(crate) const MANY: usize = 3_000;

/// The model's facts of the machine. The rest of set-up follows from them.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// The vDSO has getrandom.
    pub(crate) vdso: bool,
    /// The reseed generation can be found.
    pub(crate) word: bool,
    /// The modes in use for the requested one, with a reseed generation and without.
    pub(crate) modes: [Mode; 2],
    pub(crate) looks: Looks,
    /// Pages of `[vvar]` that are tried.
    pub(crate) vvar_pages: usize,
    /// The kernel has droppable memory.
    pub(crate) droppable: bool,
    /// Shared draws go through restartable sequences.
    pub(crate) sections: bool,
    /// Words of the CPU enter each key.
    pub(crate) cpu_words: bool,
}

/// The calls that look at the machine, as its files make them.
#[derive(Clone, Debug)]
pub(crate) struct Looks {
    pub(crate) cpus: Vec<String>,
    /// Is the random instruction slow?
    pub(crate) srbds: Vec<String>,
    /// The question for the place of `[vvar]`.
    pub(crate) mappings: Vec<String>,
    pub(crate) vmgenid: Vec<String>,
    pub(crate) vmclock: Vec<String>,
    /// The page of `headwater clones watch`.
    pub(crate) watch_page: Vec<String>,
    /// The question for a virtual machine, asked if a generation is live and no clone would be
    /// reported.
    pub(crate) hardware: Vec<String>,
}

/// The end of a request: an errno, or 0 for an answer that cannot be.
type Refused = i32;

/// Bytes that a page serves, that a request may take of it, and that one key makes.
const CAPACITY: usize = 4096 - 512 - 32 - 16;
const LIMIT: usize = 1024;
const CHUNK: usize = 1 << 20;
/// Refills of a page after one that asked the kernel, which need not ask.
const LINKS: usize = 7;

/// A page: whether the vDSO's state in it has a key, how many refills need not ask, and what is
/// left to be served.
#[derive(Clone, Copy, Default)]
struct Page {
    keyed: bool,
    links: usize,
    left: usize,
}

/// The results of set-up.
#[derive(Clone, Copy)]
struct SetUp {
    mode: Mode,
    /// The vDSO's getrandom is used.
    vdso: bool,
    pages: bool,
}

pub(crate) struct Model<'a> {
    machine: &'a Machine,
    requested: Mode,
    answers: Answers,
    set_up: Option<SetUp>,
    slot: Page,
    handle: Option<Page>,
    by_handle: bool,
    /// The other page of a CPU's sections.
    exchanged: Page,
    /// The calls so far.
    pub(crate) calls: Vec<String>,
    pub(crate) getrandom_calls: usize,
    device_calls: usize,
    /// /dev/random has answered that the generator is seeded.
    seeded: bool,
    /// For the status: what answered last, and whether the vDSO did when it was asked.
    answered: Source,
    vdso_refused: bool,
}

impl Model<'_> {
    pub(crate) fn new(machine: &Machine, requested: Mode, answers: Answers) -> Model<'_> {
        Model {
            machine,
            requested,
            answers,
            set_up: None,
            slot: Page::default(),
            handle: None,
            by_handle: false,
            exchanged: Page::default(),
            calls: Vec::new(),
            getrandom_calls: 0,
            device_calls: 0,
            seeded: false,
            answered: Source::None,
            vdso_refused: false,
        }
    }

    /// Makes the calls of one step of the program.
    pub(crate) fn step(&mut self, draw: Draw) -> Result<(), Refused> {
        match draw {
            Draw::Word => self.fill(8, true),
            Draw::TryFill(len) => self.fill(len, false),
            Draw::Fill(len) => self.fill(len, true),
            Draw::NewHandle => {
                self.set_up(true)?;
                self.handle = Some(Page::default());
                Ok(())
            }
            Draw::ManyFills => (0..MANY).try_for_each(|_| self.fill(40, true)),
            // Sets up, if that needs no waiting.
            Draw::AskStatus => {
                if self.set_up(false).is_err() {
                    self.look(|looks| &looks.vmgenid);
                }
                Ok(())
            }
            // The page of a handle is one like a slot's.
            Draw::HandleFill(len) => {
                let Some(page) = self.handle else { return Ok(()) };
                let own = self.set_up.is_some_and(|set_up| {
                    set_up.pages && matches!(set_up.mode, Mode::Buffered | Mode::Hedged)
                });
                if !own {
                    return self.fill(len, true);
                }
                let slot = std::mem::replace(&mut self.slot, page);
                self.by_handle = true;
                let result = self.fill(len, true);
                self.by_handle = false;
                self.handle = Some(std::mem::replace(&mut self.slot, slot));
                result
            }
        }
    }

    /// Returns the source that the status must name.
    pub(crate) fn source(&self) -> Source {
        match self.set_up {
            None => Source::None,
            Some(SetUp { vdso: true, mode, .. }) if mode != Mode::Kernel && !self.vdso_refused => {
                Source::Vdso
            }
            Some(_) => self.answered,
        }
    }

    fn fill(&mut self, len: usize, wait: bool) -> Result<(), Refused> {
        let set_up = self.set_up(wait)?;
        match set_up.mode {
            Mode::Kernel => self.system_call(len, true),
            Mode::Strict => (0..len.div_ceil(CHUNK)).try_for_each(|_| self.key(set_up.vdso)),
            _ if len > LIMIT => (0..len.div_ceil(CHUNK)).try_for_each(|_| self.take(32)),
            _ => self.take(len.next_multiple_of(8)),
        }
    }

    /// Takes bytes of a page, which is filled if it has not enough of them.
    fn take(&mut self, bytes: usize) -> Result<(), Refused> {
        if self.slot.left < bytes {
            // A refill for sections leaves the page as it is until it has a key.
            if !self.machine.sections || self.by_handle {
                self.slot.left = 0;
            }
            self.refill()?;
            self.slot.left = CAPACITY;
            // A refill for sections answers its own request beside the page, which it exchanges:
            // the next one works in the page that the CPU had, with the vDSO's state and the links
            // there.
            if self.machine.sections && !self.by_handle {
                std::mem::swap(&mut self.slot, &mut self.exchanged);
                self.slot.left = CAPACITY;
                return Ok(());
            }
        }
        self.slot.left -= bytes;
        Ok(())
    }

    /// Makes the calls of a refill: none if it follows a link.
    fn refill(&mut self) -> Result<(), Refused> {
        let set_up = self.set_up.expect("set-up comes before a refill");
        if let Some(links) = self.slot.links.checked_sub(1) {
            self.slot.links = links;
            return Ok(());
        }
        self.key(set_up.vdso)?;
        let follow = set_up.mode == Mode::Buffered && self.machine.cpu_words;
        self.slot.links = if follow { LINKS } else { 0 };
        Ok(())
    }

    /// Makes the calls for the kernel's half of a key.
    fn key(&mut self, by_vdso: bool) -> Result<(), Refused> {
        if by_vdso {
            self.vdso_refused = !self.vdso(32);
            if !self.vdso_refused {
                return Ok(());
            }
        }
        self.system_call(32, true)
    }

    /// Asks the kernel as the vDSO's getrandom does: once for a key of 32 bytes, and for `len`
    /// bytes if it does not get all of the key. The vDSO asks again after each reseed, which the
    /// test excludes. Returns whether the vDSO serves the bytes.
    fn vdso(&mut self, len: usize) -> bool {
        if !self.slot.keyed {
            self.slot.keyed = self.getrandom(32, 0) == Ok(32);
        }
        self.slot.keyed || self.getrandom(len, 0) == Ok(len)
    }

    /// Goes down the ladder: getrandom(2), and the devices where the call is missing or forbidden.
    fn system_call(&mut self, len: usize, wait: bool) -> Result<(), Refused> {
        let flags = if wait { 0 } else { libc::GRND_NONBLOCK };
        match fully(len, |left| self.getrandom(left, flags)) {
            Err(libc::ENOSYS | libc::EPERM) => {
                self.devices(len, wait)?;
                self.answered = Source::Urandom;
            }
            result => {
                result?;
                self.answered = Source::Getrandom;
            }
        }
        Ok(())
    }

    fn devices(&mut self, len: usize, wait: bool) -> Result<(), Refused> {
        if !self.seeded {
            self.poll_random(wait)?;
            self.seeded = true;
        }
        self.call("openat(/dev/urandom)");
        if self.answers.devices == Devices::Missing {
            return Err(libc::ENOENT);
        }
        let result = fully(len, |left| self.read(left));
        self.call("close");
        result
    }

    /// Asks whether the generator is seeded: once in a process, if the answer is yes.
    fn poll_random(&mut self, wait: bool) -> Result<(), Refused> {
        self.call("openat(/dev/random)");
        let ready = loop {
            self.call(if wait { "ppoll(waits)" } else { "ppoll(does not wait)" });
            if !self.is_interrupted() {
                break wait || self.answers.devices != Devices::NotReady;
            }
        };
        self.call("close");
        if ready { Ok(()) } else { Err(libc::EAGAIN) }
    }

    fn read(&mut self, len: usize) -> Result<usize, Refused> {
        self.call(format!("read({len})"));
        let most = if self.answers.devices == Devices::Short { SHORT } else { len };
        if self.is_interrupted() { Err(libc::EINTR) } else { Ok(len.min(most)) }
    }

    fn is_interrupted(&mut self) -> bool {
        self.device_calls += 1;
        self.answers.interrupts_device(self.device_calls - 1)
    }

    fn getrandom(&mut self, len: usize, flags: u32) -> Result<usize, Refused> {
        self.call(format!("getrandom({len}, {flags})"));
        self.getrandom_calls += 1;
        match self.answers.getrandom(self.getrandom_calls - 1, flags) {
            None => Ok(len),
            Some(answer) => answer.map(|most| len.min(most)),
        }
    }

    /// Makes the calls of set-up, unless set-up was done before.
    fn set_up(&mut self, wait: bool) -> Result<SetUp, Refused> {
        if let Some(set_up) = self.set_up {
            return Ok(set_up);
        }
        let machine = self.machine;
        self.system_call(1, wait)?;
        self.call("mmap");
        self.look(|looks| &looks.cpus);
        let kernel = self.requested == Mode::Kernel;
        let pages = !kernel && self.slots();
        self.wiped(); // lines, or the one of the canary
        let vdso = pages && machine.vdso;
        let mut word = false;
        if !kernel {
            self.look(|looks| &looks.srbds);
            if vdso {
                word = self.search() && machine.word;
                self.slot.keyed = false;
            }
            if pages {
                self.call(madvise(libc::MADV_DONTNEED));
            }
            self.look(|looks| &looks.vmgenid);
            self.look(|looks| &looks.vmclock);
            self.look(|looks| &looks.watch_page);
            if word {
                self.look(|looks| &looks.hardware);
            }
        }
        if pages {
            self.pages(); // of the first handles
        }
        let mode = match self.requested {
            Mode::Kernel => Mode::Kernel,
            _ if !pages => Mode::Strict,
            _ => machine.modes[usize::from(!word)],
        };
        Ok(*self.set_up.insert(SetUp { mode, vdso, pages }))
    }

    /// Searches for the generation under a state that is keyed for the purpose. The search is in
    /// vain if the state cannot be keyed. Returns whether the search was made.
    fn search(&mut self) -> bool {
        // An address that cannot be read, to find out whether a filter answers in the kernel's
        // place.
        self.call("rt_sigprocmask");
        self.look(|looks| &looks.mappings);
        for _ in 0..4 {
            let (first, first_keyed) = (self.vdso(1), self.slot.keyed);
            let second = self.vdso(2);
            if !first || !second {
                return false;
            }
            if first_keyed {
                for _ in 0..self.machine.vvar_pages {
                    self.call("rt_sigprocmask");
                }
                return true;
            }
        }
        false
    }

    /// Makes the calls for memory that a fork wipes.
    fn wiped(&mut self) {
        self.call("mmap");
        // The first advice does not exist, and must be refused.
        for advice in [-1, libc::MADV_WIPEONFORK, libc::MADV_DONTDUMP, libc::MADV_NOHUGEPAGE] {
            self.call(madvise(advice));
        }
    }

    /// Makes the calls for the pages of slots and sections: of many slots, which are droppable, of
    /// few, and of few without sections. Returns whether there is any memory.
    fn slots(&mut self) -> bool {
        if !self.answers.memory || !self.machine.droppable {
            self.call("mmap");
        }
        self.pages() || self.pages()
    }

    /// Makes the calls for the memory of pages. Returns whether there is any memory.
    fn pages(&mut self) -> bool {
        if !self.answers.memory {
            self.call("mmap"); // droppable
            self.call("mmap"); // private
        } else if self.machine.droppable {
            self.call("mmap");
            self.call(madvise(libc::MADV_NOHUGEPAGE));
            self.call(madvise(libc::MADV_DONTNEED));
        } else {
            self.call("mmap");
            self.wiped();
            self.call("mlock2");
        }
        self.answers.memory
    }

    fn look(&mut self, at: impl Fn(&Looks) -> &Vec<String>) {
        self.calls.extend_from_slice(at(&self.machine.looks));
    }

    fn call(&mut self, call: impl Into<String>) {
        self.calls.push(call.into());
    }
}

fn madvise(advice: i32) -> String {
    format!("madvise({advice})")
}

/// Asks again for what is missing, and after an interruption.
fn fully(len: usize, mut ask: impl FnMut(usize) -> Result<usize, Refused>) -> Result<(), Refused> {
    let mut left = len;
    while left > 0 {
        match ask(left) {
            Ok(0) => return Err(0),
            Ok(given) => left -= given,
            Err(libc::EINTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
