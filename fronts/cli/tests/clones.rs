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
        "reseeds": [null, null], "skipped": [], "rows": [
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
