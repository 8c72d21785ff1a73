//! Making a stream of new words in a page that the refill owns, the section that puts that page in
//! the place of a CPU's, and the end of the draw.

use crate::config::{Config, Without};
use crate::memory::{
    Cursor, Page, Process, SLOTS, Section, Slot, Word, first_page, first_work_page,
};
use crate::state::{Frame, Next, Pc, State};
use crate::take::{leave, runs_on};

/// Runs one instruction before the section. These instructions take a slot, fetch the stamp and the
/// generation, fill the slot's page, and make the word for the draw itself.
pub(crate) fn before(config: &Config, state: &mut State, thread: usize, frame: &mut Frame) {
    let word = state.word;
    let home = state.area(thread).cpu;
    let process = state.process(thread);
    match frame.pc {
        Pc::Epoch if process.off => frame.finish(config),
        Pc::Epoch => {
            if process.epoch == 0 {
                process.epochs += 1;
                process.epoch = process.epochs;
            }
            frame.epoch = process.epoch;
            frame.pc = Pc::Lock;
        }
        Pc::Lock => {
            frame.home = home;
            let slots = &mut process.slots[usize::from(bank(frame))];
            let own = usize::from(home);
            let free = |slot: &usize| !slots[*slot].locked;
            let shared = config.shares.then_some(SLOTS - 1);
            // Without a slot the kernel's own bytes answer.
            let Some(slot) = [Some(own), shared].into_iter().flatten().find(free) else {
                frame.finish(config);
                return;
            };
            slots[slot].locked = true;
            let first = first_work_page(bank(frame), slot as u8);
            frame.work = Some(slots[slot].work.unwrap_or(first));
            frame.slot = Some(slot as u8);
            frame.pc = Pc::Stamp;
        }
        Pc::Stamp => {
            let on = process.stamp != 0 && process.cpus;
            frame.stamp = if on { process.stamp } else { 0 };
            frame.pc = if on { Pc::Generation } else { Pc::NewStamp };
        }
        Pc::NewStamp => {
            process.stamps += 1;
            process.stamp = process.stamps;
            frame.pc = Pc::Publish;
        }
        Pc::Publish => {
            process.cpus = true;
            frame.pc = Pc::StampAgain;
        }
        Pc::StampAgain => {
            frame.stamp = process.stamp;
            frame.pc = Pc::Generation;
        }
        Pc::Generation => {
            frame.generation = word;
            frame.stream = state.fresh_stream();
            frame.number = number(config, state.process(thread), frame);
            frame.pc = if config.links > 0 { Pc::FollowLinks } else { asks(config) };
        }
        Pc::FollowLinks
        | Pc::FollowTag
        | Pc::FollowEnd
        | Pc::FollowExchange
        | Pc::FollowStore
        | Pc::FollowKeys => follow(config, work(frame, process), frame),
        Pc::WorkLinks => {
            work(frame, process).links = 0;
            frame.links = config.links;
            frame.pc = if config.has(Without::TagBeforeKeys) { Pc::WorkTag } else { Pc::WorkKeys };
        }
        Pc::WorkTag => {
            work(frame, process).tag = frame.number;
            let first = config.has(Without::TagBeforeKeys);
            frame.pc = if first { Pc::WorkKeys } else { Pc::WorkGeneration };
        }
        Pc::WorkKeys => {
            work(frame, process).keys = frame.stream;
            // The kernel is asked here, after the tag was stored. Where no link outlives the
            // refill, the stream may count as older than it is: as old as the guards.
            if config.links > 0 {
                state.born[usize::from(frame.stream)] = state.begun;
            }
            let first = config.has(Without::TagBeforeKeys);
            frame.pc = if first { Pc::WorkGeneration } else { Pc::WorkTag };
        }
        Pc::WorkGeneration => {
            work(frame, process).generation = frame.generation;
            frame.place = 0;
            let fills = config.has(Without::FillElsewhere);
            frame.pc = if fills { Pc::WorkWord } else { Pc::Own };
        }
        Pc::WorkWord => {
            let page = work(frame, process);
            page.words[usize::from(frame.place)] =
                Word::of(page.keys, usize::from(frame.place) + 1);
            frame.place += 1;
            if frame.place == config.cap {
                frame.place = 0;
                frame.pc = if frame.links > 0 { Pc::WorkLink } else { Pc::Own };
            }
        }
        Pc::WorkLink => {
            let keys = usize::from(work(frame, process).keys);
            // Dropped keys make a link that is the same in every process. Any other link is as old
            // as the keys that it comes from.
            let link = if keys == 0 { 0 } else { state.fresh_stream() };
            state.born[usize::from(link)] = state.born[keys];
            work(frame, state.process(thread)).link = link;
            frame.pc = Pc::Own;
        }
        Pc::LeaveLink => {
            work(frame, process).links = frame.links;
            (frame.links, frame.was) = (0, 0);
            frame.pc = Pc::AfterGeneration;
        }
        Pc::Own => {
            let page = work(frame, process);
            frame.own = Word::of(page.keys, 0);
            frame.stream = 0;
            if config.has(Without::FillElsewhere) {
                page.keys = 0;
            }
            frame.pc = if frame.links > 0 { Pc::LeaveLink } else { Pc::AfterGeneration };
        }
        Pc::AfterGeneration if word != frame.generation && config.has(Without::OwnGeneration) => {
            again(frame);
        }
        Pc::AfterGeneration => frame.pc = Pc::AfterWork,
        Pc::AfterWork
            if work(frame, process).tag != frame.number && config.has(Without::OwnWork) =>
        {
            again(frame);
        }
        Pc::AfterWork => frame.pc = Pc::AfterEpoch,
        Pc::AfterEpoch if process.epoch != frame.epoch && config.has(Without::OwnEpoch) => {
            again(frame);
        }
        Pc::AfterEpoch => frame.pc = Pc::PutArm,
        _ => unreachable!("making has no such step"),
    }
}

