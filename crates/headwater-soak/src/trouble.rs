//! What is done to a process while its threads draw: pages taken away, the kernel reseeded, modes changed.

use crate::plan::{Plan, Pressure};
use crate::record::{self, Event};
use headwater::{Config, Mode};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::Duration;

/// The mappings that may vanish: droppable ones. The kernel may do at any time what is done to them here.
fn droppable() -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut last = None;
    for line in fs::read_to_string("/proc/self/smaps").unwrap_or_default().lines() {
        if let Some(flags) = line.strip_prefix("VmFlags:") {
            if flags.split_whitespace().any(|flag| flag == "dp") {
                found.extend(last);
            }
        } else if let Some((begin, end)) = line.split(' ').next().and_then(|at| at.split_once('-'))
            && let (Ok(begin), Ok(end)) =
                (usize::from_str_radix(begin, 16), usize::from_str_radix(end, 16))
        {
            last = Some((begin, end - begin));
        }
    }
    found
}

/// Makes trouble until the round is over. `steps` is called all the time.
pub(crate) fn make(
    plan: &Plan,
    choice: &mut fastrand::Rng,
    record_fd: i32,
    mut step: impl FnMut(),
) {
    const RNDRESEEDCRNG: libc::Ioctl = 0x5207; // include/uapi/linux/random.h
    let urandom = File::open("/dev/urandom").ok();
    let pages = droppable();
    while !record::is_over() {
        step();
        let pause = if plan.reseeds > 0 { plan.reseeds } else { 500 };
        std::thread::sleep(Duration::from_micros(pause.into()));
        if let (1.., Some(urandom)) = (plan.reseeds, &urandom) {
            // SAFETY: the request takes no argument. Without CAP_SYS_ADMIN it is refused, and not counted.
            if unsafe { libc::ioctl(urandom.as_raw_fd(), RNDRESEEDCRNG) } == 0 {
                record::count(Event::Reseed);
            }
        }
        let (advice, event) = match plan.pressure {
            Pressure::Drop => (libc::MADV_DONTNEED, Event::Drop),
            _ => (libc::MADV_PAGEOUT, Event::PageOut),
        };
        if plan.pressure != Pressure::None {
            for &(at, len) in &pages {
                // SAFETY: droppable memory, which the kernel may empty whenever it likes.
                if unsafe { libc::madvise(at as *mut libc::c_void, len, advice) } == 0 {
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

/// This program again, for one first draw: set up anew beside all the rest. Whoever waits for children waits for it.
fn start_program(record_fd: i32) {
    let Ok(program) = std::env::current_exe() else { return };
    let fd = record_fd.to_string();
    if Command::new(program).args(["--seed=0", "--worker", "-1", &fd]).spawn().is_ok() {
        record::count(Event::Program);
    }
}
