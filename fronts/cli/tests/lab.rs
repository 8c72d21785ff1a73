//! `headwater lab` without a guest: what it refuses, and what it lacks.

mod command;

use command::{headwater, misused, text};
use snapbox::str;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A guest has no libraries, no loader and no shell: a file is refused before a guest is started.
#[test]
fn the_lab_runs_static_programs_only() {
    let directory = std::env::temp_dir().join(format!("headwater-cli-run-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let at = directory.to_str().unwrap();
    let script = directory.join("script");
    std::fs::write(&script, "#!/bin/sh\n").unwrap();
    let script = script.to_str().unwrap();
    let own = env!("CARGO_BIN_EXE_headwater");
    let refused = |arguments: &[&str], why: &str| {
        let run = [&["lab", "run", "--cache", at], arguments].concat();
        let done = headwater(&run).assert().code(125).stdout_eq(str![""]);
        let words = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        assert!(words.starts_with("headwater: ") && words.contains(why), "{words}");
    };
    refused(&[script], "is not a 64-bit ELF program, and a guest has no shell");
    refused(&[own], "is linked dynamically, and a guest has no libraries; link it statically");
    refused(&["/nowhere"], "/nowhere is not a file that exists");
    refused(&[at], "is not a file that exists");
    refused(&["--file", script, script], "two files have the name script");
    // A file of holes: only its length counts.
    let large = directory.join("large");
    std::fs::File::create(&large).unwrap().set_len(5 << 30).unwrap();
    let large = large.to_str().unwrap();
    refused(&["--file", large, script], "take 5120 MiB, and the machine has 1024 MiB of memory");
    std::fs::remove_dir_all(&directory).unwrap();
    misused(&["lab", "run"]);
    misused(&["lab", "run", "--env", "=1", script]);
    misused(&["lab", "run", "--env", "NAME", script]);
    misused(&["lab", "run", "--cpus", "0", script]);
    misused(&["lab", "run", "--memory", "64", script]);
    misused(&["lab", "run", "--limit", "0", script]);
}

/// The lab's own crate and `cargo xtask test` boot kernels; this test checks its messages.
#[test]
fn the_lab_says_what_it_lacks() {
    let missing = "headwater: a command is missing; see 'headwater lab --help'\n";
    misused(&["lab"]).stderr_eq(missing);
    for (line, verb) in [
        (&["lab", "boot", "--rng", "dice"][..], "lab boot"),
        (&["lab", "--cache", "/x", "boot", "--rng", "dice"], "lab boot"),
        (&["lab", "--cache", "boot"], "lab"),
    ] {
        let refused = misused(line);
        let words = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(words.ends_with(&format!("; see 'headwater {verb} --help'\n")), "{words}");
    }
    misused(&["lab", "boot", "--matrix", "--rng", "virtio"]);
    misused(&["lab", "clone", "--mode", "fast"]);
    misused(&["lab", "setup", "--only", "2.6"]);
    misused(&["lab", "boot", "--matrix", "--kernel", "4.19"]);
    misused(&["lab", "clone", "--table", "--only", "nothing"]);
    misused(&["lab", "clone", "--watch", "1"]);
    // Before a guest, whose report would be lost after minutes.
    misused(&["lab", "boot", "--html", "/nowhere/page.html"]);
    let done = headwater(&["lab", "boot", "--record", "/etc"]).assert().code(3);
    let words = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(words.contains("/etc is not empty; name a new directory"), "{words}");
    assert!(text(&["lab", "--help"]).contains("3 could not be done"));
    let place = Place::new("lacks");
    fails(
        &["boot", "--kernel", "6.12", "--cache", &place.cache()],
        &["headwater: neither QEMU nor kernel 6.12 is in ", "; run `headwater lab setup`\n"],
    );
    fails(&["boot", "--cache", &place.at("typo")], &["there is no cache", "typo; run"]);
    assert!(!place.0.join("typo").exists());
}

#[test]
fn options_that_a_table_would_ignore_are_refused() {
    for [verb, table, rest @ ..] in [
        ["boot", "--matrix", "--json", ""],
        ["boot", "--matrix", "--html", "page.html"],
        ["boot", "--matrix", "--limit", "5"],
        ["clone", "--table", "--json", ""],
        ["clone", "--table", "--count", "5"],
        ["clone", "--table", "--after", "3"],
    ] {
        let rest = rest.into_iter().filter(|word| !word.is_empty());
        // Without a cache, so that a test which fails boots nothing.
        misused(
            &["lab", "--cache", "/nowhere", verb, table]
                .into_iter()
                .chain(rest)
                .collect::<Vec<_>>(),
        );
    }
    // No row is of both.
    misused(&[
        "lab",
        "--cache",
        "/nowhere",
        "clone",
        "--table",
        "--only",
        "none-5.10",
        "--kernel",
        "7",
    ]);
    misused(&[
        "lab", "--cache", "/nowhere", "clone", "--table", "--only", "race", "--arch", "aarch64",
    ]);
    misused(&["lab", "--cache", "/nowhere", "clone", "--mode", "auto,auto"]);
    for seconds in ["--after=-1", "--after=NaN", "--after=1e300", "--after=inf"] {
        misused(&["lab", "--cache", "/nowhere", "clone", seconds]);
    }
}

/// A table without rows was a success once, of which the record said that everything held.
#[test]
fn a_table_of_which_no_row_ran_is_no_success() {
    let place = Place::new("empty");
    let (cache, out) = (place.cache(), place.at("out"));
    let nothing = ["headwater: nothing ran: no kernel"];
    fails(&["boot", "--matrix", "--cache", &cache], &nothing);
    fails(&["clone", "--table", "--cache", &cache], &nothing);
    fails(&["all", "--short", "--out", &out, "--cache", &cache], &nothing);
    let found = fs::read_to_string(place.0.join("out/findings.txt")).unwrap();
    assert!(found.starts_with("Nothing ran. ") && !found.contains("held"), "{found}");
    for more in [[].as_slice(), &["--json"], &["--forgetful"]] {
        fails(&[&["sections", "--cache", &cache], more].concat(), &nothing);
    }
    // A kernel without QEMU.
    place.kernel();
    fails(&["boot", "--matrix", "--kernel", "6.12", "--cache", &cache], &["no QEMU for x86_64"]);
    fails(&["clone", "--table", "--only", "none-6.12", "--cache", &cache], &["no QEMU for x86_64"]);
    fs::write(place.0.join("cache/manifest.json"), "{\"schema\":").unwrap();
    for verb in [["boot", "--matrix"].as_slice(), &["boot"], &["sections"]] {
        fails(&[verb, &["--cache", &cache]].concat(), &["manifest.json is damaged; remove it"]);
    }
}

/// Nothing is started for a file that is no kernel, or no program of a guest.
#[test]
fn a_file_that_is_not_what_it_is_given_for_is_refused_before_a_guest() {
    let place = Place::new("files");
    place.tools("exit 1");
    let (cache, text) = (place.cache(), place.file("text", b"a text"));
    let image = place.file("image", &image());
    let truncated = place.file("truncated", &image_of_half());
    for verb in ["boot", "clone", "sections"] {
        let of = |kernel| ["--cache", &cache, verb, "--kernel", kernel].map(str::to_owned);
        let fails_on = |kernel, why| fails(&of(kernel).each_ref().map(String::as_str), &[why]);
        fails_on(&text, "text is not a kernel image");
        fails_on(&truncated, "truncated is truncated: it has");
        fails_on(&cache, "is a directory");
    }
    for [kernel, why] in
        [["missing", "neither a series"], ["/tmp", "/tmp is a directory"], [&text, "is not"]]
    {
        let words = fails(&["kernel", kernel, "--cache", &cache], &[why]);
        assert!(!words.contains("stressing"), "{words}");
    }
    misused(&["lab", "boot", "--arch", "aarch64", "--kernel", &image]);
    for verb in [&["boot"][..], &["clone"], &["boot", "--matrix"], &["clone", "--table"]] {
        misused(&[&["lab"], verb, &["--arch", "x86_64", "--kernel", "arm64"]].concat());
    }
    let guest = ["boot", "--kernel", &image, "--guest", &text, "--cache", &cache];
    fails(&guest, &["not a guest program", "is not a 64-bit ELF program"]);
    // Before the boot, as for --html.
    let nowhere = ["boot", "--record", "/nowhere/d/x.host", "--cache", &cache];
    fails(&nowhere, &["cannot write /nowhere/d/x.host"]);
}

/// Nothing in a part of a recording shows that its end is missing.
#[test]
fn a_recording_that_cannot_be_written_is_not_left_in_part() {
    let place = Place::new("record");
    fs::create_dir(place.0.join("there")).unwrap();
    for name in ["x.host", "new", "there"] {
        let path = place.0.join(name);
        // Files of at most 512 or 1024 bytes, as on a full disk.
        let done = Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" lab record \"$1\""])
            .arg(env!("CARGO_BIN_EXE_headwater"))
            .arg(&path)
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(3), "{done:?}");
        assert_eq!(path.is_dir(), name == "there");
    }
    assert!(names(&place.0.join("there")).is_empty());
    assert_eq!(names(&place.0), ["cache", "there"]);
    assert!(
        headwater(&["lab", "record", &place.at("x.host")])
            .assert()
            .success()
            .get_output()
            .stdout
            .is_empty()
    );
    assert_eq!(names(&place.0), ["cache", "there", "x.host"]);
}

