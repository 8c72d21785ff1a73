//! Boots, as logs show them.

use crate::Evidence;
use crate::trace::Trace;
use serde::{Deserialize, Serialize};

/// One boot, read from a log. Times are seconds since the kernel started, unless [`Boot::clock`]
/// says otherwise; facts that the log lacks are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Boot {
    /// The origin of all times of this boot.
    pub clock: Clock,
    /// The kernel's release, from "Linux version ...".
    pub kernel: Option<String>,
    /// The release that weaker lines show: an oops, a USB host, `uname -a`. Advice depends on it,
    /// and no finding does.
    #[serde(skip)]
    pub release_hint: Option<String>,
    /// The line that names the release, for findings to quote.
    #[serde(skip)]
    pub kernel_by: Option<Evidence>,
    /// The boot's id, if the log has one. Logs with the same id are of the same boot.
    #[serde(skip)]
    pub id: Option<String>,
    /// The kernel's command line.
    pub command_line: Option<String>,
    /// The start of the first program: "Run /init as init process".
    pub init: Option<Moment>,
    /// The first line that only a program can have caused. The first program started no later.
    pub program: Option<Moment>,
    /// "fast init done": kernels before 5.18 only.
    pub fast_init: Option<Moment>,
    /// "crng init done".
    pub ready: Option<Moment>,
    /// The wait of systemd-random-seed, which says so: "Kernel entropy pool is not initialized yet,
    /// waiting until it is."
    pub seed_wait: Option<SeedWait>,
    /// The longest wait of a JVM for the seed of its SecureRandom, as Tomcat reports it.
    pub secure_random: Option<SecureRandomWait>,
    /// A program's own report that it waits for random bytes.
    pub program_wait: Option<ProgramWait>,
    /// Calls of getrandom in lines that strace(1) wrote into the log.
    pub trace: Option<Trace>,
    /// True if the log shows that the generator was ready before any program ran.
    #[serde(skip)]
    pub is_ready_first: bool,
    /// The last line's time: how far the log goes.
    pub end: Option<f64>,
    /// The kernel's own calls before the generator was ready, the same caller once.
    pub early_callers: Vec<EarlyCaller>,
    /// Reads of /dev/urandom before it was ready.
    pub early_reads: Vec<EarlyRead>,
    /// Warnings that the kernel's rate limit left out.
    pub warnings_missed: u64,
    /// "crng reseeded due to virtual machine fork".
    pub forks: Vec<Moment>,
    /// "crng reseeded on system resumption".
    pub resumptions: Vec<Moment>,
    /// The systemd units in the log.
    pub units: Vec<Unit>,
    /// Lines that decide other checks: clock source, virtio-rng, seccomp kills, RDRAND errata.
    pub hints: Vec<Hint>,
    /// Facts about the machine in the log.
    pub machine: LogMachine,
    /// The error of one time, in seconds: 1 for stamps in whole seconds.
    pub resolution: f64,
    /// The wall clock at the origin of the times, to join files of one boot.
    #[serde(skip)]
    pub wall: Option<f64>,
    /// The first line's time.
    #[serde(skip)]
    pub begin: Option<f64>,
    /// True if lines of the kernel carry the kernel's own times, which have no error.
    #[serde(skip)]
    pub has_kernel_times: bool,
    /// True if the clock was set between the first program's start and readiness, and no line says
    /// by how much: the time that passed there is unknown, and counts as none.
    #[serde(skip)]
    pub has_gap: bool,
    /// True if the log has a line of systemd's, or of the kernel about systemd.
    #[serde(skip)]
    pub has_systemd: bool,
}

/// The technology of enclaves in [`LogMachine::confidential`].
pub(crate) const NITRO_ENCLAVES: &str = "Nitro Enclaves";

/// Facts about the machine that its log shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogMachine {
    /// The firmware's "DMI:" line: vendor, product, version.
    pub dmi: Option<String>,
    /// The name after "Hypervisor detected:".
    pub hypervisor: Option<String>,
    /// The "Machine model:" line of a device tree.
    pub model: Option<String>,
    /// The technology of a confidential guest: "Intel TDX", "AMD SEV SEV-ES SEV-SNP".
    pub confidential: Option<String>,
    /// systemd's word for a virtual machine or a container: "kvm", "bhyve", "lxc".
    pub virtualization: Option<String>,
    /// The CPU's architecture in systemd's words: "x86-64", "arm64", "s390x".
    pub architecture: Option<String>,
    /// The maker and the name of the ACPI tables.
    pub firmware: Option<String>,
    /// The family of a board, by the drivers that its log names.
    pub board: Option<String>,
    /// True if programs of OpenWrt run.
    #[serde(skip)]
    pub is_openwrt: bool,
    /// True if programs of Android run, and none of its emulators.
    #[serde(skip)]
    pub is_android: bool,
}

