//! One instruction of a thread, and the system calls that a script asks for.

use crate::config::{Config, Op};
use crate::memory::{Area, Page};
use crate::state::{Bad, Frame, Next, Part, Pc, Source, State, Thread, Where};
use crate::{make, take};

impl State {
    /// Runs a thread's next instruction, and the following ones that no other thread can observe.
    pub(crate) fn step(&mut self, config: &Config, thread: usize) {
        self.instruction(config, thread);
        while self.bad.is_none() && self.unseen(thread) {
            self.instruction(config, thread);
        }
    }

    /// Returns whether the next instruction touches only the thread's own area, so that no other
    /// thread can observe when it ran.
    fn unseen(&self, thread: usize) -> bool {
        let Some(this) = self.threads[thread] else { return false };
        let stores = matches!(this.top().pc, Pc::PutArm | Pc::Disarm);
        stores && matches!(this.place, Where::On(_)) && !self.shares_area(thread)
    }

    fn instruction(&mut self, config: &Config, thread: usize) {
        let before = *self.thread(thread).top();
        let mut frame = before;
        match frame.pc.part() {
            Part::Take => take::step(config, self, thread, &mut frame),
            Part::Make => make::before(config, self, thread, &mut frame),
            Part::Put => make::put(config, self, thread, &mut frame),
            Part::After => make::after(config, self, thread, &mut frame),
            Part::Other => self.other(config, thread, &mut frame),
        }
        if config.without.is_none() && progress(&frame) <= progress(&before) {
            self.fail(Bad::Endless);
        }
        *self.thread(thread).top_mut() = frame;
        if frame.pc == Pc::End {
            self.end(config, thread);
        }
    }

    /// Runs an instruction that clears the descriptor or is no part of a draw.
    fn other(&mut self, config: &Config, thread: usize, frame: &mut Frame) {
        match frame.pc {
            Pc::Disarm => {
                self.area(thread).section = None;
                match frame.next {
                    Next::Finish => frame.finish(config),
                    Next::After | Next::Again => frame.pc = Pc::KeepWork,
                    Next::Make => {
                        frame.tries = 0;
                        frame.pc = Pc::Epoch;
                    }
                }
            }
            Pc::Fork => {
                frame.finish(config);
                self.fork(config, thread, *frame);
            }
            Pc::Start => {
                let waits = matches!(self.op(config, frame), Some(Op::Vfork));
                frame.finish(config);
                self.start(config, thread, waits);
            }
            Pc::DiscardStamp => {
                self.begun += 1;
                let process = self.process(thread);
                process.stamps += 1;
                process.stamp = process.stamps;
                frame.pc = Pc::DiscardPage;
            }
            Pc::DiscardPage => {
                let pages = &mut self.process(thread).pages;
                pages[usize::from(frame.place)] = Page::default();
                let mut rest = usize::from(frame.place)..pages.len();
                if let Some(next) = rest.find(|page| pages[*page] != Page::default()) {
                    frame.place = next as u8;
                } else {
                    self.ended += 1;
                    frame.finish(config);
                }
            }
            _ => unreachable!("a frame that has ended runs nothing"),
        }
    }

    fn op(&self, config: &Config, frame: &Frame) -> Option<Op> {
        let script = frame.script(config);
        script.get(usize::from(frame.at)).copied()
    }

    /// Ends a frame whose script is over: the interrupted frame continues, or the thread ends.
    fn end(&mut self, config: &Config, thread: usize) {
        let this = self.thread(thread);
        if this.in_handler {
            this.in_handler = false;
            this.frames[1] = Frame::new(Source::Handler, config);
            return;
        }
        this.place = Where::Ended;
        if let Some(parent) = this.parent {
            let parent = self.thread(usize::from(parent));
            if parent.place == Where::Waits {
                parent.place = Where::Off;
            }
        }
    }

    /// Forks a child: all frames of this thread, in memory whose lines, pages, slots, epoch and
    /// stamp are zero.
    fn fork(&mut self, config: &Config, thread: usize, frame: Frame) {
        let mut memory = *self.process(thread);
        (memory.cpus, memory.epoch, memory.stamp) = (false, 0, 0);
        memory.lines = Default::default();
        memory.pages = Default::default();
        memory.slots = Default::default();
        let process = self.processes.iter().position(Option::is_none);
        let child = self.free_thread();
        let process = process.expect("a search has at most one fork");
        self.processes[process] = Some(memory);
        self.areas[child] = *self.area(thread);
        let mut copy = *self.thread(thread);
        *copy.top_mut() = frame;
        (copy.process, copy.area) = (process as u8, child as u8);
        (copy.place, copy.parent) = (Where::Off, None);
        self.threads[child] = Some(copy);
        if frame.pc == Pc::End {
            self.end(config, child);
        }
    }

    /// Starts a child in shared memory. It has its parent's area, which the kernel no longer keeps
    /// for it, and none of its sections is aborted.
    fn start(&mut self, config: &Config, thread: usize, waits: bool) {
        let Thread { process, area, .. } = *self.thread(thread);
        let child = self.free_thread();
        let mut new = Thread::new(Source::Child, config, area);
        (new.process, new.registered) = (process, false);
        if waits {
            new.parent = Some(thread as u8);
            self.thread(thread).place = Where::Waits;
        }
        self.threads[child] = Some(new);
    }

    fn free_thread(&mut self) -> usize {
        let free = self.threads.iter().position(Option::is_none);
        let free = free.expect("a search has at most four threads");
        self.areas[free] = Area::default();
        free
    }
}

/// Returns the progress of a frame. Each instruction has to raise it, and it has a bound, so every
/// draw ends.
fn progress(frame: &Frame) -> (u8, u8, Part, u8, Pc, u8) {
    let part = match (frame.pc, frame.next) {
        (Pc::Disarm, Next::After) => Part::Put,
        (Pc::Disarm, _) => Part::Take,
        (pc, _) => pc.part(),
    };
    (frame.at, frame.round, part, frame.tries, frame.pc, frame.place)
}
