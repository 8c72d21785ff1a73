//! Refills that follow a link: which ones do, and that a link is used once, in its own page, under
//! the guards under which it was made.
//!
//! A handle shows this best, because its page is never exchanged. Its head is read here: how many
//! refills may follow, and the link itself.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, Point, handle_page, inject_generation, set, set_hook};
use headwater::testing::{drop_pages, set_key_witness};
use headwater::{Config, CpuRng, Mode, Rng};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use support::machine::skip;
use support::rules::force;

/// Places in a page, and the refills that may follow one which asked the kernel.
const TAG: usize = 0;
const LINKS: usize = 24;
const LINK: usize = 512;
const MOST: u64 = 7;
/// Bytes that a page serves.
const CAPACITY: usize = 3536;

static KEYS: Mutex<Vec<[u8; 32]>> = Mutex::new(Vec::new());

fn word(at: usize) -> u64 {
    // SAFETY: a word of the first handle's page, which lives for ever and which this thread alone
    // draws from. Volatile: it changes without the compiler's knowledge.
    unsafe { handle_page().add(at).cast::<u64>().read_volatile() }
}

fn store(at: usize, value: u64) {
    // SAFETY: as in `word`.
    unsafe { handle_page().add(at).cast::<u64>().write_volatile(value) }
}

fn link() -> [u64; 4] {
    [0, 8, 16, 24].map(|at| word(LINK + at))
}

/// Makes a handle in this mode, and returns it with an empty page that has never been filled; None
/// if the mode cannot be had here.
fn handle(test: &str, mode: Mode) -> Option<Rng> {
    headwater::init_with(Config::new().mode(mode)).unwrap();
    set_key_witness(Some(|key| KEYS.lock().unwrap().push(*key)));
    let rng = Rng::new().unwrap();
    if headwater::status().mode != mode {
        skip(test, "the mode cannot be had on this machine");
        return None;
    }
    Some(rng)
}

/// Draws one page of bytes, so that the page is filled once. Returns the refills that may follow.
fn refill(rng: &mut Rng) -> u64 {
    let mut bytes = [0; 208];
    for _ in 0..CAPACITY / bytes.len() {
        rng.fill(&mut bytes).unwrap();
        assert!(bytes.as_chunks::<8>().0.iter().all(|word| *word != [0; 8]));
    }
    word(LINKS)
}

/// Asserts that no two keys are equal, since they would make equal pages.
fn assert_keys_differ() {
    let keys = KEYS.lock().unwrap();
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
}

/// A reseed of the kernel's own may end a chain before its time, so a second chain is looked at if
/// the first is not as it should be.
#[test]
fn seven_refills_follow_one() {
    const TEST: &str = "seven_refills_follow_one";
    isolated(TEST, || {
        force(&[Force::VmgenidBound]);
        let Some(mut rng) = handle(TEST, Mode::Buffered) else { return };
        let whole: Vec<u64> = (0..=MOST).rev().collect();
        let chain = |rng: &mut Rng| -> Vec<u64> { whole.iter().map(|_| refill(rng)).collect() };
        let seen = chain(&mut rng);
        if seen != whole {
            while refill(&mut rng) != 0 {}
            assert_eq!(chain(&mut rng), whole, "after {seen:?}");
        }
        // At its end nothing is left that a refill could follow.
        assert_eq!((word(LINKS), link()), (0, [0; 4]));
        assert_keys_differ();
    });
}

#[test]
fn a_link_is_used_once() {
    const TEST: &str = "a_link_is_used_once";
    isolated(TEST, || {
        force(&[Force::VmgenidBound]);
        let Some(mut rng) = handle(TEST, Mode::Buffered) else { return };
        let mut links = HashSet::new();
        for _ in 0..200 {
            if refill(&mut rng) > 0 {
                assert!(links.insert(link()), "two links are equal");
                assert!(link().iter().all(|word| *word != 0));
            }
        }
        assert!(links.len() > 150, "{} links", links.len());
        assert_keys_differ();
    });
}

