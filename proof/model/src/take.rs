//! The section that takes one word from the page of the CPU it runs on.

use crate::config::{Config, Without};
use crate::memory::{Cursor, Section, Word};
use crate::state::{Bad, Frame, Next, Pc, State, Where};

/// Leaves the section for the store that clears the descriptor.
pub(crate) fn leave(frame: &mut Frame, next: Next) {
    frame.forget_section();
    if next != Next::After {
        frame.number = 0;
    }
    frame.next = next;
    frame.pc = Pc::Disarm;
}

/// Returns whether the thread runs on the CPU that its area named, by the result of RDPID.
pub(crate) fn runs_on(state: &State, thread: usize, cpu: u8) -> bool {
    state.threads[thread].is_some_and(|thread| thread.place == Where::On(cpu))
}

/// Runs one instruction of take.
pub(crate) fn step(config: &Config, state: &mut State, thread: usize, frame: &mut Frame) {
    let cpu = usize::from(frame.cpu);
    let word = state.word;
    let process = *state.process(thread);
    let (line, page) = (process.lines[cpu], process.pages[usize::from(frame.page)]);
    let (at, place) = (usize::from(frame.page), usize::from(frame.place));
    match frame.pc {
        Pc::TakeArm => {
            if frame.tries == 0 {
                frame.began = state.ended;
            }
            if process.off {
                frame.finish(config);
                return;
            }
            if config.has(Without::Descriptor) {
                state.area(thread).section = Some(Section::Take);
            }
            frame.pc = Pc::TakeCpu;
        }
        Pc::TakeCpu => {
            frame.cpu = state.area(thread).cpu;
            frame.pc = Pc::TakeCtl;
        }
        Pc::TakeCtl if !process.cpus && config.has(Without::TakeCtl) => leave(frame, Next::Make),
        Pc::TakeCtl => frame.pc = Pc::TakeCursor,
        Pc::TakeCursor => match line.cursor {
            Some(Cursor { page, left: 1.. }) => {
                (frame.page, frame.place) = (page, line.cursor.map_or(0, |at| at.left) - 1);
                frame.pc = Pc::TakeNumber;
            }
            _ => leave(frame, Next::Make),
        },
        Pc::TakeNumber => {
            frame.number = line.number;
            frame.pc = Pc::TakeRdpid;
        }
        Pc::TakeRdpid => {
            let looks = config.has(Without::TakeRdpid) && config.has(Without::Rdpid);
            if looks && !runs_on(state, thread, frame.cpu) {
                leave(frame, Next::Make);
                return;
            }
            let first = config.has(Without::ClaimFirst) && config.has(Without::ClaimBeforeRead);
            frame.pc = if first { Pc::TakeClaim } else { before_read(config) };
        }
        Pc::TakeClaim => {
            let cursor = Cursor { page: frame.page, left: frame.place };
            state.process(thread).lines[cpu].cursor = Some(cursor);
            frame.pc = match config.without {
                Some(Without::ClaimFirst) => Pc::TakeGeneration,
                Some(Without::ClaimBeforeRead) => Pc::TakeErase,
                _ => before_read(config),
            };
        }
        Pc::TakeTag if page.tag != frame.number => leave(frame, Next::Make),
        Pc::TakeTag => frame.pc = Pc::TakeRead,
        Pc::TakeRead => {
            frame.word = page.words[place];
            frame.pc = match config.without {
                Some(Without::ClaimBeforeRead) => Pc::TakeClaim,
                Some(Without::Erase) => Pc::TakeGeneration,
                _ => Pc::TakeErase,
            };
        }
        Pc::TakeErase => {
            state.process(thread).pages[at].words[place] = Word::ZERO;
            let claims = config.without == Some(Without::ClaimFirst);
            frame.pc = if claims { Pc::TakeClaim } else { Pc::TakeGeneration };
        }
        Pc::TakeGeneration => {
            let in_page = config.has(Without::GenerationInPage);
            let generation = if in_page { page.generation } else { line.generation };
            if word != generation && config.has(Without::TakeGeneration) {
                leave(frame, Next::Make);
            } else {
                frame.pc = Pc::TakeTagAgain;
            }
        }
        // The last load of the section: what it lets pass has been delivered, since the rest is
        // registers.
        Pc::TakeTagAgain => {
            if page.tag != frame.number && config.has(Without::TagBehind) {
                leave(frame, Next::Make);
            } else if frame.word == Word::ZERO && config.has(Without::Zero) {
                state.process(thread).off = true;
                if config.trips_are_errors {
                    state.fail(Bad::Trip);
                }
                leave(frame, Next::Make);
            } else {
                state.deliver(config, frame.word, frame.began);
                leave(frame, Next::Finish);
            }
        }
        _ => unreachable!("take has no such step"),
    }
}

/// Returns the instruction that a take comes to before it reads the word.
fn before_read(config: &Config) -> Pc {
    if config.has(Without::TagBefore) { Pc::TakeTag } else { Pc::TakeRead }
}
