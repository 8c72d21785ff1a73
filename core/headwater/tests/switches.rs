//! The mode changes and pages vanish beside draws: nothing trips, and nothing old or zero is
//! served.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, Point, set_hook, slot_page};
use headwater::{Config, Mode, Path};
use headwater_testing::words::zeros_and_repeats;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use support::children::{Ending, fork, wait};
use support::jump::{is_left, jump};
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

/// A page that is dropped between claim and copy reads as zeros, which is not an error: the draw is
/// void, and not a reason to switch sections off.
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

/// A page whose number is not its line's is one that has left it, under a child in shared memory:
/// its guards are good, and still a draw takes nothing from it.
#[test]
fn a_section_draws_from_no_page_of_another_number() {
    const TEST: &str = "a_section_draws_from_no_page_of_another_number";
    isolated(TEST, || {
        force(&[Force::VmgenidBound]);
        bind(&cpus()[..1]);
        headwater::init().unwrap();
        let status = headwater::status();
        if status.path != Path::Sections {
            return skip(TEST, status.path.why().unwrap_or(status.reason));
        }
        for len in [8, 16, 24, 1000] {
            let mut buf = vec![0; len];
            headwater::fill(&mut buf).unwrap();
            let page: *mut u64 = slot_page().cast();
            // SAFETY: the page of this CPU, from which nothing draws now; the number comes first.
            let content: Vec<u64> = unsafe {
                page.write_volatile(page.read_volatile() + 1);
                (64..512).map(|at| page.add(at).read_volatile()).collect()
            };
            headwater::fill(&mut buf).unwrap();
            let words = buf.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
            assert_eq!(words.filter(|word| content.contains(word)).count(), 0, "{len} bytes");
            assert_eq!(headwater::status().path, Path::Sections);
        }
    });
}

/// Leaves the switch between its two stores. Without a look at both of them, sections were off for
/// the life of the process, each draw took 270 ns, and the status counted nothing.
#[test]
fn a_jump_out_of_the_switch_leaves_sections_on() {
    isolated("a_jump_out_of_the_switch_leaves_sections_on", || {
        force(&[Force::VmgenidBound]);
        headwater::init().unwrap();
        let status = headwater::status();
        if status.path != Path::Sections {
            let why = status.path.why().unwrap_or(status.reason);
            return skip("a_jump_out_of_the_switch_leaves_sections_on", why);
        }
        // A child switches its sections on at its first draw.
        let child = fork(|| {
            set_hook(Some(|point| {
                if point == Point::HalfSwitched {
                    set_hook(None);
                    jump();
                }
            }));
            assert!(is_left(|| assert!(headwater::u64().is_err(), "the switch was not reached")));
            (0..10_000).for_each(|_| assert_ne!(headwater::u64().unwrap(), 0));
            let after = headwater::status();
            assert_eq!((after.path, after.counters.fallbacks), (Path::Sections, 0));
            assert!((20..40).contains(&after.counters.refills), "{:?}", after.counters);
            0
        });
        assert_eq!(wait(child), Ending::Exited(0));
    });
}

/// Moves the thread to another CPU in each refill, so that no page is ever put. Each such refill
/// counts as a fallback, and in the end the process takes locks, and says why.
#[test]
fn refills_that_are_never_put_end_sections() {
    static MOVES: AtomicUsize = AtomicUsize::new(0);
    static CPUS: OnceLock<Vec<usize>> = OnceLock::new();
    isolated("refills_that_are_never_put_end_sections", || {
        force(&[Force::VmgenidBound]);
        headwater::init().unwrap();
        let status = headwater::status();
        if status.path != Path::Sections || CPUS.get_or_init(cpus).len() < 2 {
            let why = status.path.why().unwrap_or("there is one CPU");
            return skip("refills_that_are_never_put_end_sections", why);
        }
        set_hook(Some(|point| {
            if point == Point::Copied {
                let to = MOVES.fetch_add(1, SeqCst) % 2;
                bind(&CPUS.get_or_init(cpus)[to..=to]);
            }
        }));
        let mut buf = [0; 1000];
        let mut draws = 0;
        while headwater::status().path == Path::Sections {
            headwater::fill(&mut buf).unwrap();
            draws += 1;
            assert!(draws < 10_000, "{:?}", headwater::status().counters);
        }
        let after = headwater::status();
        assert!(after.path.why().is_some_and(|why| why.contains("in a row")), "{after:?}");
        assert!(after.counters.fallbacks > 1_000, "{:?}", after.counters);
    });
}

