//! Observations of trees that stand for /proc. Each test changes the tree while the observer
//! sleeps. Real waits are shown in the lab, because this machine's generator is ready.

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

    fn observe(mut self, limit: f64) -> Record {
        let open = |path: PathBuf| {
            files::directory(&CString::new(path.display().to_string()).unwrap()).ok()
        };
        let proc = open(self.root.clone()).unwrap();
        let sys = open(self.root.join("sysfs"));
        let record = observe_in(proc, sys, &mut self, limit);
        fs::remove_dir_all(&self.root).unwrap();
        record
    }
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

#[test]
fn a_victim_has_name_unit_call_and_seconds() {
    let script = Script::new("one", 5.0, 107.7).at(5.5, cron).at(6.0, sshd);
    let record = script.observe(600.0);
    assert_eq!((record.outcome, record.ready), (Outcome::Ready, Some(107.7)));
    assert_eq!(record.boot_id.as_deref(), Some("b00t-1d"));
    let [victim] = record.victims.as_slice() else { panic!("{:?}", record.victims) };
    assert_eq!((victim.pid, victim.process.as_str()), (312, "sshd"));
    assert_eq!(victim.unit.as_deref(), Some("ssh.service"));
    assert_eq!(victim.ending, Ending::Ready);
    assert!(near(victim.exact().unwrap(), 101.7), "{victim:?}");
    if IS_X86 {
        assert_eq!(record.lines(), ["ssh.service: sshd[312] waited 101.7 s in getrandom, ready"]);
    }
}

#[test]
fn a_process_in_another_wait_is_no_victim() {
    let record = Script::new("other", 5.0, 8.0).at(5.1, cron).observe(600.0);
    assert_eq!(record.victims, []);
    assert_eq!(record.lines().len(), 1);
    assert!(record.lines()[0].contains("no process waited"));
}

#[test]
fn a_ready_generator_ends_the_observation_at_once() {
    let record = Script::new("ready", 5.0, 0.0).at(5.0, sshd).observe(600.0);
    assert_eq!((record.outcome, record.looks), (Outcome::ReadyAtStart, 0));
    assert!(record.victims.is_empty() && record.lines().is_empty());
}

#[test]
fn the_observer_stops_after_its_limit_and_says_so() {
    let record = Script::new("limit", 5.0, 1e9).at(6.0, sshd).observe(600.0);
    assert_eq!((record.outcome, record.ready), (Outcome::TimedOut, None));
    assert!((6000..6010).contains(&record.looks), "{}", record.looks);
    assert_eq!(record.victims[0].ending, Ending::StillWaits);
    let lines = record.lines();
    assert!(lines[0].contains("so far"), "{lines:?}");
    assert!(lines[1].contains("not ready after 605 s; the observer stops"), "{lines:?}");
}

#[test]
fn a_name_is_kept_when_the_process_ends_or_becomes_another() {
    let record = Script::new("exec", 5.0, 20.0)
        .at(6.0, sshd)
        // Killed at its start timeout.
        .at(10.0, |root| fs::remove_dir_all(root.join("312")).unwrap())
        .at(6.0, |root| thread(root, 50, 50, "keygen.sh", "wait_for_random_bytes", GETRANDOM, 5.5))
        .at(12.0, |root| thread(root, 50, 50, "ssh-keygen", "hrtimer_nanosleep", NANOSLEEP, 5.5))
        .at(15.0, |root| {
            thread(root, 50, 50, "ssh-keygen", "wait_for_random_bytes", GETRANDOM, 5.5);
        });
    let record = Script { changes: sorted(record.changes), ..record }.observe(600.0);
    let found: Vec<_> = record
        .victims
        .iter()
        .map(|it| (it.process.as_str(), it.exact().unwrap().round(), it.ending))
        .collect();
    assert_eq!(
        found,
        [
            ("keygen.sh", 6.0, Ending::GaveUp),
            ("ssh-keygen", 5.0, Ending::Ready),
            ("sshd", 4.0, Ending::GaveUp),
        ]
    );
}

fn sorted(changes: Changes) -> Changes {
    let mut all: Vec<_> = changes.into();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    all.into()
}

#[test]
fn each_thread_is_a_victim_of_its_own() {
    let record = Script::new("threads", 5.0, 20.0)
        .at(6.0, |root| thread(root, 70, 70, "java", "futex_wait_queue", "202 0x1", 5.9))
        .at(8.0, |root| thread(root, 70, 71, "main", "wait_for_random_bytes", GETRANDOM, 8.0))
        .at(9.0, |root| thread(root, 70, 72, "pool-1", "wait_for_random_bytes", GETRANDOM, 9.0))
        .observe(600.0);
    let names: Vec<String> = record.victims.iter().map(Victim::name).collect();
    assert_eq!(names, ["java[70], thread main", "java[70], thread pool-1"]);
    assert!(near(record.victims[0].exact().unwrap(), 12.0));
    assert!(near(record.victims[1].exact().unwrap(), 11.0));
}

