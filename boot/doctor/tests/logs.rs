//! The founding stall in every format: sshd waited 101.67 s for the random generator in two
//! attempts of its unit, and on the next boot, with the CPU's instruction trusted, not at all.
//! journalctl(1) and dmesg(1) wrote the texts, from entries made by hand. Each file of tests/logs
//! has the story in its section README.

mod support;

use headwater_doctor::boot::{AttemptOutcome, Boot, Clock, HintKind, Unit};
use headwater_doctor::{Case, Id, Severity, diagnose, journal};
use std::path::Path;

/// Returns a section, by the name of its file and its own: `two-attempts-systemd-241/json`.
fn log(name: &str) -> Vec<u8> {
    let (file, section) = name.split_once('/').unwrap();
    support::logs(file).file(section).unwrap().to_vec()
}

fn read(name: &str) -> Vec<Boot> {
    journal::read(&*log(name), name).unwrap_or_else(|error| panic!("{error}"))
}

fn unit<'a>(boot: &'a Boot, names: &[&str]) -> &'a Unit {
    let found = boot.units.iter().find(|unit| names.contains(&unit.name.as_str()));
    found.unwrap_or_else(|| panic!("none of {names:?} in {:?}", boot.units))
}

#[track_caller]
fn near(found: Option<f64>, expected: f64, within: f64) {
    let found = found.expect("there is a time");
    assert!((found - expected).abs() <= within, "{found} is not {expected} within {within}");
}

/// Checks the unit's two attempts: systemd killed the first after 90.2 s, and the second waited for
/// the rest of the time.
#[track_caller]
fn two_attempts(ssh: &Unit, within: f64) {
    assert_eq!(ssh.name, "ssh.service");
    let [first, second] = ssh.attempts.as_slice() else { panic!("{:?}", ssh.attempts) };
    assert_eq!(
        (first.outcome, second.outcome),
        (AttemptOutcome::TimedOut, AttemptOutcome::Started)
    );
    let (killed, up) = (first.ended.as_ref().unwrap(), second.ended.as_ref().unwrap());
    near(killed.at.zip(first.began.at).map(|(end, begin)| end - begin), 90.2, within);
    near(up.at.zip(second.began.at).map(|(end, begin)| end - begin), 11.51, within);
    assert!(
        killed.evidence.says.contains("tart-pre operation timed out. Terminating."),
        "{killed:?}"
    );
}

const STORIES: [&str; 2] = ["two-attempts-systemd-241", "two-attempts-systemd-252"];

/// Formats with the kernel's own times, to the microsecond.
#[test]
fn both_boots_are_read_from_every_format_with_the_kernels_times() {
    for story in STORIES {
        for format in ["short-monotonic", "json", "export"] {
            let boots = read(&format!("{story}/{format}"));
            let [stalled, cured] = boots.as_slice() else {
                panic!("{story}/{format}: {} boots", boots.len())
            };
            assert_eq!(stalled.clock, Clock::Kernel);
            assert!(stalled.kernel.as_deref().unwrap().ends_with("-amd64"), "{:?}", stalled.kernel);
            assert!(stalled.command_line.as_deref().unwrap().ends_with("ro quiet"));
            near(stalled.init.as_ref().unwrap().at, 1.402_155, 1e-9);
            near(stalled.ready.as_ref().unwrap().at, 107.2, 1e-9);
            near(stalled.end, 161.5, 1e-3);
            two_attempts(unit(stalled, &["ssh.service"]), 1e-3);
            let [read] = stalled.early_reads.as_slice() else {
                panic!("{:?}", stalled.early_reads)
            };
            assert_eq!((read.program.as_str(), read.times, read.bytes), ("systemd", 3, 48));
            near(cured.ready.as_ref().unwrap().at, 0.187_412, 1e-9);
            near(cured.init.as_ref().unwrap().at, 1.402_155, 1e-9);
            assert_eq!(cured.units, []);
            assert!(cured.early_reads.is_empty());
        }
    }
    let stalled = &read("two-attempts-systemd-241/json")[0];
    near(stalled.fast_init.as_ref().unwrap().at, 1.934_820, 1e-9);
    assert_eq!(stalled.warnings_missed, 7);
    assert_eq!(
        (stalled.early_callers[0].caller.as_str(), stalled.early_callers[0].crng_init),
        ("start_kernel", 0)
    );
    let cured = &read("two-attempts-systemd-241/json")[1];
    assert!(cured.hints.iter().any(|hint| hint.kind == HintKind::TrustedCpu));
}

