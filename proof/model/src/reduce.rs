//! Fewer orders of independent steps: where a thread's next instruction commutes with all that
//! others can do.
//!
//! A registered thread on a sound kernel touches, inside a section, only the line and the page of
//! the CPU that it runs on. So its next instruction has the same effect before and after any step
//! of a thread on another CPU, and the search continues with this thread alone: with the
//! instruction, its preemption, its signal, and the drops of what it touches (an ample set, as
//! partial-order reduction calls it). Drops and signals reach only CPU 0, thread 0 and the first
//! process, since two that share a budget would not commute. Where any child is in shared memory,
//! the kernel is broken, pages are discarded or no descriptor is stored, nothing of this holds, and
//! the search takes every order.

use crate::config::{Config, Op, Without};
use crate::kernel::Action;
use crate::state::{Part, Pc, State, Thread, Where};

impl Config {
    fn any(&self, ops: &[Op]) -> bool {
        let scripts = self.threads.iter().chain([&self.handler, &self.child]);
        scripts.flat_map(|script| script.iter()).any(|op| ops.contains(op))
    }

    /// Returns whether all threads are registered, all preemptions abort, and no thread touches
    /// another CPU's page.
    pub(crate) fn is_orderly(&self) -> bool {
        !self.forgets_preemption
            && !self.forgets_migration
            && self.has(Without::Descriptor)
            && self.has(Without::PutClear)
            && !self.any(&[Op::Vfork, Op::Clone, Op::Discard])
    }

    /// Returns whether an instruction commutes with all instructions of other threads, and with a
    /// reseed. A thread that is alone in its process shares only the kernel's reseed generation.
    fn commutes(&self, pc: Pc, alone: bool) -> bool {
        let reads_word = pc.reads_generation();
        let reads_epoch = pc.reads_epoch();
        let delivers = matches!(pc, Pc::FinalEpoch);
        let part = !matches!(pc.part(), Part::Other);
        let is_lock = matches!(pc, Pc::Lock | Pc::Unlock | Pc::NewStamp | Pc::Publish);
        part && !(reads_word && self.reseeds != Some(0))
            && (alone || !is_lock && !((reads_epoch || delivers) && self.any(&[Op::Fork])))
    }
}

impl Pc {
    /// Returns whether the instruction reads the kernel's reseed generation.
    fn reads_generation(self) -> bool {
        matches!(
            self,
            Pc::TakeArm | Pc::TakeGeneration | Pc::Generation | Pc::PutLost | Pc::AfterGeneration
        )
    }

    /// Returns whether the instruction reads what a fork clears or a discard changes.
    fn reads_epoch(self) -> bool {
        matches!(
            self,
            Pc::TakeCtl
                | Pc::Epoch
                | Pc::Stamp
                | Pc::StampAgain
                | Pc::PutCtl
                | Pc::PutStamp
                | Pc::AfterEpoch
                | Pc::FinalEpoch
        )
    }

    /// Returns whether the instruction touches the page that the frame's refill works in, and
    /// nothing else.
    fn touches_work(self) -> bool {
        matches!(
            self,
            Pc::FollowLinks
                | Pc::FollowTag
                | Pc::FollowEnd
                | Pc::FollowExchange
                | Pc::FollowStore
                | Pc::FollowKeys
                | Pc::WorkLinks
                | Pc::WorkLink
                | Pc::LeaveLink
                | Pc::WorkTag
                | Pc::WorkKeys
                | Pc::WorkGeneration
                | Pc::WorkWord
                | Pc::Own
                | Pc::AfterWork
        )
    }
}

impl State {
    /// Keeps the actions of one thread, if its next instruction commutes with the rest.
    pub(crate) fn reduce(&self, config: &Config, actions: &mut Vec<Action>) {
        if !config.is_orderly() {
            self.reduce_to_constants(config, actions);
            return;
        }
        let alone = (0..self.threads.len()).find_map(|number| {
            let thread = self.threads[number]?;
            let Where::On(cpu) = thread.place else { return None };
            let mut others = self.threads.iter().enumerate();
            let alone = !others.any(|(n, other)| {
                n != number && other.is_some_and(|other| other.process == thread.process)
            });
            config.commutes(thread.top().pc, alone).then_some((number, cpu, thread.top().pc))
        });
        let Some((alone, on, pc)) = alone else { return };
        let makes = !matches!(pc.part(), Part::Take);
        // After the lock a preemption outside a section is the same at each place, so one place is
        // enough.
        let stops = pc.section().is_some() || matches!(pc, Pc::TakeArm | Pc::Epoch);
        actions.retain(|action| match *action {
            Action::Step(thread) | Action::Signal(thread) => thread == alone,
            Action::Preempt(thread) => thread == alone && stops,
            Action::Drop(_, cpu) => cpu == usize::from(on),
            Action::DropWork(..) => makes,
            Action::Resume(..) | Action::Reseed => false,
        });
    }