#[test]
fn the_jitter_loop_is_part_of_a_wait() {
    const STACK: &str = "[<0>] try_to_generate_entropy+0x1a1/0x260\n[<0>] x+0x1/0x2\n";
    let in_loop = |root: &Path| {
        thread(root, 80, 80, "sshd", "0", "running", 6.0);
        put(root, "80/task/80/stack", STACK);
    };
    let record = Script::new("jitter", 5.0, 7.0).at(6.0, in_loop).observe(600.0);
    assert_eq!(record.victims.len(), 1);
    assert_eq!(record.ready_by.as_deref(), Some("timing jitter"));
    assert!(near(record.victims[0].exact().unwrap(), 1.0));
    // A program that only runs does not wait.
    let runs = |root: &Path| {
        thread(root, 80, 80, "sshd", "0", "running", 6.0);
        put(root, "80/task/80/stack", "[<0>] do_syscall_64+0x1/0x2\n");
    };
    assert!(Script::new("runs", 5.0, 7.0).at(6.0, runs).observe(600.0).victims.is_empty());
}

#[test]
fn a_kernel_that_hides_the_place_shows_the_call() {
    if !IS_X86 {
        return;
    }
    let hidden = |root: &Path| {
        thread(root, 80, 80, "sshd", "0", GETRANDOM, 6.0);
        thread(root, 81, 81, "cron", "0", NANOSLEEP, 6.0);
    };
    let record = Script::new("hidden", 5.0, 9.0).at(6.0, hidden).observe(600.0);
    let names: Vec<&str> = record.victims.iter().map(|it| it.process.as_str()).collect();
    assert_eq!(names, ["sshd"]);
}

#[test]
fn a_read_of_the_device_is_named() {
    if !IS_X86 {
        return;
    }
    let reads = |root: &Path| thread(root, 80, 80, "dd", "wait_for_random_bytes", READ, 6.0);
    let record = Script::new("device", 5.0, 9.0).at(6.0, reads).observe(600.0);
    assert_eq!(record.victims[0].call, "/dev/random");
    // Before 5.6 another function waits.
    let reads = |root: &Path| thread(root, 80, 80, "dd", "_random_read.part.0", READ, 6.0);
    let record = Script::new("old", 5.0, 9.0).at(6.0, reads).observe(600.0);
    assert_eq!(record.victims[0].call, "/dev/random");
}

#[test]
fn a_poll_of_the_device_is_a_wait_unless_it_is_for_writing() {
    if !IS_X86 {
        return;
    }
    let polls = |pid: u32, device: &'static str, events: u16| {
        move |root: &Path| {
            let call = "7 0x10 0x1 0xffffffffffffffff 0x0 0x0 0x0 0x7ffe 0x7f61";
            thread(root, pid, pid, "poller", "poll_schedule_timeout.constprop.0", call, 6.0);
            let mut memory = vec![0; 16];
            memory.extend(3_u32.to_ne_bytes());
            memory.extend(events.to_ne_bytes());
            memory.extend([0, 0]);
            fs::write(root.join(format!("{pid}/mem")), memory).unwrap();
            fs::create_dir_all(root.join(format!("{pid}/fd"))).unwrap();
            let _ = std::os::unix::fs::symlink(device, root.join(format!("{pid}/fd/3")));
        }
    };
    let (reading, writing) = (1, 4);
    let record = Script::new("poll", 5.0, 9.0)
        .at(6.0, polls(80, "/dev/random", reading))
        .at(6.0, polls(81, "/dev/random", writing))
        .at(6.0, polls(82, "/dev/urandom", reading))
        .at(6.0, polls(83, "socket:[77]", reading))
        .observe(600.0);
    let found: Vec<_> = record.victims.iter().map(|it| (it.pid, it.call.as_str())).collect();
    assert_eq!(found, [(80, "poll of /dev/random")]);
    assert!(near(record.victims[0].exact().unwrap(), 3.0));
}

#[test]
fn threads_are_listed_again_once_a_number_is_new() {
    let newest = |number: u32| {
        move |root: &Path| put(root, "loadavg", &format!("0.01 0.02 0.03 1/99 {number}\n"))
    };
    let script = Script::new("newest", 5.0, 20.0);
    newest(300)(&script.root);
    // sshd is there at 6 s, and its number is the newest one from 9 s on.
    let record = script.at(6.0, sshd).at(9.0, newest(312)).observe(600.0);
    let [victim] = record.victims.as_slice() else { panic!("{:?}", record.victims) };
    assert!((9.0..9.2).contains(&victim.from), "{victim:?}");
    // Its wait began when the process did, or later: at most the 0.1 s since the look before.
    assert!(near(victim.seconds.at_least, 11.0), "{victim:?}");
}

