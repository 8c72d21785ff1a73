//! Findings of the checks of logs and traces: in the founding stall, and in boots that resemble it.

mod support;

use headwater_doctor::boot::Boot;
use headwater_doctor::{Case, Finding, Id, Kernel, Report, Severity, diagnose, journal, strace};

/// Returns the boots in a section, by the name of its file and its own.
fn boots(name: &str) -> Vec<Boot> {
    let (file, section) = name.split_once('/').unwrap();
    journal::read(support::logs(file).file(section).unwrap(), name).unwrap()
}

fn of_log(text: &str) -> Report {
    diagnose(Case { boots: journal::read(text.as_bytes(), "log").unwrap(), ..Case::default() })
}

/// Reports on the first boot of a log, without the second.
fn stalled(name: &str) -> Report {
    let mut boots = boots(name);
    boots.truncate(1);
    diagnose(Case { boots, ..Case::default() })
}

fn of(report: &Report, id: Id) -> Vec<&Finding> {
    report.findings.iter().filter(|finding| finding.id == id).collect()
}

#[track_caller]
fn one(report: &Report, id: Id) -> &Finding {
    let found = of(report, id);
    let [finding] = found.as_slice() else {
        panic!("{id}: {found:?}, not checked: {:?}", report.not_checked)
    };
    finding
}

fn not_checked(report: &Report, id: Id) -> &str {
    report
        .not_checked
        .iter()
        .find(|missed| missed.id == id)
        .map_or("", |missed| missed.why.as_str())
}

#[test]
fn the_founding_stall_is_one_line() {
    for format in ["short-monotonic", "json", "export", "short-precise"] {
        let report = stalled(&format!("two-attempts-systemd-241/{format}"));
        let waited = one(&report, Id::UnitWaited);
        assert_eq!(
            waited.title,
            "ssh.service waited 101.7 s for the random generator, in 2 attempts (90 s and 11 s), of which systemd killed one at its start timeout"
        );
        assert_eq!(waited.severity, Severity::Critical);
        assert_eq!(waited.evidence.len(), 5, "{:?}", waited.evidence);
        let late = one(&report, Id::ReadyLate);
        assert_eq!(late.severity, Severity::Critical);
        assert!(late.title.ends_with(" s after the first program started"), "{}", late.title);
        assert_eq!(one(&report, Id::EarlyRead).severity, Severity::Note);
        assert!(one(&report, Id::EarlyCaller).title.contains("start_kernel (the stack canary)"));
    }
    let late = stalled("two-attempts-systemd-252/json");
    assert_eq!(
        one(&late, Id::ReadyLate).title,
        "the kernel's random generator was ready 105.8 s after the first program started"
    );
}

#[test]
fn a_stall_that_the_next_boot_did_not_have_is_history() {
    let boots = boots("two-attempts-systemd-241/json");
    let report = diagnose(Case { boots, ..Case::default() });
    let waited = one(&report, Id::UnitWaited);
    assert_eq!(waited.severity, Severity::Note);
    assert!(
        waited.title.starts_with("at an earlier boot, ssh.service waited 101.7 s"),
        "{}",
        waited.title
    );
}

#[test]
fn a_units_own_log_is_no_proof_and_says_what_is_missing() {
    let report = stalled("two-attempts-systemd-241/unit-short-monotonic");
    assert!(of(&report, Id::UnitWaited).is_empty());
    let why = not_checked(&report, Id::UnitWaited);
    assert!(
        why.starts_with("systemd killed ssh.service at its start timeout after 90 s")
            && why.contains("journalctl -b"),
        "{why}"
    );
}

