//! `headwater lab` without a guest: what it refuses, and what it lacks.

mod command;

use command::{headwater, misused, text};
use snapbox::str;

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

/// The limit of a file's size stands for a disk that is full. The doctor would read half a
/// recording like a whole one.
#[test]
fn a_recording_that_cannot_be_written_leaves_nothing() {
    let directory =
        std::env::temp_dir().join(format!("headwater-cli-record-{}", std::process::id()));
    let empty = directory.join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    // One block of 512 bytes: less than a host file, and less than some file of a directory.
    let line = "trap '' XFSZ; ulimit -f 1; exec \"$0\" lab record \"$1\"";
    let own = env!("CARGO_BIN_EXE_headwater");
    let names = |folder: &std::path::Path| std::fs::read_dir(folder).unwrap().count();
    for path in [directory.join("x.host"), directory.join("new"), empty.clone()] {
        let mut sh = std::process::Command::new("sh");
        let done = sh.args(["-c", line, own]).arg(&path).output().unwrap();
        let words = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(3), "{words}");
        assert!(words.contains("cannot write") && words.contains("too large"), "{words}");
        assert_eq!((names(&directory), names(&empty)), (1, 0), "{}", path.display());
    }
    headwater(&["lab", "record", empty.to_str().unwrap()]).assert().success();
    assert!(empty.join("recording.json").exists());
    std::fs::remove_dir_all(&directory).unwrap();
}

/// The lab's own crate and `cargo xtask test` boot kernels; this test checks its messages.
#[test]
fn the_lab_says_what_it_lacks() {
    misused(&["lab"]);
    misused(&["lab", "boot", "--rng", "dice"]);
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
    let cache = std::env::temp_dir().join(format!("headwater-cli-lab-{}", std::process::id()));
    let at = cache.to_str().unwrap();
    let done = headwater(&["lab", "boot", "--kernel", "6.12", "--cache", at])
        .assert()
        .code(3)
        .stdout_eq(str![""]);
    let words = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    std::fs::remove_dir_all(&cache).unwrap();
    let cause = "headwater: neither QEMU nor kernel 6.12 is in ";
    assert!(words.starts_with(cause), "{words}");
    assert!(words.ends_with("; run `headwater lab setup`\n"), "{words}");
}
