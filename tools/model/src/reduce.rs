//! Fewer orders of independent steps: where a thread's next instruction commutes with all that
//! others can do.
//!
//! A registered thread on a sound kernel touches, inside a section, only the line and the page of
//! the CPU that it runs on. So its next instruction has the same effect before and after any step
//! of a thread on another CPU, and the search goes on with this thread alone: with the instruction,
//! its preemption, its signal, and the drops of what it touches (an ample set, as partial-order
//! reduction calls it). Drops and signals reach only CPU 0, thread 0 and the first process, since
//! two that share a budget would not commute. Where any child is in shared memory, the kernel is
//! broken, pages are discarded or no descriptor is stored, nothing of this holds, and the search
//! takes every order.

use crate::config::{Config, Op, Without};
use crate::kernel::Action;
use crate::state::{Part, Pc, State, Where};

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
            && !self.any(&[Op::Vfork, Op::Clone, Op::Discard])
    }

    /// Returns whether an instruction commutes with all instructions of other threads, and with a
    /// reseed. A thread that is alone in its process shares only the kernel's reseed generation.
    fn commutes(&self, pc: Pc, alone: bool) -> bool {
        let reads_word = matches!(
            pc,
            Pc::TakeArm | Pc::TakeGeneration | Pc::Generation | Pc::PutLost | Pc::AfterGeneration
        );
        let reads_epoch = matches!(
            pc,
            Pc::TakeCtl
                | Pc::Epoch
                | Pc::PutCtl
                | Pc::PutEpoch
                | Pc::PutEpochAgain
                | Pc::AfterEpoch
        );
        let delivers = matches!(pc, Pc::AfterWork) && !self.has(Without::OwnEpoch);
        let part = !matches!(pc.part(), Part::Other);
        let is_lock = matches!(pc, Pc::Lock | Pc::Unlock | Pc::Publish);
        part && !(reads_word && self.reseeds != Some(0))
            && (alone || !is_lock && !((reads_epoch || delivers) && self.any(&[Op::Fork])))
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
        // Behind the lock a preemption outside a section is the same at each place, so one place is
        // enough.
        let stops = pc.section().is_some() || matches!(pc, Pc::TakeArm | Pc::Epoch);
        actions.retain(|action| match *action {
            Action::Step(thread) | Action::Signal(thread) => thread == alone,
            Action::Preempt(thread) => thread == alone && stops,
            Action::Drop(_, cpu) => cpu == usize::from(on),
            Action::DropWork(_) => makes,
            Action::Resume(..) | Action::Reseed => false,
        });
    }

    /// Keeps only the step of a thread whose next instruction reads constants alone. If nothing but
    /// the scheduler acts, the epoch, the word and the locked work page are constants. An
    /// instruction that reads only constants is the same at each place: the thread runs it before
    /// anything else.
    fn reduce_to_constants(&self, config: &Config, actions: &mut Vec<Action>) {
        let acts = [config.signals, config.drops, config.work_drops, config.reseeds];
        if acts != [Some(0); 4] || config.any(&[Op::Discard]) {
            return;
        }
        let first = (0..self.threads.len()).find(|number| {
            let Some(thread) = self.threads[*number] else { return false };
            let runs = matches!(thread.place, Where::On(_));
            runs && matches!(
                thread.top().pc,
                Pc::TakeCtl
                    | Pc::Epoch
                    | Pc::Generation
                    | Pc::WorkTag
                    | Pc::WorkKeys
                    | Pc::Own
                    | Pc::PutCtl
                    | Pc::PutEpoch
                    | Pc::PutWork
                    | Pc::PutEpochAgain
                    | Pc::AfterGeneration
                    | Pc::AfterWork
                    | Pc::AfterEpoch
            )
        });
        if let Some(first) = first {
            actions.retain(|action| *action == Action::Step(first));
        }
    }
}