/// Near misses: slow for reasons of their own, on a boot whose generator was late, or in time.
#[test]
fn units_that_are_slow_for_reasons_of_their_own_are_not_named() {
    let log = |ready: f64| {
        format!(
            "[    0.000000] Linux version 6.1.0 (x)\n[    1.000000] Run /init as init process\n\
             [    2.000000] vm1 systemd[1]: Starting slow.service - Slow...\n\
             [    2.100000] vm1 systemd[1]: Starting waits.service - Waits...\n\
             [    2.200000] vm1 systemd[1]: Starting fails.service - Fails...\n\
             [    3.000000] vm1 systemd[1]: Started waits-not.service - Not.\n\
             [    3.000000] vm1 systemd[1]: fails.service: Failed with result 'exit-code'.\n\
             [    3.000000] vm1 systemd[1]: Failed to start fails.service - Fails.\n\
             [{ready:>12.6}] random: crng init done\n\
             [   20.500000] vm1 systemd[1]: Started waits.service - Waits.\n\
             [   20.600000] vm1 systemd[1]: Starting later.service - Later...\n\
             [   60.000000] vm1 systemd[1]: Started slow.service - Slow.\n\
             [  150.600000] vm1 systemd[1]: later.service: start operation timed out. Terminating.\n\
             [  150.600000] vm1 systemd[1]: Failed to start later.service - Later.\n"
        )
    };
    let late = of_log(&log(20.4));
    assert_eq!(
        one(&late, Id::UnitWaited).title,
        "waits.service waited 18.3 s for the random generator"
    );
    assert_eq!(one(&late, Id::ReadyLate).severity, Severity::Warning);
    let early = of_log(&log(3.5));
    assert!(of(&early, Id::UnitWaited).is_empty(), "{:?}", early.findings);
    assert_eq!(one(&early, Id::ReadyLate).severity, Severity::Note);
    assert!(of(&of_log(&log(1.1)), Id::ReadyLate).is_empty());
}

#[test]
fn systemds_own_early_reads_are_no_fault_and_others_are() {
    let log = |program: &str| {
        of_log(&format!(
            "[    0.000000] Linux version 6.1.0 (x)\n[    1.000000] Run /init as init process\n\
             [    1.100000] random: {program}: uninitialized urandom read (16 bytes read)\n[    1.200000] random: crng init done\n"
        ))
    };
    for program in ["systemd", "systemd-udevd", "(udev-worker)"] {
        assert_eq!(one(&log(program), Id::EarlyRead).severity, Severity::Note, "{program}");
    }
    for program in ["ssh-keygen", "dd", "mysystemd"] {
        assert_eq!(one(&log(program), Id::EarlyRead).severity, Severity::Warning, "{program}");
    }
}

#[test]
fn a_clone_that_the_kernel_noticed_is_a_note() {
    let log = "[    0.000000] Linux version 6.12.0 (x)\n[    0.000000] random: crng init done\n[    1.000000] Run /init as init process\n";
    assert!(of(&of_log(log), Id::Cloned).is_empty());
    let report =
        of_log(&format!("{log}[  100.500000] random: crng reseeded due to virtual machine fork\n"));
    let cloned = one(&report, Id::Cloned);
    assert_eq!(cloned.severity, Severity::Note);
    // It may have been a roll-back of one machine: nothing to be copied that takes its keys away.
    assert!(cloned.fixes.iter().all(|fix| fix.exact.is_none()), "{:?}", cloned.fixes);
    assert!(
        cloned.title.contains("once, the last time 100.5 s after its start"),
        "{}",
        cloned.title
    );
}

#[test]
fn a_traced_program_that_waited_is_named_with_its_share() {
    let report = |name: &str| {
        let trace = strace::read(support::logs("strace").file(name).unwrap(), name).unwrap();
        diagnose(Case { traces: vec![trace], ..Case::default() })
    };
    assert_eq!(
        one(&report("T"), Id::TraceWaited).title,
        "`/usr/sbin/sshd -t` spent 101.67 s in one call of getrandom, 99.99 % of its time"
    );
    let table = report("summary");
    assert_eq!(
        one(&table, Id::TraceWaited).title,
        "a traced program spent 101.67 s in one call of getrandom, 99.96 % of its time"
    );
    assert_eq!(one(&table, Id::TraceWaited).severity, Severity::Critical);
    let blind = report("summary-without-w");
    assert!(of(&blind, Id::TraceWaited).is_empty());
    assert!(not_checked(&blind, Id::TraceWaited).contains("strace -f -c -w"));
}

