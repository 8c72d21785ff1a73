//! The tracer: it finds the way of a refill, and stops the child before any of its instructions.

use super::{Event, Half, Pool, Shared, draw_for_the_tracer};
use crate::support::children::fork;
use crate::support::machine::reseed;
use crate::support::stepper::{Traced, trace_me};
use headwater_stepper::Section;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::SeqCst;

/// More instructions than any draw here has, with several refills.
const TOO_MANY: usize = 1_000_000;

/// The way of a refill that nothing disturbs.
pub(crate) struct Path {
    /// The addresses of its instructions, in order.
    pub(crate) instructions: Vec<u64>,
    /// The ones that can be disturbed: all but those of sections, in which each stop is an end.
    pub(crate) places: Range<usize>,
    /// For each place, the nearest one at or before it at which a breakpoint can be set, and how
    /// often the way has come by there.
    breakpoints: Vec<(usize, usize)>,
    /// The number of instructions after which the key is drawn, where that can be seen: a reseed
    /// is too late for it.
    pub(crate) keyed: Option<usize>,
}

impl Path {
    fn new(instructions: Vec<u64>, keyed: Option<usize>) -> Path {
        let places = longest_stretch(&instructions, &sections());
        let before: HashSet<_> = instructions[..places.start].iter().collect();
        let mut visits = HashMap::new();
        let mut breakpoints: Vec<(usize, usize)> = Vec::new();
        for at in places.clone() {
            let address = instructions[at];
            let visit = visits.entry(address).or_insert(0);
            // A section restarts as often as it is stepped, and with it all that comes before: a
            // breakpoint there would be met another number of times.
            if !before.contains(&address) {
                breakpoints.push((at, *visit));
            } else if let Some(&last) = breakpoints.last() {
                breakpoints.push(last);
            }
            *visit += 1;
        }
        let places = places.end - breakpoints.len()..places.end;
        Path { instructions, places, breakpoints, keyed }
    }
}

/// Returns the longest stretch of a way outside of these ranges.
fn longest_stretch(way: &[u64], outside: &[Range<u64>]) -> Range<usize> {
    let is_outside = |address: &u64| !outside.iter().any(|range| range.contains(address));
    let mut end = 0;
    let stretches = way.chunk_by(|a, b| is_outside(a) == is_outside(b)).map(|stretch| {
        end += stretch.len();
        (is_outside(&stretch[0]), end - stretch.len()..end)
    });
    let all = stretches.filter(|(is_outside, _)| *is_outside).map(|(_, range)| range);
    all.max_by_key(ExactSizeIterator::len).expect("a refill is no section")
}

/// Returns the addresses of the sections, which children share.
fn sections() -> Vec<Range<u64>> {
    let instructions = Section::all().iter().map(Section::instructions);
    instructions.map(|all| all[0].ip()..all[all.len() - 1].next_ip()).collect()
}

pub(crate) struct Tracer {
    child: Traced,
    pub(crate) shared: &'static Shared,
    pub(crate) pool: Pool,
    half: Half,
}

impl Tracer {
    /// Starts a child; None where it cannot be traced.
    pub(crate) fn start(shared: &'static Shared, pool: Pool, half: Half) -> Option<Tracer> {
        let child = fork(|| {
            if !trace_me() {
                return 77;
            }
            draw_for_the_tracer(shared, pool, half)
        });
        let tracer = Tracer { child: Traced(child), shared, pool, half };
        tracer.child.wait_for(libc::SIGSTOP).ok()?;
        Some(tracer)
    }

    /// Returns whether the last draw has filled a page.
    pub(crate) fn has_filled(&self) -> bool {
        self.shared.refills.load(SeqCst) > 0
    }

