//! `headwater clones`, as a user calls it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// A directory that is removed with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("clones-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        Folder(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn clones(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.arg("clones").args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the draws of a copy, with the values of two sources.
fn draws(planting: &str, rand: &str, urandom: &str) -> String {
    format!(
        r#"{{"schema": "headwater.clones-draw/1", "planting": "{planting}", "kernel_ms": 1,
        "total_ms": 2, "witnesses": [{{"name": "libc", "title": "glibc", "error": null,
        "reseeds": [], "skipped": [], "rows": [
        {{"id": "libc/rand", "values": ["{rand}"], "ms": []}},
        {{"id": "kernel/dev-urandom", "values": ["{urandom}"], "ms": []}}]}}]}}"#
    )
}

#[test]
fn files_of_copies_are_compared() {
    let folder = Folder::new("compare");
    let one = folder.write("1.json", &draws("p", "a", "b"));
    let two = folder.write("2.json", &draws("p", "a", "c"));
    let other = folder.write("3.json", &draws("q", "a", "d"));
    let unlike = folder.write("4.json", &draws("p", "x", "e"));
    let noise = folder.write("5.json", "no document");

    let output = clones(&["compare", &one, &two, "--processes", "--all"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 1, "{text}");
    assert!(text.starts_with("1 of 2 sources repeat in 2 copied processes"), "{text}");
    assert!(text.contains("libc/rand  1/1 in 2    Call srand()"), "{text}");
    assert!(text.contains("differs\n  kernel/dev-urandom\n"), "{text}");

    let output = clones(&["compare", &one, &unlike, "--processes"]);
    assert_eq!(status(&output), 0);
    // Different values of a kernel prove nothing if it was copied too.
    let output = clones(&["compare", &one, &unlike, "--all"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("not shown\n  kernel/dev-urandom"), "{text}");

    let (html, junit) = (folder.path("r.html"), folder.path("r.xml"));
    let output = clones(&[
        "compare",
        &one,
        &two,
        "--processes",
        "--json",
        "--html",
        &html,
        "--junit",
        &junit,
    ]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "headwater.clones/1");
    assert_eq!((&document["repeats"], &document["differs"]), (&1.into(), &1.into()));
    let junit = fs::read_to_string(junit).unwrap();
    assert!(junit.contains(r#"tests="2" failures="1""#), "{junit}");
    assert!(junit.contains(r#"<testcase classname="libc" name="rand">"#), "{junit}");
    assert!(fs::read_to_string(html).unwrap().contains("libc/rand"));

    for (wrong, expected) in [(&other, "plant once"), (&noise, "is not what `clones draw` prints")]
    {
        let output = clones(&["compare", &one, wrong]);
        assert_eq!(status(&output), 3);
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
    assert_eq!(status(&clones(&["compare", &one])), 2, "one file");
    let output = clones(&["compare", &one, &folder.path("../").replace("../", "./1.json")]);
    assert_eq!(status(&output), 2, "one file by two names: {}", said(&output));
    assert!(said(&output).contains("named twice"), "{}", said(&output));
    assert_eq!(status(&clones(&["compare", &one, &folder.path("absent")])), 3);
}

/// A tool of the user's, here sh, that makes copies and runs commands in them.
#[test]
fn any_tool_is_driven_by_its_lines() {
    let folder = Folder::new("driven");
    for (name, rand) in [("1", "a"), ("2", "a"), ("3", "b")] {
        folder.write(name, &draws("p", rand, name));
    }
    let log = folder.path("log");
    let exec = format!("echo exec {{copy}} {{command}} >> {log}; echo hello; cat {{copy}} || true");
    let exec = format!("cd {}; touch template; {exec}", folder.path("."));
    let line = |what: &str| format!("echo {what} {{copy}} $HEADWATER_COPY >> {log}");
    let (template, snapshot) = (line("template"), line("snapshot"));
    let (spawn, stop) = (line("spawn"), line("stop"));
    let output = clones(&[
        "check",
        "--template",
        &template,
        "--snapshot",
        &snapshot,
        "--spawn",
        &spawn,
        "--exec",
        &exec,
        "--stop",
        &stop,
        "--inside",
        "/opt/hw",
        "--only",
        "libc",
        "--processes",
    ]);
    assert_eq!(status(&output), 1, "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("libc/rand  1/1 in 2"), "{text}");
    let log = fs::read_to_string(&log).unwrap();
    let expected = "\
template template template
exec template /opt/hw clones plant --only libc
snapshot template template
spawn 1 1
exec 1 /opt/hw clones draw
stop 1 1
spawn 2 2
exec 2 /opt/hw clones draw
stop 2 2
spawn 3 3
exec 3 /opt/hw clones draw
stop 3 3
stop template template
";
    assert_eq!(log, expected);
}

#[test]
fn a_line_that_fails_hangs_or_answers_nonsense_is_named_and_copies_are_stopped() {
    let folder = Folder::new("lines");
    let stopped = folder.path("stopped");
    let stop = format!("echo {{copy}} >> {stopped}");
    let check = |spawn: &str, exec: &str| {
        clones(&[
            "check",
            "--planted",
            "--spawn",
            spawn,
            "--exec",
            exec,
            "--stop",
            &stop,
            "--timeout",
            "2",
        ])
    };
    let output = check("true", "echo hello # {command}");
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("copy 1 printed no draws: hello"), "{}", said(&output));
    assert_eq!(fs::read_to_string(&stopped).unwrap(), "1\ntemplate\n");

    let output = check("exit 9", "{command}");
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("copy 1 was not made: `exit 9` failed"), "{}", said(&output));

    let output = check("true", "sleep 100; {command}");
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("did not end in 2 s"), "{}", said(&output));

    let output = check("true", "ssh copy{copy}");
    assert_eq!(status(&output), 2);
    assert!(said(&output).contains("lacks {command}"), "{}", said(&output));

    let output = clones(&["check", "--only", "cobol"]);
    assert_eq!(status(&output), 2);
    assert!(said(&output).contains("no witness is called 'cobol'"), "{}", said(&output));
    assert_eq!(status(&clones(&["check", "--exec", "x"])), 2, "--exec without --spawn");
    assert_eq!(status(&clones(&["check", "--copies", "1"])), 2, "one copy");
    let output = clones(&["check", "--html", "/no/such/page.html"]);
    assert_eq!(status(&output), 2, "before anything is made");
}

/// Returns how many witnesses of a directory run. A witness may have a child for a moment, which
/// inherits its variables and is none.
fn witnesses(directory: &str) -> usize {
    let variable = format!("HEADWATER_WITNESS_DIR={directory}/");
    let of = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("environ")).ok();
    let environments = fs::read_dir("/proc").unwrap().flatten().filter_map(of);
    let own = environments.filter_map(|text| {
        text.split('\0').find(|entry| entry.starts_with(&variable)).map(str::to_owned)
    });
    own.collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn witnesses_are_planted_draw_once_and_end() {
    let folder = Folder::new("plant");
    let directory = folder.path("garden");
    let plant = || clones(&["plant", "--only", "kernel,libc,rust,bash", "--dir", &directory]);
    let output = plant();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 0, "{}", said(&output));
    assert!(text.contains("libc") && text.contains("warm: "), "{text}");
    assert_eq!(witnesses(&directory), 4);
    assert_eq!(status(&plant()), 3, "a directory that is there may be another user's");

    let output = clones(&["draw", "--dir", &directory]);
    assert_eq!(status(&output), 0, "{}", said(&output));
    let draws: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = draws["witnesses"].as_array().unwrap().iter();
    let rows: Vec<_> = rows.flat_map(|witness| witness["rows"].as_array().unwrap()).collect();
    assert!(rows.len() >= 12, "{draws}");
    for row in rows {
        let values = row["values"].as_array().unwrap();
        assert!([1, 8].contains(&values.len()), "{row}");
        assert!(values.iter().all(|value| value.as_str().unwrap().len() == 16), "{row}");
    }
    let output = clones(&["draw", "--dir", &directory]);
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("draws once"), "{}", said(&output));
    assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 0);

    // Witnesses that never drew end as well once their directory is gone.
    assert_eq!(status(&plant()), 0);
    assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 0);
    let begun = Instant::now();
    while witnesses(&directory) > 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "witnesses are left");
        std::thread::sleep(Duration::from_millis(20));
    }
    // A directory without a planting is not removed.
    fs::create_dir(&directory).unwrap();
    fs::write(Path::new(&directory).join("thesis"), "years").unwrap();
    assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 3);
    assert!(Path::new(&directory).join("thesis").exists());
    assert_eq!(status(&clones(&["draw", "--dir", &directory])), 3, "nothing is planted");
}

