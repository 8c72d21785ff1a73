//! The processes of a round.

use super::draws::{DEPTH, Drawer, draw_and_record, sum_up};
use super::forks::{self, Stack};
use super::plan::Plan;
use super::record::{self, Event};
use super::{disturb, hooks, signals, stop};
use anyhow::{Context, Result};
use headwater_testing::jump;
use rustix::io::Errno;
use rustix::process::{WaitOptions, getpid, set_child_subreaper, waitpid};
use std::process::ExitCode;
use std::sync::Barrier;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::{panic, thread};

/// Runs the first process of a round. `worker` holds the round's number, or -1 for a program that
/// draws once, the descriptor of the record, and the number of the process that started this one.
pub(crate) fn run(worker: Vec<i64>, seed: u64) -> Result<ExitCode> {
    let [round, fd, parent] = worker.try_into().ok().context("--worker takes three numbers")?;
    let fd = i32::try_from(fd).context("--worker takes a descriptor")?;
    stop::end_with(parent);
    record::open(fd)?;
    exit_on_panic();
    let Ok(round) = u64::try_from(round) else {
        draw_and_record::<8>();
        draw_and_record::<4096>();
        return Ok(ExitCode::SUCCESS);
    };
    let plan = Plan::of(seed, round);
    hooks::force(&plan);
    let mut choice = fastrand::Rng::with_seed(seed ^ round);
    let first = getpid().as_raw_nonzero().get().into();
    for number in 0..plan.processes {
        let seed = choice.u64(..);
        if choice.bool() {
            draw_and_record::<16>(); // for once, set-up comes before the fork
        }
        record::shared().alive.fetch_add(1, Relaxed);
        // SAFETY: this process has one thread.
        match unsafe { libc::fork() } {
            -1 => anyhow::bail!("fork: {}", std::io::Error::last_os_error()),
            0 => {
                stop::end_with(first);
                DEPTH.store(1, SeqCst);
                process(&plan, seed ^ u64::from(number), (fd, number == 0));
                sum_up();
                return Ok(ExitCode::SUCCESS);
            }
            _ => {}
        }
    }
    Ok(if wait_for_children(WaitOptions::empty()) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Draws in all threads of the plan, disturbs them, and waits for all children.
fn process(plan: &Plan, seed: u64, (record_fd, is_first): (i32, bool)) {
    let mut choice = fastrand::Rng::with_seed(seed);
    // Orphans become this process's children, so `wait_for_children` sees how they end.
    set_child_subreaper(Some(getpid())).expect("PR_SET_CHILD_SUBREAPER");
    if plan.one_cpu {
        forks::move_to(0);
    }
    hooks::install(plan);
    signals::install(plan);
    let mut failed = false;
    let first_draws = &Barrier::new(plan.threads as usize + 1);
    thread::scope(|scope| {
        for _ in 0..plan.threads {
            let seed = choice.u64(..);
            scope.spawn(move || draw_until_over(plan, seed, first_draws));
        }
        first_draws.wait();
        disturb::run(plan, &mut choice, (record_fd, is_first), || {
            failed |= !wait_for_children(WaitOptions::NOHANG);
        });
    });
    signals::start(0);
    failed |= !wait_for_children(WaitOptions::empty());
    assert!(!failed, "a child failed");
}

/// Draws until the round is over. The first draw comes before the barrier `first_draws`: of several
/// threads that set up at once, all but one unmap their pages again. The disturber lists the
/// mappings after the barrier, so the list holds no mapping that will disappear. (Without the
/// barrier it emptied other memory that had been mapped at the same address.)
fn draw_until_over(plan: &Plan, seed: u64, first_draws: &Barrier) {
    let depth = DEPTH.load(SeqCst);
    let jumps = plan.jumps && plan.signals > 0 && jump::POSSIBLE;
    let mut drawer = Drawer::new(plan, seed);
    let mut stack: Box<Stack> = Box::new([0; 8192]);
    // No allocation from here on: in a child that a handler forks, the allocator's lock may be
    // taken for ever.
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let mut batches_as_child = 0;
    record::count(Event::Thread);
    // A child forked inside a barrier, or a thread that jumps out of it, blocks for ever. Signals
    // that do either stay blocked until the barrier is passed.
    signals::admit(!plan.forks && !plan.jumps);
    draw_and_record::<8>();
    if plan.handles {
        drop(headwater::Rng::new());
    }
    first_draws.wait();
    signals::admit(true);
    while !record::is_over() {
        drawer.batch(jumps);
        if DEPTH.load(SeqCst) != depth {
            // This process is a child that a handler forked, and this thread is its only one.
            batches_as_child += 1;
            if batches_as_child == 50 {
                forks::end();
            }
            continue;
        }
        match drawer.choice.u16(..) {
            0..64 if plan.handles => {
                drawer.handle = headwater::Rng::new().ok();
                record::count(Event::Handle);
                drawer.disturbed();
            }
            64..80 if plan.handles => drawer.handle = None,
            80..112 if plan.moves => {
                forks::move_to(drawer.choice.usize(..cpus));
                record::count(Event::Move);
            }
            112..128 if plan.forks => forks::fork(&mut drawer, jumps),
            128..132 if plan.forks => forks::spawn_in_shared_memory(&mut stack),
            132..136 if plan.clones => forks::draw_beside_a_clone(&mut drawer, jumps, &mut stack),
            136..140 if plan.times => forks::fork_a_day_ahead(&mut drawer, jumps),
            _ => {}
        }
    }
    signals::admit(false);
    if DEPTH.load(SeqCst) != depth {
        forks::end();
    }
}

/// Waits for all children, or with NOHANG for those that have ended. Returns false if one of them
/// failed.
fn wait_for_children(options: WaitOptions) -> bool {
    loop {
        match waitpid(None, options) {
            Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return true, // none has ended yet, or none is left
            Ok(Some((child, status))) if status.exit_status() != Some(0) => {
                eprintln!("process {child} ended with {status:?}");
                record::shared().stop.store(true, SeqCst);
                return false;
            }
            Ok(Some(_)) => {}
        }
    }
}

/// Makes a panic of any thread end its process with a status that the waiting parent checks.
fn exit_on_panic() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        print(info);
        record::shared().stop.store(true, SeqCst);
        // SAFETY: ends the process in any state; no handler of the parent runs.
        unsafe { libc::_exit(101) }
    }));
}
