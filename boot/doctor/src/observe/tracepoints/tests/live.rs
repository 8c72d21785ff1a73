//! This machine's own tracepoints, and what observers leave of them.

use crate::observe::tests::live::{Pretend, cost};
use crate::observe::tracepoints::instance::{Instance, instances, remove_left};
use crate::observe::*;
use rustix::fs::statat;
use rustix::rand::{GetRandomFlags, getrandom};
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Opens the directory of instances, or says that nothing is shown here.
fn tracefs() -> Option<OwnedFd> {
    let proc = clock::open_proc().unwrap();
    let instances = instances();
    let is_there = instances.as_ref().is_ok_and(|instances| {
        let event = c"../events/syscalls/sys_enter_getrandom";
        statat(instances, event, rustix::fs::AtFlags::empty()).is_ok()
    });
    if is_there && facts::is_of_the_first_namespace(proc.as_fd()) {
        return instances.ok();
    }
    println!(
        "skipped: no tracepoint of getrandom that this process may use; only the lab uses one"
    );
    None
}

fn exists(instances: &OwnedFd, pid: u32) -> bool {
    let name = CString::new(format!("headwater-observer-{pid}")).unwrap();
    statat(instances, name.as_c_str(), rustix::fs::AtFlags::empty()).is_ok()
}

/// Returns a function that reports whether an observer's tracepoints are on.
fn is_on(instances: &OwnedFd, pid: u32) -> impl Fn() -> bool + use<> {
    let event = format!("headwater-observer-{pid}/events/syscalls/sys_enter_getrandom/enable");
    let (event, instances) = (CString::new(event).unwrap(), instances.try_clone().unwrap());
    move || read_at(instances.as_fd(), &event, &mut [0; 8]).first() == Some(&b'1')
}

/// Waits until something is true. Returns false if it takes too long.
fn until(is_true: &impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !is_true() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    is_true()
}

/// A request for many bytes takes so long that it counts as a wait, and the thread is found by the
/// tracepoints alone: it runs, and is in no place of the kernel where threads wait.
#[test]
fn a_call_that_takes_long_is_timed_exactly() {
    let Some(instances) = tracefs() else { return };
    // A ready machine writes a line for each program that starts, and may lose some.
    let is_lost = || time_a_long_call(&instances) > 0;
    assert!((0..5).any(|_| !is_lost()), "lines were lost five times");
}

/// Returns how many lines were lost; the times are judged if none was.
fn time_a_long_call(instances: &OwnedFd) -> u64 {
    let proc = clock::open_proc().unwrap();
    let own = std::process::id();
    let event = is_on(instances, own);
    let is_done = Arc::new(AtomicBool::new(false));
    let done = Arc::clone(&is_done);
    let mut kernel = Pretend::new(proc.as_fd(), move |_| done.load(Relaxed));
    let long = std::thread::Builder::new().name("long-call".to_owned());
    let long = long.spawn(move || {
        let clock = Live::new().unwrap();
        let has_event = until(&event);
        let mut bytes = vec![1; 96 << 20];
        let from = clock.now();
        let length = getrandom(&mut bytes, GetRandomFlags::empty()).unwrap();
        let to = clock.now();
        is_done.store(true, Relaxed);
        (from, to, length, has_event)
    });
    let choose = |proc: BorrowedFd<'_>| tracepoints::choose(true, proc);
    let record = observe_in(proc, None, &mut kernel, 600.0, choose);
    let (from, to, length, has_event) = long.unwrap().join().unwrap();
    assert_eq!((record.method, record.no_tracepoints), (Method::Tracepoints, None));
    assert!(has_event && length == 96 << 20);
    assert!(!exists(instances, own), "the instance is removed");
    if record.missed > 0 {
        return record.missed;
    }
    // This process's, because the events are those of the machine, where the test may run twice.
    let is_ours =
        |victim: &&Victim| (victim.pid, victim.thread.as_deref()) == (own, Some("long-call"));
    let victim = record.victims.iter().find(is_ours);
    let victim = victim.unwrap_or_else(|| panic!("{:?}", record.victims));
    assert_eq!(victim.call, "getrandom");
    assert_eq!((victim.ending, victim.waits), (Ending::Ready, 1));
    // Times are rounded to milliseconds.
    assert!(victim.from >= from - 0.001 && victim.until <= to + 0.001, "{victim:?} {from} {to}");
    assert!(victim.seconds.at_least >= 0.015, "{victim:?}");
    assert_eq!(Some(victim.seconds.at_least), victim.seconds.at_most);
    0
}

#[test]
fn tracepoints_that_are_not_allowed_are_left_alone() {
    let proc = clock::open_proc().unwrap();
    let mut kernel = Pretend::ready_in(proc.as_fd(), 0.3);
    let choose = |proc: BorrowedFd<'_>| tracepoints::choose(false, proc);
    let record = observe_in(proc, None, &mut kernel, 600.0, choose);
    assert_eq!(record.method, Method::Looks);
    assert_eq!(record.no_tracepoints.as_deref(), Some("--no-tracepoints"));
}

/// Prints the cost of an observation with tracepoints, as `the_cost_of_600_sleepers` without. In a
/// namespace of processes the threads of the trace cannot be named, and cost as much.
#[test]
#[ignore = "takes ten seconds, and prints a measurement"]
fn the_cost_of_600_sleepers_with_tracepoints() {
    cost("tracepoints", |_| {
        let instance = Instance::new(instances().unwrap()).unwrap();
        Ok(Tracepoints::new(instance.pipe().unwrap(), Some(instance)))
    });
}

/// Makes an instance and sleeps, as a process that the next test kills.
#[test]
#[ignore = "sleeps for a minute; another test starts it and kills it"]
fn an_observer_sleeps() {
    let _instance = Instance::new(instances().unwrap());
    std::thread::sleep(Duration::from_secs(60));
}

/// A killed observer cannot remove its instance. The next one does, and leaves one in use alone.
#[test]
fn the_instance_of_a_killed_observer_is_removed() {
    let Some(instances) = tracefs() else { return };
    let mut observer = Command::new(std::env::current_exe().unwrap());
    observer.args([
        "--ignored",
        "--exact",
        "observe::tracepoints::tests::live::an_observer_sleeps",
    ]);
    let mut observer = observer.stdout(std::process::Stdio::null()).spawn().unwrap();
    let pid = observer.id();
    let is_on = is_on(&instances, pid);
    assert!(until(&is_on), "an instance");
    remove_left(instances.as_fd());
    assert!(is_on(), "its observer runs");
    observer.kill().unwrap();
    observer.wait().unwrap();
    assert!(is_on(), "a killed observer removes nothing");
    remove_left(instances.as_fd());
    assert!(!exists(&instances, pid));
}