/// Discards all pages when one is complete and not put. Without the comparison of stamps, the put
/// would leave the CPU a page that was dropped.
#[test]
fn a_page_that_was_discarded_is_not_put() {
    static DISCARDS: AtomicBool = AtomicBool::new(false);
    const TEST: &str = "a_page_that_was_discarded_is_not_put";
    isolated(TEST, || {
        for mode in [Mode::Buffered, Mode::Hedged] {
            force(&[Force::VmgenidBound]);
            bind(&cpus()[..1]);
            headwater::init_with(Config::new().mode(mode)).unwrap();
            let status = headwater::status();
            if (status.path, status.mode) != (Path::Sections, mode) {
                return skip(TEST, status.path.why().unwrap_or(status.reason));
            }
            set_hook(Some(|point| {
                if point == Point::Complete && DISCARDS.swap(false, SeqCst) {
                    std::thread::spawn(|| headwater::discard().unwrap()).join().unwrap();
                }
            }));
            let mut buf = [0; 1000];
            for _ in 0..8 {
                DISCARDS.store(true, SeqCst);
                let before = headwater::status().counters;
                while DISCARDS.load(SeqCst) {
                    headwater::fill(&mut buf).unwrap();
                }
                let after = headwater::status().counters;
                assert_eq!(after.fallbacks - before.fallbacks, 1, "{after:?}");
                headwater::fill(&mut buf).unwrap();
                assert_eq!(headwater::status().counters.refills - after.refills, 1, "{after:?}");
            }
            set_hook(None);
            assert_eq!(headwater::status().path, Path::Sections);
        }
    });
}

/// Unwinds between the exchange of two pages and the note of it, as a forced unwinding may. The
/// slot must stay taken. Otherwise its next holder would work in the page that the CPU draws from,
/// and every few runs served hundreds of words under keys of zeros.
#[test]
fn a_refill_that_unwinds_keeps_its_slot() {
    static UNWINDS: AtomicBool = AtomicBool::new(false);
    isolated("a_refill_that_unwinds_keeps_its_slot", || {
        force(&[Force::VmgenidBound]);
        bind(&cpus()[..1]);
        headwater::init().unwrap();
        let status = headwater::status();
        if status.path != Path::Sections {
            let why = status.path.why().unwrap_or(status.reason);
            return skip("a_refill_that_unwinds_keeps_its_slot", why);
        }
        // A panic in another thread's draw; the hook that ends this process is not for it.
        std::panic::set_hook(Box::new(|_| {}));
        set_hook(Some(|point| {
            if point == Point::Exchanged && UNWINDS.swap(false, SeqCst) {
                panic!("unwinds");
            }
        }));
        let mut words = Vec::new();
        for _ in 0..8 {
            UNWINDS.store(true, SeqCst);
            let ended = std::thread::spawn(|| {
                let mut buf = [0; 1000];
                (0..4).for_each(|_| headwater::fill(&mut buf).unwrap());
            });
            assert!(ended.join().is_err());
            for _ in 0..2_000 {
                let mut buf = [0; 1000];
                headwater::fill(&mut buf).unwrap();
                words.extend(buf.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)));
            }
        }
        let (after, (zeros, twice)) = (headwater::status(), zeros_and_repeats(&mut words));
        assert_eq!((after.pools.taken, zeros, twice), (8, 0, 0), "{after:?}");
        assert_eq!(after.path, Path::Sections);
    });
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

/// A CPU that was added after set-up has no line. Its draws take slots, which are no fallback, and
/// leave sections to the CPUs that have them.
#[test]
fn a_cpu_that_was_added_takes_slots() {
    const TEST: &str = "a_cpu_that_was_added_takes_slots";
    isolated(TEST, || {
        let Some(&added) = cpus().get(1).filter(|_| cpus()[0] == 0) else {
            return skip(TEST, "there is no second CPU");
        };
        for mode in [Mode::Buffered, Mode::Hedged] {
            force(&[Force::OneCpu, Force::VmgenidBound]);
            headwater::init_with(Config::new().mode(mode)).unwrap();
            let status = headwater::status();
            if (status.path, status.mode) != (Path::Sections, mode) {
                return skip(TEST, status.path.why().unwrap_or(status.reason));
            }
            bind(&[added]);
            let mut seen = Vec::new();
            for _ in 0..2000 {
                seen.push(u128::from(headwater::u64().unwrap()));
                seen.push(u128::from_ne_bytes(headwater::array().unwrap()));
                headwater::fill(&mut [0; 1000]).unwrap();
            }
            seen.sort_unstable();
            assert!(seen[0] != 0 && seen.windows(2).all(|pair| pair[0] != pair[1]));
            let after = headwater::status();
            assert_eq!((after.path, after.counters.fallbacks), (Path::Sections, 0), "{after:?}");
        }
    });
}