/// Runs `clones repair` with these bytes on standard input.
fn repair(entropy: &[u8], arguments: &[&str], preload: Option<&str>) -> Output {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let folder = Folder::new(&format!("entropy-{}", CALLS.fetch_add(1, Relaxed)));
    let file = folder.path("entropy");
    fs::write(&file, entropy).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.args(["clones", "repair", "--entropy-fd", "0"]);
    if !arguments.contains(&"--hooks") {
        // The hooks of this machine are none of the test's business.
        let none = folder.path("hooks");
        fs::create_dir(&none).unwrap();
        command.args(["--hooks", &none]);
    }
    command.args(arguments);
    command.stdin(fs::File::open(&file).unwrap());
    if let Some(library) = preload {
        command.env("LD_PRELOAD", library);
    }
    command.output().unwrap()
}

fn random() -> Vec<u8> {
    headwater::array::<64>().unwrap().to_vec()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn entropy_that_cannot_be_random_is_refused() {
    let output = clones(&["repair"]);
    assert_eq!(status(&output), 2);
    assert!(said(&output).contains("--entropy-fd"), "{}", said(&output));
    for (bytes, expected) in [
        (random()[..31].to_vec(), "31 bytes of entropy"),
        (vec![], "0 bytes of entropy"),
        (vec![0; 64], "repeats itself"),
        (b"correct horse battery staple".repeat(4), "repeats itself"),
    ] {
        let output = repair(&bytes, &[], None);
        assert_eq!(status(&output), 3);
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
    let output = clones(&["repair", "--entropy-fd", "77"]);
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("descriptor 77"), "{}", said(&output));
}

#[test]
fn a_repair_is_proven_and_a_pretended_one_is_not() {
    if !is_root() {
        println!("skipped: only root may reseed the kernel; repair's proof is not shown");
        return;
    }
    let output = repair(&random(), &["--json"], None);
    if status(&output) == 3 && said(&output).contains("the kernel") {
        println!("skipped: {}; repair's proof is not shown", said(&output).trim());
        return;
    }
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    if document["proof"] == "calls" {
        println!("skipped: this kernel shows no reseed generation; repair's proof is not shown");
        return;
    }
    assert_eq!((status(&output), &document["proof"]), (0, &"generation".into()), "{document}");
    let [before, after] = [0, 1].map(|at| document["generations"][at].as_u64().unwrap());
    assert!(after >= before + 2, "{document}");

    // The gate opens after a repair, and stays shut if a step fails.
    let output = repair(&random(), &["--gate", "--", "echo", "through"], None);
    assert_eq!((status(&output), &*output.stdout), (0, &b"through\n"[..]));
    let output =
        repair(&random(), &["--hooks", "/nowhere", "--gate", "--", "echo", "through"], None);
    assert_eq!(status(&output), 1);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("through"));

    // A sandbox that accepts the calls and ignores them.
    let folder = Folder::new("ioctl");
    let source = folder.write(
        "ioctl.c",
        "int ioctl(int fd, unsigned long request, ...) { (void)fd; (void)request; return 0; }\n",
    );
    let library = folder.path("ioctl.so");
    let mut cc = Command::new("cc");
    let built = cc.args(["-shared", "-fPIC", "-o", &library, &source]).status();
    if !built.is_ok_and(|status| status.success()) {
        println!("skipped: no C compiler; a kernel that only pretends is not shown to be found");
        return;
    }
    for _ in 0..20 {
        let output = repair(&random(), &["--gate", "--", "echo", "through"], Some(&library));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(status(&output), 1, "{text}");
        assert!(text.starts_with("not repaired") && !text.contains("through"), "{text}");
    }
}

