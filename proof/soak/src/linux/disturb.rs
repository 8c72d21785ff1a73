//! Disturbances of a process while its threads draw: dropped pages, reseeds of the kernel, changes
//! of mode.

use super::plan::{Plan, Pressure};
use super::record::{self, Event};
use super::refuse;
use headwater::{Config, Mode};
use headwater_testing::{machine, memory};
use std::process::Command;
use std::time::{Duration, Instant};

/// Disturbs this process until the round is over. Calls `step` between two disturbances.
///
/// `is_first` is true for the first process of a round, which may lose the right to getrandom.
pub(crate) fn run(
    plan: &Plan,
    choice: &mut fastrand::Rng,
    (record_fd, is_first): (i32, bool),
    mut step: impl FnMut(),
) {
    let begin = Instant::now();
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
        let may_lose = plan.refused && is_first && !refuse::is_refused();
        if may_lose && begin.elapsed() > Duration::from_secs(2) {
            refuse::refuse([libc::EPERM, libc::ENOSYS, libc::EACCES][choice.usize(..3)]);
        }
        if refuse::is_refused() {
            // A change of the mode would draw, and a program would not know what it lost.
            continue;
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
    let (fd, parent) = (record_fd.to_string(), std::process::id().to_string());
    if Command::new(program).args(["--seed=0", "--worker", "-1", &fd, &parent]).spawn().is_ok() {
        record::count(Event::Program);
    }
}
