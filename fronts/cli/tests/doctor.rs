//! `headwater doctor` and `headwater wait`, as run: exit statuses, files, what they touch and what
//! they wait for.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn headwater(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.args(args).env_remove("CLICOLOR_FORCE").env_remove("HEADWATER_MODE");
    command
}

fn run(args: &[&str]) -> Output {
    headwater(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn host(name: &str) -> String {
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../boot/doctor/tests/hosts");
    hosts.join(format!("guest/{name}.host")).display().to_string()
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("headwater-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|done| done.status.success())
}

#[test]
fn this_machine_is_looked_at_and_the_status_follows_the_verdict() {
    let done = run(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(report["schema"], "headwater.doctor/1");
    let findings = report["findings"].as_array().unwrap();
    let worse = findings.iter().any(|finding| finding["severity"] != "note");
    let status = match report["verdict"].as_str().unwrap() {
        "healthy" => 0,
        "findings" => 1,
        "incomplete" => 4,
        other => panic!("{other}"),
    };
    assert_eq!(worse, status == 1, "{report:#}");
    assert_eq!(done.status.code(), Some(status), "{report:#}");
    assert!(report["passed"].as_array().unwrap().len() > 5);
    assert_eq!(text(&done.stderr), "");
}

#[test]
fn a_recorded_machine_that_stalls_has_status_1_and_an_ignored_finding_does_not_count() {
    let stall = host("lab-7-stall");
    let done = run(&["doctor", "--root", &stall]);
    let words = text(&done.stdout);
    assert_eq!(done.status.code(), Some(1));
    assert!(words.starts_with("The kernel's random generator was not ready"), "{words}");
    assert!(words.contains("\nNot healthy: "), "{words}");
    assert!(words.contains("virtio-rng-pci") && !words.contains('\x1b'), "{words}");
    // No other finding is left.
    let done = run(&["doctor", "--root", &stall, "--only", "HW001,hw010", "--ignore", "HW001"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stdout));
    let done = run(&["doctor", "--root", &stall, "--quiet"]);
    assert_eq!((done.status.code(), done.stdout.len(), done.stderr.len()), (Some(1), 0, 0));
}

#[test]
fn what_cannot_be_checked_is_3_and_what_is_wrongly_asked_is_2_in_one_line() {
    let folder = Folder::new("doctor-nothing");
    let nothing = folder.0.display().to_string();
    let empty = folder.0.join("empty.log");
    std::fs::write(&empty, "").unwrap();
    let empty = empty.display().to_string();
    for (args, status) in [
        (vec!["doctor", "--root", "/no/such/folder"], 3),
        (vec!["doctor", "--root", &nothing], 3),
        (vec!["doctor", "--journal", "/no/such/file"], 3),
        (vec!["doctor", "--journal", &empty], 3),
        (vec!["doctor", "--strace", &empty], 3),
        (vec!["doctor", "--html", "/no/such/folder/a.html"], 3),
        (vec!["doctor", "--only", "HW999"], 2),
        (vec!["doctor", "--deep", "--root", "/"], 2),
        (vec!["doctor", "--assume-kernel", "new"], 2),
        (vec!["doctor", "explain", "XX"], 2),
        (vec!["wait", "--timeout", "-1"], 2),
    ] {
        let done = run(&args);
        assert_eq!(done.status.code(), Some(status), "{args:?}: {}", text(&done.stderr));
        let words = text(&done.stderr);
        assert_eq!((done.stdout.len(), words.matches('\n').count()), (0, 1), "{args:?}: {words}");
    }
}

#[test]
fn a_finding_is_explained_with_its_sources_and_without_a_name_all_are_listed() {
    let words = text(&run(&["doctor", "explain", "hw041"]).stdout);
    assert!(words.starts_with("HW041: ") && words.contains("\nSources\n"), "{words}");
    assert!(words.lines().all(|line| line.chars().count() <= 100));
    let all = text(&run(&["doctor", "explain"]).stdout);
    assert!(all.lines().count() >= 30 && all.lines().all(|line| line.starts_with("HW")), "{all}");
}

#[test]
fn page_and_metrics_are_written_beside_what_is_printed() {
    let folder = Folder::new("doctor-files");
    let (page, metrics) = (folder.0.join("report.html"), folder.0.join("headwater.prom"));
    let done = headwater(&["doctor", "--quiet", "--root", &host("lab-7-stall-driver-late")])
        .arg("--html")
        .arg(&page)
        .arg("--prometheus")
        .arg(&metrics)
        .output()
        .unwrap();
    assert_eq!((done.status.code(), done.stdout.len()), (Some(1), 0));
    assert!(std::fs::read_to_string(&page).unwrap().contains("<svg"));
    let metrics = std::fs::read_to_string(&metrics).unwrap();
    assert!(metrics.contains("\nheadwater_crng_ready_seconds "), "{metrics}");
    assert!(metrics.contains("headwater_doctor_finding{id=\"HW026\",severity="), "{metrics}");
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 2, "nothing else is left");
}

/// --deep says so before it begins; without it no device is opened that could be slow or be
/// drained.
#[test]
fn the_device_is_left_alone_unless_deep_is_asked() {
    if !has("strace") {
        return println!(
            "skipped: what the doctor opens: no strace; that it leaves /dev/hwrng alone is not shown"
        );
    }
    let opened = |args: &[&str]| {
        let folder = Folder::new(&format!("doctor-opens-{}", args.len()));
        let log = folder.0.join("log");
        let binary = env!("CARGO_BIN_EXE_headwater");
        let done = Command::new("strace")
            .args(["-f", "-e", "trace=open,openat", "-o"])
            .arg(&log)
            .arg(binary)
            .args(args)
            .output()
            .unwrap();
        (std::fs::read_to_string(&log).unwrap(), text(&done.stderr))
    };
    let (log, words) = opened(&["doctor"]);
    if !log.contains("/proc/sys/kernel/osrelease") {
        return println!("skipped: what the doctor opens: strace may not trace here: {words}");
    }
    assert!(!log.contains("hwrng") || !log.contains("\"/dev/hwrng\""), "{log}");
    let (log, words) = opened(&["doctor", "--deep"]);
    assert!(log.contains("\"/dev/hwrng\""), "{log}");
    assert!(words.contains("--deep takes 5 s"), "{words}");
}

/// The kernel answers "not ready" from the first call on. The doctor makes no call that would wait.
#[test]
fn on_a_machine_that_is_not_ready_nothing_waits() {
    if !has("strace") {
        return println!(
            "skipped: a machine that is not ready: no strace to play it; that the doctor does not wait is not shown"
        );
    }
    let folder = Folder::new("doctor-unready");
    let traced = |inject: Option<usize>, args: &[&str]| {
        let log = folder.0.join("log");
        let mut strace = Command::new("strace");
        strace.args(["-f", "-e", "trace=getrandom", "-o"]).arg(&log);
        if let Some(first) = inject {
            strace.args(["-e", &format!("inject=getrandom:error=EAGAIN:when={first}+")]);
        }
        let done = strace.arg(env!("CARGO_BIN_EXE_headwater")).args(args).output().unwrap();
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        let calls = log.lines().filter(|line| line.contains("getrandom(")).map(str::to_owned);
        (calls.collect::<Vec<String>>(), done)
    };
    let (calls, done) = traced(None, &["doctor", "--quiet"]);
    let Some(first) = calls.iter().position(|call| call.contains(", 1, GRND_NONBLOCK)")) else {
        return println!(
            "skipped: a machine that is not ready: strace may not trace here: {}",
            text(&done.stderr)
        );
    };
    let (calls, done) = traced(Some(first + 1), &["doctor"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("CRITICAL HW001"), "{}", text(&done.stdout));
    let waits = |call: &&String| !call.contains("GRND_NONBLOCK") && !call.contains("GRND_INSECURE");
    assert_eq!(calls.iter().find(waits), None, "this call would wait");
}

#[test]
fn an_ordinary_user_is_told_what_root_would_add() {
    let command =
        ["--reuid", "65534", "--regid", "65534", "--clear-groups", env!("CARGO_BIN_EXE_headwater")];
    let done = Command::new("setpriv").args(command).args(["doctor", "--json"]).output();
    let report =
        done.as_ref().ok().and_then(|done| serde_json::from_slice::<Value>(&done.stdout).ok());
    let Some(report) = report else {
        return println!(
            "skipped: an ordinary user: setpriv needs root, or the user cannot reach the binary; what root adds is not shown"
        );
    };
    let missed = report["not_checked"].as_array().unwrap();
    let restricted = std::fs::read_to_string("/proc/sys/kernel/dmesg_restrict");
    if restricted.is_ok_and(|value| value.trim() == "1") {
        assert!(
            missed.iter().any(|check| check["why"].as_str().unwrap().contains("root")),
            "{report:#}"
        );
    }
    assert!(report["passed"].as_array().unwrap().len() > 5);
}

/// 50 MiB, the program's code included.
#[test]
fn it_takes_little_memory() {
    let done = Command::new("/usr/bin/time")
        .args(["-f", "%M", env!("CARGO_BIN_EXE_headwater"), "doctor", "--quiet"])
        .output();
    let Ok(done) = done else {
        return println!(
            "skipped: memory of a run: no /usr/bin/time; the bound of 50 MiB is not shown"
        );
    };
    let kib: u64 = text(&done.stderr).lines().last().unwrap().trim().parse().unwrap();
    assert!(kib < 50 << 10, "{kib} KiB");
}

#[test]
fn waiting_ends_when_the_generator_is_ready() {
    let done = run(&["wait", "--timeout", "60"]);
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
    assert!(text(&done.stdout).starts_with("ready: "), "{}", text(&done.stdout));
    let done = run(&["wait", "--quiet"]);
    assert_eq!((done.status.code(), done.stdout.len()), (Some(0), 0));
}

/// Writes the doctor's reports of two recorded machines to a directory.
fn reports(folder: &Folder) -> String {
    let reports = folder.0.join("reports");
    std::fs::create_dir_all(&reports).unwrap();
    for name in ["lab-7-stall", "lab-6.12-vmgenid"] {
        let report = run(&["doctor", "--json", "--root", &host(name)]).stdout;
        std::fs::write(reports.join(format!("{name}.json")), report).unwrap();
    }
    reports.display().to_string()
}

#[test]
fn a_fleet_has_the_status_of_its_worst_host() {
    let folder = Folder::new("merge");
    let reports = reports(&folder);
    let done = run(&["doctor", "merge", &reports]);
    let words = text(&done.stdout);
    assert_eq!(done.status.code(), Some(1), "{words}{}", text(&done.stderr));
    assert!(words.starts_with("2 hosts: 1 with findings, 1 incomplete"), "{words}");
    assert!(words.contains("lab-7-stall") && !words.contains('\x1b'), "{words}");
    let done = run(&["doctor", "merge", "--json", &reports]);
    let all: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&all["schema"], &all["counts"]["hosts"]), (&"headwater.merge/1".into(), &2.into()));
    // The same documents through a pipe.
    let script = "cat \"$1\"/*.json | \"$2\" doctor merge -";
    let program = env!("CARGO_BIN_EXE_headwater");
    let piped = Command::new("sh").args(["-c", script, "sh", &reports, program]).output().unwrap();
    assert_eq!((piped.status.code(), text(&piped.stdout)), (Some(1), words));
    let empty = folder.0.join("empty");
    std::fs::create_dir(&empty).unwrap();
    assert_eq!(run(&["doctor", "merge", "-q", empty.to_str().unwrap()]).status.code(), Some(3));
    assert_eq!(run(&["doctor", "merge", "/nonexistent"]).status.code(), Some(3));
    assert_eq!(run(&["doctor", "merge"]).status.code(), Some(2));
}

#[test]
fn a_full_disk_leaves_the_old_file_whole_and_nothing_else() {
    let folder = Folder::new("merge-full");
    let reports = reports(&folder);
    let out = folder.0.join("out");
    std::fs::create_dir(&out).unwrap();
    let page = out.join("fleet.html");
    std::fs::write(&page, "the old page").unwrap();
    // No file may grow beyond 512 bytes, as on a full disk.
    let script = "ulimit -f 1; trap '' XFSZ; exec \"$1\" doctor merge -q --html \"$2\" \"$3\"";
    let done = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_headwater")])
        .arg(&page)
        .arg(&reports)
        .output()
        .unwrap();
    let message = text(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{message}");
    assert!(message.contains("cannot write") && message.contains("fleet.html"), "{message}");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "the old page");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 1, "a part of the new page is left");
}

/// The kernel's answers are replaced by strace: not ready at first, ready after some looks. Each
/// request of the observer has length 0; the C library's malloc asks for 8 bytes without waiting.
#[test]
fn the_observer_draws_no_byte_and_ends_when_the_generator_is_ready() {
    if !has("strace") {
        println!("skipped: strace is not installed; nothing shows that the observer draws no byte");
        return;
    }
    let folder = Folder::new("observe");
    let log = folder.0.join("strace");
    let (kept, boots) = (folder.0.join("kept"), folder.0.join("boots"));
    let done = Command::new("strace")
        .args(["-f", "-o", log.to_str().unwrap(), "-e", "trace=getrandom,poll,ppoll,openat"])
        .args(["-e", "inject=getrandom:error=EAGAIN:when=1..6"])
        .args(["-e", "inject=poll,ppoll:retval=0"])
        .arg(env!("CARGO_BIN_EXE_headwater"))
        .args(["doctor", "observe", "--limit", "20", "--keep", kept.to_str().unwrap()])
        .args(["--run", boots.to_str().unwrap(), "--no-tracepoints"])
        .env("JOURNAL_STREAM", "8:1")
        .output()
        .unwrap();
    let calls = std::fs::read_to_string(&log).unwrap();
    if calls.is_empty() {
        println!("skipped: strace may not trace here; nothing shows that no byte is drawn");
        return;
    }
    assert_eq!(done.status.code(), Some(0), "{}{calls}", text(&done.stderr));
    // With -f each line begins with the number of its process.
    let (observer, _) = calls.trim_start().split_once(' ').unwrap();
    let observer: u32 = observer.parse().unwrap();
    let requests: Vec<&str> = calls.lines().filter(|line| line.contains(" getrandom(")).collect();
    let of_malloc = |line: &&&str| line.contains(", 8, GRND_NONBLOCK)");
    assert!(requests.iter().filter(of_malloc).count() <= 2, "{calls}");
    let own: Vec<&&str> = requests.iter().filter(|line| !of_malloc(line)).collect();
    assert!(own.len() >= 4, "{calls}");
    assert!(own.iter().all(|line| line.contains(", 0, GRND_NONBLOCK)")), "{calls}");
    // The observer polls /dev/random, which never draws, and must not read the other device.
    assert!(calls.contains("\"/dev/random\""), "{calls}");
    assert!(!calls.contains("/dev/urandom"), "{calls}");
    let record = std::fs::read_dir(&boots).unwrap().next().unwrap().unwrap().path();
    let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    assert_eq!(
        (&record["schema"], &record["outcome"]),
        (&"headwater.observe/1".into(), &"ready".into())
    );
    assert!(record["looks"].as_u64().unwrap() >= 3, "{record:#}");
    // Not itself. Other programs may be in getrandom for tens of milliseconds on a busy machine, as
    // those of the tests beside this one, and the observer believes that they wait.
    let victims = record["victims"].as_array().unwrap();
    assert!(victims.iter().all(|victim| victim["pid"] != observer), "{record:#}");
    assert_eq!(
        (&record["method"], &record["no_tracepoints"]),
        (&"looks".into(), &"--no-tracepoints".into())
    );
    assert!(text(&done.stderr).contains("without tracepoints: --no-tracepoints"));
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 1);
    // A second run finds a ready generator, and keeps the record of the first.
    let again = run(&[
        "doctor",
        "observe",
        "--run",
        boots.to_str().unwrap(),
        "--keep",
        kept.to_str().unwrap(),
    ]);
    assert_eq!(again.status.code(), Some(0));
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 1);
    let saved = run(&[
        "doctor",
        "observe",
        "--save",
        "--run",
        boots.to_str().unwrap(),
        "--keep",
        folder.0.join("other").to_str().unwrap(),
    ]);
    assert_eq!(saved.status.code(), Some(0), "{}", text(&saved.stderr));
    assert_eq!(std::fs::read_dir(folder.0.join("other")).unwrap().count(), 1);
}

