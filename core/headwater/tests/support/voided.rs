//! A guard that moves in the middle of a draw, and the bytes that must not leave then.

use super::memory::buffered_words;
use headwater::testing::Point;
use headwater::{ReseedGeneration, Rng};
use std::sync::Mutex;

/// One way to draw 8 bytes or more; the first 8 are compared.
pub(crate) type Draw = fn(&mut Rng, &mut [u8]);

pub(crate) const DRAWS: [(&str, Draw, usize); 9] = [
    ("u64", |_, buf| buf.copy_from_slice(&headwater::u64().unwrap().to_ne_bytes()), 8),
    ("fill of 8", |_, buf| headwater::fill(buf).unwrap(), 8),
    ("fill of 16", |_, buf| headwater::fill(buf).unwrap(), 16),
    ("fill of 40", |_, buf| headwater::fill(buf).unwrap(), 40),
    ("fill of 1024", |_, buf| headwater::fill(buf).unwrap(), 1024),
    ("next_u64", |rng, buf| buf.copy_from_slice(&rng.next_u64().to_ne_bytes()), 8),
    ("Rng::fill of 16", |rng, buf| rng.fill(buf).unwrap(), 16),
    ("Rng::fill of 100", |rng, buf| rng.fill(buf).unwrap(), 100),
    ("Rng::fill of 1024", |rng, buf| rng.fill(buf).unwrap(), 1024),
];

/// The point at which the next draw is disturbed.
pub(crate) static SET_AT: Mutex<Option<Point>> = Mutex::new(None);

/// Changes a guard once, at the point that is set.
pub(crate) fn interfere(point: Point, move_guard: impl FnOnce()) {
    if SET_AT.lock().unwrap().take_if(|set| *set == point).is_some() {
        move_guard();
    }
}

/// Returns whether the reseed generation is still the status's.
fn is_still(generation: ReseedGeneration) -> bool {
    headwater::status().reseed_generation == generation
}

/// Draws once while a guard moves at `point`, then as much as a page holds. No buffered word before
/// comes out, the one that was being copied included. (By chance: fewer than 1,300 words are drawn,
/// fewer than 2^14 are buffered: 2^-39.) True if the point was met.
pub(crate) fn no_voided_word_leaves(
    point: Point,
    (name, draw, len): (&str, Draw, usize),
    rng: &mut Rng,
) -> bool {
    let mut buf = vec![0; len];
    // Up to a fresh page, so that what is drawn next is in it.
    let refills = || headwater::status().counters.refills;
    let before = refills();
    while refills() == before {
        draw(rng, &mut buf);
    }
    let generation = headwater::status().reseed_generation;
    let buffered = buffered_words();
    assert!(buffered.len() > 200, "the page was not found: {} words", buffered.len());
    *SET_AT.lock().unwrap() = Some(point);
    draw(rng, &mut buf);
    let met = SET_AT.lock().unwrap().take().is_none();
    for _ in 0..1_300 / (len / 8) {
        let served = buf.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
        let void: Vec<u64> = served.filter(|word| buffered.contains(word)).collect();
        if !met {
            // No guard has moved. This shows that the words of a page are recognised, unless the
            // kernel has reseeded by itself, as it does once a minute.
            assert!(void.len() == len / 8 || !is_still(generation), "{name}");
            break;
        }
        assert_eq!(void, [], "{name} served words that are void since {point:?}");
        draw(rng, &mut buf);
    }
    met
}
