//! Prediction resistance and reseeds: bytes that are independent of everything buffered before.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::{in_every_mode, isolated};
use headwater::testing::{Force, set};
use headwater::{Config, Mode, Page, Rng};
use std::collections::HashSet;
use support::children::{Ending, fork, wait};
use support::draws::{Seen, draw_length, lengths};
use support::machine::skip;
use support::memory::{buffered_words, is_random};
use support::rules::force;

/// Draws 100 words from slots and 100 words from a handle, in turn. A set named `buffered` holds
/// the words that lie in the pages.
fn draw(rng: &mut Rng) -> Vec<u64> {
    (0..100).flat_map(|_| [headwater::u64().unwrap(), rng.next_u64()]).collect()
}

fn served_from(buffered: &HashSet<u64>, rng: &mut Rng) -> usize {
    draw(rng).iter().filter(|word| buffered.contains(word)).count()
}

/// By chance: 2,000 words drawn, fewer than 2^14 buffered: 2^-39.
#[test]
fn no_byte_buffered_before_leaves_after_a_discard() {
    in_every_mode("no_byte_buffered_before_leaves_after_a_discard", |mode| {
        let mut rng = Rng::new().unwrap();
        for _ in 0..10 {
            draw(&mut rng); // fills a page of each
            let buffered = buffered_words();
            if mode == Mode::Buffered {
                // They would have left: this shows that they are recognised. A reseed of the
                // kernel's own, once a minute, may void them first.
                let seen = (0..3).any(|_| served_from(&buffered_words(), &mut rng) > 0);
                assert!(seen, "the pages were not found");
            }
            headwater::discard().unwrap();
            assert_eq!(served_from(&buffered, &mut rng), 0);
        }
    });
}

/// Threads continue to draw while another discards, and no word repeats or is zero: 400,000 words,
/// of which two are equal with probability 4e-9.
#[test]
fn threads_draw_on_through_a_discard() {
    in_every_mode("threads_draw_on_through_a_discard", |_| {
        headwater::init().unwrap();
        let words: Vec<u64> = std::thread::scope(|scope| {
            let drawing = [(); 3].map(|()| {
                scope.spawn(|| {
                    let mut rng = Rng::new().unwrap();
                    (0..300).flat_map(|_| draw(&mut rng)).collect::<Vec<u64>>()
                })
            });
            while !drawing.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                headwater::discard().unwrap();
            }
            drawing.map(|thread| thread.join().unwrap()).concat()
        });
        let distinct: HashSet<_> = words.iter().collect();
        assert_eq!(distinct.len(), words.len());
        assert!(!distinct.contains(&0));
    });
}

/// RLIMIT_MEMLOCK is lowered, and the right to exceed it dropped, after set-up: everything is
/// dropped, what cannot be locked again is used unlocked, and the status says so.
#[test]
fn a_lock_that_is_lost_keeps_no_byte() {
    let test = "a_lock_that_is_lost_keeps_no_byte";
    isolated(test, || {
        for drop_all in
            [headwater::discard as fn() -> Result<(), headwater::Error>, headwater::quiesce]
        {
            let child = fork(|| {
                force(&[Force::NoDroppable, Force::VmgenidBound]);
                headwater::init().unwrap();
                if headwater::status().page != Page::WipeOnForkLocked {
                    return 77;
                }
                let mut rng = Rng::new().unwrap();
                draw(&mut rng);
                // SAFETY: reads the structure; changes what this child may do, for good. Its memory
                // stays readable to itself, which a change of users ends.
                unsafe {
                    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                    assert_eq!(libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const none), 0);
                    assert!(libc::geteuid() != 0 || libc::setuid(65_534) == 0);
                    assert_eq!(libc::prctl(libc::PR_SET_DUMPABLE, 1), 0);
                }
                let buffered = buffered_words();
                assert!(buffered.iter().filter(|&word| is_random(*word)).count() > 500);
                drop_all().unwrap();
                let left = buffered_words();
                let left = buffered.intersection(&left).filter(|&word| is_random(*word));
                assert_eq!(left.count(), 0, "words are left in the pages");
                assert_eq!(headwater::status().page, Page::WipeOnFork);
                assert_eq!(served_from(&buffered, &mut rng), 0);
                // Once more, with nothing locked.
                drop_all().unwrap();
                headwater::init_with(Config::new()).unwrap();
                assert_eq!(served_from(&buffered, &mut rng), 0);
                assert_eq!(headwater::status().page, Page::WipeOnFork);
                0
            });
            match wait(child) {
                Ending::Exited(0) => {}
                Ending::Exited(77) => return skip(test, "no memory can be locked here"),
                other => panic!("{other:?}"),
            }
        }
    });
}

/// Threads that drop the contents of locked pages at once: each finds them unlocked, or locked
/// again by another.
#[test]
fn locked_pages_are_discarded_by_threads_at_once() {
    isolated("locked_pages_are_discarded_by_threads_at_once", || {
        force(&[Force::NoDroppable]);
        headwater::init().unwrap();
        let page = headwater::status().page;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..5_000).for_each(|_| headwater::discard().unwrap()));
            }
        });
        assert_eq!(headwater::status().page, page);
    });
}

#[test]
fn fresh_bytes_fill_every_length() {
    in_every_mode("fresh_bytes_fill_every_length", |_| {
        let mut seen = Seen::default();
        for len in lengths() {
            draw_length(len, &mut seen, &mut |buf| headwater::fill_fresh(buf).unwrap());
        }
        seen.assert_no_repeats();
        headwater::fill_fresh(&mut []).unwrap();
    });
}

/// The kernel is asked for each request: where it refuses, there is an error and no byte, though
/// pages are full.
#[test]
fn fresh_bytes_are_never_buffered_ones() {
    in_every_mode("fresh_bytes_are_never_buffered_ones", |_| {
        headwater::fill(&mut [0; 16]).unwrap();
        set(Force::GetrandomEnosys, true);
        set(Force::UrandomAbsent, true);
        for len in [1, 16, 100, 5000] {
            let mut bytes = vec![0xA5; len];
            assert!(headwater::fill_fresh(&mut bytes).is_err());
            assert_eq!(bytes, vec![0; len]);
        }
        set(Force::GetrandomEnosys, false);
        headwater::fill_fresh(&mut [0; 16]).unwrap();
    });
}
