//! Disturbances of a process while its threads draw: dropped pages, reseeds of the kernel, changes
//! of mode.

use super::plan::{Plan, Pressure};
use super::record::{self, Event};
use headwater::{Config, Mode};
use headwater_testing::{machine, memory};
use std::process::Command;
use std::time::Duration;

/// Disturbs this process until the round is over. Calls `step` between two disturbances.
pub(crate) fn run(plan: &Plan, choice: &mut fastrand::Rng, record_fd: i32, mut step: impl FnMut()) {
    // Droppable memory only: the kernel itself may empty it at any time, so emptying it here is
    // legitimate.
    let pages = memory::mappings_with(&["dp"]);
    while !record::is_over() {
        step();
        let pause = if plan.reseeds > 0 { plan.reseeds } else { 500 };
        std::thread::sleep(Duration::from_micros(pause.into()));
        // Without CAP_SYS_ADMIN the kernel refuses, and the reseed is not counted.
        if plan.reseeds > 0 && machine::reseed() {
            record::count(Event::Reseed);
        }
        let (advice, event) = match plan.pressure {
            Pressure::Drop => (libc::MADV_DONTNEED, Event::Drop),
            _ => (libc::MADV_PAGEOUT, Event::PageOut),
        };
        if plan.pressure != Pressure::None {
            for page in &pages {
                let at = page.range.start as *mut libc::c_void;
                let len = (page.range.end - page.range.start) as usize;
                // SAFETY: droppable memory, whose owner expects the kernel to empty it at any time.
                if unsafe { libc::madvise(at, len, advice) } == 0 {
                    record::count(event);
                }
            }
        }
        if plan.mode_changes && choice.u8(..) < 16 {
            let mode = Mode::ALL[choice.usize(..Mode::ALL.len())];
            if choice.bool() {
                headwater::quiesce().expect("quiesce");
                record::count(Event::Quiesce);
            }
            headwater::init_with(Config::new().mode(mode)).expect("another mode");
            record::count(Event::ModeChange);
        }
        if plan.programs && choice.u8(..) < 4 {
            start_program(record_fd);
        }
    }
}

/// Starts this program once more, for one first draw: a set-up beside all other processes. The loop
/// that waits for children waits for it too.
fn start_program(record_fd: i32) {
    let Ok(program) = std::env::current_exe() else { return };
    let fd = record_fd.to_string();
    if Command::new(program).args(["--seed=0", "--worker", "-1", &fd]).spawn().is_ok() {
        record::count(Event::Program);
    }
}
