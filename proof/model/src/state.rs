//! A state of the model: memory, threads, and what is left of the kernel's budgets.

use crate::config::{Budget, Config, Op, Script};
use crate::memory::{Area, CPUS, Cursor, Process, ROOM, Section, Word, first_page};

/// The most threads, children included.
pub(crate) const THREADS: usize = 4;
/// The most processes: the first one and a forked child.
pub(crate) const PROCESSES: usize = 2;
/// The most streams whose words are somewhere at one time, key 0 included.
pub(crate) const STREAMS: usize = 24;

/// An event that must never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bad {
    /// A word was delivered a second time.
    Twice,
    /// A zero was delivered.
    Zero,
    /// A word of a stream without keys was delivered.
    Weak,
    /// A draw began after a reseed or a discard, and delivered a word from before it.
    Stale,
    /// A section of a registered thread on a sound kernel met a zero.
    Trip,
    /// A step of a thread brought its draw no nearer to its end.
    Endless,
    /// A page had two owners: two slots, two lines, or one of each.
    Shared,
}

/// The instruction that a frame comes to next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Pc {
    TakeArm,
    TakeCpu,
    TakeCtl,
    TakeCursor,
    TakeNumber,
    TakeRdpid,
    TakeClaim,
    TakeTag,
    TakeRead,
    TakeErase,
    TakeGeneration,
    TakeTagAgain,
    Epoch,
    Lock,
    Stamp,
    NewStamp,
    Publish,
    StampAgain,
    Generation,
    FollowLinks,
    FollowTag,
    FollowEnd,
    FollowExchange,
    FollowStore,
    FollowKeys,
    WorkLinks,
    WorkTag,
    WorkKeys,
    WorkGeneration,
    WorkWord,
    WorkLink,
    Own,
    LeaveLink,
    AfterGeneration,
    AfterWork,
    AfterEpoch,
    PutArm,
    PutCpu,
    PutCtl,
    PutLost,
    PutRdpid,
    PutStamp,
    PutClear,
    PutNumber,
    PutExchange,
    PutExchangeStore,
    PutNumberAfter,
    PutTag,
    PutWord,
    PutWork,
    PutRdpidAgain,
    PutCursor,
    KeepWork,
    FinalEpoch,
    Unlock,
    /// The store that clears the descriptor, after either section.
    Disarm,
    Fork,
    Start,
    DiscardStamp,
    DiscardPage,
    End,
}

/// The part of a draw that an instruction belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Take,
    Make,
    Put,
    After,
    Other,
}

impl Pc {
    pub(crate) fn part(self) -> Part {
        match self {
            Pc::Disarm => Part::Other,
            pc if pc <= Pc::TakeTagAgain => Part::Take,
            pc if pc <= Pc::AfterEpoch => Part::Make,
            pc if pc <= Pc::PutCursor => Part::Put,
            pc if pc <= Pc::Unlock => Part::After,
            _ => Part::Other,
        }
    }

    /// Returns the section that a frame is inside of. A section extends from after the store of
    /// the descriptor to the last instruction.
    pub(crate) fn section(self) -> Option<Section> {
        match self.part() {
            Part::Take if self != Pc::TakeArm => Some(Section::Take),
            Part::Put if self != Pc::PutArm => Some(Section::Put),
            _ => None,
        }
    }
}

/// Where a frame continues after the end of a section, or after the unlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) enum Next {
    #[default]
    Finish,
    Make,
    After,
    Again,
}

/// Which script a frame follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Thread(u8),
    Handler,
    Child,
}

