//! The report on a program's start: one line with the answer, then what was seen.

mod text;

use super::Source;
use crate::{Effect, Fix, Side};
use headwater_text::escape;
use serde::Serialize;

/// The least CPU jitter that is a finding. AWS-LC's takes 10 to 50 ms; a program that starts once a
/// day pays it unnoticed, and one that starts for each request does not.
const JITTER_S: f64 = 0.005;
/// The least wait that is a finding, as for a trace (HW005).
const WAIT_S: f64 = 0.3;
/// The party that is left if the jitter is.
const ALONE: &str = "the kernel's generator alone, where the CPU has no random instruction";
/// Calls from which a buffer in the process saves time.
const MANY: u64 = 1000;

/// Random bytes that the program got.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DrawReport {
    /// Seconds from the program's start until it had them.
    pub at_seconds: f64,
    /// Seconds of the call.
    pub took_seconds: f64,
    /// The number of bytes; null where the function does not return it.
    pub bytes: Option<u64>,
    /// The source.
    pub source: Source,
    /// The third argument of the system call getrandom: 1 for GRND_NONBLOCK, 2 for GRND_RANDOM, 4
    /// for GRND_INSECURE; null for other sources.
    pub flags: Option<u32>,
    /// The function that returned them; null for a system call.
    pub function: Option<String>,
    /// The library's function in which the call was made, as for a seed.
    pub inside: Option<String>,
    /// The file whose code called.
    pub caller: Option<String>,
    /// The program that ran then: a script starts others.
    pub program: Option<String>,
    /// The use, if every start has this draw whatever the program does.
    pub housekeeping: Option<&'static str>,
}

/// All that was seen of a program's start. The JSON form is schema `headwater.start/1`; times are
/// in seconds, without the time that tracing took, and an unknown value is null.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartReport {
    /// The name and version of this document's schema.
    #[cfg_attr(test, schemars(extend("const" = "headwater.start/1")))]
    pub schema: &'static str,
    /// The version of headwater that made the report.
    pub version: &'static str,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The program's exit status; null if a signal or the limit ended it.
    pub exit_status: Option<i32>,
    /// Seconds for which the program ran.
    pub lasted_seconds: f64,
    /// Its first random bytes, leaving out those of every start; null if none were seen.
    pub first: Option<DrawReport>,
    /// Seconds in functions that collect the CPU's jitter.
    pub jitter_seconds: f64,
    /// The file with these functions; null without any.
    pub jitter_file: Option<String>,
    /// Files with AWS-LC whose functions have no names, so that no breakpoint shows its jitter.
    pub nameless_aws_lc: Vec<String>,
    /// With such a file: the longest time that a thread computed between two stops before the first
    /// draws. Jitter, if there was any, is at most that.
    pub computed_seconds: Option<f64>,
    /// System calls of getrandom that returned bytes.
    pub getrandom_calls: u64,
    /// Calls of the vDSO's getrandom, of which the first 256 are counted.
    pub vdso_calls: u64,
    /// Openings of /dev/urandom, /dev/random and /dev/hwrng.
    pub device_opens: u64,
    /// Reads of them.
    pub device_reads: u64,
    /// Files with RDRAND or RDSEED in functions without names, and how many: no stop shows whether
    /// they ran.
    pub unseen_instructions: Vec<(String, usize)>,
    /// The first draws, at most 64.
    pub draws: Vec<DrawReport>,
    /// Stops of the program.
    pub stops: u64,
    /// The cost of a stop in seconds, measured before and subtracted from each time.
    pub stop_seconds: f64,
    /// Steps to a faster start, the best first.
    pub fixes: Vec<Fix>,
}

#[cfg(target_arch = "x86_64")]
impl StartReport {
    /// Makes the report of all that was seen.
    pub(super) fn of(
        command: &[std::ffi::OsString],
        per_stop: std::time::Duration,
        seen: crate::start::follow::Seen,
    ) -> StartReport {
        let draws: Vec<DrawReport> = seen
            .draws
            .into_iter()
            .map(|draw| DrawReport {
                at_seconds: draw.ended.as_secs_f64(),
                took_seconds: draw.took.as_secs_f64(),
                housekeeping: draw.housekeeping(),
                bytes: draw.bytes,
                source: draw.source,
                flags: draw.flags,
                function: draw.function,
                inside: draw.inside,
                caller: draw.caller,
                program: draw.program,
            })
            .collect();
        let exited = |status: i32| libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        let computed = (!seen.nameless_aws_lc.is_empty()).then_some(seen.longest_gap.as_secs_f64());
        let mut report = StartReport {
            schema: "headwater.start/1",
            version: env!("CARGO_PKG_VERSION"),
            command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            exit_status: seen.status.and_then(exited),
            lasted_seconds: seen.lasted.as_secs_f64(),
            first: first(&draws).cloned(),
            jitter_seconds: seen.jitter.as_secs_f64(),
            jitter_file: seen.jitter_in,
            nameless_aws_lc: seen.nameless_aws_lc,
            computed_seconds: computed,
            getrandom_calls: seen.getrandom,
            vdso_calls: seen.vdso,
            device_opens: seen.opens,
            device_reads: seen.reads,
            unseen_instructions: seen.instructions,
            draws,
            stops: seen.stops,
            stop_seconds: per_stop.as_secs_f64(),
            fixes: Vec::new(),
        };
        report.fixes = report.faster();
        report
    }
}