/// The wait of systemd-random-seed for the kernel's generator.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeedWait {
    /// The line that says so.
    pub from: Moment,
    /// The end of the unit's start, if the log shows it.
    pub until: Option<Moment>,
    /// systemd's own count of the time that the unit's start takes.
    pub job: Option<SeedJob>,
}

/// systemd's count of a start's time: "A start job is running for Load/Save Random Seed (7s /
/// 10min)", or a line of `systemd-analyze blame`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeedJob {
    /// The seconds that the start has taken.
    pub seconds: f64,
    /// True if the start was over, so that it took no longer.
    pub is_over: bool,
}

/// Tomcat's line `Creation of SecureRandom instance ... took [126,553] milliseconds.`
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SecureRandomWait {
    /// The time that the line states, in seconds; of several lines the longest.
    pub seconds: f64,
    /// The seconds of the other lines, in order.
    pub others: Vec<f64>,
    /// The line.
    pub moment: Moment,
}

/// A program's own words that it waits, or a stack that shows it. Go's library prints once:
/// `crypto/rand: blocked for 60 seconds waiting to read random data from the kernel`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProgramWait {
    /// The program's name, if the line has one.
    pub program: Option<String>,
    /// The author of the words.
    pub waiter: Waiter,
    /// The seconds that it had waited when the line was written; `None` if the line does not say.
    pub seconds: Option<f64>,
    /// The line.
    pub moment: Moment,
}

/// The author of words that show a wait. The remedy depends on it: some read /dev/random, which
/// waits again and again before Linux 5.6, others ask getrandom(2), which waits once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Waiter {
    /// Go's crypto/rand.
    Go,
    /// GnuPG: "Not enough random bytes available".
    Gpg,
    /// A program with libsodium: "This system doesn't provide enough entropy".
    Libsodium,
    /// dropbear: "Waiting for kernel randomness to be initialised".
    Dropbear,
    /// A Java thread that reads its seed.
    Java,
    /// A Java thread in NativePRNGBlocking, which reads /dev/random for every byte.
    JavaBlocking,
    /// Rust's rand 0.6, which fails and does not wait.
    Rust,
    /// Python's cryptography, which failed and did not wait.
    Python,
    /// A program of OpenSSH, for which OpenSSL found neither getrandom(2) nor a device.
    NoDevice,
    /// OpenSSL 1.1.1, which waits in select(2) on /dev/random.
    Openssl,
    /// A stack of the kernel, in getrandom(2).
    Getrandom,
    /// A stack of the kernel, in a read of /dev/random.
    DevRandom,
}

/// Bounds of a time in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bounds {
    /// The time is at least this long.
    pub at_least: f64,
    /// The time is at most this long; `None` if the log shows no upper bound.
    pub at_most: Option<f64>,
}

/// Bounds as close as this are printed as one figure, and its last digits are right.
const NEAR_S: f64 = 0.2;
/// Bounds are close only if they differ by less than this part of the time itself.
const NEAR: f64 = 0.1;

impl Bounds {
    /// Returns the middle of the bounds if they are so close that one figure says enough.
    pub fn exact(self) -> Option<f64> {
        let most = self.at_most?;
        let error = most - self.at_least;
        (error <= NEAR_S.min(NEAR * most)).then_some((self.at_least + most) / 2.0)
    }

    /// Returns the bounds in words that are never off: "101.7 s", "at least 104 s".
    pub fn words(self) -> String {
        if let Some(exact) = self.exact() {
            return headwater_text::time::from_s(exact);
        }
        match (self.at_least, self.at_most) {
            (least, None) => format!("at least {}", rounded(least, f64::floor)),
            // Tenths of a second are what is printed.
            (least, Some(most)) if least < 0.1 => format!("at most {}", rounded(most, f64::ceil)),
            (least, Some(most)) => {
                let least = rounded(least, f64::floor);
                format!("between {} and {}", least.trim_end_matches(" s"), rounded(most, f64::ceil))
            }
        }
    }
}

