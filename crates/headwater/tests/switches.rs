//! The mode changes and pages vanish beside draws: nothing trips, and nothing old or zero is
//! served.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, slot_page};
use headwater::{Config, Mode, Path};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};
use support::children::{Ending, fork, wait};
use support::machine::{bind, cpus, skip};
use support::rules::force;

/// Draws these lengths in threads of their own while `disturb` is called again and again.
fn draw_beside(lengths: &[usize], time: Duration, mut disturb: impl FnMut()) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for &len in lengths {
            let done = &done;
            scope.spawn(move || {
                let mut buf = vec![0; len];
                while !done.load(SeqCst) {
                    headwater::fill(&mut buf).unwrap();
                    // By chance with probability 2^-56 for 7 bytes, in some 10^7 draws.
                    assert!(
                        len < 7 || buf.iter().any(|&byte| byte != 0),
                        "{len} zeros were served"
                    );
                }
            });
        }
        let begin = Instant::now();
        while begin.elapsed() < time {
            disturb();
        }
        done.store(true, SeqCst);
    });
}

/// A slot that a draw under its lock has filled becomes a refill's place to work. The bytes left in
/// it must not be served under the refill's number: without that, this test saw hundreds of
/// tripwires, and a request of zeros.
#[test]
fn modes_change_beside_draws() {
    isolated("modes_change_beside_draws", || {
        force(&[Force::VmgenidBound]);
        headwater::init().unwrap();
        let status = headwater::status();
        if status.mode != Mode::Buffered {
            return skip("modes_change_beside_draws", status.reason);
        }
        let mut modes = [Mode::Strict, Mode::Buffered, Mode::Hedged, Mode::Buffered].iter().cycle();
        draw_beside(&[7, 15, 24], Duration::from_secs(4), || {
            let mode = *modes.next().unwrap();
            headwater::init_with(Config::new().mode(mode)).unwrap();
        });
        headwater::init_with(Config::new().mode(Mode::Buffered)).unwrap();
        let after = headwater::status();
        assert_eq!((after.counters.tripwires, after.path), (0, status.path));
    });
}

/// A page that is dropped between claim and copy is zero by right: the draw is void, and not a
/// reason to switch sections off.
#[test]
fn pages_vanish_beside_draws() {
    isolated("pages_vanish_beside_draws", || {
        force(&[Force::VmgenidBound]);
        headwater::init().unwrap();
        let status = headwater::status();
        if status.path != Path::Sections {
            return skip("pages_vanish_beside_draws", status.path.why().unwrap_or(status.reason));
        }
        draw_beside(&[8, 16, 24, 100, 1000], Duration::from_secs(3), || {
            headwater::discard().unwrap();
        });
        let after = headwater::status();
        assert_eq!((after.counters.tripwires, after.path), (0, Path::Sections));
    });
}

/// A word that was erased before, as two draws in one place would leave it: it is not served, and
/// sections are not used again, in children as well.
#[test]
fn a_zero_word_ends_sections() {
    for len in [8, 16, 24, 64] {
        common::isolated_as("a_zero_word_ends_sections", &len.to_string(), &[], || {
            force(&[Force::VmgenidBound]);
            bind(&cpus()[..1]);
            headwater::init().unwrap();
            let status = headwater::status();
            if status.path != Path::Sections {
                let why = status.path.why().unwrap_or(status.reason);
                return skip("a_zero_word_ends_sections", why);
            }
            let mut buf = vec![0; len];
            headwater::fill(&mut buf).unwrap();
            // SAFETY: the page of this CPU, whose stream ends 16 bytes before it does; nothing else
            // draws.
            unsafe { slot_page().add(512).write_bytes(0, 4096 - 512) };
            headwater::fill(&mut buf).unwrap();
            assert!(buf.as_chunks::<8>().0.iter().all(|word| *word != [0; 8]), "{buf:?}");
            let locked = |status: headwater::Status| {
                assert_eq!((status.mode, status.counters.fallbacks), (Mode::Buffered, 0));
                assert!(status.path.why().is_some_and(|why| why.contains("erased")), "{status:?}");
            };
            assert_eq!(headwater::status().counters.tripwires, 1);
            locked(headwater::status());
            let child = fork(move || {
                headwater::u64().unwrap();
                locked(headwater::status());
                0
            });
            assert_eq!(wait(child), Ending::Exited(0));
        });
    }
}

/// If all memory of a process is locked, and pages are not droppable, pages can be discarded all
/// the same.
#[test]
fn everything_is_locked_and_discarded() {
    isolated("everything_is_locked_and_discarded", || {
        force(&[Force::NoDroppable]);
        headwater::init().unwrap();
        let mut word = headwater::u64().unwrap();
        // SAFETY: a call without pointers.
        if unsafe { libc::mlockall(libc::MCL_CURRENT) } != 0 {
            return skip("everything_is_locked_and_discarded", "mlockall is refused here");
        }
        for _ in 0..3 {
            headwater::discard().unwrap();
            let next = headwater::u64().unwrap();
            assert_ne!(std::mem::replace(&mut word, next), next);
        }
        headwater::quiesce().unwrap();
        headwater::init_with(Config::new()).unwrap();
        assert_ne!(headwater::u64().unwrap(), word);
    });
}