#[test]
fn a_repair_without_the_right_to_it_changes_nothing() {
    if !is_root() {
        let output = repair(&random(), &[], None);
        assert_eq!(status(&output), 3);
        assert!(said(&output).contains("run this as root"), "{}", said(&output));
        return;
    }
    // The same right, given up.
    let folder = Folder::new("right");
    let file = folder.path("entropy");
    fs::write(&file, random()).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-sys_admin", env!("CARGO_BIN_EXE_headwater")]);
    command.args(["clones", "repair", "--entropy-fd", "0", "--machine-id"]);
    command.stdin(fs::File::open(&file).unwrap());
    let Ok(output) = command.output() else {
        println!("skipped: no setpriv; a repair without the right to it is not shown to fail");
        return;
    };
    assert_eq!(status(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("run this as root"), "{}", said(&output));
}

/// Starts a watcher, and waits until it says that it watches.
fn watcher(page: &str) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    let pipes = (Stdio::null(), Stdio::piped());
    command.args(["clones", "watch", "--page", page]).stdin(pipes.0).stderr(pipes.1);
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    assert!(line.contains("counts copies, by"), "{line}");
    child
}

/// Returns the thread that keeps the page, as the kernel left it, and the count.
fn kept(page: &str) -> (u32, u64) {
    let bytes = fs::read(page).unwrap();
    assert_eq!((bytes.len(), &bytes[..8]), (64, &b"hwcopies"[..]));
    let number = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
    (u32::from_ne_bytes(bytes[16..20].try_into().unwrap()), number(24))
}

#[test]
fn a_watcher_that_is_killed_shows_as_dead_and_the_next_one_counts() {
    let folder = Folder::new("watch");
    let page = folder.path("run/copies");
    for count in 1..4 {
        let mut child = watcher(&page);
        assert_eq!(kept(&page), (child.id(), count));
        let second = clones(&["watch", "--page", &page]);
        assert_eq!(status(&second), 3, "{}", said(&second));
        let owner = format!("process {}", child.id());
        assert!(said(&second).contains(&owner), "{}", said(&second));
        // SIGKILL, which no handler sees: the kernel itself marks the word (FUTEX_OWNER_DIED).
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(kept(&page), (0x4000_0000, count));
    }
}

#[test]
fn a_file_that_is_no_page_stays_as_it_is() {
    let folder = Folder::new("watch-no-page");
    let cases = [("empty", ""), ("short", "hwcopies"), ("text", &"text ".repeat(20))];
    for (name, content) in cases {
        let page = folder.write(name, content);
        let output = clones(&["watch", "--page", &page]);
        assert_eq!(status(&output), 3, "{name}");
        assert!(said(&output).contains("no page of a watcher"), "{name}: {}", said(&output));
        assert_eq!(fs::read_to_string(&page).unwrap(), content);
    }
    let output = clones(&["watch", "--page", "/proc/headwater/copies"]);
    assert_eq!(status(&output), 3, "{}", said(&output));
}

