//! `plant` and `draw`: witnesses, in a directory of their own.

use crate::{Folder, clones, command, said, status, witnesses};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
    // Each of them does, because a runtime may wait for threads that the witness has started.
    let output = clones(&["plant", "--dir", &directory]);
    assert_eq!(status(&output), 0, "{}", said(&output));
    assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 0);
    until_no_witness_runs(&directory);
    // A directory without a planting is not removed.
    fs::create_dir(&directory).unwrap();
    fs::write(Path::new(&directory).join("thesis"), "years").unwrap();
    assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 3);
    assert!(Path::new(&directory).join("thesis").exists());
    assert_eq!(status(&clones(&["draw", "--dir", &directory])), 3, "nothing is planted");
}

/// `plant` refuses a directory that is there, and names `uproot`, which therefore has to remove
/// whatever a killed `plant` or a killed `uproot` leaves.
#[test]
fn what_a_killed_plant_leaves_is_removed() {
    let folder = Folder::new("killed");
    let directory = folder.path("garden");
    for files in [&[][..], &["planting"], &["planting", "key"]] {
        std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700)
            .create(&directory)
            .unwrap();
        for file in files {
            folder.write(&format!("garden/{file}"), "x");
        }
        let output = clones(&["plant", "--only", "libc", "--dir", &directory]);
        assert!(said(&output).contains("uproot"), "{}", said(&output));
        let output = clones(&["uproot", "--dir", &directory]);
        assert_eq!(status(&output), 0, "{files:?}: {}", said(&output));
        assert!(!Path::new(&directory).exists(), "{files:?}");
    }
    let output = clones(&["uproot", "--dir", &directory]);
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("holds no planting"), "{}", said(&output));
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

/// Go keeps its files in a directory of its own, and leaves them when a signal ends it.
#[test]
fn a_compiler_that_was_ended_leaves_no_files() {
    let folder = Folder::new("compiler");
    let (directory, temporary) = (folder.path("garden"), folder.path("tmp"));
    for name in ["bin", "tmp"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    let log = folder.path("log");
    let script = "mkdir \"${GOTMPDIR:-$TMPDIR}/go-build1\" && echo made >> ";
    folder.program("bin/go", &format!("#!/bin/sh\n{script}{log}\nkill -INT $$\n"));
    let mut plant = command(&["plant", "--only", "go", "--dir", &directory]);
    plant.env("PATH", format!("{}:{}", folder.path("bin"), std::env::var("PATH").unwrap()));
    let output = plant.env("TMPDIR", &temporary).output().unwrap();
    assert_eq!(status(&output), 0, "{}", said(&output));
    assert_eq!(fs::read_to_string(&log).unwrap(), "made\n");
    let left: Vec<_> = fs::read_dir(&temporary).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
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

fn full() -> Stdio {
    fs::File::options().write(true).open("/dev/full").unwrap().into()
}

/// A second `draw` must not print what the first one did: this machine may have been copied in
/// between, and its copies would all print it.
#[test]
fn output_that_cannot_be_written_loses_no_draws_unsaid_and_leaves_no_planting() {
    let folder = Folder::new("full");
    let directory = folder.path("garden");
    let mut plant = command(&["plant", "--only", "libc", "--dir", &directory]);
    let output = plant.stdout(full()).output().unwrap();
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("the planting is removed"), "{}", said(&output));
    assert!(!Path::new(&directory).exists());
    until_no_witness_runs(&directory);

    assert_eq!(status(&clones(&["plant", "--only", "libc", "--dir", &directory])), 0);
    let mut draw = command(&["draw", "--dir", &directory]);
    let output = draw.stdout(full()).output().unwrap();
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("the draws are lost"), "{}", said(&output));
    assert_eq!(status(&clones(&["draw", "--dir", &directory])), 3);
    assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 0);
}

/// A witness that starts after its planting was removed must not make the directory anew. Here it
/// was never made, so that no moment has to be met.
#[test]
fn a_witness_makes_no_directory_above_its_own() {
    let folder = Folder::new("above");
    let sources = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../boot/clones/witnesses"));
    for (program, file) in [
        ("bash", "bash.bash"),
        ("python3", "python.py"),
        ("java", "Witness.java"),
        ("ruby", "ruby.rb"),
        ("php", "php.php"),
        ("perl", "perl.pl"),
        ("node", "node.js"),
        ("tclsh", "tcl.tcl"),
        ("Rscript", "r.R"),
    ] {
        let gone = folder.path(&format!("{program}/gone"));
        let mut witness = Command::new(program);
        witness.arg(sources.join(file)).env("HEADWATER_WITNESS_DIR", &gone);
        witness.stdin(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = witness.spawn() else {
            println!("skipped: no {program}");
            continue;
        };
        // A witness that made the directory would wait there.
        let begun = Instant::now();
        let made = || Path::new(&folder.path(program)).exists();
        let status = loop {
            match child.try_wait().unwrap() {
                None if made() || begun.elapsed() > Duration::from_secs(60) => break None,
                None => std::thread::sleep(Duration::from_millis(20)),
                ended => break ended,
            }
        };
        let _ = child.kill();
        let _ = child.wait();
        assert!(!made(), "{program} made the directory");
        assert!(status.is_some_and(|status| !status.success()), "{program}");
    }
}

fn until_no_witness_runs(directory: &str) {
    let begun = Instant::now();
    while witnesses(directory) > 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "witnesses are left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_runtime_directory_that_is_no_absolute_path_is_ignored() {
    let folder = Folder::new("runtime");
    for runtime in ["", "relative"] {
        let mut plant = Command::new("setpriv");
        plant.args(["--reuid=65534", "--clear-groups", env!("CARGO_BIN_EXE_headwater")]);
        plant.args(["clones", "plant", "--only", "libc"]).env("XDG_RUNTIME_DIR", runtime);
        let output = plant.current_dir(&folder.0).output();
        let Some(output) = output.ok().filter(|output| !said(output).contains("setpriv")) else {
            println!("skipped: no setpriv");
            return;
        };
        assert_eq!(status(&output), 3, "{}", said(&output));
        assert!(said(&output).contains("names no absolute path"), "{}", said(&output));
    }
}