/// A thread's own code, or a handler's on top of it: where it is, and what it has in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) source: Source,
    pub(crate) at: u8,
    pub(crate) pc: Pc,
    pub(crate) next: Next,
    /// The reseeds and discards that had ended when the draw began, for the checker alone.
    pub(crate) began: u8,
    pub(crate) round: u8,
    pub(crate) tries: u8,
    pub(crate) cpu: u8,
    pub(crate) number: u8,
    pub(crate) place: u8,
    pub(crate) word: Word,
    /// The page that a take reads from, or the one that a put has given to its line.
    pub(crate) page: u8,
    pub(crate) epoch: u8,
    pub(crate) stamp: u8,
    pub(crate) generation: u8,
    pub(crate) stream: u8,
    pub(crate) own: Word,
    /// The links that the refill leaves.
    pub(crate) links: u8,
    /// The tag of the page whose link the refill follows.
    pub(crate) was: u8,
    /// The CPU on which the refill began.
    pub(crate) home: u8,
    /// The slot that the frame holds, if it holds one.
    pub(crate) slot: Option<u8>,
    /// The page that the frame's refill works in, and owns; None after an exchange with a line
    /// that had none.
    pub(crate) work: Option<u8>,
    /// The put has exchanged the pages.
    pub(crate) exchanged: bool,
}

impl Frame {
    pub(crate) fn new(source: Source, config: &Config) -> Frame {
        let mut frame = Frame {
            source,
            at: 0,
            pc: Pc::End,
            next: Next::Finish,
            began: 0,
            round: 0,
            tries: 0,
            cpu: 0,
            number: 0,
            place: 0,
            word: Word::ZERO,
            page: 0,
            epoch: 0,
            stamp: 0,
            generation: 0,
            stream: 0,
            own: Word::ZERO,
            links: 0,
            was: 0,
            home: 0,
            slot: None,
            work: None,
            exchanged: false,
        };
        frame.begin(config);
        frame
    }

    /// Goes to the script's next thing, with nothing of the last one in registers.
    pub(crate) fn finish(&mut self, config: &Config) {
        let at = self.at + 1;
        *self = Frame::new(self.source, config);
        self.at = at;
        self.begin(config);
    }

    /// Returns the script that the frame follows.
    pub(crate) fn script(&self, config: &Config) -> Script {
        match self.source {
            Source::Thread(n) => config.threads[usize::from(n)],
            Source::Handler => config.handler,
            Source::Child => config.child,
        }
    }

    fn begin(&mut self, config: &Config) {
        let script = self.script(config);
        self.pc = match script.get(usize::from(self.at)) {
            Some(Op::Draw) => Pc::TakeArm,
            Some(Op::Fork) => Pc::Fork,
            Some(Op::Vfork | Op::Clone) => Pc::Start,
            Some(Op::Discard) => Pc::DiscardStamp,
            None => Pc::End,
        };
    }

    /// Forgets what a section had in registers, so that states that differ in nothing else are one.
    pub(crate) fn forget_section(&mut self) {
        (self.cpu, self.place, self.page) = (0, 0, 0);
        self.word = Word::ZERO;
    }
}

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Where {
    /// It runs on this CPU.
    On(u8),
    /// It runs nowhere, and may continue anywhere.
    Off,
    /// It runs nowhere, and was stopped on this CPU inside a section that the kernel has not
    /// aborted.
    Inside(u8),
    /// It waits for its child.
    Waits,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Thread {
    pub(crate) process: u8,
    pub(crate) area: u8,
    pub(crate) registered: bool,
    pub(crate) place: Where,
    /// The thread that waits for this one.
    pub(crate) parent: Option<u8>,
    pub(crate) preemptions: Budget,
    pub(crate) in_handler: bool,
    /// The thread's own code, and the handler that interrupts it.
    pub(crate) frames: [Frame; 2],
}

impl Thread {
    pub(crate) fn new(source: Source, config: &Config, area: u8) -> Thread {
        let frames = [Frame::new(source, config), Frame::new(Source::Handler, config)];
        Thread {
            process: 0,
            area,
            registered: true,
            place: Where::Off,
            parent: None,
            preemptions: config.preemptions,
            in_handler: false,
            frames,
        }
    }

    pub(crate) fn top(&self) -> &Frame {
        &self.frames[usize::from(self.in_handler)]
    }

    pub(crate) fn top_mut(&mut self) -> &mut Frame {
        &mut self.frames[usize::from(self.in_handler)]
    }
}

/// The remaining number of each action of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Budgets {
    pub(crate) inside: Budget,
    pub(crate) signals: Budget,
    pub(crate) drops: Budget,
    pub(crate) work_drops: Budget,
    pub(crate) reseeds: Budget,
}

