//! A slot goes from holder to holder: its lock, and the states behind it.

use crate::process::races::Lock;
use crate::{every_order, most_orders};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// As `process::slot::Slot`, with a counter for each generator. Plain memory: the checker fails if two threads touch it
/// unordered.
#[derive(Default)]
struct Slot {
    lock: Lock,
    states: UnsafeCell<[u32; 2]>,
}

impl Slot {
    /// As `Slot::take`, `Held::fill` and `Held::drop`.
    fn draw(&self, generator: usize) -> Option<(usize, u32)> {
        self.lock.take().then(|| {
            // SAFETY: the slot is ours; the checker watches.
            let word = self.states.with_mut(|states| unsafe {
                (*states)[generator] += 1;
                (*states)[generator]
            });
            self.lock.free();
            (generator, word)
        })
    }
}

fn all_different(words: impl IntoIterator<Item = Option<(usize, u32)>>) {
    let mut words: Vec<_> = words.into_iter().flatten().collect();
    let drawn = words.len();
    assert!(drawn > 0, "nobody got the slot");
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), drawn, "two draws gave the same word");
}

#[test]
fn two_holders_never_draw_the_same_word() {
    every_order(|| {
        let slot = Arc::new(Slot::default());
        let other = slot.clone();
        let thread = thread::spawn(move || [other.draw(0), other.draw(1)]);
        let mine = [slot.draw(0), slot.draw(1)];
        all_different(mine.into_iter().chain(thread.join().unwrap()));
    });
}

/// With three threads a state passes through a holder that neither began nor ends with it.
#[test]
fn a_third_holder_goes_on_where_the_first_two_stopped() {
    most_orders(|| {
        let slot = Arc::new(Slot::default());
        let threads = [slot.clone(), slot.clone()]
            .map(|slot| thread::spawn(move || slot.draw(0).or_else(|| slot.draw(0))));
        let mine = [slot.draw(0), slot.draw(0)];
        all_different(threads.into_iter().map(|thread| thread.join().unwrap()).chain(mine));
    });
}
