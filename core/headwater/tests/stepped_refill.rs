//! A refill, instruction by instruction. At each of them all pages vanish, the process forks, the
//! kernel reseeds, or a signal comes whose handler does not return.
//!
//! The order of a refill's steps is an argument that no checker of threads can follow, because the
//! other party is the kernel, which may clear the page at any instant. So a tracer steps a child
//! through a draw whose page is empty, up to one instruction after the other, and there a handler
//! does what the kernel would. A refill in the wrong order would lose its seed in between, and
//! serve a stream that depends on nothing: the same words in several of these runs. So all words of
//! all runs go into one record, where none is zero and none repeats. The CPU's words would hide
//! that the kernel's half of a seed is lost. So they are the same in all runs: known ones, of which
//! each run begins with the same, because a new child of the same process makes it.
//!
//! `HEADWATER_TEST_EPISODES` sets how many places of each refill are tried; with 100000 of them and
//! `--release` all are.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(any(loom, miri, sanitized))))]

mod common;
mod refills;
mod support;

use common::{isolated_as, record};
use headwater::Mode;
use headwater::testing::Force;
use refills::{Event, Half, Path, Pool, Shared, Tracer};
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use support::machine::{bind, can_reseed, cpus, skip};
use support::rules::force;
use support::stepper::shared;

/// The places of a refill that are tried by default. An optimized one has 2,200 to 4,200, which
/// take five minutes in all; others have more, and each takes longer.
const PLACES: usize = 100;

/// One way to fill a page.
#[derive(Clone, Copy, Debug)]
struct Refill {
    mode: Mode,
    pool: Pool,
    half: Half,
    /// The cipher: what the CPU seems to lack.
    without: &'static [Force],
}

/// Returns all ways to fill a page; with ciphers that are not the best, only in a slot: beside the
/// cipher their code is the same.
fn refills() -> Vec<Refill> {
    use Half::{First, Kernel, Link};
    use Mode::{Buffered, Hedged};
    const OTHERS: [&[Force]; 3] = [
        &[Force::NoAvx512],
        &[Force::NoAvx512, Force::NoVaes],
        &[Force::NoAvx512, Force::NoVaes, Force::NoAes],
    ];
    // Masks need the place of the link, and where a section's chain ends depends on how often a
    // thread is preempted in a put.
    let ways: [(Mode, Pool, &[Half]); 6] = [
        (Buffered, Pool::Slot, &[First, Kernel, Link]),
        (Buffered, Pool::Handle, &[First, Kernel, Link]),
        (Buffered, Pool::Section, &[First, Link]),
        (Hedged, Pool::Slot, &[First, Kernel]),
        (Hedged, Pool::Handle, &[First, Kernel]),
        (Hedged, Pool::Section, &[First]),
    ];
    let best = ways.into_iter().flat_map(|(mode, pool, halves)| {
        halves.iter().map(move |&half| Refill { mode, pool, half, without: &[] })
    });
    let other = |without| {
        [First, Link].map(|half| Refill { mode: Buffered, pool: Pool::Slot, half, without })
    };
    best.chain(OTHERS.into_iter().flat_map(other)).collect()
}

/// Calls `disturb` for the instructions of each refill, in a process of its own, and checks what
/// was drawn. `disturb` returns false where the draw took another way than the refill that was
/// looked at. One of `share` places is tried.
///
/// One test after the other, because a reseed concerns the whole machine.
fn at_every_instruction(test: &str, share: usize, disturb: impl Fn(&Tracer, &Path, usize) -> bool) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for refill in refills() {
        let variables = [("HEADWATER_MODE", refill.mode.name())];
        isolated_as(test, &format!("{refill:?}"), &variables, || {
            if let Err(why) = each_place(test, refill, share, &disturb) {
                skip(test, why);
            }
        });
    }
}

/// Returns as many of the places as are asked for, at equal distances; one of `share` of them.
fn chosen(places: Range<usize>, share: usize) -> impl Iterator<Item = usize> {
    let asked = std::env::var("HEADWATER_TEST_EPISODES").map(|number| number.parse().unwrap());
    let distance = places.len().div_ceil(asked.unwrap_or(PLACES)).max(1) * share;
    places.skip(lot(distance)).step_by(distance)
}

/// Returns a number below `of`, by lot. headwater would move on in this process, and its children
/// would begin with other words of the CPU than the ones before them.
fn lot(of: usize) -> usize {
    RandomState::new().hash_one(()) as usize % of
}

