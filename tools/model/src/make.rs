//! Making a stream of new words in the work page, and the section that puts them into the page of a
//! CPU.

use crate::config::{Config, Without};
use crate::memory::{Process, Section, Word, Work};
use crate::state::{Frame, Next, Pc, State};
use crate::take::{leave, runs_on};

/// Runs one instruction before the section. These instructions fetch the epoch and the word, make
/// the keys, and make the word for the draw itself.
pub(crate) fn before(config: &Config, state: &mut State, thread: usize, frame: &mut Frame) {
    let word = state.word;
    let process = state.process(thread);
    match frame.pc {
        // Without the work page the kernel's own bytes answer.
        Pc::Lock if process.off => frame.finish(config),
        Pc::Lock if process.work.locked && !config.stack_if_locked => frame.finish(config),
        Pc::Lock => {
            frame.on_stack = process.work.locked;
            process.work.locked = true;
            frame.pc = Pc::Epoch;
        }
        Pc::Epoch => {
            if process.epoch == 0 {
                process.epochs += 1;
                process.epoch = process.epochs;
            }
            frame.epoch = process.epoch;
            frame.pc = if process.cpus { Pc::Generation } else { Pc::Publish };
        }
        Pc::Publish => {
            process.cpus = true;
            frame.pc = Pc::Generation;
        }
        Pc::Generation => {
            frame.generation = word;
            frame.stream = state.fresh_stream();
            let first = config.has(Without::TagBeforeKeys);
            frame.pc = match (frame.on_stack, first) {
                (true, _) => Pc::Own,
                (_, true) => Pc::WorkTag,
                (_, false) => Pc::WorkKeys,
            };
        }
        Pc::WorkTag => {
            process.work.tag = frame.stream;
            let first = config.has(Without::TagBeforeKeys);
            frame.pc = if first { Pc::WorkKeys } else { Pc::Own };
        }
        Pc::WorkKeys => {
            process.work.keys = frame.stream;
            let first = config.has(Without::TagBeforeKeys);
            frame.pc = if first { Pc::Own } else { Pc::WorkTag };
        }
        Pc::Own => {
            frame.own = Word::of(work(frame, process).keys, 0);
            frame.tries = 0;
            frame.pc = Pc::PutArm;
        }
        _ => unreachable!("making has no such step"),
    }
}