#[test]
fn a_thread_that_slept_for_long_is_timed_within_a_fifth_of_a_second() {
    for tid in [70, 71] {
        let sleeps = move |root: &Path| thread(root, tid, tid, "d", "do_epoll_wait", "232", 5.0);
        let waits =
            move |root: &Path| thread(root, tid, tid, "d", "wait_for_random_bytes", GETRANDOM, 5.0);
        let script = Script::new(&format!("rest-{tid}"), 5.0, 30.0).at(5.0, sleeps);
        let record = script.at(20.0, waits).observe(600.0);
        let victim = &record.victims[0];
        assert!(victim.seconds.at_least >= 9.79 && victim.seconds.at_least <= 10.01, "{victim:?}");
        assert!(near(victim.exact().unwrap(), 10.0), "{victim:?}");
        assert_eq!(victim.waits, 1);
    }
}

/// The kernel counts how often a thread ran. Until the count changes, the thread is where it was,
/// and its place is not read again.
#[test]
fn a_thread_that_has_not_run_is_where_it_was() {
    let count = |text: &'static str| move |root: &Path| put(root, "70/task/70/schedstat", text);
    let sleeps = |root: &Path| thread(root, 70, 70, "d", "do_epoll_wait", "232", 5.0);
    let waits = |root: &Path| thread(root, 70, 70, "d", "wait_for_random_bytes", GETRANDOM, 5.0);
    let works = |root: &Path| thread(root, 70, 70, "d", "do_epoll_wait", "232", 5.0);
    let record = Script::new("count", 5.0, 20.0)
        .at(5.0, sleeps)
        .at(5.0, count("800 90 4\n"))
        // A tree in a test can lie: the place changes and the count does not.
        .at(7.0, waits)
        .at(8.0, count("900 90 5\n"))
        .at(11.0, works)
        .at(12.0, count("990 95 6\n"))
        .observe(600.0);
    let [victim] = record.victims.as_slice() else { panic!("{:?}", record.victims) };
    assert!((8.0..8.3).contains(&victim.from), "{victim:?}");
    let bounds = victim.seconds;
    assert!(bounds.at_least > 3.65 && bounds.at_most.unwrap() < 4.35, "{victim:?}");
    assert_eq!(victim.ending, Ending::GaveUp);
}

/// Without its statistics, the kernel's count is always 0, and says nothing.
#[test]
fn a_kernel_that_does_not_count_shows_the_place() {
    let uncounted = |root: &Path| {
        sshd(root);
        put(root, "312/task/312/schedstat", "0 0 0\n");
    };
    let begins = |root: &Path| {
        cron(root);
        put(root, "400/task/400/schedstat", "0 0 0\n");
    };
    let waits =
        |root: &Path| thread(root, 400, 400, "cron", "wait_for_random_bytes", GETRANDOM, 6.0);
    let record = Script::new("uncounted", 5.0, 20.0)
        .at(6.0, uncounted)
        .at(6.0, begins)
        .at(10.0, waits)
        .observe(600.0);
    let seconds: Vec<f64> = record.victims.iter().map(|it| it.exact().unwrap().round()).collect();
    assert_eq!(seconds, [14.0, 10.0]);
}

#[test]
fn two_waits_of_one_thread_are_added() {
    let wait = |root: &Path| thread(root, 80, 80, "dd", "random_read_iter", READ, 6.0);
    let work = |root: &Path| thread(root, 80, 80, "dd", "hrtimer_nanosleep", NANOSLEEP, 6.0);
    let record =
        Script::new("twice", 5.0, 20.0).at(6.0, wait).at(9.0, work).at(15.0, wait).observe(600.0);
    let [victim] = record.victims.as_slice() else { panic!("{:?}", record.victims) };
    assert_eq!(victim.waits, 2);
    let middle = (victim.seconds.at_least + victim.seconds.at_most.unwrap()) / 2.0;
    assert!((middle - 8.0).abs() < 0.2, "{victim:?}");
}

#[test]
fn the_cause_of_readiness_follows_from_the_sources() {
    let device =
        |root: &Path| put(root, "sysfs/class/misc/hw_random/rng_current", "virtio_rng.0\n");
    let bits = |bits: u32| {
        move |root: &Path| put(root, "sys/kernel/random/entropy_avail", &format!("{bits}\n"))
    };
    let cause = |script: Script| script.observe(600.0).ready_by;
    let new = |name| {
        let script = Script::new(name, 5.0, 105.0);
        put(&script.root, "sysfs/class/misc/hw_random/rng_current", "none\n");
        script
    };
    assert_eq!(cause(new("by-device").at(104.5, device)).as_deref(), Some("virtio_rng.0"));
    let by_seed = new("by-seed").at(5.0, bits(12)).at(100.0, bits(40));
    assert_eq!(cause(by_seed).as_deref(), Some("a credited seed"));
    let mut slow = new("by-interrupts");
    for step in 0..100 {
        slow = slow.at(5.0 + f64::from(step), bits(1 + step * 255 / 100));
    }
    assert_eq!(cause(slow).as_deref(), Some("interrupts"));
    assert_eq!(cause(new("unknown")), None);
}

