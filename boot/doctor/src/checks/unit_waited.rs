//! HW004: a service waited for the kernel's generator.
//!
//! A log shows when a service's start began and ended, and not what the start hung in. A start that
//! hung while the generator was not ready, and was over the moment it was, has waited for it. A
//! start that systemd killed before that is tied to the generator only if a later attempt of the
//! same unit is, or if its program is known to draw. Otherwise it may have waited, and the finding
//! says no more.

use super::logged::{between, has_getrandom, newest};
use super::reported_wait::{LEAST_S, LONG_S, around, program_wait, random_seed, secure_random};
use super::{Answer, observed};
use crate::boot::{Attempt, AttemptOutcome, Boot, Moment, Unit};
use crate::fixes::Cause;
use crate::host::Ready;
use crate::{Case, Evidence, Finding, Id, Severity};

/// A start that waited is over soon after.
const SOON_S: f64 = 3.0;
/// The generation of keys takes so long after its first random bytes, on a slow board.
const KEYGEN_S: f64 = 120.0;
/// Units that are named one by one, those that waited longest.
const NAMED: usize = 8;

/// Parts of names, and of descriptions before systemd 249, whose programs draw random bytes when
/// they start.
const DRAWS: [&str; 23] = [
    "ssh",
    "secure shell",
    "keygen",
    "dropbear",
    "random-seed",
    "random seed",
    "openvpn",
    "strongswan",
    "ipsec",
    "named",
    "bind9",
    "nginx",
    "apache",
    "httpd",
    "mariadb",
    "mysql",
    "docker",
    "containerd",
    "balena",
    "lightdm",
    "gdm",
    "krb5",
    "networkmanager.service",
];
/// Parts of names of units that wait for something else: devices, networks, timers of the day, and
/// people. A typed passphrase ends cryptsetup and feeds the generator with the same key strokes, so
/// that both are over at the same time whichever the unit waited for. The last rows are units that
/// write to a disk or talk to a network for as long as they run. Each of their blocks and packets
/// is an interrupt, and the generator waits for interrupts. So their end and readiness coincide
/// because they cause it, and a list of victims that begins with the rescuer would mislead.
const WAITS_FOR_OTHERS: [&str; 39] = [
    "cryptsetup",
    "cryptography setup",
    "ask-password",
    "udev-settle",
    "udev wait for complete",
    "hold until boot process",
    "zfs-import",
    "import zfs",
    "wait-online",
    "wait online",
    "wait for network",
    "apt-daily",
    "apt download",
    "apt upgrade",
    "fsck",
    "file system check",
    "plymouth",
    "man-db",
    "fstrim",
    "journal-flush",
    "growpart",
    "growfs",
    "grow file system",
    "grow root",
    "resize2fs",
    "resize root",
    "resize the root",
    "repartition",
    "systemd-repart",
    "network interfaces",
    "up/down networking",
    "networking.service",
    "network service",
    "network configuration",
    "systemd-networkd",
    "connman",
    "dhcpcd",
    "dhclient",
    "ifup@",
];

pub(super) fn check(case: &Case) -> Answer {
    if let Some(answer) = observed::of_this_boot(case) {
        return answer;
    }
    match newest(case, |boot| by_log(case, boot)) {
        Answer::Found(findings) if findings.is_empty() => {
            Answer::Found(observed::of_earlier_boots(case))
        }
        answer => answer,
    }
}