#[test]
fn a_healthy_log_has_no_finding() {
    let log = "\
[    0.000000] Linux version 6.12.0 (x)
[    0.000000] Command line: quiet
[    0.100000] random: crng init done
[    1.000000] Run /init as init process
[    2.000000] vm1 systemd[1]: Starting ssh.service - OpenBSD Secure Shell server...
[   50.000000] vm1 systemd[1]: Started ssh.service - OpenBSD Secure Shell server.
";
    let report = of_log(log);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert!(report.passed.contains(&Id::UnitWaited) && report.passed.contains(&Id::ReadyLate));
}

/// Missing lines prove neither that the generator never was ready nor that a unit hangs.
#[test]
fn a_start_whose_end_is_not_in_the_log_did_not_wait() {
    let log = "\
[    0.000000] Linux version 6.12.0 (x)
[    1.000000] Run /init as init process
[    2.000000] vm1 systemd[1]: Starting ssh.service - OpenBSD Secure Shell server...
[  161.000000] vm1 CRON[700]: (root) CMD (true)
";
    assert!(of(&of_log(log), Id::UnitWaited).is_empty());
    let killed = format!(
        "{log}[  162.000000] vm1 systemd[1]: ssh.service: start-pre operation timed out. Terminating.\n\
         [  162.000000] vm1 systemd[1]: Failed to start ssh.service - OpenBSD Secure Shell server.\n"
    );
    assert_eq!(
        one(&of_log(&killed), Id::UnitWaited).title,
        "ssh.service waited 160.0 s for the random generator, until systemd killed it at its start timeout"
    );
}

/// The words of systemd 219 (CentOS 7), where the description fails before the name.
#[test]
fn a_unit_of_an_old_systemd_is_named() {
    let log = "\
[    0.000000] Linux version 4.18.0 (x)
[    1.000000] Run /init as init process
[    2.000000] vm1 systemd[1]: Starting OpenSSH server daemon...
[   92.000000] vm1 systemd[1]: sshd.service start operation timed out. Terminating.
[   92.050000] vm1 systemd[1]: Started Cleanup of Temporary Directories.
[   92.100000] vm1 systemd[1]: Failed to start OpenSSH server daemon.
[   92.100000] vm1 systemd[1]: Unit sshd.service entered failed state.
[   92.100000] vm1 systemd[1]: sshd.service failed.
[  134.500000] vm1 systemd[1]: sshd.service holdoff time over, scheduling restart.
[  134.600000] vm1 systemd[1]: Starting OpenSSH server daemon...
[  141.600000] random: crng init done
[  141.700000] vm1 systemd[1]: Started OpenSSH server daemon.
";
    assert_eq!(
        one(&of_log(log), Id::UnitWaited).title,
        "sshd.service waited 97.0 s for the random generator, in 2 attempts (90 s and 7 s), of which systemd killed one at its start timeout"
    );
}

/// A file of this machine says nothing of the one that the log is of.
#[test]
fn a_kernel_that_a_log_told_of_is_quoted_from_the_log() {
    let log = "[    0.000000] Linux version 4.19.0-18-amd64 (x) #1 SMP Debian 4.19.208-1\n[    1.000000] Run /init as init process\n";
    let boots = || journal::read(log.as_bytes(), "log").unwrap();
    let quoted = |case: Case| {
        let evidence = one(&diagnose(case), Id::NoJitter).evidence[0].clone();
        (evidence.place, evidence.says)
    };
    let (place, says) = quoted(Case { boots: boots(), ..Case::default() });
    assert_eq!(place, "log:1");
    assert!(says.contains("Linux version 4.19.0-18-amd64"), "{says}");
    let assumed = Case { boots: boots(), assumed: Kernel::parse("4.18.2"), ..Case::default() };
    assert_eq!(quoted(assumed), ("--assume-kernel".to_owned(), "4.18.2".to_owned()));
}