/// Rounds a bound outwards, so that the bound stays true: whole seconds, tenths below 10 s.
fn rounded(seconds: f64, outwards: fn(f64) -> f64) -> String {
    if seconds < 10.0 {
        format!("{:.1} s", outwards(seconds * 10.0) / 10.0)
    } else {
        format!("{:.0} s", outwards(seconds))
    }
}

impl Boot {
    /// Returns the bounds of the time from the kernel's start to the ready generator; `None` if
    /// the log does not say that the generator was ready, or has no times.
    pub fn ready_after(&self) -> Option<Bounds> {
        let (at, is_late) = self.readiness()?;
        Some(match (self.clock, is_late) {
            (Clock::None, _) => return None,
            (Clock::Kernel, false) if self.has_gap => Bounds { at_most: None, ..self.around(at) },
            (Clock::Kernel, true) if self.has_gap => Bounds { at_least: 0.0, at_most: None },
            (Clock::Kernel, false) => self.around(at),
            (Clock::Kernel, true) => {
                Bounds { at_least: 0.0, at_most: Some(at + self.kernel_error()) }
            }
            (Clock::FirstLine, false) => {
                Bounds { at_least: (at - self.resolution).max(0.0), at_most: None }
            }
            (Clock::FirstLine, true) => Bounds { at_least: 0.0, at_most: None },
        })
    }

    /// Returns the bounds of the time that programs had to wait: from the first program's start
    /// to the ready generator, or to the log's end.
    pub fn waited(&self) -> Option<Bounds> {
        if self.is_ready_first {
            return Some(Bounds { at_least: 0.0, at_most: Some(0.0) });
        }
        let (until, is_late, is_over) = match self.readiness() {
            Some((at, is_late)) => (at, is_late, true),
            None => (self.end?, false, false),
        };
        let start = self.init.as_ref().or(self.program.as_ref());
        let began = start.and_then(|moment| moment.at);
        let is_start = self.init.as_ref().is_some_and(|init| !init.at_most);
        let at_most = |seconds: f64| (is_over && !self.has_gap).then_some(seconds.max(0.0));
        // The error of the end, and of a start by the wall clock.
        let end_error = self.kernel_error();
        let error = end_error + if is_start { end_error } else { 0.0 };
        Some(match (self.clock, began) {
            (Clock::None, _) => return None,
            (Clock::FirstLine, _) if is_late => Bounds { at_least: 0.0, at_most: None },
            // The clock's origin is after the kernel's start, so only a difference has a meaning.
            (Clock::FirstLine, began) => {
                let began = began.unwrap_or(0.0).min(until);
                let most = if is_start { at_most(until - began + error) } else { None };
                Bounds { at_least: (until - began - self.resolution).max(0.0), at_most: most }
            }
            (Clock::Kernel, Some(began)) if !is_late => Bounds {
                at_least: (until - began - error).max(0.0),
                at_most: at_most(if is_start { until - began } else { until } + end_error),
            },
            (Clock::Kernel, _) => Bounds { at_least: 0.0, at_most: at_most(until + end_error) },
        })
    }

    /// Returns the error of the times of the kernel's lines, in seconds.
    fn kernel_error(&self) -> f64 {
        if self.clock == Clock::Kernel && self.has_kernel_times { 0.0 } else { self.resolution }
    }

    /// Returns the time of readiness on this boot's clock, and whether the true time may be
    /// earlier. systemd-random-seed continues as soon as the generator is ready.
    pub fn readiness(&self) -> Option<(f64, bool)> {
        if let Some(ready) = &self.ready {
            return Some((ready.at?, ready.at_most));
        }
        let until = self.seed_wait.as_ref()?.until.as_ref()?;
        Some((until.at?, until.at_most))
    }

    fn around(&self, at: f64) -> Bounds {
        let error = self.kernel_error();
        Bounds { at_least: (at - error).max(0.0), at_most: Some(at + error) }
    }