/// systemd's "Startup finished" fixes the kernel's start in formats with dates, to which journald
/// added its own start of 2.8 s.
#[test]
fn both_boots_are_read_from_every_format_with_dates() {
    for (format, within) in [
        ("short", 1.0),
        ("short-full", 1.0),
        ("short-iso", 1.0),
        ("with-unit", 1.0),
        ("short-precise", 1e-3),
        ("short-iso-precise", 1e-3),
        ("short-unix", 1e-3),
    ] {
        let boots = read(&format!("two-attempts-systemd-241/{format}"));
        let [stalled, cured] = boots.as_slice() else { panic!("{format}: {} boots", boots.len()) };
        assert_eq!(stalled.clock, Clock::Kernel, "{format}");
        // journald stamped the first program's start with its own.
        assert!(stalled.init.as_ref().unwrap().at_most, "{format}");
        let ready = stalled.ready_after().unwrap();
        assert!(ready.at_least <= 107.2 && 107.2 <= ready.at_most.unwrap() + 0.1, "{ready:?}");
        near(stalled.ready.as_ref().unwrap().at, 107.2, within);
        near(stalled.end, 161.5, within);
        two_attempts(unit(stalled, &["ssh.service"]), within);
        assert!(cured.ready.as_ref().unwrap().at_most, "{format}");
        assert_eq!(cured.units, []);
    }
    assert_eq!(read("two-attempts-systemd-252/short").len(), 2);
    two_attempts(unit(&read("two-attempts-systemd-252/short")[0], &["ssh.service"]), 1.0);
}

/// rsyslog writes both times. The kernel's lines came 6.3 s late, and later lines show by how much.
#[test]
fn a_syslog_file_gives_the_kernels_times() {
    let boots = read("two-attempts-systemd-241/syslog");
    let [stalled] = boots.as_slice() else { panic!("{} boots", boots.len()) };
    assert_eq!(stalled.clock, Clock::Kernel);
    near(stalled.ready.as_ref().unwrap().at, 107.2, 1e-9);
    let ssh = unit(stalled, &["ssh.service"]);
    assert_eq!((ssh.attempts.len(), ssh.attempts[0].outcome), (2, AttemptOutcome::TimedOut));
    near(ssh.attempts[1].began.at, 95.73, 1.0);
    near(ssh.attempts[1].ended.as_ref().unwrap().at, 107.24, 1.0);
}

#[test]
fn the_log_of_one_unit_tells_its_attempts() {
    for story in STORIES {
        for (format, within) in [("unit-short", 1.0), ("unit-short-monotonic", 1e-3)] {
            let boots = read(&format!("{story}/{format}"));
            assert_eq!(boots.len(), 2, "{story}/{format}");
            two_attempts(unit(&boots[0], &["ssh.service"]), within);
            assert!(boots[0].ready.is_none() && boots[0].kernel.is_none());
        }
    }
}