    /// Returns the way of a refill that nothing disturbs: one that is taken twice in a row. Returns
    /// None if there is none, as on a machine whose kernel reseeds all the time.
    pub(crate) fn undisturbed(&self) -> Option<Path> {
        let mut last = self.step_through()?;
        for _ in 0..20 {
            let next = self.step_through()?;
            if next.instructions == last.instructions {
                return Some(next);
            }
            last = next;
        }
        None
    }

    /// Steps through a refill; None if twenty draws find bytes left.
    fn step_through(&self) -> Option<Path> {
        let vdso = vdso();
        for _ in 0..20 {
            self.child.run_to_stop();
            let page = self.shared.page.load(SeqCst);
            let tag = || (page != 0).then(|| self.child.words(page, 1)[0]);
            let (old, mut instructions, mut keyed) = (tag(), Vec::new(), None);
            while self.shared.drawing.load(SeqCst) == 0 {
                self.child.step();
            }
            while self.shared.drawing.load(SeqCst) == 1 {
                let here = self.child.instruction_pointer();
                instructions.push(here);
                self.child.step();
                match self.half {
                    // If it meets a reseed up to here, the vDSO itself draws again.
                    Half::First | Half::Kernel if vdso.contains(&here) => {
                        keyed = Some(instructions.len());
                    }
                    Half::Link if keyed.is_none() && tag() != old => {
                        keyed = Some(instructions.len());
                    }
                    _ => {}
                }
                assert!(instructions.len() < TOO_MANY, "the refill does not end");
            }
            self.child.run_to_stop();
            // The kernel reseeds once a minute: then there was no refill, or another draw. A page
            // that is filled for a section cannot be put in steps, and does not count.
            if self.has_filled() != (self.pool == Pool::Section) {
                return Some(Path::new(instructions, keyed));
            }
        }
        None
    }

    /// Lets the child begin the draw, and stops it before the instruction with this number. Returns
    /// false if it drew without coming there, because the kernel reseeded by itself.
    fn run_to(&self, path: &Path, number: usize) -> bool {
        let (breakpoint, visits) = path.breakpoints[number - path.places.start];
        let address = path.instructions[breakpoint];
        self.child.run_to_stop();
        for visit in 0..=visits {
            if visit > 0 {
                self.child.step();
            }
            if !self.child.run_to(address) {
                return false;
            }
        }
        (breakpoint..number).for_each(|_| self.child.step());
        // On another way, it may come there in a later draw.
        let there = self.child.instruction_pointer() == path.instructions[number]
            && self.shared.drawing.load(SeqCst) == 1;
        if !there {
            self.child.run_to_stop();
        }
        there
    }

    /// Draws once, and lets each event happen before the instruction with this number; those of a
    /// handler do not count. Returns false if the draw took another way, so that nothing happened.
    pub(crate) fn draw_with(&self, path: &Path, events: &[(usize, Event)]) -> bool {
        if !self.run_to(path, events[0].0) {
            return false;
        }
        let mut number = events[0].0;
        for (nth, &(at, event)) in events.iter().enumerate() {
            // An event makes the way longer, or ends it.
            while number < at && self.shared.drawing.load(SeqCst) == 1 {
                self.child.step();
                number += 1;
            }
            if event == Event::Reseed {
                assert!(reseed());
                continue;
            }
            self.shared.event.store(event as usize, SeqCst);
            let is_last = nth + 1 == events.len();
            self.shared.stops.store(usize::from(!is_last), SeqCst);
            let here = self.child.instruction_pointer();
            self.child.resume_with(libc::SIGUSR1);
            self.child.wait_for(libc::SIGSTOP).expect("it stops in the handler, or has drawn");
            if is_last {
                return true;
            }
            while self.child.instruction_pointer() != here {
                self.child.step();
            }
        }
        self.child.run_to_stop();
        true
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

/// Returns the addresses of the vDSO's code, which children share.
fn vdso() -> Range<u64> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.ends_with("[vdso]")).expect("a vDSO");
    let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
    let parse = |text| u64::from_str_radix(text, 16).unwrap();
    parse(from)..parse(to)
}
