//! A wall clock that was set: the step is no wait, and where its length is unknown, no figure
//! pretends to be exact.

use super::{find, of_log, one};
use headwater_doctor::{Id, Verdict};

/// Returns a log by the wall clock. The clock steps by about an hour after ten seconds, and the
/// program that set it says so.
fn stepped(report: &str) -> String {
    format!(
        "Nov 28 10:00:00 h kernel: Linux version 4.19.0-6-amd64 (x) #1\n\
         Nov 28 10:00:01 h systemd[1]: Starting OpenBSD Secure Shell server...\n\
         Nov 28 10:00:11 h dhclient[200]: bound to 192.0.2.9\n\
         Nov 28 11:00:12 h {report}\n\
         Nov 28 11:00:13 h kernel: random: crng init done\n\
         Nov 28 11:00:14 h systemd[1]: Started OpenBSD Secure Shell server.\n"
    )
}

/// The step is known to a millisecond, so the wait is as exact as the log's stamps.
#[test]
fn a_stated_step_is_taken_out() {
    for report in [
        "ntpdate[300]: step time server 192.0.2.1 offset 3599.123456 sec",
        "ntpd[300]: 0.0.0.0 061c 0c clock_step +3599.232 s",
        "ntpd[300]: time set +3599.232 s",
        "ntpd[300]: ntpd: time set +3599.232 s",
        "ntpd[300]: time reset +3599.232 s",
        "ntpd: setting time to 2026-11-28 11:00:12.123456 (offset +3599.232s)",
        "ntpd[300]: set local clock to Sat Nov 28 11:00:12 UTC 2026 (offset 3599.232s)",
        "connmand[300]: ntp: adjust (jump): +3599.232 sec",
        "chronyd[300]: System clock was stepped by 3599.232 seconds",
    ] {
        let found = of_log(&stepped(report));
        let unit = one(&found, Id::UnitWaited);
        assert!(unit.title.contains("waited 13 s (± 1 s)"), "{report}: {}", unit.title);
        let late = one(&found, Id::ReadyLate);
        assert!(late.title.contains("at least 12 s"), "{report}: {}", late.title);
    }
}

/// Nothing says how long the step was, so the time between the two lines is unknown.
#[test]
fn an_unstated_step_leaves_a_lower_bound() {
    for report in [
        "systemd-timesyncd[300]: Initial clock synchronization to Sat 2026-11-28 11:00:12.1 UTC.",
        "systemd-timesyncd[300]: Initial synchronization to time server 192.0.2.1:123 (a.example).",
        "systemd-timesyncd[300]: Contacted time server 192.0.2.1:123 (ntp.example).",
        "systemd-timesyncd[300]: System clock time unset or jumped backwards, restored from \
         recorded timestamp: Sat 2026-11-28 11:00:12 UTC",
        "vboxadd-service[300]: 11:00:12.123 timesync vgsvcTimeSyncWorker: Radical guest time \
         change: 3 599 232 000 000ns (GuestNow=1 GuestLast=2)",
        "kernel: 11:00:12.123 timesync vgsvcTimeSyncWorker: Radical guest time change: \
         3 599 232 000 000ns (GuestNow=1 GuestLast=2)",
        "chronyd[300]: System clock wrong by 3599.232 seconds",
        "systemd[1]: System time before build time, advancing clock.",
        "systemd[1]: Time has been changed",
        "systemd-resolved[300]: Clock change detected. Flushing caches.",
    ] {
        let found = of_log(&stepped(report));
        let unit = one(&found, Id::UnitWaited);
        assert!(unit.title.contains("waited at least 10 s"), "{report}: {}", unit.title);
        let late = one(&found, Id::ReadyLate);
        assert!(late.title.contains("at least 11 s"), "{report}: {}", late.title);
    }
}

/// The line of readiness may come between the step and its report.
#[test]
fn a_stated_step_that_lies_a_line_earlier_is_taken_out() {
    let log = "Nov 28 10:00:00 h kernel: Linux version 4.19.0-6-amd64 (x) #1\n\
               Nov 28 10:00:01 h systemd[1]: Starting OpenBSD Secure Shell server...\n\
               Nov 28 11:00:14 h kernel: random: crng init done\n\
               Nov 28 11:00:14 h ntpdate[300]: step time server 192.0.2.1 offset 3599.232 sec\n\
               Nov 28 11:00:15 h systemd[1]: Started OpenBSD Secure Shell server.\n";
    let found = of_log(log);
    let late = one(&found, Id::ReadyLate);
    assert!(late.title.contains("at least 13 s"), "{}", late.title);
    let unit = one(&found, Id::UnitWaited);
    assert!(unit.title.contains("waited 14 s (± 1 s)"), "{}", unit.title);
}

