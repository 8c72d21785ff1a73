//! Observations of this machine's processes, as if its generator were not ready.

use super::*;

/// This machine's kernel, as if its generator were ready later.
struct Pretend(Live, f64);

impl Kernel for Pretend {
    fn now(&self) -> f64 {
        self.0.now()
    }

    fn is_ready(&mut self) -> bool {
        self.0.now() >= self.1
    }

    fn wait(&mut self, until: f64) {
        let left = (until.min(self.1) - self.0.now()).max(0.0);
        std::thread::sleep(std::time::Duration::from_secs_f64(left));
    }

    fn cpu(&self) -> f64 {
        self.0.cpu()
    }
}

/// Prints the CPU time of an observation of 500 sleeping threads and 100 sleeping processes beside
/// this machine's own. records/doctor/ has the results.
#[test]
#[ignore = "takes ten seconds, and prints a measurement"]
fn the_cost_of_600_sleepers() {
    let mut children: Vec<_> =
        (0..100).map(|_| Command::new("sleep").arg("60").spawn().unwrap()).collect();
    for _ in 0..500 {
        let sleeper = std::thread::Builder::new().stack_size(64 << 10);
        sleeper.spawn(|| std::thread::sleep(std::time::Duration::from_secs(60))).unwrap();
    }
    let live = Live::new().unwrap();
    let until = live.now() + 10.0;
    let record = observe_in(clock::open_proc().unwrap(), None, &mut Pretend(live, until), 600.0);
    let seconds = record.ended - record.began;
    println!(
        "{} looks in {seconds:.1} s: {:.2} ms of CPU time a second",
        record.looks,
        record.cpu_seconds * 1000.0 / seconds
    );
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(record.victims, []);
}

/// The real thing, as far as a ready machine can show it: this machine's processes are read, and a
/// process that waits for a pipe is not a victim.
#[test]
fn processes_of_this_machine_that_wait_for_other_things_are_no_victims() {
    let mut child = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    let live = Live::new().unwrap();
    let until = live.now() + 0.55;
    let proc = clock::open_proc().unwrap();
    let record = observe_in(proc, None, &mut Pretend(live, until), 600.0);
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(record.outcome, Outcome::Ready);
    assert_eq!(record.victims, []);
    assert!(record.looks >= 4, "{}", record.looks);
}

#[test]
fn a_ready_kernel_is_recognised_without_a_byte() {
    assert!(Live::new().unwrap().is_ready());
}