#[test]
fn the_kernels_buffer_is_read_in_every_form_of_dmesgs() {
    for format in [
        "dmesg",
        "dmesg-raw",
        "dmesg-decode",
        "dmesg-colour",
        "dmesg-delta",
        "kernel-short-monotonic",
    ] {
        let boots = read(&format!("two-attempts-systemd-241/{format}"));
        let [stalled] = boots.as_slice() else { panic!("{format}: {} boots", boots.len()) };
        near(stalled.init.as_ref().unwrap().at, 1.402_155, 1e-9);
        near(stalled.ready.as_ref().unwrap().at, 107.2, 1e-9);
        assert_eq!((stalled.early_reads[0].times, stalled.warnings_missed), (3, 7), "{format}");
    }
    for format in ["dmesg-ctime", "dmesg-iso"] {
        let boots = read(&format!("two-attempts-systemd-241/{format}"));
        assert_eq!(boots[0].clock, Clock::FirstLine);
        near(boots[0].ready.as_ref().unwrap().at, 107.2, 1.0);
    }
    // Minutes, and distances within them: each time is off by less than a minute.
    let boots = read("two-attempts-systemd-241/dmesg-reltime");
    assert_eq!((boots[0].clock, boots[0].resolution), (Clock::FirstLine, 60.0));
    near(boots[0].ready.as_ref().unwrap().at, 107.2, 60.0);
    let boots = read("two-attempts-systemd-241/dmesg-no-times");
    assert_eq!((boots[0].clock, boots[0].end), (Clock::None, None));
    assert_eq!(boots[0].ready.as_ref().unwrap().at, None);
    assert_eq!((boots[0].early_reads[0].times, boots[0].warnings_missed), (3, 7));
}

/// Every moment names the line that it is from: the file, its number, its text.
#[test]
fn evidence_is_the_line_itself() {
    let text = String::from_utf8(log("two-attempts-systemd-241/short-monotonic")).unwrap();
    let boots = read("two-attempts-systemd-241/short-monotonic");
    let ready = boots[1].ready.as_ref().unwrap();
    let (file, number) = ready.evidence.place.rsplit_once(':').unwrap();
    assert!(file.ends_with("short-monotonic"));
    assert_eq!(
        text.lines().nth(number.parse::<usize>().unwrap() - 1).unwrap(),
        ready.evidence.says
    );
}

/// journalctl marks a boot's beginning with its first line, not with the kernel's.
#[test]
fn the_wall_clock_set_during_a_boot_is_not_time_that_went_by() {
    let log = "\
Nov 22 06:00:01 vm1 kernel: Linux version 6.1.0 (x)
Nov 22 06:00:01 vm1 kernel: Run /init as init process
Nov 22 06:00:02 vm1 systemd[1]: Starting ssh.service - OpenBSD Secure Shell server...
Nov 22 06:00:03 vm1 systemd-udevd[200]: something
Nov 22 08:30:00 vm1 systemd-resolved[300]: Clock change detected. Flushing caches.
Nov 22 08:30:00 vm1 kernel: random: crng init done
Nov 22 08:30:01 vm1 systemd[1]: Started ssh.service - OpenBSD Secure Shell server.
";
    let boots = journal::read(log.as_bytes(), "log").unwrap();
    near(boots[0].ready.as_ref().unwrap().at, 2.0, 1e-9);
    near(boots[0].units[0].attempts[0].ended.as_ref().unwrap().at, 3.0, 1e-9);
    near(boots[0].end, 3.0, 1e-9);
}

/// Several programs write a syslog file, so two lines may change places. The clock was not set
/// then, and no time went by.
#[test]
fn two_lines_that_changed_places_are_no_clock_that_was_set() {
    let lines = [
        "Nov 22 06:07:01 vm1 kernel: Linux version 6.1.0 (build@host) #1",
        "Nov 22 06:07:01 vm1 kernel: Run /init as init process",
        "Nov 22 06:07:02 vm1 systemd[1]: Starting ssh.service - OpenBSD Secure Shell server...",
        "Nov 22 06:07:09 vm1 systemd[1]: Starting cron.service - Regular background programs...",
        "Nov 22 06:07:21 vm1 systemd[1]: Started cron.service - Regular background programs.",
        "Nov 22 06:07:34 vm1 systemd[1]: Starting dbus.service - D-Bus System Message Bus...",
        "Nov 22 06:07:41 vm1 kernel: random: crng init done",
        "Nov 22 06:07:41 vm1 systemd[1]: Started ssh.service - OpenBSD Secure Shell server.",
    ];
    let waited = |lines: &[&str]| {
        let boots = journal::read(lines.join("\n").as_bytes(), "swapped").unwrap();
        assert_eq!(boots.len(), 1, "{lines:#?}");
        boots[0].waited().unwrap()
    };
    let orderly = waited(&lines);
    assert!(orderly.at_least >= 38.0, "{orderly:?}");
    // The first lines are the kernel's start, and the last ones the end of the wait.
    for at in 2..lines.len() - 2 {
        let mut swapped = lines;
        swapped.swap(at, at + 1);
        let found = waited(&swapped);
        assert!((found.at_least - orderly.at_least).abs() <= 1.0, "{at}: {found:?}, {orderly:?}");
    }
}

