//! The kernel's possible actions between any two instructions.

use crate::config::{Budget, Config, Moves, Without};
use crate::memory::{Page, Section};
use crate::state::{Next, Pc, State, THREADS, Thread, Where};

/// One thing that happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// A thread runs its next instruction.
    Step(usize),
    Preempt(usize),
    Resume(usize, u8),
    Signal(usize),
    Drop(usize, usize),
    /// Drops a page that no line has, of a process.
    DropWork(usize, usize),
    Reseed,
}

fn is_left(budget: Budget) -> bool {
    budget != Some(0)
}

fn spend(budget: &mut Budget) {
    if let Some(left) = budget {
        *left -= 1;
    }
}

impl State {
    /// Lists every action that can happen next, except those that the reduction leaves out. Nothing
    /// is listed once a property is broken.
    pub(crate) fn possible(&self, config: &Config, actions: &mut Vec<Action>) {
        if self.bad.is_some() {
            return;
        }
        for number in 0..THREADS {
            let Some(thread) = self.threads[number] else { continue };
            match thread.place {
                Where::On(_) => {
                    actions.push(Action::Step(number));
                    let inside = self.would_stay_inside(config, number);
                    if is_left(thread.preemptions) && (!inside || is_left(self.budgets.inside)) {
                        actions.push(Action::Preempt(number));
                    }
                    if is_left(self.budgets.signals) && number == 0 && !thread.in_handler {
                        actions.push(Action::Signal(number));
                    }
                }
                Where::Off | Where::Inside(_) => {
                    for cpu in (0..config.cpus).filter(|cpu| self.is_idle(*cpu, thread.process)) {
                        let stays = thread.place == Where::Inside(cpu);
                        if thread.place == Where::Off || stays || may_move(config, &thread) {
                            actions.push(Action::Resume(number, cpu));
                        }
                    }
                }
                Where::Waits | Where::Ended => {}
            }
        }
        self.possible_in_memory(actions);
        self.reduce(config, actions);
    }

    fn possible_in_memory(&self, actions: &mut Vec<Action>) {
        // Drops reach the first process and CPU 0: the others are the same with the numbers
        // exchanged.
        for number in 0..1 {
            let Some(process) = self.processes[number] else { continue };
            let is_empty = |page: usize| process.pages[page] == Page::default();
            let of_line = process.lines.map(|line| line.page.map(usize::from));
            if is_left(self.budgets.drops) && of_line[0].is_some_and(|page| !is_empty(page)) {
                actions.push(Action::Drop(number, 0));
            }
            if is_left(self.budgets.work_drops) {
                let others =
                    (0..process.pages.len()).filter(|page| !of_line.contains(&Some(*page)));
                let dropped = others.filter(|page| !is_empty(*page));
                actions.extend(dropped.map(|page| Action::DropWork(number, page)));
            }
        }
        if is_left(self.budgets.reseeds) {
            actions.push(Action::Reseed);
        }
    }

    pub(crate) fn act(&mut self, config: &Config, action: Action) {
        match action {
            Action::Step(thread) => self.step(config, thread),
            Action::Preempt(thread) => self.preempt(config, thread),
            Action::Resume(thread, cpu) => self.resume(config, thread, cpu),
            Action::Signal(thread) => {
                spend(&mut self.budgets.signals);
                if self.thread(thread).registered && self.is_registered(thread) {
                    self.abort(config, thread);
                }
                self.thread(thread).in_handler = true;
            }
            Action::Drop(process, cpu) => {
                spend(&mut self.budgets.drops);
                let process = self.processes[process].as_mut().expect("it was there to be dropped");
                let page = process.lines[cpu].page.expect("it was there to be dropped");
                process.pages[usize::from(page)] = Page::default();
            }
            Action::DropWork(process, page) => {
                spend(&mut self.budgets.work_drops);
                let process = self.processes[process].as_mut().expect("it was there to be dropped");
                process.pages[page] = Page::default();
            }
            Action::Reseed => {
                spend(&mut self.budgets.reseeds);
                self.word += 1;
                self.begun += 1;
                self.ended += 1;
            }
        }
        self.check_owners();
        self.forget_pages_at_rest(config);
        self.forget_dead();
    }