/// Everything that decides what can happen next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The word of the kernel's, which a reseed moves.
    pub(crate) word: u8,
    pub(crate) processes: [Option<Process>; PROCESSES],
    pub(crate) areas: [Area; THREADS],
    pub(crate) threads: [Option<Thread>; THREADS],
    pub(crate) budgets: Budgets,
    /// The words that were delivered and are still somewhere, one bit for each.
    pub(crate) delivered: u128,
    /// Reseeds and discards that have begun, and those that have ended.
    pub(crate) begun: u8,
    pub(crate) ended: u8,
    /// For each stream that is somewhere, the reseeds and discards that had begun when it was made.
    pub(crate) born: [u8; STREAMS],
    pub(crate) bad: Option<Bad>,
}

impl State {
    pub(crate) fn first(config: &Config) -> State {
        let mut process = Process { cpus: true, epoch: 1, epochs: 1, ..Process::default() };
        (process.stamp, process.stamps) = (1, 1);
        for cpu in (0..CPUS).filter(|cpu| config.filled[*cpu]) {
            let (at, stream) = (first_page(0, cpu as u8), 1 + cpu as u8);
            let line = &mut process.lines[cpu];
            (line.number, line.page) = (stream, Some(at));
            line.cursor = Some(Cursor { page: at, left: config.cap });
            line.generation = 1;
            let page = &mut process.pages[usize::from(at)];
            (page.tag, page.generation) = (stream, 1);
            for place in 0..usize::from(config.cap).min(ROOM) {
                page.words[place] = Word::of(stream, place + 1);
            }
        }
        if config.links > 0 {
            process.leave_links(config.links);
        }
        let mut threads = [None; THREADS];
        for (n, thread) in threads.iter_mut().enumerate().take(config.threads.len()) {
            *thread = Some(Thread::new(Source::Thread(n as u8), config, n as u8));
        }
        State {
            word: 1,
            processes: [Some(process), None],
            areas: [Area::default(); THREADS],
            threads,
            budgets: Budgets {
                inside: config.inside,
                signals: config.signals,
                drops: config.drops,
                work_drops: config.work_drops,
                reseeds: config.reseeds,
            },
            delivered: 0,
            begun: 0,
            ended: 0,
            born: [0; STREAMS],
            bad: None,
        }
    }

    pub(crate) fn thread(&mut self, number: usize) -> &mut Thread {
        self.threads[number].as_mut().expect("only threads that exist act")
    }

    pub(crate) fn process(&mut self, thread: usize) -> &mut Process {
        let number = self.thread(thread).process;
        self.processes[usize::from(number)].as_mut().expect("a thread's process exists")
    }

    pub(crate) fn area(&mut self, thread: usize) -> &mut Area {
        let number = self.thread(thread).area;
        &mut self.areas[usize::from(number)]
    }

    /// Returns whether another thread has the same area and so can see the stores there.
    pub(crate) fn shares_area(&self, thread: usize) -> bool {
        let area = self.threads[thread].map(|thread| thread.area);
        self.threads.iter().flatten().filter(|other| Some(other.area) == area).count() > 1
    }

    pub(crate) fn fail(&mut self, bad: Bad) {
        self.bad.get_or_insert(bad);
    }

    /// Delivers a word to a caller. A property is broken if the word is zero, weak, stale or
    /// delivered for the second time.
    pub(crate) fn deliver(&mut self, config: &Config, word: Word, began: u8) {
        let bit = 1_u128 << word.0;
        if word == Word::ZERO {
            self.fail(Bad::Zero);
        } else if word == Word::WEAK {
            self.fail(Bad::Weak);
        } else if self.delivered & bit != 0 && config.repeats_are_errors {
            self.fail(Bad::Twice);
        } else if word.stream().is_some_and(|stream| self.born[usize::from(stream)] < began) {
            self.fail(Bad::Stale);
        }
        self.delivered |= bit;
    }
}