fn by_log(case: &Case, boot: &Boot) -> Answer {
    let mut findings: Vec<Finding> =
        boot.seed_wait.iter().filter_map(|wait| random_seed(case, boot, wait)).collect();
    findings.extend(boot.secure_random.iter().filter_map(|wait| secure_random(case, wait)));
    findings.extend(boot.program_wait.iter().filter_map(|wait| program_wait(case, wait)));
    if boot.is_ready_first {
        return findings.into();
    }
    let Some(until) = until(boot) else {
        return if findings.is_empty() { without_the_kernel(boot) } else { findings.into() };
    };
    let Some(waited) = boot.waited() else {
        return Answer::CouldNot(
            "the log has no times: write it with `journalctl -b -o short-monotonic`".to_owned(),
        );
    };
    if !findings.is_empty() && boot.units.is_empty() {
        return findings.into();
    }
    if waited.at_most.is_some_and(|most| most < LEAST_S) || waited.at_least < 0.3 {
        return match waited.at_most {
            Some(most) if most <= LEAST_S => findings.into(),
            _ if !findings.is_empty() => findings.into(),
            Some(_) if boot.init.is_none() && boot.program.is_none() => no_services(),
            _ => Answer::CouldNot(
                "the log's stamps do not show whether programs ran before the generator was ready: \
                 give `journalctl -b -o short-monotonic`"
                    .to_owned(),
            ),
        };
    }
    if waited.at_least < LEAST_S {
        return findings.into();
    }
    if boot.units.is_empty() {
        return no_services();
    }
    // A start without an end hangs, or its end is not in the log: it counts if the machine itself
    // says that it is not ready.
    let still_waits =
        boot.ready.is_none() && case.live().is_some_and(|live| live.ready == Ready::No);
    let mut waits: Vec<Wait<'_>> = boot
        .units
        .iter()
        .filter_map(|unit| wait(unit, until, boot.resolution, still_waits))
        .collect();
    waits.retain(|wait| findings.is_empty() || !is_random_seed(&wait.unit.name));
    waits.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    let ready = boot.ready.as_ref().map(|ready| &ready.evidence);
    let named = waits.iter().take(NAMED).map(|wait| finding(case, boot, wait, ready));
    findings.extend(named);
    findings.into()
}

fn no_services() -> Answer {
    Answer::CouldNot(
        "the generator was late, and the log does not name the services that waited: give what \
         `journalctl -b` prints"
            .to_owned(),
    )
}

fn is_random_seed(name: &str) -> bool {
    name == "systemd-random-seed.service" || name.contains("Random Seed")
}

/// Returns the time at which blocked programs could continue: the generator was ready, or the log
/// ends.
fn until(boot: &Boot) -> Option<f64> {
    match boot.readiness() {
        Some((at, _)) => Some(at),
        // A log that shows the generator's start and has no line of its readiness.
        None if boot.ready.is_none() && (boot.kernel.is_some() || boot.fast_init.is_some()) => {
            boot.end
        }
        None => None,
    }
}

/// A unit that waited.
struct Wait<'a> {
    unit: &'a Unit,
    seconds: f64,
    attempts: Vec<(&'a Attempt, f64)>,
    killed: usize,
    /// The end of the start that continued when the generator was ready; `None` if systemd gave up
    /// before.
    over: Option<&'a Moment>,
    /// True if the start or the program ties the unit to the generator.
    is_tied: bool,
}

fn wait(unit: &Unit, until: f64, error: f64, still_waits: bool) -> Option<Wait<'_>> {
    let name = unit.name.to_lowercase();
    let is = |names: &[&str]| names.iter().any(|part| name.contains(part));
    let is_service = !["mount", "swap", "device", "socket", "target", "timer", "path", "scope"]
        .iter()
        .any(|kind| name.ends_with(&format!(".{kind}")));
    if !is_service || is(&WAITS_FOR_OTHERS) {
        return None;
    }
    let soon = if is(&["keygen", "host key", "hostkey"]) { KEYGEN_S } else { SOON_S };
    let attempts: Vec<&Attempt> = unit
        .attempts
        .iter()
        .filter(|attempt| attempt.began.at.is_some_and(|at| at < until))
        .collect();
    let end = |attempt: &Attempt| attempt.ended.as_ref().and_then(|ended| ended.at);
    let straddles = |attempt: &Attempt| match end(attempt) {
        // A start that fails for reasons of its own did not wait.
        Some(end) if attempt.outcome != AttemptOutcome::Failed => {
            end >= until - error && end <= until + soon + error
        }
        Some(_) => false,
        None => still_waits && attempt.outcome == AttemptOutcome::Unknown,
    };
    let last = attempts.last().filter(|attempt| straddles(attempt));
    let killed =
        attempts.iter().filter(|attempt| attempt.outcome == AttemptOutcome::TimedOut).count();
    let is_counted = |attempt: &&Attempt| {
        attempt.outcome == AttemptOutcome::TimedOut
            || last.is_some_and(|last| std::ptr::eq(*last, *attempt))
    };
    let counted: Vec<(&Attempt, f64)> = attempts
        .iter()
        .copied()
        .filter(is_counted)
        .filter_map(|attempt| {
            Some((attempt, end(attempt).unwrap_or(until).min(until) - attempt.began.at?))
        })
        .collect();
    let seconds: f64 = counted.iter().map(|(_, seconds)| seconds).sum();
    (seconds >= LEAST_S).then(|| Wait {
        unit,
        seconds,
        attempts: counted,
        killed,
        over: last.and_then(|last| last.ended.as_ref()),
        is_tied: last.is_some() || is(&DRAWS),
    })
}

