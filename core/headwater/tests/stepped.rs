//! A draw, instruction by instruction: the reseed generation changes at each of them, or a signal
//! comes whose handler does not return to it.
//!
//! A tracer steps a child through one draw from a page that is full, has the real kernel reseed
//! after so many steps, and lets the child continue. No hook is set, and nothing is known of the
//! code: that bytes were copied shows in the page, where they are erased.
//!
//! A word is compared once, after the copy, so a draw has two parts: up to the comparison a reseed
//! is seen, and no buffered byte leaves; from there on it comes after the draw, and they do.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod common;
mod support;

use headwater::testing::{Force, handle_page, slot_page};
use headwater::{Mode, ReseedGeneration, Rng};
use std::collections::HashSet;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use support::children::fork;
use support::machine::{bind, can_reseed, cpus, reseed, skip};
use support::rules::force;
use support::stepper::{Traced, shared, stop, trace_me};
use support::voided::DRAWS;

/// Runs as `common::isolated` does, one test after the other, because a reseed concerns the whole
/// machine.
fn isolated(test: &str, body: impl FnOnce()) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    common::isolated(test, body);
}

/// Draws of these names are stepped through.
const STEPPED: [&str; 6] =
    ["u64", "fill of 16", "fill of 40", "next_u64", "Rng::fill of 16", "Rng::fill of 100"];

/// Draws of these names are left at each step: one from a slot, which no draw has afterwards, and
/// those from a handle, which continues with its page.
const LEFT: [&str; 4] = ["u64", "next_u64", "Rng::fill of 16", "Rng::fill of 100"];

/// The start of the random bytes of a page. The 32 bytes before it, of the same stream, are never
/// output: the next refill follows them.
const STREAM: u64 = 544;
const STREAM_WORDS: usize = (4096 - STREAM as usize) / 8;

/// More instructions than any draw has. Where atomic operations are loops of exclusive loads and
/// stores (arm64 without LSE) a step breaks the reservation, and the loop never ends.
const TOO_MANY: usize = 20_000;

/// The messages between tracer and child, in memory that both see.
struct Shared {
    /// The index in `DRAWS` of what is drawn next.
    draw: AtomicUsize,
    /// The page that it is drawn from.
    page: AtomicU64,
    /// 1 if the draw is to be left, at the signal that the tracer sends.
    leaves: AtomicUsize,
    /// 1 while it is drawn.
    drawing: AtomicUsize,
    /// `retries` and `discarded_bytes` that it brought.
    retries: AtomicU64,
    discarded: AtomicU64,
    drawn: [AtomicU64; STREAM_WORDS],
}

/// Runs as the child: draws from a warm page, between two stops, again and again.
fn draw_for_the_tracer(shared: &Shared) -> ! {
    let mut rng = Rng::new().unwrap();
    loop {
        stop();
        let (name, draw, len) = DRAWS[shared.draw.load(SeqCst)];
        let mut buf = vec![0; len];
        // The first may find a page that is void, or has too few bytes left for all that follow.
        let refills = || headwater::status().counters.refills;
        let before = refills();
        while refills() == before {
            draw(&mut rng, &mut buf);
        }
        draw(&mut rng, &mut buf);
        let by_handle = name == "next_u64" || name.starts_with("Rng");
        let page = if by_handle { handle_page() } else { slot_page() };
        shared.page.store(page.addr() as u64, SeqCst);
        let before = headwater::status().counters;
        stop();
        if shared.leaves.load(SeqCst) == 1 {
            draw_and_leave(shared, || draw(&mut rng, &mut buf));
            // The bytes of the page: every byte that could come out again.
            let mut words = Vec::new();
            while words.len() < STREAM_WORDS {
                draw(&mut rng, &mut buf);
                words.extend(buf.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)));
            }
            for (place, word) in shared.drawn.iter().zip(words) {
                place.store(word, SeqCst);
            }
            continue;
        }
        shared.drawing.store(1, SeqCst);
        draw(&mut rng, &mut buf);
        shared.drawing.store(0, SeqCst);
        let after = headwater::status().counters;
        shared.retries.store(after.retries - before.retries, SeqCst);
        shared.discarded.store(after.discarded_bytes - before.discarded_bytes, SeqCst);
        for (place, word) in shared.drawn.iter().zip(buf.as_chunks().0) {
            place.store(u64::from_ne_bytes(*word), SeqCst);
        }
    }
}

/// Leaves the draw by siglongjmp, out of the handler of SIGUSR1.
fn draw_and_leave(shared: &Shared, mut draw: impl FnMut()) {
    extern "C" fn leave(_: libc::c_int) {
        support::jump::jump();
    }
    support::jump::handle(libc::SIGUSR1, leave);
    let left = support::jump::is_left(|| {
        shared.drawing.store(1, SeqCst);
        draw();
        shared.drawing.store(0, SeqCst);
        // The tracer's signal comes here at the latest.
        loop {
            std::hint::spin_loop();
        }
    });
    assert!(left);
    shared.drawing.store(0, SeqCst);
}

struct Tracer {
    child: Traced,
    shared: &'static Shared,
}

