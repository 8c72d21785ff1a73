//! A soak that ends before its time leaves neither processes nor control groups.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SOAK: &str = env!("CARGO_BIN_EXE_headwater-soak");
/// A time in which everything has happened, on a busy machine too.
const LIMIT: Duration = Duration::from_secs(60);

/// A soak with a seed that no other process names.
struct Soak {
    child: Child,
    seed: u64,
}

impl Soak {
    fn start(number: u64, stdout: Stdio) -> Soak {
        let seed = (u64::from(std::process::id()) << 8) + number;
        // A test that nohup(1) or a script's `&` started would hand on that signals are ignored.
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP,INT,TERM", SOAK]);
        command.args(["--minutes=5", &format!("--seed={seed}")]).stdout(stdout);
        Soak { child: command.stderr(Stdio::piped()).spawn().unwrap(), seed }
    }

    /// Waits for a round to run. Meanwhile there is a control group, unless the soak has said that
    /// it can make none: otherwise the test would find no group later, whether it was removed or
    /// not. Returns standard output, because the soak ends when it is closed.
    #[must_use]
    fn until_a_round_runs(&mut self) -> BufReader<ChildStdout> {
        let mut stdout = BufReader::new(self.child.stdout.take().unwrap());
        // An empty line stands between what is skipped and the rounds.
        let head = stdout.by_ref().lines().map(Result::unwrap);
        let head: Vec<String> = head.take_while(|line| !line.is_empty()).collect();
        until("no round began", || self.workers() > 1);
        let is_skipped = head.iter().any(|line| line.starts_with("skipped: reclaim:"));
        assert_eq!(self.group().is_none(), is_skipped, "{head:?}");
        stdout
    }

    /// Returns how many processes of its rounds there are.
    fn workers(&self) -> usize {
        self.processes().len()
    }

    /// Returns how many of them are not stopped.
    fn running(&self) -> usize {
        let is_stopped = |process: &PathBuf| {
            let status = fs::read_to_string(process.join("status")).unwrap_or_default();
            status.lines().any(|line| line.starts_with("State:\tT"))
        };
        self.processes().iter().filter(|process| !is_stopped(process)).count()
    }

    fn processes(&self) -> Vec<PathBuf> {
        let seed = format!("--seed={}", self.seed);
        let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_worker = |process: &PathBuf| {
            let line = fs::read(process.join("cmdline")).unwrap_or_default();
            let mut words = line.split(|&byte| byte == 0);
            words.any(|word| word == seed.as_bytes()) && words.any(|word| word == b"--worker")
        };
        all.filter(is_worker).collect()
    }

    /// Returns the control group, if there is one.
    fn group(&self) -> Option<PathBuf> {
        find(Path::new("/sys/fs/cgroup"), &format!("headwater-soak-{}", self.child.id()), 16)
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    fn end(&mut self) -> (ExitStatus, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > LIMIT {
                let _ = self.child.kill();
                panic!("the soak did not end");
            }
            sleep(Duration::from_millis(20));
        };
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status, said)
    }
}

fn find(folder: &Path, name: &str, depth: u32) -> Option<PathBuf> {
    let folders = fs::read_dir(folder).ok()?.flatten();
    let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).find_map(|path| match path.ends_with(name) {
        true => Some(path),
        false if depth > 0 => find(&path, name, depth - 1),
        false => None,
    })
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LIMIT, "{what}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_signal_ends_a_soak_in_order() {
    for (number, signal) in [(1, "-TERM"), (2, "-INT"), (3, "-HUP")] {
        let mut soak = Soak::start(number, Stdio::piped());
        let _stdout = soak.until_a_round_runs();
        soak.signal(signal);
        let (status, said) = soak.end();
        assert_eq!(status.code(), Some(3), "{signal}: {said}");
        assert!(said.contains("ended by a signal"), "{said}");
        until("processes run on", || soak.workers() == 0);
        assert_eq!(soak.group(), None, "{signal}");
    }
}

#[test]
fn no_process_outlives_a_soak_that_is_killed() {
    // Several plans: there are some in which the record is full, and all processes end, in seconds.
    for number in 4..8 {
        let mut soak = Soak::start(number, Stdio::piped());
        let _stdout = soak.until_a_round_runs();
        soak.signal("-KILL");
        soak.child.wait().unwrap();
        let begun = Instant::now();
        until("processes run on", || soak.running() == 0 || begun.elapsed() > LIMIT / 3);
        assert_eq!(soak.running(), 0, "processes run on");
        // The next soak removes the group, and what was stopped in it. A round that needs no group
        // may leave a stopped child outside.
        let mut next = Soak::start(20 + number, Stdio::piped());
        let _stdout = next.until_a_round_runs();
        assert_eq!(soak.group(), None);
        for process in soak.processes() {
            let _ = Command::new("kill").arg("-KILL").args(process.file_name()).status();
        }
        next.signal("-TERM");
        next.end();
    }
}

#[test]
fn a_standard_output_that_takes_nothing_ends_a_soak_in_order() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut soak = Soak::start(8, full.into());
    let (status, said) = soak.end();
    assert_eq!(status.code(), Some(3), "{said}");
    assert!(said.contains("cannot write to standard output"), "{said}");
    let mut soak = Soak::start(9, Stdio::piped());
    // The pipe is closed in the first round.
    drop(soak.until_a_round_runs());
    let (status, said) = soak.end();
    assert_eq!(status.code(), Some(3), "{said}");
    assert_eq!((soak.workers(), soak.group()), (0, None));
}

#[test]
fn a_round_and_a_name_that_cannot_be_are_wrong_usage() {
    let soak = Command::new(SOAK).args(["--seed=1", "--round=5000000000"]).output().unwrap();
    assert_eq!(soak.status.code(), Some(2));
    let soak = Command::new(SOAK).args(["--minutes=0.01", "--resume=x.words"]).output().unwrap();
    assert_eq!(soak.status.code(), Some(2));
}

#[test]
fn the_largest_round_runs() {
    let mut soak = Command::new(SOAK);
    let soak = soak.args(["--minutes=0.01", "--seed=1", "--round=4294967295"]).output().unwrap();
    let said = String::from_utf8_lossy(&soak.stdout);
    assert_eq!(soak.status.code(), Some(0), "{said} {}", String::from_utf8_lossy(&soak.stderr));
    assert!(said.contains("round 4294967295:"), "{said}");
}