/// Returns the first draw that reached the program. Jitter and the bytes of a seed go into a
/// library's generator, so that the library's own return is the one that counts; it is missing if
/// the limit ended the program before.
fn first(draws: &[DrawReport]) -> Option<&DrawReport> {
    let is_own = |draw: &&DrawReport| draw.housekeeping.is_none();
    let is_whole =
        |draw: &&DrawReport| is_own(draw) && draw.inside.is_none() && draw.source != Source::Jitter;
    let mut found = draws.iter();
    found.find(is_whole).or_else(|| draws.iter().find(is_own)).or(draws.first())
}

impl StartReport {
    /// Returns the exit status.
    pub fn exit_status(&self) -> u8 {
        match () {
            () if self.has_jitter() || self.wait().is_some() => 1,
            () if self.first.is_none() => 4,
            () => 0,
        }
    }

    fn has_jitter(&self) -> bool {
        let unnamed = self.computed_seconds.filter(|_| self.jitter_file.is_none());
        self.jitter_seconds >= JITTER_S || unnamed.is_some_and(|seconds| seconds >= JITTER_S)
    }

    /// Returns the longest wait for the kernel.
    fn wait(&self) -> Option<&DrawReport> {
        let waits = |draw: &&DrawReport| {
            draw.took_seconds >= WAIT_S
                && !matches!(draw.source, Source::Jitter | Source::Library | Source::Instruction)
        };
        let longer = |one: &&DrawReport, other: &&DrawReport| {
            one.took_seconds.total_cmp(&other.took_seconds)
        };
        self.draws.iter().filter(waits).max_by(longer)
    }

    /// Returns the steps to a faster start, the best first.
    fn faster(&self) -> Vec<Fix> {
        let mut fixes = Vec::new();
        let fix = |what: &str, exact: Option<&str>, trusts| Fix {
            side: Side::Guest,
            platform: None,
            what: what.to_owned(),
            exact: exact.map(str::to_owned),
            gives: Effect::Nothing,
            trusts,
        };
        if self.wait().is_some() {
            fixes.push(fix(
                "the kernel's generator was not ready; find out why, on this machine",
                Some("headwater doctor"),
                None,
            ));
        }
        if self.has_jitter() {
            let is_rust = self.draws.iter().any(|draw| {
                draw.function.as_deref().is_some_and(|name| name.starts_with("aws_lc_"))
            });
            let (what, exact) = match () {
                () if is_rust => (
                    "build the program without AWS-LC's CPU jitter (aws-lc-sys 0.32.3 or later)",
                    "AWS_LC_SYS_NO_JITTER_ENTROPY=1 cargo build --release",
                ),
                () => (
                    "build AWS-LC without its CPU jitter (1.62.0 or later; for a program in Rust: \
                     AWS_LC_SYS_NO_JITTER_ENTROPY=1)",
                    "cmake -DDISABLE_CPU_JITTER_ENTROPY=ON",
                ),
            };
            fixes.push(fix(what, Some(exact), Some(ALONE)));
            fixes.push(fix(
                "or draw a byte in a thread of its own as soon as the program starts, so that no \
                 request waits for the first one",
                None,
                None,
            ));
        }
        if self.device_opens > 0 && self.wait().is_none() {
            fixes.push(fix(
                "call getrandom(2) in place of opening a device: one system call in place of \
                 three, also where /dev is missing",
                None,
                None,
            ));
        }
        if self.getrandom_calls >= MANY {
            fixes.push(fix(
                "serve so many small draws from a buffer in the process",
                Some("headwater run -- COMMAND"),
                None,
            ));
        }
        fixes
    }

    /// Returns the report as JSON, with control and format characters escaped.
    ///
    /// # Errors
    ///
    /// The errors of serde_json, which cannot occur: every value of this type can be written.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(escape::json(&serde_json::to_string_pretty(self)?) + "\n")
    }
}