/// `journalctl -k` and `journalctl -u ssh`, each in a file of its own: neither has the whole story.
#[test]
fn the_kernels_log_and_a_units_own_are_one_boot() {
    let first = |name: &str| {
        let mut boots = boots(&format!("two-attempts-systemd-241/{name}"));
        boots.truncate(1);
        boots
    };
    let files = ["kernel-short-monotonic", "unit-short-monotonic"];
    for [one_file, other] in [files, [files[1], files[0]]] {
        let boots = journal::put_together(vec![first(one_file), first(other)]);
        assert_eq!(boots.len(), 1);
        let report = diagnose(Case { boots, ..Case::default() });
        assert_eq!(
            one(&report, Id::UnitWaited).title,
            "ssh.service waited 101.7 s for the random generator, in 2 attempts (90 s and 11 s), of which systemd killed one at its start timeout"
        );
    }
    // The wall clock does not show how long after the kernel's start the unit's first line was.
    let boots = journal::put_together(vec![first("kernel-short-monotonic"), first("unit-short")]);
    assert_eq!(boots.len(), 2);
}

#[test]
fn boots_of_two_files_are_one_by_their_id_and_never_against_it() {
    let entry = |id: &str, at: u32, pid: &str, text: &str| {
        format!(
            "{{\"_BOOT_ID\":\"{id}\",\"__MONOTONIC_TIMESTAMP\":\"{at}000000\",\"SYSLOG_IDENTIFIER\":\"{}\",\"_PID\":\"{pid}\",\
             \"_TRANSPORT\":\"{}\",\"MESSAGE\":\"{text}\"}}\n",
            if pid == "1" { "systemd" } else { "kernel" },
            if pid == "1" { "journal" } else { "kernel" }
        )
    };
    let kernel = |id: &str| {
        [
            (0, "Linux version 6.1.0 (x)"),
            (1, "Run /init as init process"),
            (30, "random: crng init done"),
        ]
        .map(|(at, text)| entry(id, at, "", text))
        .concat()
    };
    let unit = |id: &str| {
        [
            (2, "Starting ssh.service - OpenBSD Secure Shell server..."),
            (31, "Started ssh.service - OpenBSD Secure Shell server."),
        ]
        .map(|(at, text)| entry(id, at, "1", text))
        .concat()
    };
    let together = |files: [String; 2]| {
        journal::put_together(
            files.map(|text| journal::read(text.as_bytes(), "log").unwrap()).into(),
        )
    };
    let (a, b) = ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
    let same = together([kernel(b) + &kernel(a), unit(a)]);
    assert_eq!(same.len(), 2);
    let units: Vec<usize> = same.iter().map(|boot| boot.units.len()).collect();
    assert_eq!(units, [0, 1], "the unit's start belongs to the boot of its id");
    let report = diagnose(Case { boots: same, ..Case::default() });
    assert_eq!(
        one(&report, Id::UnitWaited).title,
        "ssh.service waited 28.0 s for the random generator"
    );
    assert_eq!(together([kernel(b), unit(a)]).len(), 2);
}

/// Returns the report on a log of these lines.
fn of_syslog(lines: &[&str]) -> Report {
    of_log(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())
}

/// A syslog has no years, so its dates are counted as those of a leap year. A stall across the last
/// night of February must not be taken for a clock that was set.
#[test]
fn a_stall_across_the_end_of_february_is_one() {
    for (first, last, title) in [
        ("Feb 28 23:59:52", "Mar  1 00:00:52", "at least 59 s"),
        ("Feb 28 18:00:52", "Mar  1 05:00:52", "at least 39599 s"),
        ("Feb 29 23:59:52", "Mar  1 00:00:52", "between 59 and 62 s"),
        ("Feb 28 23:59:52", "Feb 29 00:00:52", "between 59 and 62 s"),
        ("Dec 31 23:59:52", "Jan  1 00:00:52", "between 59 and 62 s"),
    ] {
        let report = of_syslog(&[
            &format!("{} b kernel: Linux version 5.4.0 (x) #1 SMP", first.replace("52", "50")),
            &format!("{first} b kernel: Run /init as init process"),
            &format!("{last} b kernel: random: crng init done"),
        ]);
        let late = one(&report, Id::ReadyLate);
        assert_eq!(late.severity, Severity::Critical, "{first}");
        assert!(late.title.contains(title), "{first}: {}", late.title);
    }
    // Dates with a year say themselves whether it is a leap year.
    let report = of_syslog(&[
        "2024-02-28T23:59:52+00:00 b kernel: Run /init as init process",
        "2024-03-01T00:00:52+00:00 b kernel: random: crng init done",
    ]);
    assert!(not_checked(&report, Id::ReadyLate).contains("the clock was set meanwhile"));
}