    /// Returns whether no thread of this process runs on the CPU. Threads of the other process
    /// share no memory with it, so nothing is lost if both run at one time.
    fn is_idle(&self, cpu: u8, process: u8) -> bool {
        let mut ours = self.threads.iter().flatten().filter(|thread| thread.process == process);
        !ours.any(|thread| thread.place == Where::On(cpu))
    }

    fn inside(&self, thread: usize) -> Option<Section> {
        self.threads[thread].and_then(|thread| thread.top().pc.section())
    }

    /// Returns whether the kernel sees that the thread is inside a section.
    fn is_registered(&self, thread: usize) -> bool {
        let area = self.threads[thread].map(|thread| self.areas[usize::from(thread.area)]);
        let told = area.and_then(|area| area.section);
        told.is_some() && told == self.inside(thread)
    }

    /// Returns whether a preemption now might not abort the section. The kernel reads the
    /// descriptor when the thread continues, so another thread can change it only in between.
    fn would_stay_inside(&self, config: &Config, thread: usize) -> bool {
        let registered = self.threads[thread].is_some_and(|thread| thread.registered);
        let forgets = config.forgets_preemption || config.forgets_migration;
        let open = forgets || self.shares_area(thread);
        let aborted = registered && self.is_registered(thread) && !open;
        self.inside(thread).is_some() && !aborted
    }

    fn preempt(&mut self, config: &Config, thread: usize) {
        spend(&mut self.thread(thread).preemptions);
        if self.would_stay_inside(config, thread) {
            spend(&mut self.budgets.inside);
            if let Where::On(cpu) = self.thread(thread).place {
                self.thread(thread).place = Where::Inside(cpu);
            }
            return;
        }
        if self.thread(thread).registered && self.is_registered(thread) {
            self.abort(config, thread);
        }
        self.thread(thread).place = Where::Off;
    }

    fn resume(&mut self, config: &Config, thread: usize, cpu: u8) {
        let this = self.thread(thread);
        let (was, registered) = (this.place, this.registered);
        this.place = Where::On(cpu);
        if !registered {
            return;
        }
        self.area(thread).cpu = cpu;
        if was != Where::Off && self.is_registered(thread) {
            let stays = was == Where::Inside(cpu);
            let forgets = if stays { config.forgets_preemption } else { config.forgets_migration };
            if !forgets {
                self.abort(config, thread);
            }
        }
    }

    /// Sends the thread to the section's begin; after the last try a take is a miss, and a put is
    /// given up. So is a put that has exchanged the pages.
    fn abort(&mut self, config: &Config, thread: usize) {
        self.area(thread).section = None;
        let frame = self.thread(thread).top_mut();
        let put = frame.pc.section() == Some(Section::Put);
        frame.forget_section();
        if !put {
            frame.number = 0;
        }
        frame.tries += 1;
        let ends = frame.exchanged && config.has(Without::NoRetry);
        if frame.tries < config.tries && !ends {
            frame.pc = if put { Pc::PutArm } else { Pc::TakeArm };
        } else {
            frame.next = if put { Next::After } else { Next::Make };
            frame.pc = Pc::Disarm;
        }
    }
}

/// Returns whether a thread that was preempted inside a section may continue on another CPU.
fn may_move(config: &Config, thread: &Thread) -> bool {
    match config.moves {
        Moves::Nowhere => false,
        Moves::Anywhere => true,
        Moves::AtTheClaim => thread.top().pc == Pc::TakeClaim,
        Moves::NotAtTheClaim => thread.top().pc != Pc::TakeClaim,
    }
}