/// Programs that only steer the clock move it by less than a second, so a gap before their line is
/// a wait.
#[test]
fn a_clock_that_is_steered_keeps_the_wait() {
    for report in [
        "ntpd[300]: time slew +0.121 s",
        "ntpd[300]: adjusting local clock by 0.413121s",
        "connmand[300]: ntp: adjust (slew): +0.002 sec",
        "ntpdate[300]: adjust time server 192.0.2.1 offset 0.021 sec",
        "chronyd[300]: Selected source 192.0.2.1",
    ] {
        let log = stepped(report).replace("Nov 28 11:00", "Nov 28 10:01");
        let unit = one(&of_log(&log), Id::UnitWaited).title.clone();
        assert!(unit.contains("waited 72 s (± 1 s)"), "{report}: {unit}");
    }
    // Without a gap there was no step that could be seen, and a second is a second.
    let report = "systemd-timesyncd[300]: Contacted time server 192.0.2.1:123 (ntp.example).";
    let log = stepped(report).replace("Nov 28 11:00", "Nov 28 10:00");
    let unit = one(&of_log(&log), Id::UnitWaited).title.clone();
    assert!(unit.contains("waited 12 s (± 1 s)"), "{unit}");
    // A step of two seconds cannot be all of a minute.
    let log = stepped("chronyd[300]: System clock was stepped by 2.0 seconds");
    let found = of_log(&log.replace("Nov 28 11:00", "Nov 28 10:01"));
    let unit = one(&found, Id::UnitWaited);
    assert!(unit.title.contains("waited 70 s (± 1 s)"), "{}", unit.title);
}

/// A step back hides the time that passed, and the services say no more than the generator does.
#[test]
fn services_and_the_generator_agree_over_a_step() {
    let log = "Nov 28 10:00:00 h kernel: Linux version 4.19.0-6-amd64 (x) #1\n\
               Nov 28 10:00:01 h systemd[1]: Starting OpenBSD Secure Shell server...\n\
               Nov 28 10:00:31 h systemd[1]: Starting Regular background jobs...\n\
               Nov 28 09:00:12 h systemd[1]: Started Regular background jobs.\n\
               Nov 28 09:00:24 h kernel: random: crng init done\n\
               Nov 28 09:00:25 h systemd[1]: Started OpenBSD Secure Shell server.\n";
    let found = of_log(log);
    for id in [Id::UnitWaited, Id::ReadyLate] {
        let title = &find(&found, id).unwrap_or_else(|| panic!("{id}: {found:?}")).title;
        assert!(title.contains("at least "), "{id}: {title}");
    }
}

/// The title counts from the first program, so it must not name the time since the first line.
#[test]
fn a_title_by_the_calendar_has_the_bounds_alone() {
    let log = "[Sat Nov 28 10:00:00 2026] Linux version 4.19.0-6-amd64 (x) #1\n\
               [Sat Nov 28 10:00:09 2026] Run /init as init process\n\
               [Sat Nov 28 10:01:12 2026] random: crng init done\n";
    let found = of_log(log);
    let late = one(&found, Id::ReadyLate);
    assert!(late.title.contains("between 62 and 65 s"), "{}", late.title);
    assert!(!late.title.contains("72"), "{}", late.title);
    assert!(!found.text().contains("72 s"), "{}", found.text());
}

/// `dmesg --time-format iso` prints the kernel's first lines with a fraction of zeros.
#[test]
fn a_fraction_of_zeros_is_a_fraction() {
    let log = "2026-11-20T10:11:12,000000+01:00 Linux version 4.19.0-6-amd64 (x) #1\n\
               2026-11-20T10:11:13,345678+01:00 Run /init as init process\n\
               2026-11-20T10:11:20,545678+01:00 random: crng init done\n";
    let found = of_log(log);
    let late = one(&found, Id::ReadyLate);
    assert!(late.title.contains(" 7.2 s after"), "{}", late.title);
    assert_eq!(found.verdict(), Verdict::Findings);
}
