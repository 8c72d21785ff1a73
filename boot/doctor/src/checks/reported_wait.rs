//! Waits that the waiting program reports itself, or that its stack shows: systemd-random-seed, a
//! JVM, gpg, programs with libsodium and in Go. They are findings of HW004.

use crate::boot::{Boot, Bounds, ProgramWait, SecureRandomWait, SeedJob, SeedWait, Waiter};
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
    let severity = match seconds {
        Some(seconds) if seconds >= LONG_S => Severity::Critical,
        _ => Severity::Warning,
    };
    let seconds = match (timed, wait.job) {
        (Some(seconds), _) => around(seconds, boot.resolution, boot),
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
        severity,
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
    let others = match wait.others.len() {
        0 => String::new(),
        1 => format!(", and at another start {}", figures(wait.others.iter().sum())),
        more => format!(", and {} in {more} other starts", figures(wait.others.iter().sum())),
    };
    Some(Finding {
        id: Id::UnitWaited,
        severity,
        title: format!(
            "Tomcat waited {} for the seed of its SecureRandom{others}",
            figures(wait.seconds)
        ),
        evidence: vec![wait.moment.evidence.clone()],
        why: JAVA.to_owned(),
        fixes: case.fixes(Cause::TomcatSeed),
        verify: "after a restart, Tomcat's log has no line \"Creation of SecureRandom instance\""
            .to_owned(),
    })
}

const JAVA: &str = "The JDK reads this seed from /dev/random. Before Linux 5.6 that device waits \
    whenever the kernel's estimate of its entropy is low, and not at boot only. With the option the \
    JDK reads /dev/urandom, whose bytes are as good once the generator is ready.";
const DEVICE: &str = "It waits for /dev/random. Before Linux 5.6 that device waits whenever the \
    kernel's estimate of its entropy is low, and not at boot only; since then it waits until the \
    generator is ready once.";

/// Returns the finding about a program that reports its own wait, or whose stack shows it.
pub(super) fn program_wait(case: &Case, wait: &ProgramWait) -> Option<Finding> {
    let severity = match wait.seconds {
        Some(seconds) => severity(seconds)?,
        None => Severity::Warning,
    };
    let waited = |who: &str, what: &str| match wait.seconds {
        Some(seconds) => format!("{who} waited at least {} for {what}", figures(seconds)),
        None => format!("{who} waits for {what}"),
    };
    let named = |otherwise: &'static str| wait.program.as_deref().unwrap_or(otherwise);
    let (title, why, cause, verify) = match wait.waiter {
        Waiter::Go => (
            waited(named("a program in Go"), "the random generator"),
            "Go's library prints this line once, a minute after the program's first request for \
             random bytes, if the kernel has not answered by then. Whatever the program was to do \
             waited as well.",
            Cause::NoSeed,
            "after a reboot, the program's log has no line \"crypto/rand: blocked\"",
        ),
        Waiter::Gpg => (
            waited("gpg", "random bytes for a key"),
            DEVICE,
            Cause::Starved,
            "`time gpg --gen-random 2 32 >/dev/null` takes less than a second",
        ),
        Waiter::Libsodium => (
            waited("a program with libsodium", "random bytes"),
            "libsodium's sodium_init() waits until the kernel's generator is ready, and nothing of \
             the program runs before.",
            Cause::Starved,
            "after a reboot, `headwater wait --timeout 10` returns at once",
        ),
        Waiter::Dropbear => (
            waited("dropbear", "the kernel's generator, to make its keys"),
            "dropbear asks getrandom(), which waits until the generator is ready. Until then there \
             is no login by SSH.",
            Cause::Starved,
            "after a reboot, `headwater wait --timeout 10` returns at once",
        ),
        Waiter::Java => (
            waited("a Java thread", "its seed from /dev/random"),
            JAVA,
            Cause::JavaSeed,
            "a new dump (`jstack PID`) shows no SeedGenerator and no implGenerateSeed",
        ),
        Waiter::JavaBlocking => (
            waited("a Java thread", "/dev/random, which its strong SecureRandom reads"),
            "SecureRandom.getInstanceStrong() takes every byte from /dev/random, whatever \
             java.security.egd says. Before Linux 5.6 that device waits again and again.",
            Cause::JavaStrong,
            "a new dump (`jstack PID`) shows no NativePRNG$Blocking",
        ),
        Waiter::Rust => (
            "a program in Rust failed, because the random generator was not ready".to_owned(),
            "Versions of rand before 0.7 fail where later ones wait. The program was started before \
             the generator was ready.",
            Cause::StartedTooEarly,
            "the program starts after a reboot",
        ),
        Waiter::Python => (
            "a program in Python failed in getrandom(), because the random generator was not ready"
                .to_owned(),
            "The generator of older versions of cryptography asks without waiting when it starts, \
             and some programs stay without it until they are started again.",
            Cause::StartedTooEarly,
            "the program starts after a reboot",
        ),
        Waiter::NoDevice => (
            "a program of OpenSSH failed: OpenSSL's generator is not seeded".to_owned(),
            "OpenSSL found neither getrandom() nor a random device: in a container or a chroot \
             /dev is empty, and the kernel is older than 3.17 or a filter refuses the call.",
            Cause::NoDevice,
            "`head -c 1 /dev/urandom | wc -c` prints 1 where the program runs",
        ),
        Waiter::Openssl => (
            waited("a program with OpenSSL 1.1.1", "/dev/random, in select()"),
            "Where getrandom() is missing, OpenSSL 1.1.1 waits once until /dev/random is readable, \
             and reads /dev/urandom then.",
            Cause::Starved,
            "`time openssl rand -hex 16` takes less than a second",
        ),
        Waiter::Getrandom => (
            waited(named("a task"), "the random generator, in getrandom()"),
            "Its stack shows it: the call returns when the generator is ready.",
            Cause::NoSeed,
            "after a reboot, `headwater wait --timeout 10` returns at once",
        ),
        Waiter::DevRandom => (
            waited(named("a task"), "/dev/random"),
            DEVICE,
            Cause::Starved,
            "`time head -c 16 /dev/random >/dev/null` takes less than a second",
        ),
    };
    Some(Finding {
        id: Id::UnitWaited,
        severity,
        title,
        evidence: vec![wait.moment.evidence.clone()],
        why: why.to_owned(),
        fixes: case.fixes(cause),
        verify: verify.to_owned(),
    })
}

/// Writes seconds rounded to what matters: whole ones from 100 on, tenths below.
fn figures(seconds: f64) -> String {
    if seconds >= 100.0 || seconds.fract() == 0.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{seconds:.1} s")
    }
}

/// Returns the severity of a wait; `None` if it is too short for a finding.
fn severity(seconds: f64) -> Option<Severity> {
    match seconds {
        seconds if seconds < LEAST_S => None,
        seconds if seconds < LONG_S => Some(Severity::Warning),
        _ => Some(Severity::Critical),
    }
}

/// Writes the seconds of a wait with the error of the log's stamps. Where the clock was set while
/// the boot waited, the time that passed there counts as none, so the wait was at least as long;
/// HW002 says the same by its bounds.
pub(super) fn around(seconds: f64, error: f64, boot: &Boot) -> String {
    if boot.has_gap {
        return Bounds { at_least: (seconds - error).max(0.0), at_most: None }.words();
    }
    if error > 0.0 {
        format!("{seconds:.0} s (± {error:.0} s)")
    } else {
        format!("{seconds:.1} s")
    }
}