/// The log of a board without a clock begins on 1 January, and the time of a server comes later. No
/// line shows how long programs had waited by then.
#[test]
fn a_wait_over_which_the_clock_was_set_is_unknown() {
    let start = [
        "Jan  1 00:00:03 b kernel: Linux version 5.4.0 (x) #1 SMP",
        "Jan  1 00:00:05 b kernel: Run /init as init process",
    ];
    for rest in [
        &["Mar 15 12:30:40 b kernel: random: crng init done"][..],
        // The line of readiness comes after the jump, as one of many.
        &[
            "Mar 15 12:30:40 b systemd[1]: Starting OpenBSD Secure Shell server...",
            "Mar 15 12:30:40 b kernel: random: crng init done",
        ],
        &[
            "Jan  1 00:00:08 b systemd[1]: Starting OpenBSD Secure Shell server...",
            "Mar 15 12:30:40 b systemd[1]: Started OpenBSD Secure Shell server.",
            "Mar 15 12:30:41 b kernel: random: crng init done",
        ],
    ] {
        let report = of_syslog(&[&start, rest].concat());
        assert!(of(&report, Id::ReadyLate).is_empty(), "{rest:?}");
        let why = not_checked(&report, Id::ReadyLate);
        assert!(why.contains("the clock was set meanwhile"), "{rest:?}: {why}");
    }
    // The part of such a wait that is known counts.
    let report = of_syslog(&[
        start[0],
        start[1],
        "Jan  1 00:01:45 b systemd[1]: Starting OpenBSD Secure Shell server...",
        "Mar 15 12:30:40 b kernel: random: crng init done",
    ]);
    assert!(one(&report, Id::ReadyLate).title.contains("at least 99 s"), "{report:?}");
    // A clock that was set before the first program, or after the wait, hides nothing.
    for (one, two, three) in [
        ("Jan  1 00:00:03", "Mar 15 12:30:38", "Mar 15 12:30:40"),
        ("Jan  1 00:00:03", "Jan  1 00:00:05", "Jan  1 00:00:05"),
    ] {
        let report = of_syslog(&[
            &format!("{one} b kernel: Linux version 5.4.0 (x) #1 SMP"),
            &format!("{two} b kernel: Run /init as init process"),
            &format!("{three} b kernel: random: crng init done"),
            "Mar 15 12:30:41 b systemd[1]: Started OpenBSD Secure Shell server.",
        ]);
        assert_eq!(not_checked(&report, Id::ReadyLate), "", "{one}");
    }
}

/// The last boot is the machine's present one, but an earlier one may show why it was slow.
#[test]
fn a_bad_boot_is_named_after_a_last_one_with_notes_or_without_an_end() {
    let boot = |day: u32, ready: Option<f64>| {
        let line = |text: String| format!("Nov {day} 10:00:00 b kernel: {text}\n");
        let mut log = line("[    0.000000] Linux version 5.10.0 (x@y) #1 SMP".to_owned());
        log += &line("[    1.912000] Run /init as init process".to_owned());
        if let Some(ready) = ready {
            log += &line(format!("[{ready:12.6}] random: crng init done"));
        }
        log
    };
    for last in [Some(2.412), Some(2.0), None] {
        let report = of_log(&(boot(27, Some(91.912)) + &boot(28, last)));
        let found = of(&report, Id::ReadyLate);
        let history = found.iter().find(|one| one.title.starts_with("at an earlier boot"));
        let history = history.unwrap_or_else(|| panic!("{last:?}: {report:?}"));
        assert_eq!(history.severity, Severity::Note);
        assert!(history.title.contains("90.0 s after"), "{history:?}");
    }
    // A last boot that went wrong says enough.
    let report = of_log(&(boot(27, Some(91.912)) + &boot(28, Some(61.912))));
    assert!(!one(&report, Id::ReadyLate).title.contains("earlier"));
}