#[test]
fn thousands_of_threads_cost_no_allocation_and_the_excess_is_counted() {
    let crowd = |root: &Path| {
        for pid in 1000..1600 {
            thread(root, pid, pid, "worker", "wait_for_random_bytes", GETRANDOM, 6.0);
        }
    };
    let record = Script::new("crowd", 5.0, 6.5).at(6.0, crowd).observe(600.0);
    assert_eq!(record.victims.len(), 512);
    assert!(record.missed >= 88, "{}", record.missed);
    assert!(record.lines().iter().any(|line| line.contains("were not observed")));
}

fn record() -> Record {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("record-{}", COUNT.fetch_add(1, Relaxed));
    Script::new(&name, 5.0, 107.7).at(6.0, sshd).observe(600.0)
}

#[test]
fn a_record_is_saved_read_and_kept_twenty_times() {
    let directory = std::env::temp_dir().join(format!("headwater-boots-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    let mut record = Script::new("keep", 5.0, 107.7).at(6.0, sshd).observe(600.0);
    let file = record.save(&directory.join("run")).unwrap();
    assert_eq!(Record::parse(&fs::read_to_string(&file).unwrap()).unwrap(), record);
    let kept = directory.join("kept");
    for boot in 0..25 {
        record.boot_id = Some(format!("boot-{boot}"));
        record.keep(&kept).unwrap();
        record.keep(&kept).unwrap(); // the same boot, once
    }
    let mut names: Vec<String> = fs::read_dir(&kept)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    fs::remove_dir_all(&directory).unwrap();
    assert_eq!(names.len(), 20);
    assert_eq!(names[0], "000006-boot-5.json");
    assert_eq!(names[19], "000025-boot-24.json");
}

#[test]
fn the_record_of_the_observer_that_began_first_stays() {
    let directory = std::env::temp_dir().join(format!("headwater-two-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    let of_initramfs = record();
    let late = Record { began: 50.0, victims: Vec::new(), ..of_initramfs.clone() };
    let at_start = Record { outcome: Outcome::ReadyAtStart, began: 1.0, ..late.clone() };
    let other_boot = Record { boot_id: Some("another".to_owned()), ..late.clone() };
    let began = |writers: &[&Record]| {
        let mut file = PathBuf::new();
        for writer in writers {
            file = writer.save(&directory).unwrap();
            writer.keep(&directory.join("kept")).unwrap();
        }
        let kept = crate::Root::open(&directory).unwrap();
        let names = kept.names("/kept");
        let text = kept.text(&format!("/kept/{}", names.last().unwrap())).unwrap();
        let began = Record::parse(&fs::read_to_string(file).unwrap()).unwrap().began;
        assert_eq!(Record::parse(&text).unwrap().began, began);
        fs::remove_dir_all(&directory).unwrap();
        began
    };
    assert_eq!(began(&[&of_initramfs, &late]), 5.0);
    assert_eq!(began(&[&late, &of_initramfs]), 5.0);
    assert_eq!(began(&[&at_start, &late]), 50.0);
    assert_eq!(began(&[&of_initramfs, &other_boot]), 50.0);
}

#[test]
fn a_directory_that_cannot_be_written_is_reported_and_nothing_is_left() {
    // A file in place of the directory, which root cannot write into either.
    let file = std::env::temp_dir().join(format!("headwater-no-boots-{}", std::process::id()));
    fs::write(&file, "").unwrap();
    let failed = record().save(&file.join("boots"));
    fs::remove_file(&file).unwrap();
    assert!(failed.is_err());
}

#[test]
fn a_boot_id_cannot_lead_out_of_the_directory() {
    let directory = std::env::temp_dir().join(format!("headwater-evil-{}", std::process::id()));
    let record = Record { boot_id: Some("../../etc/passwd".to_owned()), ..record() };
    let file = record.save(&directory).unwrap();
    fs::remove_dir_all(&directory).unwrap();
    assert_eq!(file, directory.join("unknown.json"));
}

#[test]
fn documents_of_other_kinds_are_not_records() {
    let good = record().json().unwrap();
    assert!(Record::parse(&good).is_some());
    for bad in ["", "{}", "[]", &good.replace("observe/1", "observe/2"), &good[..good.len() / 2]] {
        assert!(Record::parse(bad).is_none());
    }
}

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