/// A program in QEMU's place that never answers, so that the lab waits for it.
#[test]
fn an_ended_lab_leaves_nothing() {
    let place = Place::new("left");
    place.tools("exec sleep 600");
    let temporary = place.0.join("tmp");
    fs::create_dir(&temporary).unwrap();
    let (cache, image) = (place.cache(), place.file("image", &image()));
    let guest = place.file("guest", &program());
    let boot = || {
        // A test that nohup(1) or a script's `&` started would hand on that signals are ignored.
        let mut command = Command::new("/usr/bin/env");
        let own = env!("CARGO_BIN_EXE_headwater");
        command.args(["--default-signal=HUP,INT,TERM", own, "lab", "boot", "--cache", &cache]);
        command.args(["--kernel", &image, "--guest", &guest]);
        command.env("TMPDIR", &temporary).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    for signal in ["TERM", "INT", "HUP"] {
        let mut lab = boot().spawn().unwrap();
        let begun = Instant::now();
        while names(&temporary).is_empty() || !place.0.join("cache/runs/boot/boot.lines").exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the lab starts nothing");
            assert!(lab.try_wait().unwrap().is_none(), "the lab has ended");
            sleep(Duration::from_millis(10));
        }
        let kill = Command::new("kill").args(["-s", signal, &lab.id().to_string()]).status();
        assert!(kill.unwrap().success());
        assert_eq!(lab.wait().unwrap().code(), None, "not ended by the signal {signal}");
        assert!(names(&temporary).is_empty(), "{:?}", names(&temporary));
        assert!(names(&place.0.join("cache/guests")).is_empty());
    }
    let refused = |name: &str, value: &str, why: &str| {
        let done = boot().env(name, value).output().unwrap();
        let words = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(3), "{words}");
        assert!(words.contains(why), "{words}");
        assert!(names(&temporary).is_empty(), "{:?}", names(&temporary));
        assert!(names(&place.0.join("cache/guests")).is_empty());
    };
    refused("PATH", "/nowhere", "cannot start QEMU by setpriv(1)");
    let absent = place.at("absent");
    refused("TMPDIR", &absent, "absent for temporary files; set TMPDIR to one that exists");
    assert!(!place.0.join("absent").exists());
    let long = place.at(&"x".repeat(90));
    fs::create_dir(&long).unwrap();
    refused("TMPDIR", &long, "too long for a socket");
    assert!(names(Path::new(&long)).is_empty());
}