    /// Keeps only the step of a thread whose next instruction has the same effect at any later
    /// moment: it reads constants alone, or touches a page that no other thread and no line has.
    ///
    /// The generation is a constant once no reseed is left, and the stamp once no thread discards.
    /// A private page may be dropped before the step or after it, so that drop stays.
    fn reduce_to_constants(&self, config: &Config, actions: &mut Vec<Action>) {
        if self.budgets.signals != Some(0) {
            return;
        }
        if let Some(child) = self.forked_alone() {
            actions.retain(|action| match *action {
                Action::Step(thread) | Action::Preempt(thread) => thread == child,
                Action::Resume(thread, _) => thread == child,
                _ => false,
            });
            return;
        }
        if self.discards(config) {
            return;
        }
        let first = (0..self.threads.len()).find(|number| {
            let Some(thread) = self.threads[*number] else { return false };
            let pc = thread.top().pc;
            let is_constant = match pc {
                Pc::Generation | Pc::AfterGeneration => self.budgets.reseeds == Some(0),
                Pc::TakeCtl | Pc::Epoch | Pc::Stamp | Pc::PutCtl | Pc::PutStamp => true,
                Pc::AfterEpoch => true,
                pc => pc.touches_work() && self.is_private(*number),
            };
            matches!(thread.place, Where::On(_)) && is_constant
        });
        let Some(first) = first else { return };
        let frame = self.threads[first].map(|thread| *thread.top());
        let work = frame.filter(|frame| frame.pc.touches_work()).and_then(|frame| frame.work);
        actions.retain(|action| match *action {
            Action::DropWork(_, page) => work == Some(page as u8),
            action => action == Action::Step(first),
        });
    }

    /// Returns the thread that runs a forked child by itself, until the child has ended. It shares
    /// nothing with the first process but the reseed generation, so it may run before all others.
    fn forked_alone(&self) -> Option<usize> {
        let is_alive = |thread: &Thread| !matches!(thread.place, Where::Ended | Where::Waits);
        let threads = self.threads.iter().enumerate();
        let mut of_child = threads.filter_map(|(n, thread)| {
            thread
                .filter(|thread| thread.process == 1 && is_alive(thread))
                .map(|thread| (n, thread))
        });
        let (child, thread) = of_child.next()?;
        let is_alone = of_child.next().is_none();
        let reads = self.budgets.reseeds != Some(0) && thread.top().pc.reads_generation();
        (is_alone && !reads).then_some(child)
    }

    /// Returns whether a thread discards now or will.
    fn discards(&self, config: &Config) -> bool {
        self.threads.iter().flatten().any(|thread| {
            let frame = thread.frames[0];
            let script = frame.script(config).iter();
            script.skip(usize::from(frame.at)).any(|op| *op == Op::Discard)
        })
    }

    /// Returns whether only this thread's refill can reach the page in which it works.
    fn is_private(&self, thread: usize) -> bool {
        let Some(ours) = self.threads[thread] else { return false };
        let Some(work) = ours.top().work else { return false };
        let process = self.processes[usize::from(ours.process)];
        let of_line = process.is_some_and(|process| {
            process.lines.iter().any(|line| {
                line.page == Some(work) || line.cursor.is_some_and(|at| at.page == work)
            }) || process.slots.iter().flatten().any(|slot| !slot.locked && slot.work == Some(work))
        });
        let others = self.threads.iter().enumerate().filter(|(n, _)| *n != thread);
        let of_others = others.filter_map(|(_, other)| *other).any(|other| {
            other.process == ours.process
                && other.frames.iter().any(|frame| {
                    frame.work == Some(work)
                        || frame.page == work && matches!(frame.pc.part(), Part::Take)
                })
        });
        !of_line && !of_others
    }
}