/// Returns the first instruction of a refill that asks the kernel for its seed.
fn asks(config: &Config) -> Pc {
    match (config.links > 0, config.has(Without::TagBeforeKeys)) {
        (true, _) => Pc::WorkLinks,
        (false, true) => Pc::WorkTag,
        (false, false) => Pc::WorkKeys,
    }
}

/// Runs one instruction of a refill that takes its seed from the page's own last stream, or finds
/// that it cannot.
fn follow(config: &Config, page: &mut Page, frame: &mut Frame) {
    match frame.pc {
        Pc::FollowLinks if page.links == 0 => frame.pc = asks(config),
        Pc::FollowLinks => {
            frame.links = page.links - 1;
            frame.pc = Pc::FollowTag;
        }
        // The two words are loaded one after the other; the exchange finds out if they are of two
        // pages, so one step is enough for both.
        Pc::FollowTag => {
            frame.was = page.tag;
            let tagged = page.tag != 0 || !config.has(Without::FollowTag);
            let new = page.generation == frame.generation;
            let follows = tagged && (new || !config.has(Without::FollowGeneration));
            frame.pc = if follows { Pc::FollowEnd } else { asks(config) };
        }
        Pc::FollowEnd => {
            page.links = 0;
            frame.pc = Pc::FollowExchange;
        }
        Pc::FollowExchange if page.tag != frame.was => frame.pc = asks(config),
        Pc::FollowExchange if !config.has(Without::FollowExchange) => frame.pc = Pc::FollowStore,
        Pc::FollowExchange | Pc::FollowStore => {
            page.tag = frame.number;
            frame.pc = Pc::FollowKeys;
        }
        Pc::FollowKeys => {
            (page.keys, page.link) = (page.link, 0);
            (frame.stream, frame.was) = (0, 0);
            frame.pc = Pc::WorkGeneration;
        }
        _ => unreachable!("following has no such step"),
    }
}

/// Runs one instruction of the section that puts.
pub(crate) fn put(config: &Config, state: &mut State, thread: usize, frame: &mut Frame) {
    let cpu = usize::from(frame.cpu);
    let word = state.word;
    let on_cpu = runs_on(state, thread, frame.cpu) || !config.has(Without::Rdpid);
    let process = state.process(thread);
    let line = process.lines[cpu];
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
        Pc::PutCtl if frame.cpu != frame.home => out(frame),
        Pc::PutCtl => frame.pc = Pc::PutLost,
        Pc::PutLost => {
            let own = |at: &Cursor| Some(at.page) == line.page || !config.has(Without::PutOwn);
            let is_there = line.cursor.filter(own).is_some_and(|Cursor { page, left }| {
                let page = process.pages[usize::from(page)];
                left > 0 && page.tag == line.number && page.generation == word
            });
            if is_there && config.has(Without::PutLost) {
                out(frame);
            } else {
                frame.pc = Pc::PutRdpid;
            }
        }
        Pc::PutRdpid if !on_cpu && config.has(Without::PutRdpid) => out(frame),
        Pc::PutRdpid => frame.pc = Pc::PutStamp,
        Pc::PutStamp if process.stamp != frame.stamp && config.has(Without::PutStamp) => out(frame),
        Pc::PutStamp if config.has(Without::PutClear) => frame.pc = Pc::PutClear,
        Pc::PutStamp => frame.pc = number_or_exchange(config),
        Pc::PutClear => {
            process.lines[cpu].cursor = None;
            frame.pc = number_or_exchange(config);
        }
        Pc::PutNumber => {
            let line = &mut process.lines[cpu];
            (line.number, line.generation) = (frame.number, frame.generation);
            let fills = config.has(Without::FillElsewhere);
            frame.pc = if fills { Pc::PutExchange } else { Pc::PutTag };
        }
        Pc::PutExchange if !config.has(Without::OneExchange) => {
            frame.page = line.page.unwrap_or(first_page(bank(frame), frame.cpu));
            frame.pc = Pc::PutExchangeStore;
        }
        Pc::PutExchange => {
            process.lines[cpu].page = frame.work;
            exchanged(config, frame, line.page);
        }
        Pc::PutExchangeStore => {
            process.lines[cpu].page = frame.work;
            exchanged(config, frame, Some(frame.page));
        }
        Pc::PutNumberAfter => {
            process.lines[cpu].number = frame.number;
            frame.pc = Pc::PutRdpidAgain;
        }
        Pc::PutTag => {
            let at = *process.lines[cpu].page.get_or_insert(first_page(bank(frame), frame.cpu));
            let page = &mut process.pages[usize::from(at)];
            (page.tag, page.generation) = (frame.number, frame.generation);
            frame.page = at;
            frame.pc = Pc::PutWord;
        }
        Pc::PutWord => {
            let keys = work(frame, process).keys;
            let place = usize::from(frame.place);
            let page = &mut process.pages[usize::from(frame.page)];
            page.words[place] = Word::of(keys, place + 1);
            frame.place += 1;
            if frame.place == config.cap {
                frame.pc = Pc::PutWork;
            }
        }
        Pc::PutWork if work(frame, process).tag != frame.number => out(frame),
        Pc::PutWork if line.number != frame.number => out(frame),
        Pc::PutWork => frame.pc = Pc::PutRdpidAgain,
        Pc::PutRdpidAgain if !on_cpu && config.has(Without::PutRdpidAgain) => out(frame),
        Pc::PutRdpidAgain => frame.pc = Pc::PutCursor,
        Pc::PutCursor => {
            process.lines[cpu].cursor = Some(Cursor { page: frame.page, left: config.cap });
            out(frame);
        }
        _ => unreachable!("put has no such step"),
    }
}