/// A page without its tag is one that the kernel has dropped, so that its link is zero; and a link
/// of zeros beside a tag is a page that should not be. Neither is followed.
#[test]
fn no_link_is_followed_without_its_tag_or_of_zeros() {
    const TEST: &str = "no_link_is_followed_without_its_tag_or_of_zeros";
    isolated(TEST, || {
        force(&[Force::VmgenidBound]);
        let Some(mut rng) = handle(TEST, Mode::Buffered) else { return };
        for (lost, zeros) in [(true, false), (false, true), (true, true)] {
            while refill(&mut rng) != MOST - 2 {}
            if lost {
                store(TAG, 0);
            }
            if zeros {
                [0, 8].into_iter().for_each(|at| store(LINK + at, 0));
            }
            let next = refill(&mut rng);
            assert_eq!(next, MOST, "tag lost: {lost}, zeros: {zeros}");
        }
        assert_keys_differ();
    });
}

#[test]
fn no_link_outlives_a_reseed_a_discard_or_a_dropped_page() {
    const TEST: &str = "no_link_outlives_a_reseed_a_discard_or_a_dropped_page";
    static GENERATION: AtomicU64 = AtomicU64::new(1 << 40);
    isolated(TEST, || {
        force(&[Force::VmgenidBound]);
        let Some(mut rng) = handle(TEST, Mode::Buffered) else { return };
        let events: [(&str, fn()); 3] = [
            ("discard", || headwater::discard().unwrap()),
            ("drop", drop_pages),
            ("reseed", || {
                inject_generation(&GENERATION);
                GENERATION.fetch_add(1, SeqCst);
            }),
        ];
        for (name, event) in events {
            while refill(&mut rng) != MOST - 3 {}
            let old = link();
            event();
            refill(&mut rng);
            // An injected generation is no place that the vDSO's draws verify, so it is retired at
            // the next one, and the mode with it: then there is no link at all.
            assert!(matches!(word(LINKS), MOST | 0), "{name}: {} may follow", word(LINKS));
            assert_ne!(link(), old, "{name}");
        }
        assert_keys_differ();
    });
}

/// The pages are dropped at every place at which a refill can be stopped, again and again.
#[test]
fn pages_dropped_in_the_middle_of_a_chain() {
    const TEST: &str = "pages_dropped_in_the_middle_of_a_chain";
    static TURN: AtomicU64 = AtomicU64::new(0);
    isolated(TEST, || {
        force(&[Force::VmgenidBound]);
        let Some(mut rng) = handle(TEST, Mode::Buffered) else { return };
        for every in [2, 3, 5, 7, 11, 13] {
            static EVERY: AtomicU64 = AtomicU64::new(0);
            EVERY.store(every, SeqCst);
            set_hook(Some(|point| {
                let here = matches!(point, Point::Keyed | Point::MidCopy | Point::Copied);
                if here && TURN.fetch_add(1, SeqCst).is_multiple_of(EVERY.load(SeqCst)) {
                    drop_pages();
                }
            }));
            let mut words = Vec::new();
            for _ in 0..300 {
                let mut bytes = [0; 1024];
                rng.fill(&mut bytes).unwrap();
                words.extend(bytes.as_chunks::<8>().0.iter().copied());
                headwater::fill(&mut bytes).unwrap();
                words.extend(bytes.as_chunks::<8>().0.iter().copied());
            }
            set_hook(None);
            assert!(words.iter().all(|word| *word != [0; 8]));
            // By chance: 76,800 words, of which two are equal with probability 2e-10.
            assert_eq!(words.iter().collect::<HashSet<_>>().len(), words.len());
        }
        assert_keys_differ();
    });
}

