//! The processes of a round.

use crate::draws::{DEPTH, Drawer, draw_and_record, sum_up};
use crate::forks::{self, Stack};
use crate::plan::Plan;
use crate::record::{self, Event};
use crate::{hooks, signals, trouble};
use anyhow::{Context, Result};
use headwater_testing::jump;
use std::process::ExitCode;
use std::sync::Barrier;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::{panic, thread};

/// The first process of a round. `worker` is its number, or -1 for a program that draws once, and the
/// record's descriptor.
pub(crate) fn run(worker: Vec<i32>, seed: u64) -> Result<ExitCode> {
    let [round, fd] = worker.try_into().ok().context("--worker takes two numbers")?;
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
    for number in 0..plan.processes {
        let seed = choice.u64(..);
        if choice.bool() {
            draw_and_record::<16>(); // set up before the fork, for once
        }
        record::shared().alive.fetch_add(1, Relaxed);
        // SAFETY: one thread so far.
        match unsafe { libc::fork() } {
            -1 => anyhow::bail!("fork: {}", std::io::Error::last_os_error()),
            0 => {
                DEPTH.store(1, SeqCst);
                process(&plan, seed ^ u64::from(number), fd);
                sum_up();
                return Ok(ExitCode::SUCCESS);
            }
            _ => {}
        }
    }
    Ok(if wait_for_children(0) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Draws in all the plan's threads, makes the plan's trouble, and waits for all that it has forked.
fn process(plan: &Plan, seed: u64, record_fd: i32) {
    let mut choice = fastrand::Rng::with_seed(seed);
    // SAFETY: a call without pointers: orphans of ours are left to us.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    if plan.one_cpu {
        forks::move_to(0);
    }
    hooks::arm(plan);
    signals::arm(plan);
    let mut failed = false;
    let first_draws = &Barrier::new(plan.threads as usize + 1);
    thread::scope(|scope| {
        for _ in 0..plan.threads {
            let seed = choice.u64(..);
            scope.spawn(move || draw_until_over(plan, seed, first_draws));
        }
        first_draws.wait();
        trouble::make(plan, &mut choice, record_fd, || {
            failed |= !wait_for_children(libc::WNOHANG);
        });
    });
    signals::start(0);
    failed |= !wait_for_children(0);
    assert!(!failed, "a child failed");
}

/// Draws until the round is over, the first time before `first_draws` are. Of threads that map the same pages at once all
/// but one unmap theirs again, and by then it is done: what the trouble finds mapped afterwards stays mapped. (It did
/// not always, and emptied somebody else's memory, which had come to lie there.)
fn draw_until_over(plan: &Plan, seed: u64, first_draws: &Barrier) {
    let depth = DEPTH.load(SeqCst);
    let jumps = plan.jumps && plan.signals > 0 && jump::POSSIBLE;
    let mut drawer = Drawer::new(plan, seed);
    let mut stack: Box<Stack> = Box::new([0; 8192]);
    // From here on nothing is allocated: a child that a handler forks may find the allocator's lock taken for ever.
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let mut batches_as_child = 0;
    record::count(Event::Thread);
    // Who is forked or left in a barrier is in it for ever.
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
            // A handler has forked, and this is the child: other threads it has none.
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
            _ => {}
        }
    }
    signals::admit(false);
    if DEPTH.load(SeqCst) != depth {
        forks::end();
    }
}

/// Waits for children: for all (0), or for those that have ended (WNOHANG). False if one of them failed.
fn wait_for_children(flags: i32) -> bool {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a valid place for one.
        match unsafe { libc::waitpid(-1, &raw mut status, flags) } {
            0 => return true,
            -1 if std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => {}
            -1 => return true,
            child if status != 0 => {
                eprintln!("process {child} ended with {status:#x}");
                record::shared().stop.store(true, SeqCst);
                return false;
            }
            _ => {}
        }
    }
}

/// A panic of any thread ends its process, by a status that whoever waits for it sees.
fn exit_on_panic() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        print(info);
        record::shared().stop.store(true, SeqCst);
        // SAFETY: ends the process, whatever state it is in.
        unsafe { libc::_exit(101) }
    }));
}