/// A directory for a test, removed at its end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let directory = format!("headwater-cli-lab-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(directory);
        fs::create_dir_all(directory.join("cache")).unwrap();
        Place(directory)
    }

    fn at(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn cache(&self) -> String {
        self.at("cache")
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        fs::write(self.0.join(name), content).unwrap();
        self.at(name)
    }

    /// Puts a kernel into the cache.
    fn kernel(&self) {
        let directory = self.0.join("cache/kernels/6.12");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("vmlinuz"), image()).unwrap();
        let manifest = r#"{"schema": "headwater.lab-manifest/1", "qemu": null, "packages": [],
            "kernels": [{"series": "6.12", "release": "6.12.0", "architecture": "x86_64",
            "image": "vmlinuz", "sha256": "", "modules": []}]}"#;
        fs::write(self.0.join("cache/manifest.json"), manifest).unwrap();
    }

    /// Puts a script in the place of the loader that starts QEMU.
    fn tools(&self, script: &str) {
        let tools = self.0.join("cache/tools/usr");
        for directory in ["bin", "lib", "lib64"] {
            fs::create_dir_all(tools.join(directory)).unwrap();
        }
        for loader in ["lib64/ld-linux-x86-64.so.2", "lib/ld-linux-aarch64.so.1"] {
            fs::write(tools.join(loader), format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(tools.join(loader), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(tools.join("bin/qemu-system-x86_64"), "").unwrap();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Asserts that the lab ends with status 3, no output, and a message of these words; returns it.
fn fails(arguments: &[&str], why: &[&str]) -> String {
    let run = [&["lab"], arguments].concat();
    let done = headwater(&run).assert().code(3).stdout_eq(str![""]);
    let words = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(why.iter().all(|part| words.contains(part)), "{arguments:?}: {words}");
    words
}

/// Returns the names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Returns a file with the header of a bzImage: a sector, and 64 paragraphs.
fn image() -> Vec<u8> {
    let mut image = vec![0; 1024 + 64 * 16];
    (image[0x1f1], image[0x1f4]) = (1, 64);
    image[0x202..0x206].copy_from_slice(b"HdrS");
    image
}

fn image_of_half() -> Vec<u8> {
    image()[..1500].to_vec()
}

/// Returns a static program for x86-64: an ELF header, and one segment.
fn program() -> Vec<u8> {
    let mut program = vec![0; 64 + 56];
    program[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    (program[16], program[18], program[20]) = (2, 62, 1); // a program, x86-64
    (program[32], program[52], program[54], program[56]) = (64, 64, 56, 1);
    program[64] = 1; // PT_LOAD
    program
}