/// A reader must not take "no repeat" from copies of which nothing is known.
#[test]
fn a_comparison_without_a_verdict_is_no_success() {
    let folder = Folder::new("nothing");
    let draws = |name: &str, error: &str, rows: &str| {
        let text = format!(
            r#"{{"schema": "headwater.clones-draw/1", "planting": "p", "kernel_ms": 1,
            "total_ms": 2, "witnesses": [{{"name": "libc", "title": "glibc", "error": {error},
            "reseeds": [], "skipped": [], "rows": [{rows}]}}]}}"#
        );
        folder.write(name, &text)
    };
    let failed = r#""CRIU cannot dump it""#;
    let empty = r#"{"id": "libc/rand", "values": [], "ms": []}"#;
    for (number, (error, rows)) in [(failed, ""), ("null", ""), ("null", empty)].iter().enumerate()
    {
        let one = draws(&format!("{number}-1"), error, rows);
        let two = draws(&format!("{number}-2"), error, rows);
        let junit = folder.path("r.xml");
        let output = clones(&["compare", &one, &two, "--junit", &junit]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(status(&output), 3, "{text}");
        assert!(text.starts_with("Nothing is shown of 2 copied machines"), "{text}");
        assert!(said(&output).contains("no source was shown"), "{}", said(&output));
        let junit = fs::read_to_string(junit).unwrap();
        let is_skipped = junit.contains("<skipped message=");
        assert!(is_skipped || (*error, *rows) == ("null", ""), "{junit}");
    }
}

#[test]
fn files_of_a_hostile_copy_are_refused_or_shown_as_text() {
    let folder = Folder::new("hostile");
    let good = folder.write("good", &draws("p", "a", "b"));
    let escape = r"\u001b[2J\u001b[HNo source repeats\u202e";
    let bad = folder.write("escape", &draws("p", "a", "b").replace("glibc", escape));
    let output = clones(&["compare", &good, &bad, "--all"]);
    assert_eq!(status(&output), 1);
    assert!(!output.stdout.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stdout));
    let output = clones(&["compare", &good, &folder.write("name", &draws(escape, "a", "b"))]);
    assert_eq!(status(&output), 3);
    assert!(!output.stderr.contains(&0x1b), "{}", said(&output));

    for (name, text) in [
        ("deep", "[".repeat(1 << 20)),
        ("deeper", r#"{"schema":"#.repeat(100_000)),
        ("cut", draws("p", "a", "b")[..200].to_owned()),
        ("numbers", draws("p", "a", "b").replace("\"total_ms\": 2", "\"total_ms\": -2e400")),
        ("none", String::new()),
    ] {
        let output = clones(&["compare", &good, &folder.write(name, &text)]);
        assert_eq!(status(&output), 3, "{name}: {}", said(&output));
        assert!(said(&output).contains("is not what `clones draw` prints"), "{}", said(&output));
    }
    let endless = folder.path("endless");
    fs::File::create(&endless).unwrap().set_len(1 << 36).unwrap();
    let output = clones(&["compare", &good, &endless]);
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("larger than 64 MiB"), "{}", said(&output));
}

#[test]
fn times_that_no_clock_can_hold_are_a_wrong_command_line() {
    for arguments in [
        ["draw", "--seconds", "18446744073709551615"].as_slice(),
        &["check", "--spawn", "true", "--exec", "{command}", "--timeout", "18446744073709551615"],
        &["check", "--spawn", "true", "--exec", "{command}", "--timeout", "0"],
        // Two shells stand between this name and the copy.
        &["check", "--spawn", "true", "--exec", "{command}", "--dir", "/run/a;reboot"],
        &["check", "--spawn", "true", "--exec", "{command}", "--dir", "/run/my files"],
    ] {
        let output = clones(arguments);
        assert_eq!(status(&output), 2, "{arguments:?}: {}", said(&output));
    }
}

/// Sends a signal to a command once a file is there, and returns what it said.
fn signalled(mut command: Command, signal: &str, file: &str) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    let begun = Instant::now();
    while !Path::new(file).exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{file} was not made");
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    child.wait_with_output().unwrap()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.arg("clones").args(arguments);
    command
}

