//! Which streams are still somewhere: the others are forgotten, so that their names can be given
//! again.

use crate::memory::Word;
use crate::state::{STREAMS, State};

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
            alive.streams |= 1 << process.work.keys | 1 << process.work.tag;
        }
        for thread in state.threads.iter().flatten() {
            let frames = 1 + usize::from(thread.in_handler);
            for frame in &thread.frames[..frames] {
                alive.words |= 1 << frame.word.0 | 1 << frame.own.0;
                alive.streams |= 1 << frame.stream;
            }
        }
        alive
    }

    fn has(&self, stream: usize) -> bool {
        self.streams >> stream & 1 == 1 || self.words & all_of(stream) != 0
    }
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
        let stream = stream.expect("sixteen streams are enough for the words of four threads");
        self.born[stream] = self.begun;
        stream as u8
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
