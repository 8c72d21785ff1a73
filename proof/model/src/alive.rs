//! Which streams are still somewhere: the others are forgotten, so that their names can be given
//! again.

use crate::config::Config;
use crate::memory::{Page, Word, first_page, first_work_page};
use crate::state::{Bad, Part, STREAMS, State};

/// The streams that some page, register or set of keys still has a word of.
struct Alive {
    words: u128,
    /// Streams of which more words can still be made.
    streams: u32,
}

impl Alive {
    fn of(state: &State) -> Alive {
        let mut alive = Alive { words: 0, streams: 1 };
        for process in state.processes.iter().flatten() {
            for word in process.pages.iter().flat_map(|page| page.words) {
                alive.words |= 1 << word.0;
            }
            for page in process.pages {
                alive.streams |= 1 << page.keys | 1 << page.tag | 1 << page.link;
            }
            for line in process.lines {
                alive.streams |= 1 << line.number;
            }
        }
        for thread in state.threads.iter().flatten() {
            let frames = 1 + usize::from(thread.in_handler);
            for frame in &thread.frames[..frames] {
                alive.words |= 1 << frame.word.0 | 1 << frame.own.0;
                alive.streams |= 1 << frame.stream | 1 << frame.number | 1 << frame.was;
            }
        }
        alive
    }

    fn has(&self, stream: usize) -> bool {
        self.streams >> stream & 1 == 1 || self.words & all_of(stream) != 0
    }
}

fn bit(page: u8) -> u32 {
    1 << page
}

/// Returns the bits of all words of a stream.
fn all_of(stream: usize) -> u128 {
    let first = Word::of(stream as u8, 0).0;
    let last = Word::of(stream as u8, crate::memory::ROOM).0;
    (first..=last).fold(0, |bits, word| bits | 1 << word)
}

impl State {
    /// Returns a name for a new stream. No stream that is still somewhere has this name.
    pub(crate) fn fresh_stream(&mut self) -> u8 {
        let alive = Alive::of(self);
        let stream = (1..STREAMS).find(|stream| !alive.has(*stream));
        let stream = stream.expect("the names are enough for the pages of two processes");
        self.born[stream] = self.begun;
        stream as u8
    }

    /// Fails if a page has two owners: two of a line, a slot at rest, and a frame that holds a
    /// slot.
    pub(crate) fn check_owners(&mut self) {
        let has_two = self.processes.iter().enumerate().any(|(number, process)| {
            let Some(process) = process.filter(|process| process.epoch != 0) else { return false };
            let bank = process.epoch - 1;
            let slots = process.slots[usize::from(bank)].iter().enumerate();
            let resting = slots.filter(|(_, slot)| !slot.locked);
            let of_slots =
                resting.map(|(n, slot)| slot.work.unwrap_or(first_work_page(bank, n as u8)));
            let threads = self.threads.iter().flatten();
            let of_process = threads.filter(|thread| usize::from(thread.process) == number);
            let frames =
                of_process.flat_map(|thread| &thread.frames[..1 + usize::from(thread.in_handler)]);
            // A frame of an earlier epoch continues in a bank that is not in use.
            let ours = frames.filter(|frame| frame.epoch == process.epoch);
            let of_frames = ours.filter_map(|frame| {
                frame.work.or(frame.exchanged.then_some(first_page(bank, frame.home)))
            });
            let of_lines = process.lines.iter().filter_map(|line| line.page);
            let mut seen = 0;
            of_slots.chain(of_frames).chain(of_lines).map(bit).any(|page| {
                let again = seen & page != 0;
                seen |= page;
                again
            })
        });
        if has_two {
            self.fail(Bad::Shared);
        }
    }

    /// Forgets the contents of pages that no thread can read any more: a slot at rest has them, and
    /// its next holder writes all of them before it puts the page. A link stays, with the guards
    /// that a following refill compares.
    pub(crate) fn forget_pages_at_rest(&mut self, config: &Config) {
        for (number, process) in self.processes.iter_mut().enumerate() {
            let Some(process) = process else { continue };
            let mut used: u32 = process
                .lines
                .iter()
                .flat_map(|line| [line.page, line.cursor.map(|at| at.page)])
                .flatten()
                .map(bit)
                .fold(0, |all, bit| all | bit);
            for thread in self.threads.iter().flatten() {
                if usize::from(thread.process) == number {
                    for frame in &thread.frames[..1 + usize::from(thread.in_handler)] {
                        used |= frame.work.map_or(0, bit);
                        used |= if frame.pc.part() == Part::Take { bit(frame.page) } else { 0 };
                    }
                }
            }
            for (at, page) in process.pages.iter_mut().enumerate() {
                if used >> at & 1 == 0 {
                    let kept = Page { keys: 0, words: Default::default(), ..*page };
                    *page = if config.links > 0 { kept } else { Page::default() };
                }
            }
        }
    }

    /// Forgets that a word was delivered once no copy of it is left, since no thread can deliver
    /// it again.
    pub(crate) fn forget_dead(&mut self) {
        let alive = Alive::of(self);
        let mut kept = alive.words;
        for stream in 1..STREAMS {
            if !alive.has(stream) {
                self.born[stream] = 0;
            }
            if alive.streams >> stream & 1 == 1 {
                kept |= all_of(stream);
            }
        }
        self.delivered &= kept;
    }
}