#[test]
fn a_signal_stops_copies_and_removes_the_planting() {
    let folder = Folder::new("signal");
    for (number, signal) in ["-INT", "-TERM", "-HUP"].iter().enumerate() {
        let (log, begun) =
            (folder.path(&format!("log{number}")), folder.path(&format!("b{number}")));
        let stop = format!("echo stop {{copy}} >> {log}");
        let exec =
            format!("echo $$ > {begun}.part; mv {begun}.part {begun}; sleep 1000; {{command}}");
        let check =
            command(&["check", "--planted", "--spawn", "true", "--exec", &exec, "--stop", &stop]);
        let output = signalled(check, signal, &begun);
        assert_eq!(status(&output), 3, "{}", said(&output));
        assert!(said(&output).contains("ended by a signal"), "{}", said(&output));
        assert_eq!(fs::read_to_string(&log).unwrap(), "stop 1\nstop template\n");
        let shell = fs::read_to_string(&begun).unwrap();
        let shell = Path::new("/proc").join(shell.trim());
        assert!(!shell.exists(), "the line's processes are left");
    }

    // A runtime that hangs while it is warmed, beside one that is warm already.
    let bin = folder.path("bin");
    fs::create_dir(&bin).unwrap();
    let ruby = folder.write("bin/ruby", "#!/bin/sh\nsleep 1000 & wait\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&ruby, mode).unwrap();
    let directory = folder.path("garden");
    for verb in ["plant", "check"] {
        if verb == "check" && !can_check() {
            println!(
                "skipped: no CRIU or no root; that a signal ends a check by CRIU is not shown"
            );
            continue;
        }
        let mut plant = command(&[verb, "--only", "bash,ruby", "--dir", &directory]);
        plant.env("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap()));
        let output = signalled(plant, "-TERM", &format!("{directory}/bash/ready"));
        assert_eq!(status(&output), 3, "{}", said(&output));
        assert!(!Path::new(&directory).exists(), "the planting is left");
        let begun = Instant::now();
        while witnesses(&directory) > 0 {
            assert!(begun.elapsed() < Duration::from_secs(30), "witnesses are left");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Returns whether CRIU can be asked for copies here.
fn can_check() -> bool {
    let output = clones(&["check", "--only", "bash", "--copies", "2", "--dir", "/nowhere/x"]);
    !said(&output).contains("CRIU")
}

#[test]
fn a_copy_that_was_half_made_is_stopped() {
    let folder = Folder::new("half");
    let stopped = folder.path("stopped");
    let stop = format!("echo {{copy}} >> {stopped}");
    let check = |template: &str, spawn: &str| {
        let _ = fs::remove_file(&stopped);
        let output = clones(&[
            "check",
            "--template",
            template,
            "--planted",
            "--spawn",
            spawn,
            "--exec",
            "{command}",
            "--stop",
            &stop,
            "--timeout",
            "1",
        ]);
        assert_eq!(status(&output), 3, "{}", said(&output));
        fs::read_to_string(&stopped).unwrap_or_default()
    };
    assert_eq!(check("true", "sleep 100"), "1\ntemplate\n");
    assert_eq!(check("true", "exit 9"), "1\ntemplate\n");
    assert_eq!(check("sleep 100", "true"), "template\n");
}

#[test]
fn a_planting_is_its_users_alone() {
    let folder = Folder::new("alone");
    let directory = folder.path("garden");
    let plant = |directory: &str| clones(&["plant", "--only", "libc", "--dir", directory]);
    let output = plant(&folder.path("no/such/place"));
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("--dir names another"), "{}", said(&output));
    assert!(!said(&output).contains("uproot"), "there is nothing to remove: {}", said(&output));
    let output = plant("/proc/garden");
    assert_eq!(status(&output), 3, "a place that cannot be written: {}", said(&output));

    assert_eq!(status(&plant(&directory)), 0);
    let mode = |mode| {
        fs::set_permissions(&directory, std::os::unix::fs::PermissionsExt::from_mode(mode))
            .unwrap();
    };
    mode(0o777);
    for verb in ["draw", "uproot"] {
        let output = clones(&[verb, "--dir", &directory]);
        assert_eq!(status(&output), 3);
        assert!(said(&output).contains("others may write to it"), "{}", said(&output));
    }
    mode(0o700);
    let link = folder.path("link");
    std::os::unix::fs::symlink(&directory, &link).unwrap();
    assert_eq!(status(&clones(&["draw", "--dir", &link])), 3, "a link may be turned");
    let draws: Vec<_> = (0..4)
        .map(|_| {
            command(&["draw", "--dir", &directory])
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    let drew = draws.into_iter().map(|child| child.wait_with_output().unwrap());
    let drew = drew.filter(|output| output.status.success()).count();
    assert_eq!(drew, 1, "two draws of one copy would be equal in all");
    assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 0);
}

/// A host name or a port has few bits, and a machine-id is the same in all reports of a machine: a
/// plain hash of one could be inverted, and of the other would link them.
#[test]
fn hashes_of_two_plantings_say_nothing_of_each_other() {
    let folder = Folder::new("key");
    let drawn = |name: &str| {
        let directory = folder.path(name);
        assert_eq!(status(&clones(&["plant", "--only", "machine", "--dir", &directory])), 0);
        let output = clones(&["draw", "--dir", &directory]);
        assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 0);
        let draws: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = draws["witnesses"][0]["rows"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["id"] == "machine/boot_id").unwrap()["values"].clone()
    };
    assert_ne!(drawn("a"), drawn("b"));
}

/// make and CI runners leave pipes in their children; CRIU refuses a process with half of one.
#[test]
fn witnesses_have_no_descriptor_of_the_planters_parent() {
    let folder = Folder::new("descriptors");
    let directory = folder.path("garden");
    let mut plant = Command::new("sh");
    plant.args([
        "-c",
        "mkfifo \"$1\"; exec 7<>\"$1\"; shift; exec \"$@\"",
        "sh",
        &folder.path("fifo"),
    ]);
    plant.args([env!("CARGO_BIN_EXE_headwater"), "clones", "plant", "--only", "libc,bash"]);
    plant.args(["--dir", &directory]);
    assert!(plant.output().unwrap().status.success());
    let fifo = folder.path("fifo");
    let variable = format!("HEADWATER_WITNESS_DIR={directory}/");
    let mut seen = 0;
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let environment = fs::read_to_string(entry.path().join("environ")).unwrap_or_default();
        if !environment.split('\0').any(|one| one.starts_with(&variable)) {
            continue;
        }
        seen += 1;
        let Ok(descriptors) = fs::read_dir(entry.path().join("fd")) else { continue };
        let open = descriptors.flatten().filter_map(|one| fs::read_link(one.path()).ok());
        assert!(!open.into_iter().any(|file| file == Path::new(&fifo)), "{entry:?}");
    }
    assert!(seen >= 2);
    assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 0);
}

/// A clock that is set while a copy draws, by hours, as when a restored machine meets its time
/// server.
#[test]
fn a_clock_that_jumps_changes_nothing() {
    let folder = Folder::new("jumps");
    let source = folder.write(
        "clock.c",
        "#define _GNU_SOURCE\n#include <sys/syscall.h>\n#include <sys/time.h>\n#include <time.h>\n\
         #include <unistd.h>\n\
         static long jump(void) { static long n; return n++ % 2 ? 7200 : -7200; }\n\
         int clock_gettime(clockid_t id, struct timespec *t)\n\
         { int r = (int)syscall(SYS_clock_gettime, id, t); if (id == CLOCK_REALTIME) t->tv_sec += jump(); return r; }\n\
         int gettimeofday(struct timeval *t, void *z) { struct timespec s; (void)z;\n\
         clock_gettime(CLOCK_REALTIME, &s); t->tv_sec = s.tv_sec; t->tv_usec = s.tv_nsec / 1000; return 0; }\n\
         time_t time(time_t *t) { struct timespec s; clock_gettime(CLOCK_REALTIME, &s);\n\
         if (t) *t = s.tv_sec; return s.tv_sec; }\n",
    );
    let library = folder.path("clock.so");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o", &library, &source]).status();
    if !built.is_ok_and(|status| status.success()) {
        println!("skipped: no C compiler; a clock that jumps is not shown to change nothing");
        return;
    }
    let directory = folder.path("garden");
    let run = |arguments: &[&str]| {
        command(arguments).env("LD_PRELOAD", &library).stdin(Stdio::null()).output().unwrap()
    };
    let output = run(&["plant", "--only", "kernel,libc,bash,perl,python", "--dir", &directory]);
    assert_eq!(status(&output), 0, "{}", said(&output));
    let output = run(&["draw", "--seconds", "1", "--dir", &directory]);
    assert_eq!(status(&output), 0, "{}", said(&output));
    let draws: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for witness in draws["witnesses"].as_array().unwrap() {
        let is_absent = witness["error"].as_str().is_some_and(|why| why.contains("not installed"));
        assert!(witness["error"].is_null() || is_absent, "{witness}");
        for row in witness["rows"].as_array().unwrap() {
            assert!(row["values"].as_array().is_some_and(|values| !values.is_empty()), "{row}");
            let ms = row["ms"].as_array().unwrap().iter().map(|ms| ms.as_u64().unwrap());
            assert!(ms.max().unwrap_or(0) < 60_000, "{row}");
        }
    }
    assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 0);
}

/// Two copies that are given the same bytes both reseed, and with a random instruction their
/// kernels differ all the same; so the bytes themselves are compared.
#[test]
fn copies_that_were_given_the_same_entropy_are_found() {
    if !is_root() {
        println!(
            "skipped: only root may reseed the kernel; equal entropy is not shown to be found"
        );
        return;
    }
    let folder = Folder::new("equal");
    let original = folder.path("original");
    // No witness runs, so that copies of the directory are copies of all there is.
    let mut plant = command(&["plant", "--only", "ruby", "--dir", &original]);
    assert!(plant.env("PATH", "/nowhere").output().unwrap().status.success());
    let compare = |entropy: [&[u8]; 2]| {
        let files = [0, 1].map(|copy| {
            let directory = folder.path(&format!("copy{copy}"));
            let _ = fs::remove_dir_all(&directory);
            let copied = Command::new("cp").args(["-a", &original, &directory]).status().unwrap();
            assert!(copied.success());
            let output = repair(entropy[copy], &["--dir", &directory], None);
            let text = said(&output) + &String::from_utf8_lossy(&output.stdout);
            if text.contains("RND") || text.contains("shows no generation") {
                return Err(text);
            }
            assert_eq!(status(&output), 0, "{text}");
            let output = clones(&["draw", "--dir", &directory]);
            assert_eq!(status(&output), 0, "{}", said(&output));
            Ok(folder.write(&format!("{copy}.json"), &String::from_utf8_lossy(&output.stdout)))
        });
        let [one, two] = files;
        Ok::<_, String>(clones(&["compare", &one?, &two?, "--all"]))
    };
    let (same, other) = (random(), random());
    let output = match compare([&same, &same]) {
        Ok(output) => output,
        Err(why) => {
            println!("skipped: {why}; equal entropy is not shown to be found");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 1, "{text}");
    assert!(text.contains("repair/entropy  1/1 in 2"), "{text}");
    let output = compare([&same, &other]).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 0, "{text}");
    assert!(text.contains("differs\n  repair/entropy"), "{text}");
}

#[test]
fn programs_that_follow_a_repair_do_not_have_its_entropy() {
    if !is_root() {
        println!("skipped: only root may reseed the kernel; that entropy is closed is not shown");
        return;
    }
    let folder = Folder::new("closed");
    let entropy: Vec<u8> = (0..20).flat_map(|_| random()).collect();
    let file = folder.path("entropy");
    fs::write(&file, &entropy).unwrap();
    let gate = "--hooks \"$3\" --gate -- sh -c 'cat; cat <&3'";
    for script in [
        format!("exec \"$1\" clones repair --entropy-fd 0 {gate} < \"$2\" 3</dev/null"),
        format!("exec \"$1\" clones repair --entropy-fd 3 {gate} 3< \"$2\" </dev/null"),
        format!("cat \"$2\" | \"$1\" clones repair --entropy-fd 0 {gate} 3</dev/null"),
    ] {
        let hooks = folder.path("hooks");
        let _ = fs::create_dir(&hooks);
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_headwater"), &file, &hooks]);
        let output = shell.output().unwrap();
        assert!(output.stdout.is_empty(), "{script}: {} bytes of entropy", output.stdout.len());
        let text = said(&output);
        if text.contains("RNDADDENTROPY") || text.contains("RNDRESEEDCRNG") {
            println!("skipped: {text}; that entropy is closed is not shown");
            return;
        }
    }
    for descriptor in ["1", "2"] {
        assert_eq!(status(&clones(&["repair", "--entropy-fd", descriptor])), 2);
    }
}

/// The action's script, run as its runner does, with a sudo that notes what it is asked for.
#[test]
fn the_action_runs_as_a_shell_and_reads_no_argument_as_script() {
    let folder = Folder::new("action");
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../boot/packaging/github/clones/action.yml");
    let text = fs::read_to_string(file).unwrap();
    let (before, script) = text.split_once("      run: |\n").unwrap();
    assert!(!script.contains("${{"), "an expression in the script is read as script");
    let script = script.replace("\n        ", "\n");
    fs::create_dir(folder.path("bin")).unwrap();
    let log = folder.path("log");
    let sudo = folder.write(
        "bin/sudo",
        &format!("#!/bin/sh\nfor word; do printf '[%s]' \"$word\"; done >> {log}\necho >> {log}\n"),
    );
    fs::set_permissions(&sudo, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path("bin"), std::env::var("PATH").unwrap());
    let own = env!("CARGO_BIN_EXE_headwater");
    let run = |arguments: &str, command: &str| {
        let _ = fs::remove_file(&log);
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script.trim_start()]);
        bash.env("PATH", &path).env("ARGUMENTS", arguments).env("COMMAND", command);
        let output = bash.env("REPORT", "r.xml").current_dir(&folder.0).output().unwrap();
        (status(&output), fs::read_to_string(&log).unwrap_or_default(), said(&output))
    };
    let check = format!("[--preserve-env=PATH][{own}][clones][check][--junit=r.xml]");
    let setup = format!("[{own}][lab][setup][--only][criu]\n");
    for (arguments, words) in [
        ("--short", "[--short]"),
        ("--only python,node --copies 5", "[--only][python,node][--copies][5]"),
        ("--short\n--copies 5\n", "[--short][--copies][5]"),
        ("", ""),
        ("$(touch x) `touch x` ; touch x", "[$(touch][x)][`touch][x`][;][touch][x]"),
    ] {
        let (code, log, said) = run(arguments, own);
        assert_eq!((code, log), (0, format!("{setup}{check}{words}\n")), "{said}");
    }
    assert!(!Path::new(&folder.path("x")).exists());
    let (code, log, said) = run("--short", "no-such-headwater");
    assert_eq!((code, &*log), (2, ""), "{said}");
    assert!(said.contains("::error::there is no command"), "{said}");
    // Defaults that the description names exist.
    assert!(before.contains("default: --short"), "{before}");
}

