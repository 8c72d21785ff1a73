//! `sshd -t` spent 101.67 s in one call of getrandom, by strace's table and by each kind of trace.
//! If strace is installed, it also traces a program whose calls are known.

use headwater_doctor::strace;
use headwater_doctor::trace::Trace;
use std::path::Path;
use std::process::Command;

fn read(name: &str) -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs/strace").join(name);
    strace::read_file(&path).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} is not {expected} within {within}");
}

#[test]
fn the_long_call_is_found_in_every_kind_of_trace() {
    for (name, calls, getrandom, total, within, program) in [
        ("summary", 1, 101.673_209, 101.712_016, 1e-6, None),
        ("T", 1, 101.673_209, 101.673_613, 1e-6, Some("/usr/sbin/sshd -t")),
        ("r", 1, 101.673_209, 101.685_769, 1e-6, Some("/usr/sbin/sshd -t")),
        ("tt-f", 1, 101.673_209, 101.781, 1e-6, Some("sh /usr/local/sbin/sshd-wrapper")),
        ("ttt-T-f-killed", 2, 101.646, 101.811, 1e-6, Some("/usr/sbin/sshd -t")),
        ("t-pid", 1, 101.0, 102.0, 1e-6, None),
    ] {
        let trace = read(name);
        assert_eq!((trace.calls, trace.program.as_deref()), (calls, program), "{name}: {trace:?}");
        near(trace.getrandom, getrandom, within);
        near(trace.total, total, within);
        assert!(trace.evidence[0].says.contains("getrandom"), "{name}: {:?}", trace.evidence);
    }
    assert_eq!(read("ttt-T-f-killed").longest, 90.188);
    assert!(read("summary").summary && !read("T").summary);
}

#[test]
fn a_table_of_cpu_time_shows_no_waiting_and_says_that_it_is_a_table() {
    let trace = read("summary-without-w");
    assert_eq!((trace.calls, trace.getrandom, trace.summary), (1, 0.0, true));
}

#[test]
fn other_files_are_refused_with_the_next_step() {
    let refused = |text: &str| strace::read(text.as_bytes(), "FILE").unwrap_err().to_string();
    for trace in [
        "getrandom(\"\\x01\", 1, 0) = 1\nexit_group(0) = ?\n",
        // The program may have done anything for these 60 s.
        "06:07:30 getrandom(\"\\x01\", 1, 0) = 1\n06:08:30 getrandom(\"\\x01\", 1, 0) = 1\n06:08:31 +++ exited with 0 +++\n",
    ] {
        assert_eq!(
            refused(trace),
            "FILE is a trace without the duration of calls: trace again with `strace -f -tt -T -o FILE PROGRAM`"
        );
    }
    assert_eq!(
        refused("Nov 22 06:07:30 vm1 kernel: random: crng init done\n"),
        "FILE is not output of strace: give what `strace -f -tt -T -o FILE PROGRAM` wrote, or the table of `strace -c -w PROGRAM`"
    );
}

/// A pair of programs that draw 7 times in all, traced in each way.
#[test]
fn what_strace_writes_is_read() {
    let folder =
        std::env::temp_dir().join(format!("headwater-doctor-strace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let out = folder.join("out");
    // getrandom by its number, because the C library may take bytes from the vDSO, which strace
    // cannot see.
    let number = match std::env::consts::ARCH {
        "x86_64" => 318,
        "aarch64" | "riscv64" | "loongarch64" => 278,
        arch => {
            return eprintln!(
                "skipped: strace's own output: getrandom's number on {arch} is not known to this test"
            );
        }
    };
    let script = format!("syscall({number}, $x = pack(q(x8)), 8, 0)");
    let draw = |times: u32| format!("perl -e '{script} for 1..{times}'");
    let program = format!("{}; {}", draw(3), draw(4));
    let mut counted = Vec::new();
    for options in [
        &["-f", "-T"][..],
        &["-f", "-r"],
        &["-f", "-t"],
        &["-f", "-tt", "-T"],
        &["-f", "-ttt"],
        &["-f", "-c", "-w"],
        &["-f", "-c"],
        &["-f", "-C", "-w", "-T"],
        &["-f", "-r", "-tt"],
    ] {
        let run = Command::new("strace")
            .args(options)
            .arg("-o")
            .arg(&out)
            .args(["sh", "-c", &program])
            .output();
        let skipped = match &run {
            Ok(run) if run.status.success() => None,
            Ok(run) => Some(String::from_utf8_lossy(&run.stderr).trim().to_owned()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = skipped {
            // Not installed, or not allowed in this container; a mistake in this test is neither.
            assert!(
                run.is_err() || why.contains("ptrace") || why.contains("not permitted"),
                "{why}"
            );
            eprintln!(
                "skipped: strace's own output: {why}: its formats are checked against recorded ones only"
            );
            break;
        }
        let trace = strace::read_file(&out).unwrap_or_else(|error| panic!("{options:?}: {error}"));
        assert!(trace.total < 60.0 && trace.getrandom < 5.0, "{options:?}: {trace:?}");
        counted.push((options, trace.calls));
    }
    // The programs draw for themselves too (hash seeds), the same number each time.
    let calls: Vec<u64> = counted.iter().map(|(_, calls)| *calls).collect();
    assert!(calls.iter().all(|&count| count >= 7 && count == calls[0]), "{counted:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}