fn finding(case: &Case, boot: &Boot, wait: &Wait<'_>, ready: Option<&Evidence>) -> Finding {
    let name = &wait.unit.name;
    let number = wait.attempts.len();
    let each: Vec<String> =
        wait.attempts.iter().map(|(_, seconds)| format!("{seconds:.0} s")).collect();
    let each = each.join(" and ");
    let attempts = match (number, wait.killed) {
        (_, 0) => String::new(),
        (1, _) => ", until systemd killed it at its start timeout".to_owned(),
        (number, 1) => {
            format!(
                ", in {number} attempts ({each}), of which systemd killed one at its start timeout"
            )
        }
        (number, killed) if number == killed => {
            format!(
                ", in {number} attempts ({each}), each of which systemd killed at its start timeout"
            )
        }
        (number, killed) => format!(
            ", in {number} attempts ({each}), of which systemd killed {killed} at the start timeout"
        ),
    };
    let mut evidence = Vec::new();
    for (attempt, _) in &wait.attempts {
        evidence.push(attempt.began.evidence.clone());
        if attempt.outcome == AttemptOutcome::TimedOut {
            evidence.extend(attempt.ended.as_ref().map(|ended| ended.evidence.clone()));
        }
    }
    evidence.extend(ready.cloned());
    evidence.extend(wait.over.map(|over| over.evidence.clone()));
    let mut fixes = case.fixes(Cause::NoSeed);
    if wait.killed > 0 {
        fixes.extend(case.fixes(Cause::StartTimeout));
        fixes.sort_by_key(|fix| fix.side);
    }
    let seconds = around(wait.seconds, boot.resolution * number as f64, boot);
    let (severity, verb, why) = if !wait.is_tied {
        let why = "systemd killed the start while the kernel's generator was not ready. Nothing in \
                   the log shows that the start waited for it: a trace would (`strace -f -T`).";
        (Severity::Warning, "may have waited", why.to_owned())
    } else {
        let call = if has_getrandom(case, boot) { "getrandom()" } else { "a read of /dev/random" };
        let why = format!(
            "The start of {name} hung while the kernel's generator was not ready{}. A start like \
             this hangs in {call}, and to systemd it is only slow.",
            if wait.over.is_some() { ", and ended as soon as the generator was" } else { "" }
        );
        let is_long = wait.seconds >= LONG_S || wait.killed > 0;
        (if is_long { Severity::Critical } else { Severity::Warning }, "waited", why)
    };
    Finding {
        id: Id::UnitWaited,
        severity,
        title: format!("{name} {verb} {seconds} for the random generator{attempts}"),
        evidence,
        why,
        fixes,
        verify: format!(
            "after a reboot, `systemd-analyze blame | grep {name}` shows less than a second"
        ),
    }
}

/// Judges a log without lines of the kernel, such as that of one unit. A kill at the start timeout
/// in it may have this cause, or another.
fn without_the_kernel(boot: &Boot) -> Answer {
    let killed = boot.units.iter().find_map(|unit| {
        let attempt =
            unit.attempts.iter().find(|attempt| attempt.outcome == AttemptOutcome::TimedOut)?;
        Some((unit, attempt.ended.as_ref().and_then(|ended| between(&attempt.began, ended))))
    });
    match killed {
        Some((unit, seconds)) => Answer::CouldNot(format!(
            "systemd killed {} at its start timeout{}, and the log has no lines of the kernel that \
             show whether it waited for the random generator: give what `journalctl -b` prints, \
             without -u",
            unit.name,
            seconds.map(|seconds| format!(" after {seconds:.0} s")).unwrap_or_default()
        )),
        None => Answer::CouldNot(
            "the log does not show when the first program started and when the generator was \
             ready: give what `journalctl -b` prints"
                .to_owned(),
        ),
    }
}
