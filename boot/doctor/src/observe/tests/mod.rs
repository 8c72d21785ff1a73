//! Tests of observations. Most observe a tree that stands for /proc, which the test changes while
//! the observer sleeps. Real waits are shown in the lab, because this machine's generator is ready.

pub(super) mod live;
mod names;
mod outcome;
mod place;
mod records;
mod times;
mod traced;

use super::*;
use std::collections::VecDeque;
use std::ffi::CString;
use std::fs;

/// Changes of the tree, each with its time.
type Changes = VecDeque<(f64, Box<dyn Fn(&Path)>)>;

/// A tree of processes, a clock, and changes to come.
struct Script {
    root: PathBuf,
    now: f64,
    ready_at: f64,
    changes: Changes,
}

impl Kernel for Script {
    fn now(&self) -> f64 {
        self.now
    }

    fn is_ready(&mut self) -> bool {
        self.now >= self.ready_at
    }

    /// Wakes at readiness, as poll(2) on /dev/random does.
    fn wait(&mut self, until: f64) {
        self.now = until.min(self.ready_at).max(self.now);
        while let Some((at, change)) = self.changes.pop_front() {
            if at > self.now {
                self.changes.push_front((at, change));
                return;
            }
            change(&self.root);
        }
    }

    fn cpu(&self) -> f64 {
        0.0
    }

    fn time_of(&self, pid: u32) -> Option<u64> {
        fs::read_to_string(self.root.join(format!("{pid}/time"))).ok()?.parse().ok()
    }

    fn is_stopped(&self) -> bool {
        self.root.join("stop").exists()
    }
}

impl Script {
    fn new(name: &str, began: f64, ready_at: f64) -> Script {
        let name = format!("headwater-observe-{name}-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&root);
        put(&root, "sys/kernel/random/boot_id", "b00t-1d\n");
        put(&root, "sys/kernel/random/poolsize", "256\n");
        put(&root, "sys/kernel/osrelease", "7.3.4-test\n");
        Script { root, now: began, ready_at, changes: VecDeque::new() }
    }

    fn at(mut self, time: f64, change: impl Fn(&Path) + 'static) -> Script {
        self.changes.push_back((time, Box::new(change)));
        self
    }

    fn observe(self, limit: f64) -> Record {
        self.observe_by(limit, looks_only)
    }

    fn observe_by(
        mut self,
        limit: f64,
        choose: impl FnOnce(BorrowedFd<'_>) -> Result<Tracepoints, String>,
    ) -> Record {
        self.changes.make_contiguous().sort_by(|one, other| one.0.total_cmp(&other.0));
        let open = |path: PathBuf| {
            files::directory(&CString::new(path.display().to_string()).unwrap()).ok()
        };
        let proc = open(self.root.clone()).unwrap();
        let sys = open(self.root.join("sysfs"));
        let record = observe_in(proc, sys, &mut self, limit, choose);
        fs::remove_dir_all(&self.root).unwrap();
        record
    }
}

fn looks_only(_: BorrowedFd<'_>) -> Result<Tracepoints, String> {
    Err("a test".to_owned())
}

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Writes a thread: its name, its place in the kernel, its call, and when it started.
fn thread(root: &Path, pid: u32, tid: u32, comm: &str, wchan: &str, call: &str, started: f64) {
    let ticks = (started * 100.0).round() as u64;
    let flags = 4_194_560;
    let stat =
        format!("{tid} ({comm}) S 1 1 1 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 1 0 {ticks} 0 0\n");
    for directory in [format!("{pid}/task/{tid}"), pid.to_string()] {
        if directory.contains("task") || pid == tid {
            put(root, &format!("{directory}/stat"), &stat);
            put(root, &format!("{directory}/comm"), &format!("{comm}\n"));
        }
        put(root, &format!("{directory}/wchan"), wchan);
        put(root, &format!("{directory}/syscall"), &format!("{call}\n"));
    }
}

const GETRANDOM: &str = "318 0x7ffe 0x20 0x0 0x0 0x0 0x0 0x7ffe 0x7f61";
const READ: &str = "0 0x3 0x7ffe 0x10 0x0 0x0 0x0 0x7ffe 0x7f61";
const NANOSLEEP: &str = "230 0x0 0x0 0x7ffc 0x0 0x0 0x0 0x7ffc 0x7f10";

fn sshd(root: &Path) {
    thread(root, 312, 312, "sshd", "wait_for_random_bytes", GETRANDOM, 6.0);
    put(root, "312/cgroup", "0::/system.slice/ssh.service\n");
}

fn cron(root: &Path) {
    thread(root, 400, 400, "cron", "hrtimer_nanosleep", NANOSLEEP, 6.0);
}

fn near(actual: f64, expected: f64) -> bool {
    (actual - expected).abs() < 0.11
}

/// x86-64's numbers are in the trees.
const IS_X86: bool = cfg!(target_arch = "x86_64");
