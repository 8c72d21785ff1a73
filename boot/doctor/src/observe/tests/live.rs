//! Observations of this machine's processes, as if its generator were not ready.

use super::*;
use std::process::Stdio;
use std::time::Duration;

/// This machine's kernel, as if its generator were ready when a test says so.
pub(in crate::observe) struct Pretend {
    live: Live,
    is_ready: Box<dyn Fn(f64) -> bool>,
}

impl Pretend {
    pub(in crate::observe) fn new(
        proc: BorrowedFd<'_>,
        is_ready: impl Fn(f64) -> bool + 'static,
    ) -> Pretend {
        let live = Live::new().unwrap().with_times(proc);
        Pretend { live, is_ready: Box::new(is_ready) }
    }

    /// Returns a kernel that is ready after some seconds.
    pub(in crate::observe) fn ready_in(proc: BorrowedFd<'_>, seconds: f64) -> Pretend {
        let at = Live::new().unwrap().now() + seconds;
        Pretend::new(proc, move |now| now >= at)
    }
}

impl Kernel for Pretend {
    fn now(&self) -> f64 {
        self.live.now()
    }

    fn is_ready(&mut self) -> bool {
        (self.is_ready)(self.live.now())
    }

    fn wait(&mut self, until: f64) {
        let left = (until - self.live.now()).max(0.0);
        std::thread::sleep(Duration::from_secs_f64(left));
    }

    fn cpu(&self) -> f64 {
        self.live.cpu()
    }

    fn time_of(&self, pid: u32) -> Option<u64> {
        self.live.time_of(pid)
    }
}

/// Sleeps in a hundred threads, as a process that [`the_cost_of_600_sleepers`] starts.
#[test]
#[ignore = "sleeps for a minute; the measurement starts it"]
fn a_hundred_threads_sleep() {
    for _ in 0..100 {
        let sleeper = std::thread::Builder::new().stack_size(64 << 10);
        sleeper.spawn(|| std::thread::sleep(Duration::from_secs(60))).unwrap();
    }
    std::thread::sleep(Duration::from_secs(60));
}

/// Prints the CPU time of an observation of 100 sleeping processes of one thread and five of a
/// hundred, beside this machine's own. records/doctor/ has the results.
#[test]
#[ignore = "takes ten seconds, and prints a measurement"]
fn the_cost_of_600_sleepers() {
    cost("looks", looks_only);
}

pub(in crate::observe) fn cost(
    name: &str,
    choose: impl FnOnce(BorrowedFd<'_>) -> Result<Tracepoints, String>,
) {
    let mut sleepers: Vec<_> =
        (0..100).map(|_| Command::new("sleep").arg("60").spawn().unwrap()).collect();
    let own = std::env::current_exe().unwrap();
    for _ in 0..5 {
        let mut crowd = Command::new(&own);
        crowd.args(["--ignored", "--exact", "observe::tests::live::a_hundred_threads_sleep"]);
        sleepers.push(crowd.stdout(Stdio::null()).spawn().unwrap());
    }
    std::thread::sleep(Duration::from_secs(2));
    let proc = clock::open_proc().unwrap();
    let live = Live::new().unwrap();
    let begun = live.now();
    // The first look opens a file of each thread. The later ones are the cost of a long stall.
    let after_a_second = std::rc::Rc::new(std::cell::Cell::new(None));
    let noted = std::rc::Rc::clone(&after_a_second);
    let mut kernel = Pretend::new(proc.as_fd(), move |now| {
        if now > begun + 1.0 && noted.get().is_none() {
            noted.set(Some((now, live.cpu())));
        }
        now > begun + 10.0
    });
    let record = observe_in(proc, None, &mut kernel, 600.0, choose);
    let seconds = record.ended - record.began;
    let (from, cpu) = after_a_second.get().unwrap();
    let end = Live::new().unwrap();
    println!(
        "{name} ({:?}): {} looks in {seconds:.1} s: {:.2} ms of CPU time a second, \
            {:.2} after the first",
        record.no_tracepoints,
        record.looks,
        record.cpu_seconds * 1000.0 / seconds,
        (end.cpu() - cpu) * 1000.0 / (end.now() - from),
    );
    for sleeper in &mut sleepers {
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
}

/// The real thing, as far as a ready machine can show it: this machine's processes are read, and a
/// process that waits for a pipe is not a victim.
#[test]
fn processes_of_this_machine_that_wait_for_other_things_are_no_victims() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let proc = clock::open_proc().unwrap();
    let mut kernel = Pretend::ready_in(proc.as_fd(), 0.55);
    let record = observe_in(proc, None, &mut kernel, 600.0, looks_only);
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(record.outcome, RecordOutcome::Ready);
    assert_eq!(record.victims, []);
    assert!(record.looks >= 4, "{}", record.looks);
}

/// This machine's kernel counts each run of a process, or says that it does not.
#[test]
fn the_cpu_time_of_a_process_changes_when_it_runs() {
    let proc = clock::open_proc().unwrap();
    if !process_time::counts_runs(proc.as_fd()) {
        println!("skipped: this kernel counts CPU time in ticks; schedstat is read in its place");
        return;
    }
    let mut child =
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let settled = |pid: u32| {
        let mut last = process_time::of(pid);
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let time = process_time::of(pid);
            if time == last {
                return time.unwrap();
            }
            last = time;
        }
    };
    let before = settled(child.id());
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    assert!(settled(child.id()) > before);
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(process_time::of(child.id()), None);
}

#[test]
fn a_ready_kernel_is_recognised_without_a_byte() {
    assert!(Live::new().unwrap().is_ready());
}
