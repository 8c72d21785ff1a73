//! Observations with tracepoints: the lines of the trace come from a pipe, and the threads from the
//! tree.

use super::*;
use rustix::pipe::{PipeFlags, pipe_with};
use std::rc::Rc;

/// A trace to which a test writes.
struct Trace {
    read: OwnedFd,
    write: Rc<OwnedFd>,
}

impl Trace {
    fn new() -> Trace {
        let (read, write) = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC).unwrap();
        Trace { read, write: Rc::new(write) }
    }

    /// Returns a change that writes a text.
    fn text(&self, text: impl Into<String>) -> Box<dyn Fn(&Path)> {
        let (write, text) = (Rc::clone(&self.write), text.into());
        Box::new(move |_| {
            assert_eq!(rustix::io::write(&*write, text.as_bytes()).unwrap(), text.len());
        })
    }

    /// Returns a change that writes the begin of a call.
    fn begin(&self, comm: &str, tid: u32, at: f64, flags: u32) -> Box<dyn Fn(&Path)> {
        let arguments = format!("(ubuf: 0x7ffe, len: 0x20, flags: {flags:#x})");
        self.text(format!("{}{arguments}\n", head(comm, tid, at)))
    }

    /// Returns a change that writes the end of a call.
    fn end(&self, comm: &str, tid: u32, at: f64, returned: i64) -> Box<dyn Fn(&Path)> {
        self.text(format!("{} -> {returned:#x}\n", head(comm, tid, at)))
    }

    fn observe(self, script: Script) -> Record {
        let read = self.read;
        script.observe_by(600.0, |_| Ok(Tracepoints::of_pipe(read)))
    }
}

fn head(comm: &str, tid: u32, at: f64) -> String {
    format!("{comm:>16}-{tid:<7} [001] ..... {at:12.6}: sys_getrandom")
}

fn works(root: &Path) {
    thread(root, 312, 312, "sshd", "hrtimer_nanosleep", NANOSLEEP, 5.0);
    put(root, "312/status", "Name:\tsshd\nTgid:\t312\n");
    put(root, "312/cgroup", "0::/system.slice/ssh.service\n");
}

fn waits(root: &Path) {
    thread(root, 312, 312, "sshd", "wait_for_random_bytes", GETRANDOM, 5.0);
}

fn only(record: &Record) -> &Victim {
    let [victim] = record.victims.as_slice() else { panic!("{:?}", record.victims) };
    victim
}

/// Returns the bounds, which are one figure for a traced wait.
fn exactly(victim: &Victim) -> f64 {
    assert_eq!(Some(victim.seconds.at_least), victim.seconds.at_most, "{victim:?}");
    victim.seconds.at_least
}

#[test]
fn a_traced_wait_is_exact() {
    let trace = Trace::new();
    let script = Script::new("traced", 5.0, 20.0)
        .at(5.0, works)
        .at(7.0, waits)
        .at(7.0, trace.begin("sshd", 312, 6.987_654, 0))
        .at(9.0, works)
        .at(9.0, trace.end("sshd", 312, 8.887_654, -4));
    let record = trace.observe(script);
    let victim = only(&record);
    assert_eq!((victim.process.as_str(), victim.unit.as_deref()), ("sshd", Some("ssh.service")));
    assert_eq!((victim.pid, victim.call.as_str(), victim.waits), (312, "getrandom", 1));
    assert_eq!((victim.from, exactly(victim)), (6.988, 1.9));
    assert_eq!(victim.ending, Ending::GaveUp);
    assert_eq!((record.method, record.no_tracepoints.as_deref()), (Method::Tracepoints, None));
    assert!(record.lines().iter().any(|line| line.contains("timed by tracepoints")));
}

/// The tree never shows the wait, as if it began and ended between two looks.
#[test]
fn a_wait_between_two_looks_is_not_missed() {
    let trace = Trace::new();
    let script = Script::new("between", 5.0, 20.0)
        .at(5.0, works)
        .at(7.05, trace.begin("sshd", 312, 7.01, 0))
        .at(7.05, trace.end("sshd", 312, 7.045, -4))
        // The thread is gone before the observer can ask for its name.
        .at(8.05, trace.begin("short", 999, 8.01, 0))
        .at(8.05, trace.end("short", 999, 8.04, -4));
    let record = trace.observe(script);
    let found: Vec<_> = record
        .victims
        .iter()
        .map(|victim| (victim.process.as_str(), victim.tid, exactly(victim)))
        .collect();
    assert_eq!(found, [("sshd", 312, 0.035), ("short", 999, 0.03)]);
}

#[test]
fn a_thread_that_became_another_program_keeps_its_name() {
    let trace = Trace::new();
    let script = Script::new("renamed", 5.0, 20.0)
        .at(5.0, works)
        .at(7.05, trace.begin("keygen.sh", 312, 7.01, 0))
        .at(7.05, trace.end("keygen.sh", 312, 7.045, -4));
    let record = trace.observe(script);
    assert_eq!(only(&record).name(), "ssh.service: keygen.sh[312]");
}

#[test]
fn the_process_of_a_traced_thread_is_named() {
    let trace = Trace::new();
    let java = |root: &Path| {
        thread(root, 70, 70, "java", "futex_wait_queue", "202 0x1", 5.0);
        thread(root, 70, 71, "main", "hrtimer_nanosleep", NANOSLEEP, 5.0);
        // Not in a list of /proc, and yet there.
        put(root, "71/status", "Name:\tmain\nTgid:\t70\n");
    };
    let script =
        Script::new("java", 5.0, 20.0).at(5.0, java).at(7.0, trace.begin("main", 71, 6.95, 0));
    let record = trace.observe(script);
    let victim = only(&record);
    assert_eq!((victim.name().as_str(), victim.tid), ("java[70], thread main", 71));
    assert_eq!((exactly(victim), victim.ending), (13.05, Ending::Ready));
}