    /// Moves the origin of all times by `seconds`.
    pub(crate) fn shift(&mut self, seconds: f64) {
        let moments = [&mut self.init, &mut self.program, &mut self.fast_init, &mut self.ready];
        let mut all: Vec<&mut Moment> = moments.into_iter().flatten().collect();
        if let Some(wait) = &mut self.seed_wait {
            all.push(&mut wait.from);
            all.extend(&mut wait.until);
        }
        all.extend(self.secure_random.as_mut().map(|wait| &mut wait.moment));
        all.extend(self.program_wait.as_mut().map(|wait| &mut wait.moment));
        all.extend(self.early_callers.iter_mut().map(|caller| &mut caller.moment));
        all.extend(self.early_reads.iter_mut().map(|read| &mut read.moment));
        all.extend(self.forks.iter_mut().chain(&mut self.resumptions));
        all.extend(self.hints.iter_mut().map(|hint| &mut hint.moment));
        for attempt in self.units.iter_mut().flat_map(|unit| &mut unit.attempts) {
            all.push(&mut attempt.began);
            all.extend(&mut attempt.ended);
        }
        for at in all.into_iter().filter_map(|moment| moment.at.as_mut()) {
            *at += seconds;
        }
        for at in [&mut self.end, &mut self.begin].into_iter().flatten() {
            *at += seconds;
        }
        self.wall = self.wall.map(|wall| wall - seconds);
    }
}

/// The origin of a boot's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The log has no times.
    #[default]
    None,
    /// The kernel's start.
    Kernel,
    /// The boot's first line, by the wall clock. journald stamps earlier messages of the kernel
    /// with its own start, so these times are some seconds too small and never too large.
    FirstLine,
}

/// A time, and the line that shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Moment {
    /// True if the line was stamped late, so that the event may be earlier than `at`. journald
    /// stamps all that the kernel said before with its own start.
    pub at_most: bool,
    /// Seconds since the kernel started; `None` in a log without times.
    pub at: Option<f64>,
    /// The line.
    pub evidence: Evidence,
}

/// "get_random_bytes called from CALLER with crng_init=N".
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EarlyCaller {
    /// The first occurrence.
    pub moment: Moment,
    /// The kernel's function.
    pub caller: String,
    /// 0: nothing gathered; 1: a first 64 bytes.
    pub crng_init: u8,
    /// The number of occurrences.
    pub times: u64,
}

/// "NAME: uninitialized urandom read (N bytes read)".
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EarlyRead {
    /// The first occurrence.
    pub moment: Moment,
    /// The program's name.
    pub program: String,
    /// The number of bytes in all reads.
    pub bytes: u64,
    /// The number of occurrences.
    pub times: u64,
}

/// A unit of systemd, with each attempt to start it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unit {
    /// The unit's name, such as ssh.service.
    pub name: String,
    /// The unit's starts, in order.
    pub attempts: Vec<Attempt>,
}

/// One start of a unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Attempt {
    /// "Starting ...".
    pub began: Moment,
    /// The end of the start; `None` if the log ends before it.
    pub ended: Option<Moment>,
    /// The way in which the start ended.
    pub outcome: AttemptOutcome,
}

/// The end of a unit's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AttemptOutcome {
    /// "Started ...".
    Started,
    /// systemd killed the unit at its start timeout.
    TimedOut,
    /// The start failed.
    Failed,
    /// The log does not show the end.
    Unknown,
}

/// A line that decides a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hint {
    /// The meaning of the line.
    pub kind: HintKind,
    /// The time and the place of the line.
    pub moment: Moment,
}

/// The meaning of a line. The list grows with the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HintKind {
    /// A clock source was chosen or found unstable.
    ClockSource,
    /// A random instruction of the CPU was found broken, and CPUID shows it to no program.
    RdrandErratum,
    /// RDRAND was found broken. The kernel has given it up, but CPUID still shows it to programs.
    RdrandGivenUp,
    /// RDRAND was found broken, and the kernel continues to use it.
    RdrandKept,
    /// The CPU's manufacturer was trusted: "crng done (trusting CPU's manufacturer)".
    TrustedCpu,
    /// The boot loader's seed was credited, or refused.
    BootSeed,
    /// A random device registered.
    Hwrng,
    /// A filter killed a process for a system call.
    SeccompKill,
    /// A process image was restored.
    Criu,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text that is printed contains the true time, wherever it lies between the bounds.
    #[test]
    fn bounds_in_words_are_never_off() {
        for (at_least, at_most, words) in [
            (0.0, Some(0.0), "0.000 s"),
            (0.0, Some(0.137), "at most 0.2 s"),
            (0.05, Some(14.0), "at most 14 s"),
            (0.1, Some(0.25), "between 0.1 and 0.3 s"),
            (4.07, Some(4.09), "4.08 s"),
            (186.7, Some(186.75), "187 s"),
            (140.2, Some(176.6), "between 140 and 177 s"),
            (59.9, None, "at least 59 s"),
        ] {
            assert_eq!(Bounds { at_least, at_most }.words(), words);
        }
    }
}