/// Returns which of the two follows the clearing of the cursor.
fn number_or_exchange(config: &Config) -> Pc {
    if config.has(Without::NumberFirst) { Pc::PutNumber } else { Pc::PutExchange }
}

/// Continues after an exchange that left the page `taken` with the frame, in place of its own.
fn exchanged(config: &Config, frame: &mut Frame, taken: Option<u8>) {
    frame.exchanged = true;
    frame.page = frame.work.expect("a put has a page");
    frame.work = taken;
    let first = config.has(Without::NumberFirst);
    frame.pc = if first { Pc::PutRdpidAgain } else { Pc::PutNumberAfter };
}

/// Runs one instruction after the section. The slot keeps the page that the frame owns now. The
/// epoch comes last: the handler of a signal may have forked in the put.
pub(crate) fn after(config: &Config, state: &mut State, thread: usize, frame: &mut Frame) {
    let process = state.process(thread);
    match frame.pc {
        Pc::KeepWork => {
            if frame.exchanged {
                let first = first_page(bank(frame), frame.home);
                slot(frame, process).work = Some(frame.work.unwrap_or(first));
            }
            (frame.number, frame.stamp, frame.generation) = (0, 0, 0);
            (frame.work, frame.exchanged, frame.home) = (None, false, 0);
            frame.pc = Pc::FinalEpoch;
        }
        Pc::FinalEpoch if process.epoch != frame.epoch && config.has(Without::OwnEpochAgain) => {
            again(frame);
        }
        Pc::FinalEpoch => {
            state.deliver(config, frame.own, frame.began);
            frame.own = Word::ZERO;
            frame.next = Next::Finish;
            frame.pc = Pc::Unlock;
        }
        Pc::Unlock => {
            slot(frame, process).locked = false;
            let (next, round) = (frame.next, frame.round + 1);
            if next == Next::Again && round < config.rounds {
                let began = frame.began;
                *frame = Frame { at: frame.at, ..Frame::new(frame.source, config) };
                (frame.round, frame.began, frame.pc) = (round, began, Pc::Epoch);
            } else {
                frame.finish(config);
            }
        }
        _ => unreachable!("there is no such step after a put"),
    }
}

/// Returns the bank of the frame's epoch.
fn bank(frame: &Frame) -> u8 {
    frame.epoch - 1
}

/// Returns the slot that the frame holds.
fn slot<'a>(frame: &Frame, process: &'a mut Process) -> &'a mut Slot {
    let slot = frame.slot.expect("a refill holds a slot");
    &mut process.slots[usize::from(bank(frame))][usize::from(slot)]
}

/// Returns the page that the frame's refill works in.
fn work<'a>(frame: &Frame, process: &'a mut Process) -> &'a mut Page {
    let page = frame.work.expect("a refill works in a page");
    &mut process.pages[usize::from(page)]
}

/// Returns the number of the refill: the name of its stream, which no other refill has.
fn number(config: &Config, process: &mut Process, frame: &Frame) -> u8 {
    if config.has(Without::UniqueNumber) {
        return frame.stream;
    }
    let slot = slot(frame, process);
    slot.count += 1;
    slot.count
}

fn again(frame: &mut Frame) {
    frame.own = Word::ZERO;
    frame.next = Next::Again;
    frame.pc = Pc::Unlock;
}