#[test]
fn calls_that_cannot_wait_or_return_at_once_are_no_waits() {
    let trace = Trace::new();
    let mut script = Script::new("quick", 5.0, 20.0).at(5.0, works);
    for (step, flags) in [(1.0, 1), (2.0, 4), (3.0, 3), (4.0, 5)] {
        let at = 6.0 + step;
        script = script.at(at, trace.begin("sshd", 312, at, flags));
        script = script.at(at + 1.0, trace.end("sshd", 312, at + 0.9, 16));
    }
    let script = script
        .at(12.0, trace.begin("sshd", 312, 12.0, 0))
        .at(12.0, trace.end("sshd", 312, 12.004, 16))
        // The generator is ready, and the call is about to return.
        .at(20.0, trace.begin("sshd", 312, 19.999, 0));
    assert_eq!(trace.observe(script).victims, []);
}

/// The look and the line show one wait, whichever comes first.
#[test]
fn a_look_and_a_line_are_one_wait() {
    for (name, seen, written) in [("look", 7.0, 7.1), ("line", 7.1, 7.0)] {
        let trace = Trace::new();
        let script = Script::new(name, 5.0, 20.0)
            .at(5.0, works)
            .at(seen, waits)
            .at(written, trace.begin("sshd", 312, 6.99, 0))
            .at(9.0, works)
            .at(9.0, trace.end("sshd", 312, 8.94, 16));
        let record = trace.observe(script);
        let victim = only(&record);
        assert_eq!((victim.waits, exactly(victim), victim.from), (1, 1.95, 6.99), "{name}");
        assert_eq!(victim.ending, Ending::Ready);
    }
}

#[test]
fn a_wait_that_began_before_the_tracepoints_ends_exactly() {
    let trace = Trace::new();
    let script = Script::new("earlier", 5.0, 20.0)
        .at(4.0, waits)
        .at(9.0, works)
        .at(9.0, trace.end("sshd", 312, 8.94, -4));
    waits(&script.root);
    let record = trace.observe(script);
    let victim = only(&record);
    assert_eq!((victim.until, victim.ending, victim.waits), (8.94, Ending::GaveUp, 1));
    assert!(near(victim.exact().unwrap(), 3.94), "{victim:?}");
}

/// A signal ends a call with ERESTARTSYS, and the kernel begins it again.
#[test]
fn a_call_that_a_signal_interrupts_is_one_wait() {
    for (gap, waits) in [(0.001, 1), (1.0, 2)] {
        let trace = Trace::new();
        let script = Script::new("restart", 5.0, 20.0)
            .at(5.0, works)
            .at(7.0, trace.begin("sshd", 312, 7.0, 0))
            .at(8.0, trace.end("sshd", 312, 8.0, -512))
            .at(8.0 + gap, trace.begin("sshd", 312, 8.0 + gap, 0))
            .at(10.0, trace.end("sshd", 312, 10.0, 16));
        let record = trace.observe(script);
        let victim = only(&record);
        assert_eq!((victim.waits, victim.ending), (waits, Ending::Ready));
        assert_eq!(exactly(victim), 3.0 - gap);
    }
}

/// The end of the wait is lost, and a look finds the thread elsewhere.
#[test]
fn lost_lines_leave_the_wait_to_the_looks() {
    let trace = Trace::new();
    let script = Script::new("lost", 5.0, 20.0)
        .at(5.0, works)
        .at(7.0, waits)
        .at(7.0, trace.begin("sshd", 312, 7.0, 0))
        .at(9.0, works)
        .at(9.0, trace.text("CPU:1 [LOST 3 EVENTS]\n"))
        // It would be a wait until readiness, if its end was not lost as well.
        .at(9.5, trace.begin("other", 400, 9.499, 0))
        .at(9.5, trace.text("CPU:0 [LOST 2 EVENTS]\n"));
    let record = trace.observe(script);
    let victim = only(&record);
    assert!(near(victim.exact().unwrap(), 2.0), "{victim:?}");
    assert_eq!((victim.ending, record.missed), (Ending::GaveUp, 5));
}

#[test]
fn a_foreign_line_costs_itself_only() {
    let trace = Trace::new();
    let long = "x".repeat(20_000);
    let script = Script::new("foreign", 5.0, 20.0)
        .at(5.0, works)
        .at(6.0, trace.text("\n\n:-(\nsys_getrandom\n"))
        .at(6.1, trace.text(format!("{}: sys_getrandom(flags: 0)\n", "-1 [".repeat(99))))
        .at(6.2, trace.text(long))
        // The rest of the long line, and the next one.
        .at(6.3, trace.text("-312 [1] . 6.0: sys_getrandom(flags: 0)\n"))
        .at(7.0, trace.begin("a\nb-7 [0] . 1.0:", 312, 7.0, 0))
        .at(9.0, trace.end("\u{1b}[31m", 312, 9.0, -4));
    let record = trace.observe(script);
    assert_eq!((exactly(only(&record)), record.missed), (2.0, 0));
}

/// A crowd has no room in the list, and its waits are counted as missed.
#[test]
fn a_crowd_of_calls_is_counted() {
    let trace = Trace::new();
    let mut script = Script::new("crowd-traced", 5.0, 8.0);
    for tid in 1000..1600 {
        script = script.at(6.0, trace.begin("crowd", tid, 6.0, 0));
    }
    let record = trace.observe(script);
    assert_eq!(record.victims.len(), 512);
    assert_eq!(record.missed, 88);
}