/// A service manager ends the observer by SIGTERM. The record is written, and names the way in
/// which waits were found: tracepoints if this machine has them, else looks and the reason.
#[test]
fn a_signal_ends_the_observer_with_a_record() {
    if !has("strace") {
        println!(
            "skipped: strace is not installed; nothing shows what a signal does to the observer"
        );
        return;
    }
    let folder = Folder::new("observe-term");
    let log = folder.0.join("strace");
    let boots = folder.0.join("boots");
    let mut strace = Command::new("strace")
        .args(["-o", log.to_str().unwrap(), "-e", "trace=getrandom,rt_sigaction,mkdirat,unlinkat"])
        .args(["-e", "inject=getrandom:error=EAGAIN"])
        .arg(env!("CARGO_BIN_EXE_headwater"))
        .args(["doctor", "observe", "--limit", "60", "--keep", folder.0.to_str().unwrap()])
        .args(["--run", boots.to_str().unwrap()])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let calls = || std::fs::read_to_string(&log).unwrap_or_default();
    let own = |line: &&str| line.starts_with("getrandom(") && line.contains(", 0, GRND_NONBLOCK)");
    let begun = std::time::Instant::now();
    // The first request is before the handlers are set, and two more are looks.
    while calls().lines().filter(own).count() < 5 && begun.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let children = format!("/proc/{0}/task/{0}/children", strace.id());
    let child = std::fs::read_to_string(children).unwrap_or_default();
    if calls().is_empty() || child.trim().is_empty() {
        strace.kill().unwrap();
        strace.wait().unwrap();
        println!("skipped: strace may not trace here; nothing shows what a signal does");
        return;
    }
    assert!(Command::new("kill").args(["-TERM", child.trim()]).status().unwrap().success());
    let done = strace.wait_with_output().unwrap();
    let calls = calls();
    assert_eq!(done.status.code(), Some(1), "{}{calls}", text(&done.stderr));
    let record = std::fs::read_dir(&boots).unwrap().next().unwrap().unwrap().path();
    let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    assert_eq!(record["outcome"], "timed_out", "{record:#}");
    let is_traced = record["method"] == "tracepoints";
    assert_eq!(is_traced, record["no_tracepoints"].is_null(), "{record:#}");
    // The instance, if there was one, is removed.
    let name = "\"headwater-observer-";
    let of = |call: &str| calls.lines().filter(|l| l.starts_with(call) && l.contains(name)).count();
    assert_eq!((of("mkdirat("), of("unlinkat(")), (usize::from(is_traced), usize::from(is_traced)));
    if is_traced {
        let end = calls.lines().rfind(|line| line.contains(name)).unwrap();
        assert!(end.contains("AT_REMOVEDIR) = 0"), "{end}");
    }
}