/// Runs the command in a mount namespace where /run can only be read. Returns None where this
/// user, or a container, may not make one.
fn with_run_read_only(arguments: &[&str]) -> Option<Output> {
    let mut unshare = Command::new("unshare");
    let script = "mount -t tmpfs -o ro none /run || exit 77; exec \"$@\"";
    unshare.args(["--mount", "sh", "-c", script, "sh"]);
    unshare.args([env!("CARGO_BIN_EXE_headwater"), "clones"]).args(arguments);
    let output = unshare.stdin(Stdio::null()).output().ok()?;
    let is_refused = said(&output).contains("unshare") || output.status.code() == Some(77);
    (is_root() && !is_refused).then_some(output)
}

/// A lab locks its cache, and a check that asked for the same lock took the machine for one without
/// CRIU. The loader here is `false`, so the answer shows that it was found.
#[test]
fn a_check_finds_criu_while_a_lab_runs() {
    let folder = Folder::new("locked");
    let tree = folder.path("headwater/lab/criu/usr");
    for directory in ["sbin", "lib64", "lib"] {
        fs::create_dir_all(format!("{tree}/{directory}")).unwrap();
    }
    fs::write(format!("{tree}/sbin/criu"), "").unwrap();
    for loader in ["lib64/ld-linux-x86-64.so.2", "lib/ld-linux-aarch64.so.1"] {
        std::os::unix::fs::symlink("/bin/false", format!("{tree}/{loader}")).unwrap();
    }
    fs::write(folder.path("headwater/lab/criu/complete"), "").unwrap();
    let lock = fs::File::create(folder.path("headwater/lab/lock")).unwrap();
    lock.lock().unwrap();
    let mut check = command(&["check", "--only", "libc", "--dir", "/nowhere/x"]);
    let output = check.env("XDG_CACHE_HOME", folder.path("")).output().unwrap();
    let expected = if is_root() { "CRIU does not run" } else { "as root" };
    assert!(said(&output).contains(expected), "{}", said(&output));
}