/// A line from minutes later and one from seconds before stand side by side in the wrong place. The
/// clock was set neither forwards nor backwards, and sshd did not wait.
#[test]
fn two_lines_out_of_place_make_no_wait_of_the_lines_around_them() {
    let log = "\
Oct 25 11:40:02 vm1 kernel: Linux version 4.19.0-5-amd64 (build@host) #1
Oct 25 11:40:05 vm1 systemd[1]: Started Raise network interfaces.
Oct 25 11:40:05 vm1 systemd[1]: Starting OpenBSD Secure Shell server...
Oct 25 11:42:41 vm1 operator[740]: looked: random: crng init done, after 107 s
Oct 25 11:40:02 vm1 systemd[1]: Starting Load/Save Random Seed...
Oct 25 11:40:05 vm1 systemd[1]: Started OpenBSD Secure Shell server.
Oct 25 11:40:05 vm1 systemd[1]: Startup finished in 1.402s (kernel) + 4.198s (userspace) = 5.600s.
";
    let boots = journal::read(log.as_bytes(), "log").unwrap();
    let attempt = &boots[0].units[0].attempts[0];
    let ended = attempt.ended.as_ref().unwrap().at.unwrap();
    assert!(ended - attempt.began.at.unwrap() <= 4.0, "{attempt:?}");
    let report = diagnose(Case { boots, ..Case::default() });
    assert!(
        report.findings.iter().all(|finding| finding.severity < Severity::Critical),
        "{report:?}"
    );
}

