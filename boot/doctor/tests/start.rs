//! The first random byte of real programs, and of one whose times are known.
#![cfg(target_arch = "x86_64")]

use headwater_doctor::start::{Source, StartArgs, StartReport, start};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// A tracer waits for any child of its process, so that only one test at a time may have one.
static ALONE: Mutex<()> = Mutex::new(());

fn run(seconds: u64, command: &[&str]) -> Option<StartReport> {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let command: Vec<OsString> = command.iter().map(OsString::from).collect();
    let args = StartArgs {
        seconds: Duration::from_secs(seconds),
        json: false,
        quiet: false,
        command: command.clone(),
    };
    match start(&args) {
        Ok(report) => Some(report),
        Err(error) if error.to_string().contains("cannot trace") => {
            println!("skipped: {command:?}: {error}; its first byte stays unmeasured");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn is_there(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    let found = found.is_ok_and(|done| done.status.success());
    if !found {
        println!("skipped: {program} is not installed; its first byte stays unmeasured");
    }
    found
}

/// Compiles a program of C in a directory of its own; `None` without a compiler.
fn compiled(name: &str, source: &str, options: &[&str]) -> Option<PathBuf> {
    if !is_there("cc") {
        return None;
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("start-{name}"));
    fs::create_dir_all(&directory).unwrap();
    let (text, program) = (directory.join("main.c"), directory.join(name));
    fs::write(&text, source).unwrap();
    let mut cc = Command::new("cc");
    let done = cc.args(["-O0", "-o"]).arg(&program).arg(&text).args(options).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(program)
}

/// A program with jitterentropy's names, which measures itself: the two functions compute for 20
/// and 30 ms, RAND_bytes calls both and then the kernel, and a file gets the times. Two thousand
/// stops come before: if more was taken away for each than it costs, too little time is left.
const KNOWN: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
static double now(clockid_t clock) {
    struct timespec t; clock_gettime(clock, &t); return t.tv_sec + t.tv_nsec / 1e9;
}
static void compute(double seconds) {
    double end = now(CLOCK_PROCESS_CPUTIME_ID) + seconds;
    while (now(CLOCK_PROCESS_CPUTIME_ID) < end) {}
}
__attribute__((noinline)) void jent_entropy_collector_alloc(void) { compute(0.020); }
__attribute__((noinline)) void jent_read_entropy(void) { compute(0.030); }
__attribute__((noinline)) int RAND_bytes(unsigned char *bytes, int n) {
    jent_entropy_collector_alloc();
    jent_read_entropy();
    return getrandom(bytes, n, 0) == n;
}
int main(int argc, char **argv) {
    unsigned char bytes[48];
    for (int i = 0; i < 2000; i++) open("/no such file", O_RDONLY);
    double began = now(CLOCK_MONOTONIC);
    RAND_bytes(bytes, sizeof bytes);
    FILE *out = fopen(argv[1], "w");
    fprintf(out, "%.6f\n", now(CLOCK_MONOTONIC) - began);
    return fclose(out) + 7;
}
"#;

/// The program's own clock runs through the stops, so that its figure is the larger one. Each of
/// two functions may lose a part of a stop's cost that this stop did not have.
#[test]
fn jitter_is_measured_without_the_time_of_the_stops() {
    let Some(program) = compiled("known", KNOWN, &[]) else { return };
    let times = program.with_extension("times");
    let Some(report) = run(30, &[program.to_str().unwrap(), times.to_str().unwrap()]) else {
        return;
    };
    let own: f64 = fs::read_to_string(&times).unwrap().trim().parse().unwrap();
    let jitter = report.jitter_seconds;
    assert!(jitter >= 0.0495 && jitter <= own, "{jitter} s of {own} s: {report:?}");
    assert_eq!(report.jitter_file.as_deref(), program.to_str());
    assert_eq!((report.exit_status, report.exit_status()), (Some(7), 1));
    let first = report.first.as_ref().unwrap();
    assert_eq!(first.source, Source::Library, "{report:?}");
    assert_eq!(first.function.as_deref(), Some("RAND_bytes"));
    assert!(first.at_seconds >= jitter, "{report:?}");
    let seed =
        report.draws.iter().find(|draw| draw.source == Source::Getrandom && draw.bytes == Some(48));
    assert_eq!(seed.unwrap().inside.as_deref(), Some("RAND_bytes"), "{report:?}");
    let line = report.headline();
    assert!(line.contains("of that in CPU jitter (known). Fix: "), "{line}");
    assert!(report.text().lines().count() <= 25, "{}", report.text());
}

/// Without its names the same program shows no jitter, and with AWS-LC's texts inside it an upper
/// bound.
#[test]
fn a_program_without_names_gets_a_bound() {
    let marked = KNOWN.replace("int main", "const char *mark = \"AWS-LC 1.62.0\";\nint main");
    for (name, source, is_aws_lc) in [("bare", KNOWN, false), ("marked", &*marked, true)] {
        let Some(program) = compiled(name, source, &["-s"]) else { return };
        let times = program.with_extension("times");
        let command = [program.to_str().unwrap(), times.to_str().unwrap()];
        let Some(report) = run(30, &command) else { return };
        assert_eq!(report.jitter_seconds, 0.0, "{report:?}");
        assert_eq!(report.computed_seconds.is_some(), is_aws_lc, "{report:?}");
        assert!(report.computed_seconds.is_none_or(|most| most >= 0.0495), "{report:?}");
        assert_eq!(report.exit_status(), u8::from(is_aws_lc), "{}", report.headline());
    }
}

/// Threads and forked children stop at the same breakpoints, and none of them is killed by one.
#[test]
fn threads_and_children_survive_the_breakpoints() {
    const MANY: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int RAND_bytes(unsigned char *bytes, int n) {
    return getrandom(bytes, n, 0) == n;
}
static void *work(void *nothing) {
    unsigned char bytes[16];
    for (int i = 0; i < 400; i++) if (!RAND_bytes(bytes, 16)) return (void *)1;
    return nothing;
}
int main(void) {
    int failed = 0, status;
    for (int child = 0; child < 3; child++) {
        if (fork() == 0) {
            pthread_t threads[4];
            void *result, *all = 0;
            for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, 0);
            for (int i = 0; i < 4; i++) { pthread_join(threads[i], &result); if (result) all = result; }
            _exit(all != 0);
        }
    }
    while (wait(&status) > 0) failed |= status;
    return failed ? 9 : 5;
}
"#;
    let Some(program) = compiled("many", MANY, &["-pthread"]) else { return };
    let Some(report) = run(60, &[program.to_str().unwrap()]) else { return };
    assert_eq!(report.exit_status, Some(5), "{report:?}");
    assert!(report.getrandom_calls >= 4800, "{}", report.getrandom_calls);
    assert!(
        report.fixes.iter().any(|fix| fix.exact.as_deref() == Some("headwater run -- COMMAND"))
    );
}

#[test]
fn a_device_is_named_and_its_calls_are_counted() {
    let command = ["dd", "if=/dev/urandom", "of=/dev/null", "bs=16", "count=3", "status=none"];
    let Some(report) = run(30, &command) else { return };
    let first = report.first.as_ref().unwrap();
    assert_eq!((first.source, first.bytes), (Source::Urandom, Some(16)), "{report:?}");
    assert_eq!((report.device_opens, report.device_reads), (1, 3), "{report:?}");
    assert!(report.fixes[0].what.contains("getrandom(2)"), "{:?}", report.fixes);
}

/// Paths are bytes, and the kernel's list of what a process has mapped holds them as they are.
#[test]
fn a_program_may_have_any_name() {
    let script = "program=$1/$(printf 'caf\\351') && cp \"$(command -v dd)\" \"$program\" && \
        exec \"$program\" if=/dev/urandom of=/dev/null bs=16 count=1 status=none";
    let command = ["sh", "-c", script, "sh", env!("CARGO_TARGET_TMPDIR")];
    let Some(report) = run(30, &command) else { return };
    assert_eq!((report.exit_status, report.device_reads), (Some(0), 1), "{report:?}");
}

/// Each kind of program that people start a hundred times a minute.
#[test]
fn real_programs_show_their_source() {
    for (program, arguments, source, function) in [
        ("openssl", vec!["rand", "-hex", "8"], Source::Library, Some("RAND_bytes")),
        ("python3", vec!["-c", "import os; os.urandom(8)"], Source::Getrandom, None),
        ("node", vec!["-e", "require('crypto').randomBytes(8)"], Source::Getrandom, None),
    ] {
        if !is_there(program) {
            continue;
        }
        let command: Vec<&str> = std::iter::once(program).chain(arguments).collect();
        let Some(report) = run(60, &command) else { return };
        let names = |wanted: &str| {
            report
                .draws
                .iter()
                .any(|draw| draw.function.as_deref().is_some_and(|name| name.starts_with(wanted)))
        };
        assert!(report.draws.iter().any(|draw| draw.source == source), "{program}: {report:?}");
        assert!(function.is_none_or(names), "{program}: {report:?}");
        assert_eq!(report.exit_status, Some(0), "{program}: {report:?}");
        assert_eq!(
            (report.jitter_file.as_deref(), report.jitter_seconds),
            (None, 0.0),
            "{program}"
        );
        assert!(!report.headline().contains("No answer"), "{}", report.headline());
    }
}

/// The limit ends a server with its children, and leaves none.
#[test]
fn a_server_is_ended_with_its_children() {
    let Some(report) = run(1, &["sh", "-c", "sleep 4242 & exec sleep 4243"]) else { return };
    assert_eq!(report.exit_status, None, "{report:?}");
    assert!(report.lasted_seconds >= 0.5, "{report:?}");
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        assert!(!line.starts_with(b"sleep\x004242\0"), "{:?}", process.path());
    }
}

#[test]
fn a_program_that_is_missing_is_an_error_with_a_next_step() {
    let args = StartArgs {
        seconds: Duration::from_secs(1),
        json: false,
        quiet: false,
        command: vec!["headwater-no-such-program".into()],
    };
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let error = start(&args).unwrap_err().to_string();
    assert!(
        error.contains("name a program that exists") || error.contains("cannot trace"),
        "{error}"
    );
}

/// The real one: aws-lc-rs with and without the jitter, built here. `cargo xtask test --only
/// "first byte of AWS-LC"` runs it.
#[test]
#[ignore = "compiles AWS-LC twice"]
fn aws_lc_pays_for_its_jitter_unless_it_is_built_without() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("start-aws-lc");
    fs::create_dir_all(directory.join("src")).unwrap();
    let manifest = "[package]\nname = \"first\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
                    [dependencies]\naws-lc-rs = \"1\"\n[workspace]\n";
    fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    let source = "fn main() {\n    aws_lc_rs::rand::fill(&mut [0; 16]).unwrap();\n}\n";
    fs::write(directory.join("src/main.rs"), source).unwrap();
    for (name, without) in [("with", None), ("without", Some("1"))] {
        let target = directory.join(name);
        let mut cargo = Command::new(env!("CARGO"));
        cargo.arg("build").current_dir(&directory).env("CARGO_TARGET_DIR", &target);
        cargo.env_remove("AWS_LC_SYS_NO_JITTER_ENTROPY");
        cargo.envs(without.map(|value| ("AWS_LC_SYS_NO_JITTER_ENTROPY", value)));
        let done = cargo.output().unwrap();
        if !done.status.success() {
            println!(
                "skipped: aws-lc-rs cannot be built here, so AWS-LC's own jitter stays unmeasured: {}",
                String::from_utf8_lossy(&done.stderr)
            );
            return;
        }
        let program = target.join("debug/first");
        let Some(report) = run(60, &[program.to_str().unwrap()]) else { return };
        println!("{name} jitter: {}", report.text());
        let is_with = without.is_none();
        assert_eq!(report.exit_status(), u8::from(is_with), "{report:?}");
        assert_eq!(report.jitter_file.is_some(), is_with, "{report:?}");
        let first = report.first.as_ref().unwrap();
        assert!(first.function.as_deref().unwrap().ends_with("RAND_bytes"), "{report:?}");
        let fix = report.fixes.first().and_then(|fix| fix.exact.as_deref());
        let expected = is_with.then_some("AWS_LC_SYS_NO_JITTER_ENTROPY=1 cargo build --release");
        assert_eq!(fix, expected, "{report:?}");
    }
}