/// The result of a draw into which the kernel reseeded.
struct Outcome {
    /// Words came out of the page as it was before.
    left: bool,
    retries: u64,
    discarded: u64,
}

fn kernels_word() -> u64 {
    match headwater::status().reseed_generation {
        ReseedGeneration::Live { value, .. } => value,
        other => panic!("{other:?}"),
    }
}

impl Tracer {
    /// Lets the child get ready, and step to the beginning of the draw; what its page holds then.
    fn begin(&self, draw: usize) -> Vec<u64> {
        self.shared.draw.store(draw, SeqCst);
        self.child.run_to_stop();
        let page = self.page();
        while self.shared.drawing.load(SeqCst) == 0 {
            self.child.step();
        }
        page
    }

    fn page(&self) -> Vec<u64> {
        self.child.words(self.shared.page.load(SeqCst) + STREAM, STREAM_WORDS)
    }

    /// Lets the draw end. Returns whether words of `page` came out of it: then all words did.
    fn finish(&self, draw: usize, page: &[u64]) -> Outcome {
        self.child.run_to_stop();
        let buffered: HashSet<u64> = page.iter().copied().filter(|&word| word != 0).collect();
        assert!(buffered.len() > 200, "the page was not found: {} words", buffered.len());
        let words = &self.shared.drawn[..DRAWS[draw].2 / 8];
        let left = words.iter().filter(|word| buffered.contains(&word.load(SeqCst))).count();
        assert!(left == 0 || left == words.len(), "{left} words of one page left");
        Outcome {
            left: left > 0,
            retries: self.shared.retries.load(SeqCst),
            discarded: self.shared.discarded.load(SeqCst),
        }
    }

    /// Returns the number of steps that a draw has, and after which of them the page changes for
    /// the first and for the last time. Returns None if the steps do not end.
    fn steps(&self, draw: usize) -> Option<(usize, usize, usize)> {
        loop {
            let word = kernels_word();
            let page = self.begin(draw);
            let (mut steps, mut first, mut last) = (0, 0, 0);
            let mut now = page.clone();
            while self.shared.drawing.load(SeqCst) == 1 {
                self.child.step();
                steps += 1;
                let then = std::mem::replace(&mut now, self.page());
                if now != then {
                    first = if first == 0 { steps } else { first };
                    last = steps;
                }
                if steps == TOO_MANY {
                    return None;
                }
            }
            let left = self.finish(draw, &page).left;
            if kernels_word() == word {
                assert!(left && 0 < first && last < steps, "{first}, {last} of {steps}");
                return Some((steps, first, last));
            }
        }
    }

    /// Has the kernel reseed after so many steps of the draw, and returns the outcome.
    fn reseed_after(&self, steps: usize, draw: usize) -> Outcome {
        loop {
            let word = kernels_word();
            let page = self.begin(draw);
            for _ in 0..steps {
                self.child.step();
            }
            assert!(reseed());
            let outcome = self.finish(draw, &page);
            // Once a minute the kernel reseeds by itself: then nothing was shown.
            if kernels_word() == word + 1 {
                return outcome;
            }
        }
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // SAFETY: a child that has not been waited for; how it ended is not asked.
        unsafe {
            libc::kill(self.child.0, libc::SIGKILL);
            libc::waitpid(self.child.0, null_mut(), 0);
        }
    }
}

/// Returns a child that waits to be stepped through draws. Returns None, with a report, where
/// stepping is not possible.
fn tracer(test: &str) -> Option<Tracer> {
    // Each step inside a section restarts it: see `a_stepped_section_is_given_up`.
    force(&[Force::NoSections]);
    tracer_of_any_draw(test)
}

/// Steps through draws in sections, where the machine has them.
fn tracer_of_any_draw(test: &str) -> Option<Tracer> {
    force(&[Force::VmgenidBound]);
    headwater::init().unwrap();
    let status = headwater::status();
    if status.mode != Mode::Buffered {
        skip(test, status.reason);
        return None;
    }
    if !can_reseed(test) {
        return None;
    }
    // One CPU: the same slot each time, and the child runs as soon as the tracer waits.
    bind(&cpus()[..1]);
    // SAFETY: atomics, for which zeros are valid.
    let shared = unsafe { shared() };
    let child = fork(|| {
        if !trace_me() {
            return 77;
        }
        draw_for_the_tracer(shared)
    });
    let tracer = Tracer { child: Traced(child), shared };
    if tracer.child.wait_for(libc::SIGSTOP).is_err() {
        skip(test, "ptrace is refused here, so reseeds are shown at the hooks' points alone");
        return None;
    }
    Some(tracer)
}