/// journald stamps a line of strace when the call ends. A call's time is therefore the time since
/// the same process's line before, and what follows the call is not its time.
#[test]
fn calls_that_strace_writes_into_a_journal_have_the_time_before_their_line() {
    let longest = |log: &str| {
        let boots = journal::read(log.as_bytes(), "log").unwrap();
        boots[0].trace.as_ref().map(|trace| trace.longest)
    };
    let blocked = "\
[    1.000000] vm1 strace[10]: execve(\"/usr/sbin/sshd\", [\"/usr/sbin/sshd\"], 0x7f) = 0
[    1.500000] vm1 strace[20]: openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY) = 3
[    2.000000] vm1 strace[10]: openat(AT_FDCWD, \"/etc/ssh/sshd_config\", O_RDONLY) = 3
[   80.000000] vm1 strace[20]: close(3) = 0
[  103.000000] vm1 strace[10]: getrandom(\"\\x01\", 32, 0) = 32
";
    near(longest(blocked), 101.0, 1e-9);
    let slept_after = "\
[    1.000000] vm1 strace[10]: openat(AT_FDCWD, \"/etc/ssh/sshd_config\", O_RDONLY) = 3
[    1.000100] vm1 strace[10]: getrandom(\"\\x01\", 32, 0) = 32
[   61.000000] vm1 strace[10]: nanosleep({tv_sec=60}, NULL) = 0
";
    near(longest(slept_after), 0.0001, 1e-9);
    // The time before a trace's first line is unknown.
    let first = "\
[   61.000000] vm1 strace[10]: getrandom(\"\\x01\", 32, 0) = 32
[   99.000000] vm1 strace[10]: close(3) = 0
";
    near(longest(first), 0.0, 1e-9);
    let with_lengths = "\
[   61.000000] vm1 strace[10]: [pid 11] getrandom(\"\\x01\", 32, 0) = 32 <12.500000>
[   99.000000] vm1 strace[10]: [pid 11] close(3) = 0 <0.000010>
";
    near(longest(with_lengths), 12.5, 1e-9);
    // `-e getrandom`: only a call that ends in a line of its own has a known length.
    let filtered = "\
[    1.000000] vm1 strace[10]: [pid 11] getrandom( <unfinished ...>
[    2.000000] vm1 strace[10]: [pid 12] getrandom(\"\\x01\", 8, GRND_NONBLOCK) = 8
[   31.000000] vm1 strace[10]: [pid 11] <... getrandom resumed>\"\\x01\", 32, 0) = 32
[ 3700.000000] vm1 strace[10]: [pid 11] getrandom(\"\\x01\", 32, 0) = 32
";
    near(longest(filtered), 30.0, 1e-9);
}

/// A line of the console without a time says that a program runs, and not since when: the bound
/// from the kernel's start, by which a late generator is judged, stays.
#[test]
fn a_console_line_without_a_time_does_not_hide_a_late_generator() {
    let log = "\
[    1.000000] usb 1-1: new high-speed USB device number 2 using ehci-platform
[  OK  ] Started Load/Save Random Seed.
[  164.500000] random: crng init done
";
    let boots = journal::read(log.as_bytes(), "log").unwrap();
    assert!(boots[0].program.is_none(), "{:?}", boots[0].program);
    let report = diagnose(Case { boots, ..Case::default() });
    let late = report.findings.iter().find(|finding| finding.id == Id::ReadyLate).unwrap();
    assert_eq!(late.severity, Severity::Critical);
}

/// systemd's own count of a start's seconds, and what is too short to be a wait.
#[test]
fn a_start_job_of_the_random_seed_is_a_wait_from_five_seconds_on() {
    for (line, title) in [
        (
            "[***   ] A start job is running for Load/Save Random Seed (1min 7s / 10min)",
            Some(
                "systemd-random-seed.service waits for the random generator, at least 67 s so far, where the log ends",
            ),
        ),
        ("[***   ] A start job is running for Load/Save Random Seed (4s / 10min)", None),
        ("[***   ] A start job is running for dev-sda1.device (50s / 1min 30s)", None),
        (
            "     16.746s systemd-random-seed.service",
            Some("systemd-random-seed.service waited 16.7 s for the random generator"),
        ),
        ("     16.746s snapd.service", None),
        ("       746ms systemd-random-seed.service", None),
    ] {
        let log = format!("[  OK  ] Started udev Kernel Device Manager.\n{line}\n");
        let boots = journal::read(log.as_bytes(), "log").unwrap();
        let report = diagnose(Case { boots, ..Case::default() });
        let found = report.findings.iter().find(|finding| finding.id == Id::UnitWaited);
        assert_eq!(found.map(|finding| finding.title.as_str()), title, "{line}");
    }
}

/// The reports of systemd-analyze: a list, a chain and a picture, each with 16.746 s for the seed's
/// unit, and each without a line about it.
#[test]
fn reports_of_systemd_analyze_are_read() {
    let picture = |unit: &str| {
        format!(
            "<?xml version=\"1.0\" standalone=\"no\"?>\n<svg width=\"1847px\" height=\"3910px\" \
             version=\"1.1\" xmlns=\"http://www.w3.org/2000/svg\">\n<text x=\"20\" y=\"30\">Startup \
             finished in 2.584s (kernel) + 47.847s (userspace) = 50.431s</text>{}\n  <text \
             class=\"left\" x=\"284.400\" y=\"1114.000\">{unit}</text>\n</svg>\n",
            "\n  <rect class=\"activating\" x=\"1.0\" y=\"2.0\" />".repeat(2000)
        )
    };
    let chain = |unit: &str| {
        format!(
            "The time when unit became active or started is printed after the \"@\" character.\n\
             The time the unit took to start is printed after the \"+\" character.\n\n\
             graphical.target @50.100s\n└─multi-user.target @50.099s\n  └─{unit}\n"
        )
    };
    for (report, expected) in [
        (
            "        32.875s pmlogger.service\n        16.746s systemd-random-seed.service\n"
                .into(),
            1,
        ),
        (chain("systemd-random-seed.service @3.014s +16.746s"), 1),
        (chain("systemd-udevd.service @3.014s +16.746s"), 0),
        (chain("systemd-random-seed.service @3.014s"), 0),
        (picture("systemd-random-seed.service (16.746s)"), 1),
        (picture("systemd-random-seed.service"), 0),
        (picture("systemd-udevd.service (16.746s)"), 0),
    ] {
        let report: String = report;
        let boots = journal::read(report.as_bytes(), "report").unwrap();
        let report_of = diagnose(Case { boots, ..Case::default() });
        let found = report_of.findings.iter().filter(|finding| finding.id == Id::UnitWaited);
        let titles: Vec<&str> = found.map(|finding| finding.title.as_str()).collect();
        let waited = "systemd-random-seed.service waited 16.7 s for the random generator";
        assert_eq!(
            titles,
            vec![waited; expected],
            "{}",
            &report[report.len() - 200.min(report.len())..]
        );
    }
}

#[test]
fn a_year_may_end_during_a_boot() {
    let log = "\
Dec 31 23:59:50 vm1 kernel: Linux version 6.1.0 (x)
Dec 31 23:59:50 vm1 kernel: Run /init as init process
Jan  1 00:01:10 vm1 kernel: random: crng init done
";
    let boots = journal::read(log.as_bytes(), "log").unwrap();
    assert_eq!(boots.len(), 1);
    near(boots[0].ready.as_ref().unwrap().at, 80.0, 1e-6);
}

#[test]
fn other_files_are_refused_with_the_next_step() {
    let refused = |bytes: &[u8]| journal::read(bytes, "FILE").unwrap_err().to_string();
    for (bytes, says) in [
        (&b""[..], "FILE is empty: was the command that wrote it allowed to read the log?"),
        (
            b"LPKSHHRH\0\0",
            "FILE is a journal as systemd keeps it: give what `journalctl --file FILE -o export` prints",
        ),
        (
            b"BZh91AY",
            "FILE is a compressed file (bzip2): unpack it first, or give `-` and pipe `bzcat FILE` in",
        ),
        (
            b"{\n\t\"MESSAGE\" : \"x\"\n}\n",
            "FILE is journalctl's json-pretty: write it with -o json",
        ),
        (
            b"Fri 2019-10-25 10:40:02.805001 UTC [s=b71a;i=1;b=0f9c;m=2acd09;t=595b;x=f0bd]\n    PRIORITY=5\n",
            "FILE is journalctl's verbose: write it with -o export",
        ),
        (
            b"<html>\n",
            "FILE is an unknown log format: give what `journalctl -b`, `journalctl -b -o export` or `dmesg` prints",
        ),
        (
            b"execve(\"/bin/true\", [\"true\"], 0x7ff) = 0\ngetrandom(\"\", 8, 0) = 8\n",
            "FILE is a trace by strace: give it with --strace",
        ),
    ] {
        assert_eq!(refused(bytes), says);
    }
    assert_eq!(refused(b"\x1f\x8b\x08"), "FILE cannot be read: unexpected end of file");
    let missing = journal::read_file(Path::new("/no/such/file")).unwrap_err().to_string();
    assert_eq!(missing, "/no/such/file cannot be read: No such file or directory (os error 2)");
}

/// Each compression of the founding log is read like the log itself, if its program is installed.
#[test]
fn compressed_logs_are_read_like_plain_ones() {
    let plain = read("two-attempts-systemd-241/short-monotonic");
    let times = |boots: &[Boot]| -> Vec<Option<f64>> {
        boots.iter().map(|boot| boot.ready.as_ref().and_then(|ready| ready.at)).collect()
    };
    let file = std::env::temp_dir()
        .join(format!("headwater-doctor-short-monotonic-{}", std::process::id()));
    std::fs::write(&file, log("two-attempts-systemd-241/short-monotonic")).unwrap();
    assert_eq!(times(&journal::read_file(&file).unwrap()), times(&plain));
    for program in ["gzip", "xz", "zstd"] {
        let packed = std::process::Command::new(program).arg("-c").arg(&file).output();
        let Some(packed) = packed.ok().filter(|done| done.status.success()) else {
            println!(
                "skipped: logs compressed by {program}: no {program}; their reader is not tested"
            );
            continue;
        };
        let boots = journal::read(&*packed.stdout, "FILE").unwrap();
        assert_eq!(times(&boots), times(&plain), "{program}");
    }
    std::fs::remove_file(&file).unwrap();
}