#[test]
fn a_run_that_cannot_be_written_is_named() {
    let Some(output) = with_run_read_only(&["watch"]) else {
        println!("skipped: no right to mount; that /run may be read-only is not shown");
        return;
    };
    assert_eq!(status(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("/run/headwater"), "{}", said(&output));
    assert!(said(&output).contains("Read-only file system"), "{}", said(&output));
    let plant = ["plant", "--only", "libc"].as_slice();
    let verbs = match can_check() {
        true => vec![plant, &["check", "--only", "libc"]],
        false => {
            println!("skipped: no CRIU; that a check names a /run that is read-only is not shown");
            vec![plant]
        }
    };
    for verb in verbs {
        let output = with_run_read_only(verb).unwrap();
        assert_eq!(status(&output), 3, "{verb:?}: {}", said(&output));
        assert!(said(&output).contains("--dir names another"), "{}", said(&output));
    }
}

#[test]
fn a_check_says_what_it_lacks() {
    // A runtime that is not there is named, and the rest is planted.
    let folder = Folder::new("lacks");
    let directory = folder.path("garden");
    let bin = folder.path("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("/usr/bin/setsid", format!("{bin}/setsid")).unwrap();
    let mut plant = command(&["plant", "--only", "libc,ruby,java", "--dir", &directory]);
    let output = plant.env("PATH", &bin).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 0, "{}", said(&output));
    assert!(text.contains("ruby is not installed") && text.contains("warm: "), "{text}");
    assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 0);

    if !is_root() {
        let output = clones(&["check", "--only", "libc"]);
        assert_eq!(status(&output), 3);
        assert!(said(&output).contains("run this as root"), "{}", said(&output));
        return;
    }
    let output = clones(&["check", "--only", "libc", "--criu", "/nowhere/criu"]);
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("lab setup --only criu"), "{}", said(&output));
    // A file that runs, and is no CRIU.
    let directory = folder.path("none");
    let output = clones(&["check", "--only", "libc", "--criu", "false", "--dir", &directory]);
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("CRIU does not run"), "{}", said(&output));
    assert!(!Path::new(&directory).exists(), "nothing is planted before CRIU was found");

    let mut ordinary = Command::new("setpriv");
    ordinary.args(["--reuid=65534", "--clear-groups", env!("CARGO_BIN_EXE_headwater")]);
    let output = ordinary.args(["clones", "check", "--only", "libc"]).output();
    let Some(output) = output.ok().filter(|output| !said(output).contains("setpriv")) else {
        println!("skipped: no setpriv; a check without root is not shown to be refused");
        return;
    };
    assert_eq!(status(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("run this as root"), "{}", said(&output));
}

/// Programs that start and end are no copies of a machine. The record has 10,000 forks.
#[test]
fn a_watcher_counts_no_program_that_starts() {
    let folder = Folder::new("watch-forks");
    let page = folder.path("copies");
    let mut child = watcher(&page);
    let before = kept(&page);
    for _ in 0..200 {
        let ended = Command::new(env!("CARGO_BIN_EXE_headwater")).arg("--version").output();
        assert!(ended.unwrap().status.success());
    }
    assert_eq!(kept(&page), before);
    child.kill().unwrap();
    child.wait().unwrap();
}
