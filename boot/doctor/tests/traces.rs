//! `sshd -t` spent 101.67 s in one call of getrandom, by strace's table and by each kind of trace.
//! If strace is installed, it also traces a program whose calls are known.

mod support;

use headwater_doctor::strace;
use headwater_doctor::trace::Trace;
use std::process::Command;

fn read(name: &str) -> Trace {
    strace::read(support::logs("strace").file(name).unwrap(), name)
        .unwrap_or_else(|error| panic!("{error}"))
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

/// The forms are those of perf 6.1 and of Linux 6.18; the wait is longer than any there.
#[test]
fn perf_trace_and_the_kernels_tracer_show_the_long_call() {
    let perf = "\
   206.561 ( 0.049 ms): sh/311 getrandom(ubuf: 0x7f95a57f8478, len: 8, flags: NONBLOCK)   = 8
   275.692 (         ): sshd/312 getrandom(ubuf: 0x7f478adf8478, len: 32)                 ...
   276.318 ( 0.040 ms): cron/313 getrandom(ubuf: 0x7f478b3b7f90, len: 24, flags: NONBLOCK) = 24
   275.692 (101673.209 ms): sshd/312  ... [continued]: getrandom())                       = 32
";
    let tracer = "\
# tracer: nop
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
              sh-311     [001] .....     4.007426: sys_getrandom(ubuf: 0x7fe8, len: 8, flags: 1)
              sh-311     [001] .....     4.007441: sys_getrandom -> 0x8
            sshd-312     [001] .....     4.100000: sys_getrandom(ubuf: 0x7f84, len: 20, flags: 0)
            cron-313     [000] .....     9.008719: sys_getrandom(ubuf: 0x7f84, len: 8, flags: 1)
            cron-313     [000] .....     9.008720: sys_getrandom -> 0x8
            sshd-312     [001] .....   105.773209: sys_getrandom -> 0x20
";
    for (name, text) in [("perf trace", perf), ("ftrace", tracer)] {
        let trace = strace::read(text.as_bytes(), name).unwrap();
        near(trace.longest, 101.673_209, 1e-6);
        near(trace.getrandom, 101.673_209, 0.001);
        assert_eq!((trace.calls, trace.program.as_deref()), (3, Some("sshd")), "{name}: {trace:?}");
    }
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
        "FILE is not output of strace, of perf trace or of the kernel's tracer: give what `strace -f -tt -T -o FILE PROGRAM` wrote, or the table of `strace -c -w PROGRAM`"
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
