//! Waits that the waiting program reports itself: systemd-random-seed, a JVM under Tomcat, programs
//! in Go. They are findings of HW004.

use crate::boot::{Boot, ProgramWait, SecureRandomWait, SeedJob, SeedWait};
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

/// Shorter waits are the jitter loop's, or coincidence.
pub(super) const LEAST_S: f64 = 5.0;
/// The length of a wait from which on the finding is critical: it locks users out.
pub(super) const LONG_S: f64 = 30.0;

/// Returns the finding about systemd-random-seed, which logs its own wait.
pub(super) fn random_seed(case: &Case, boot: &Boot, wait: &SeedWait) -> Option<Finding> {
    let from = wait.from.at;
    let (end, is_over) = match (&wait.until, boot.readiness()) {
        (Some(until), _) => (until.at, true),
        (None, Some((at, _))) => (Some(at), true),
        (None, None) => (boot.end, false),
    };
    let timed = end.zip(from).map(|(end, from)| (end - from).max(0.0));
    // systemd counts the seconds of a start itself, on a console without other times.
    let seconds = timed.or(wait.job.map(|job| job.seconds));
    let is_over = is_over || wait.until.is_some() || wait.job.is_some_and(|job| job.is_over);
    if wait.job.is_some() && timed.is_none() && seconds.is_none_or(|seconds| seconds < LEAST_S) {
        return None;
    }
    if is_over && seconds.is_some_and(|seconds| seconds + boot.resolution < LEAST_S) {
        return None;
    }
    let seconds = match (timed, wait.job) {
        (Some(seconds), _) => around(seconds, boot.resolution),
        (None, Some(SeedJob { seconds, is_over: true })) => format!("{seconds:.1} s"),
        (None, Some(SeedJob { seconds, .. })) => format!("at least {:.0} s", seconds.floor()),
        (None, None) => "for an unknown time".to_owned(),
    };
    let title = if is_over {
        format!("systemd-random-seed.service waited {seconds} for the random generator")
    } else {
        format!(
            "systemd-random-seed.service waits for the random generator, {seconds} so far, where \
             the log ends"
        )
    };
    let until = wait.until.iter().map(|until| until.evidence.clone());
    Some(Finding {
        id: Id::UnitWaited,
        severity: Severity::Warning,
        title,
        evidence: [wait.from.evidence.clone()].into_iter().chain(until).collect(),
        why: match wait.job {
            None => {
                "The service itself logs that the kernel's generator is not ready and that it \
                     waits. Units that are ordered after this service start late, too."
            }
            Some(_) => {
                "This service ends when the kernel's generator is ready, and does nothing \
                        else that takes seconds. Units that are ordered after it start late, too."
            }
        }
        .to_owned(),
        fixes: case.fixes(Cause::NoSeed),
        verify:
            "after a reboot, `systemd-analyze blame | grep random-seed` shows less than a second"
                .to_owned(),
    })
}

/// Returns the finding about a JVM whose SecureRandom waited for its seed.
pub(super) fn secure_random(case: &Case, wait: &SecureRandomWait) -> Option<Finding> {
    let severity = severity(wait.seconds)?;
    Some(Finding {
        id: Id::UnitWaited,
        severity,
        title: format!(
            "Tomcat waited {:.0} s for the seed of its SecureRandom",
            wait.seconds.floor()
        ),
        evidence: vec![wait.moment.evidence.clone()],
        why:
            "The JDK reads this seed from /dev/random. Before Linux 5.6 that device waits whenever \
              the kernel's estimate of its entropy is low, and not at boot only. The option \
              -Djava.security.egd=file:/dev/./urandom makes the JDK read /dev/urandom, whose bytes \
              are as good once the generator is ready."
                .to_owned(),
        fixes: case.fixes(Cause::NoSeed),
        verify: "after a restart, Tomcat's log has no line \"Creation of SecureRandom instance\""
            .to_owned(),
    })
}

/// Returns the finding about a program that reports its own wait.
pub(super) fn program_wait(case: &Case, wait: &ProgramWait) -> Option<Finding> {
    let severity = severity(wait.seconds)?;
    let program = wait.program.as_deref().unwrap_or("a program in Go");
    Some(Finding {
        id: Id::UnitWaited,
        severity,
        title: format!(
            "{program} waited at least {:.0} s for the random generator",
            wait.seconds.floor()
        ),
        evidence: vec![wait.moment.evidence.clone()],
        why: "Go's library prints this line once, a minute after the program's first request for \
              random bytes, if the kernel has not answered by then. Whatever the program was to do \
              waited as well."
            .to_owned(),
        fixes: case.fixes(Cause::NoSeed),
        verify: "after a reboot, the program's log has no line \"crypto/rand: blocked\"".to_owned(),
    })
}

/// Returns the severity of a wait; `None` if it is too short for a finding.
fn severity(seconds: f64) -> Option<Severity> {
    match seconds {
        seconds if seconds < LEAST_S => None,
        seconds if seconds < LONG_S => Some(Severity::Warning),
        _ => Some(Severity::Critical),
    }
}

/// Writes seconds with the error of the log's stamps.
pub(super) fn around(seconds: f64, error: f64) -> String {
    if error > 0.0 {
        format!("{seconds:.0} s (± {error:.0} s)")
    } else {
        format!("{seconds:.1} s")
    }
}