#[test]
fn a_child_follows_no_link_of_its_parent() {
    const TEST: &str = "a_child_follows_no_link_of_its_parent";
    isolated(TEST, || {
        force(&[Force::VmgenidBound]);
        let Some(mut rng) = handle(TEST, Mode::Buffered) else { return };
        while refill(&mut rng) != MOST - 1 {}
        let child = support::children::fork(|| {
            assert_eq!((word(LINKS), link()), (0, [0; 4]));
            assert!(matches!(refill(&mut rng), MOST | 0));
            0
        });
        assert_eq!(support::children::wait(child), support::children::Ending::Exited(0));
    });
}

/// Masks need another key in the page, and without words of the CPU two copies would follow one
/// link to one page.
#[test]
fn no_link_is_left_where_it_has_no_place() {
    const TEST: &str = "no_link_is_left_where_it_has_no_place";
    isolated(TEST, || {
        force(&[Force::VmgenidBound]);
        if let Some(mut rng) = handle(TEST, Mode::Hedged) {
            assert_eq!((refill(&mut rng), link()), (0, [0; 4]));
        }
    });
}

/// A page of `buffered` has a link still when the mode becomes `hedged`. That the next refill asks
/// the vDSO shows in the state that the vDSO keeps in the page.
#[test]
fn no_link_is_followed_in_hedged() {
    const TEST: &str = "no_link_is_followed_in_hedged";
    isolated(TEST, || {
        force(&[Force::VmgenidBound]);
        let Some(mut rng) = handle(TEST, Mode::Buffered) else { return };
        let state = || -> Vec<u64> { (64..256).step_by(8).map(word).collect() };
        while refill(&mut rng) != MOST - 1 {}
        let before = state();
        if refill(&mut rng) == MOST - 2 {
            assert_eq!(state(), before, "a link was followed, and the vDSO asked");
        }
        let before = state();
        headwater::init_with(Config::new().mode(Mode::Hedged)).unwrap();
        if headwater::status().mode != Mode::Hedged {
            return skip(TEST, "this CPU cannot hedge");
        }
        refill(&mut rng);
        assert_ne!(state(), before, "the link was followed");
    });
}

#[test]
fn no_link_is_followed_after_another_threads_failure() {
    const TEST: &str = "no_link_is_followed_after_another_threads_failure";
    static FAILED: AtomicBool = AtomicBool::new(false);
    isolated(TEST, || {
        force(&[Force::VmgenidBound]);
        let Some(mut rng) = handle(TEST, Mode::Buffered) else { return };
        while refill(&mut rng) != MOST - 1 {}
        set_hook(Some(|point| {
            if point == Point::Keyed && !FAILED.swap(true, SeqCst) {
                set(Force::CpuRngFails, true);
                std::thread::spawn(|| Rng::new().unwrap().next_u64()).join().unwrap();
            }
        }));
        refill(&mut rng);
        set_hook(None);
        if headwater::status().cpu_rng == CpuRng::Good {
            return skip(TEST, "this CPU has no random instruction");
        }
        assert_eq!((word(LINKS), link()), (0, [0; 4]), "the link was followed without words");
        assert_keys_differ();
    });
}

#[test]
fn no_link_is_followed_without_words_of_the_cpu() {
    const TEST: &str = "no_link_is_followed_without_words_of_the_cpu";
    isolated(TEST, || {
        force(&[Force::VmgenidBound]);
        let Some(mut rng) = handle(TEST, Mode::Buffered) else { return };
        while refill(&mut rng) != MOST - 1 {}
        set(Force::CpuRngFails, true);
        refill(&mut rng);
        if headwater::status().cpu_rng == CpuRng::Good {
            return skip(TEST, "this CPU has no random instruction");
        }
        // This refill had its link already when the instruction failed.
        assert_eq!((word(LINKS), link()), (0, [0; 4]), "the link was followed without words");
        refill(&mut rng);
        assert_eq!((word(LINKS), link()), (0, [0; 4]), "a link without words of the CPU");
        assert_keys_differ();
    });
}