/// Calls `disturb` for every instruction of one refill; an error says why that is not possible.
fn each_place(
    test: &str,
    refill: Refill,
    share: usize,
    disturb: impl Fn(&Tracer, &Path, usize) -> bool,
) -> Result<(), &'static str> {
    let Refill { mode, pool, half, without } = refill;
    force(&[Force::CpuRngKnown]);
    force(without);
    if pool != Pool::Section {
        force(&[Force::NoSections]);
    }
    headwater::init().unwrap();
    let status = headwater::status();
    if status.mode != mode {
        return Err(status.reason);
    }
    if pool == Pool::Section && status.path != headwater::Path::Sections {
        return Err(status.path.why().unwrap_or("nothing is buffered"));
    }
    if !can_reseed(test) {
        return Ok(());
    }
    // One CPU: the same slot each time, and the child runs as soon as the tracer waits.
    bind(&cpus()[..1]);
    record::open();
    // SAFETY: atomics, for which zeros are valid.
    let shared = unsafe { shared::<Shared>() };
    let start = || Tracer::start(shared, pool, half);
    drop(start().ok_or("ptrace is refused, so refills are disturbed at the hooks' points alone")?);
    let again = || start().expect("tracing was possible");
    // Now and then the kernel reseeds by itself, or preempts a section: then the way is another. If
    // it is another nearly every time, the one that was looked at was an exception.
    const TRIES: usize = 3;
    let (mut disturbed, mut all) = (0, 1);
    for _ in 0..TRIES {
        let Some(path) = again().undisturbed() else { continue };
        let is_disturbed = |number: &usize| (0..TRIES).any(|_| disturb(&again(), &path, *number));
        let chosen: Vec<usize> = chosen(path.places.clone(), share).collect();
        (disturbed, all) =
            (chosen.iter().filter(|number| is_disturbed(number)).count(), chosen.len());
        if disturbed > all * 9 / 10 {
            break;
        }
    }
    let (words, cipher) = (record::check(), status.cipher);
    println!("{mode:?} {pool:?} {half:?}, {cipher}: {disturbed} of {all} places, {words} words");
    if disturbed <= all * 9 / 10 {
        return Err("its refills take another way each time");
    }
    Ok(())
}

#[test]
fn pages_vanish_before_every_instruction_of_a_refill() {
    let test = "pages_vanish_before_every_instruction_of_a_refill";
    at_every_instruction(test, 1, |tracer, path, number| {
        tracer.draw_with(path, &[(number, Event::Drop)])
    });
}

/// The guards are compared once, after the copy. So there is one place from which on a fork comes
/// after the draw, and both processes return the word that it has copied; and none before it.
#[test]
fn a_fork_before_every_instruction_of_a_refill() {
    let test = "a_fork_before_every_instruction_of_a_refill";
    let compared_at = AtomicUsize::new(usize::MAX);
    at_every_instruction(test, 1, |tracer, path, number| {
        // A reseed of the kernel's own voids the word in one of the two: then nothing was shown.
        let before = headwater::status().reseed_generation;
        let drawn = tracer.draw_with(path, &[(number, Event::Fork)]);
        let done = drawn && headwater::status().reseed_generation == before;
        let [parents, childs] = [0, 1].map(|of| tracer.shared.words[of].load(SeqCst));
        if done && parents == childs {
            compared_at.fetch_min(number, SeqCst);
        } else if done {
            let all = path.instructions.len();
            let is_before = number < compared_at.load(SeqCst);
            assert!(is_before, "a fork before {number} of {all} was seen again");
            record::add(&childs.to_ne_bytes());
        }
        done
    });
}

#[test]
fn a_jump_before_every_instruction_of_a_refill() {
    let test = "a_jump_before_every_instruction_of_a_refill";
    at_every_instruction(test, 1, |tracer, path, number| {
        tracer.draw_with(path, &[(number, Event::Jump)])
    });
}

/// From the place on at which the key is drawn, the page that is filled is not drawn from: the
/// draw, or the next one, fills another.
#[test]
fn a_reseed_before_every_instruction_of_a_refill() {
    let test = "a_reseed_before_every_instruction_of_a_refill";
    at_every_instruction(test, 1, |tracer, path, number| {
        let done = tracer.draw_with(path, &[(number, Event::Reseed)]) && tracer.has_filled();
        // A page that is filled for a section, and not put, is not counted.
        let is_counted = tracer.pool != Pool::Section;
        let is_late = is_counted && path.keyed.is_some_and(|keyed| number >= keyed);
        let again = tracer.shared.made_by_two.load(SeqCst) > 1;
        let all = path.instructions.len();
        assert!(!done || !is_late || again, "a reseed before {number} of {all} was not seen");
        done
    });
}

/// Two events in one refill: what the first one leaves is met by the second. Which and where is
/// drawn by lot. A step takes as long as a whole draw, so the first is at one place in ten.
#[test]
fn two_events_in_a_refill() {
    const EVENTS: [Event; 3] = [Event::Drop, Event::Fork, Event::Reseed];
    at_every_instruction("two_events_in_a_refill", 10, |tracer, path, number| {
        let later = number + lot(path.places.end - number);
        let events = [(number, EVENTS[lot(3)]), (later, EVENTS[lot(3)])];
        tracer.draw_with(path, &events)
    });
}