/// Runs one instruction of the section that puts.
pub(crate) fn put(config: &Config, state: &mut State, thread: usize, frame: &mut Frame) {
    let cpu = usize::from(frame.cpu);
    let word = state.word;
    let on_cpu = runs_on(state, thread, frame.cpu) || !config.has(Without::Rdpid);
    let process = state.process(thread);
    let (line, page, keys) = (process.lines[cpu], process.pages[cpu], work(frame, process));
    let out = |frame: &mut Frame| leave(frame, Next::After);
    match frame.pc {
        Pc::PutArm => {
            if config.has(Without::Descriptor) {
                state.area(thread).section = Some(Section::Put);
            }
            frame.pc = Pc::PutCpu;
        }
        Pc::PutCpu => {
            frame.cpu = state.area(thread).cpu;
            frame.pc = Pc::PutCtl;
        }
        Pc::PutCtl if !process.cpus && config.has(Without::PutCtl) => out(frame),
        Pc::PutCtl => frame.pc = Pc::PutEpoch,
        Pc::PutEpoch if process.epoch != frame.epoch && config.has(Without::PutEpoch) => out(frame),
        Pc::PutEpoch => frame.pc = Pc::PutLost,
        Pc::PutLost => {
            let current = page.tag == line.number && line.generation == word;
            if line.left > 0 && current && config.has(Without::PutLost) {
                out(frame);
            } else {
                frame.pc = Pc::PutRdpid;
            }
        }
        Pc::PutRdpid if !on_cpu && config.has(Without::PutRdpid) => out(frame),
        Pc::PutRdpid => {
            let empties = config.has(Without::PutEmpty);
            frame.pc = if empties { Pc::PutEmpty } else { Pc::PutNumber };
        }
        Pc::PutEmpty => {
            process.lines[cpu].left = 0;
            frame.pc = Pc::PutNumber;
        }
        Pc::PutNumber => {
            frame.number = line.number + 1;
            if config.number_in_two {
                frame.pc = Pc::PutNumberStore;
            } else {
                process.lines[cpu].number = frame.number;
                frame.pc = Pc::PutTag;
            }
        }
        Pc::PutNumberStore => {
            process.lines[cpu].number = frame.number;
            frame.pc = Pc::PutTag;
        }
        Pc::PutTag => {
            process.pages[cpu].tag = frame.number;
            frame.pc = Pc::PutGeneration;
        }
        Pc::PutGeneration => {
            process.lines[cpu].generation = frame.generation;
            frame.pc = Pc::PutWord;
        }
        Pc::PutWord => {
            let place = usize::from(frame.place);
            process.pages[cpu].words[place] = Word::of(keys.keys, place + 1);
            frame.place += 1;
            if frame.place == config.cap {
                frame.pc = Pc::PutWork;
            }
        }
        Pc::PutWork if keys.tag != frame.stream && config.has(Without::PutWork) => out(frame),
        Pc::PutWork => frame.pc = Pc::PutEpochAgain,
        Pc::PutEpochAgain if process.epoch != frame.epoch && config.has(Without::PutEpochAgain) => {
            out(frame);
        }
        Pc::PutEpochAgain => frame.pc = Pc::PutNumberAgain,
        Pc::PutNumberAgain
            if line.number != frame.number && config.has(Without::PutNumberAgain) =>
        {
            out(frame);
        }
        Pc::PutNumberAgain => frame.pc = Pc::PutRdpidAgain,
        Pc::PutRdpidAgain if !on_cpu && config.has(Without::PutRdpidAgain) => out(frame),
        Pc::PutRdpidAgain => frame.pc = Pc::PutLeft,
        Pc::PutLeft => {
            process.lines[cpu].left = config.cap;
            out(frame);
        }
        _ => unreachable!("put has no such step"),
    }
}

/// Runs one instruction behind the section, where the draw decides whether the own word may be
/// delivered. The epoch comes last, as only a fork is close to it.
pub(crate) fn behind(config: &Config, state: &mut State, thread: usize, frame: &mut Frame) {
    let word = state.word;
    let process = state.process(thread);
    match frame.pc {
        Pc::AfterGeneration => {
            if word != frame.generation && config.has(Without::OwnGeneration) {
                again(frame);
            } else {
                frame.pc = Pc::AfterWork;
            }
        }
        Pc::AfterWork
            if work(frame, process).tag != frame.stream && config.has(Without::OwnWork) =>
        {
            again(frame);
        }
        Pc::AfterWork if !config.has(Without::OwnEpoch) => deliver(state, frame),
        Pc::AfterWork => frame.pc = Pc::AfterEpoch,
        Pc::AfterEpoch if process.epoch != frame.epoch => again(frame),
        Pc::AfterEpoch => deliver(state, frame),
        Pc::Unlock => {
            if !frame.on_stack {
                process.work = Work::default();
            }
            frame.on_stack = false;
            if frame.next == Next::Again && frame.round + 1 < config.rounds {
                frame.round += 1;
                frame.pc = Pc::Lock;
                (frame.next, frame.epoch, frame.generation) = (Next::Finish, 0, 0);
            } else {
                frame.finish(config);
            }
        }
        _ => unreachable!("there is no such step behind a put"),
    }
}

/// Returns the keys and their tag, from the stack or from the work page, as the frame keeps them.
fn work(frame: &Frame, process: &Process) -> Work {
    if frame.on_stack {
        return Work { locked: true, tag: frame.stream, keys: frame.stream };
    }
    process.work
}

fn again(frame: &mut Frame) {
    (frame.own, frame.stream) = (Word::ZERO, 0);
    frame.next = Next::Again;
    frame.pc = Pc::Unlock;
}

fn deliver(state: &mut State, frame: &mut Frame) {
    state.deliver(frame.own, frame.began);
    (frame.own, frame.stream) = (Word::ZERO, 0);
    frame.next = Next::Finish;
    frame.pc = Pc::Unlock;
}