/// Reseeds at every step of one draw. Up to the step at which its last byte is erased, nothing that
/// was buffered leaves, and the draw is made again; after the last step everything does; and there
/// is one step in between at which the one turns into the other.
#[test]
fn a_reseed_after_every_instruction_of_a_draw() {
    let test = "a_reseed_after_every_instruction_of_a_draw";
    isolated(test, || {
        let Some(tracer) = tracer(test) else { return };
        for (draw, (name, ..)) in DRAWS.into_iter().enumerate() {
            if !STEPPED.contains(&name) {
                continue;
            }
            let Some((steps, first, last)) = tracer.steps(draw) else {
                return skip(
                    test,
                    "loops of atomics here cannot be stepped; reseeds are shown at the hooks' points alone",
                );
            };
            let mut turned = None;
            for after in 0..=steps {
                let outcome = tracer.reseed_after(after, draw);
                let at = format!("{name}: a reseed after step {after} of {steps}");
                if outcome.left {
                    assert!(after > last, "{at} was not seen, and bytes are copied up to {last}");
                    turned.get_or_insert(after);
                    continue;
                }
                assert_eq!(turned, None, "{at} was seen again");
                if after >= first {
                    // In the middle of the copy, or after it.
                    assert!(outcome.retries > 0, "{at} was not counted");
                }
                assert!(outcome.retries + outcome.discarded > 0, "{at} voided nothing");
            }
            let turned = turned.expect("a reseed after the draw is none of its business");
            println!("{name}: {steps} steps, erased at {first} to {last}, compared at {turned}");
        }
    });
}

/// A signal at every step of one draw, whose handler leaves it by siglongjmp. Bytes copied by then,
/// which the page lacks or a register holds, do not come out later, and of later bytes nothing
/// repeats.
#[test]
fn a_jump_after_every_instruction_of_a_draw() {
    let test = "a_jump_after_every_instruction_of_a_draw";
    isolated(test, || {
        let Some(first) = tracer(test) else { return };
        for (draw, (name, _, len)) in DRAWS.into_iter().enumerate() {
            if !LEFT.contains(&name) {
                continue;
            }
            first.shared.leaves.store(0, SeqCst);
            let Some((steps, ..)) = first.steps(draw) else {
                return skip(test, "loops of atomics here cannot be stepped");
            };
            let (mut copied_at, mut lost_at) = (None, None);
            for after in 0..=steps {
                // A slot that is lost stays lost, so each draw from one gets a new child.
                let new = if name == "u64" { tracer(test) } else { None };
                let tracer = new.as_ref().unwrap_or(&first);
                tracer.shared.leaves.store(1, SeqCst);
                let page = tracer.begin(draw);
                for _ in 0..after {
                    tracer.child.step();
                }
                let due: Vec<u64> =
                    page.into_iter().filter(|&word| word != 0).take(len / 8).collect();
                let (now, registers) = (tracer.page(), tracer.child.registers());
                let is_copied = |word: &u64| !now.contains(word) || registers.contains(word);
                let copied: Vec<u64> = due.iter().copied().filter(is_copied).collect();
                tracer.child.resume_with(libc::SIGUSR1);
                tracer.child.wait_for(libc::SIGSTOP).expect("it draws on");
                let mut later: Vec<u64> =
                    tracer.shared.drawn.iter().map(|word| word.load(SeqCst)).collect();
                let again = copied.iter().filter(|word| later.contains(word)).count();
                let at = format!("{name}: left after step {after} of {steps}");
                assert_eq!(again, 0, "{at}: words that were copied came out later");
                if !copied.is_empty() {
                    copied_at.get_or_insert(after);
                }
                if !later.contains(&due[0]) {
                    lost_at.get_or_insert(after);
                }
                later.sort_unstable();
                assert!(later[0] != 0, "{at}: zeros came out");
                assert!(later.windows(2).all(|pair| pair[0] != pair[1]), "{at}: a word repeats");
            }
            assert!(copied_at.is_some() && lost_at <= copied_at, "{name}: {copied_at:?}");
            println!("{name}: {steps} steps, lost from {lost_at:?}, copied from {copied_at:?}");
        }
    });
}

/// A step inside a section makes the kernel restart it, and after eight of them the draw is made by
/// a refill. So a stepped draw ends; and a reseed at any of its steps voids what the page held.
#[test]
fn a_stepped_section_is_given_up() {
    let test = "a_stepped_section_is_given_up";
    isolated(test, || {
        let Some(tracer) = tracer_of_any_draw(test) else { return };
        let status = headwater::status();
        if status.path != headwater::Path::Sections {
            return skip(test, status.path.why().unwrap_or("nothing is buffered"));
        }
        for (draw, (name, ..)) in DRAWS.into_iter().enumerate() {
            if !STEPPED.contains(&name) || name == "next_u64" || name.starts_with("Rng") {
                continue;
            }
            let page = tracer.begin(draw);
            let mut steps = 0;
            while tracer.shared.drawing.load(SeqCst) == 1 {
                tracer.child.step();
                steps += 1;
                // The test beside this one reseeds the kernel, and a draw that meets it at each
                // step makes its bytes five times and more.
                assert!(steps < 10 * TOO_MANY, "{name}: the draw does not end");
            }
            assert!(!tracer.finish(draw, &page).left, "{name}: a section went through in steps");
            // The restarts are among the first steps; the rest is the refill, whose bytes no page
            // holds.
            for after in 0..steps.min(120) {
                let outcome = tracer.reseed_after(after, draw);
                assert!(
                    !outcome.left,
                    "{name}: a reseed after step {after} of {steps} was not seen"
                );
            }
            println!("{name}: {steps} steps");
        }
    });
}