#[test]
fn the_observer_becomes_the_first_program_even_if_it_cannot_observe() {
    let folder = Folder::new("observe-exec");
    let run_directory = folder.0.join("boots");
    let done = run(&[
        "doctor",
        "observe",
        "--run",
        run_directory.to_str().unwrap(),
        "--keep",
        folder.0.join("kept").to_str().unwrap(),
        "--exec",
        "/bin/sh",
        "-c",
        "echo $0 $1 --single",
        "init",
        "arg",
    ]);
    assert_eq!(
        (done.status.code(), text(&done.stdout)),
        (Some(0), "init arg --single\n".to_owned())
    );
    let done = run(&["doctor", "observe", "--exec", "/nonexistent/init"]);
    assert_eq!(done.status.code(), Some(3));
    assert!(text(&done.stderr).contains("/nonexistent/init"), "{}", text(&done.stderr));
}

#[test]
fn a_directory_that_cannot_be_written_is_3() {
    let done = run(&["doctor", "observe", "--run", "/dev/null/boots", "--keep", "/dev/null/kept"]);
    assert_eq!(done.status.code(), Some(3));
    assert!(text(&done.stderr).contains("cannot write /dev/null/boots"), "{}", text(&done.stderr));
}

/// The node exporter passes over a file with any other ending, and says nothing.
#[test]
fn metrics_under_another_name_than_prom_are_written_with_a_warning() {
    let folder = Folder::new("prom");
    for (name, warns) in [("l.txt", true), ("l.prom", false)] {
        let file = folder.0.join(name);
        let path = file.to_str().unwrap();
        let done =
            run(&["doctor", "--root", &host("lab-7-stall"), "--quiet", "--prometheus", path]);
        assert_eq!(done.status.code(), Some(1));
        assert!(std::fs::read_to_string(&file).unwrap().contains("headwater_doctor_verdict"));
        assert_eq!(text(&done.stderr).contains("ends in .prom"), warns, "{}", text(&done.stderr));
    }
}

/// The examples of docs/doctor.md on the start of a program.
#[test]
fn the_start_of_a_program_is_measured() {
    if !cfg!(target_arch = "x86_64") || !has("openssl") {
        return;
    }
    let command = ["doctor", "start", "--json", "--", "openssl", "rand", "8"];
    let done = run(&command);
    if text(&done.stderr).contains("cannot trace") {
        println!("skipped: {}", text(&done.stderr));
        return;
    }
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(report["schema"], "headwater.start/1");
    assert_eq!(report["first"]["source"], "library", "{report}");
    assert_eq!(report["exit_status"], 0, "{report}");
    let missing = run(&["doctor", "start", "--", "headwater-no-such-program"]);
    assert_eq!(missing.status.code(), Some(3));
    assert_eq!(run(&["doctor", "start"]).status.code(), Some(2));
    let done = run(&["doctor", "start", "--seconds", "1", "-q", "--", "sleep", "30"]);
    // The C library draws for itself since glibc 2.36.
    assert!([Some(0), Some(4)].contains(&done.status.code()), "{done:?}");
    assert!(done.stdout.is_empty());
}
