//! The input of a diagnosis.

mod machine;

use crate::boot::{Boot, Bounds, HintKind};
use crate::deep::Deep;
use crate::fixes::{Cause, PlatformFacts, for_cause};
use crate::host::{Live, Ready};
use crate::identity::{Identity, Origin};
use crate::observe::Record;
use crate::trace::Trace;
use crate::{CpuTrust, Evidence, Fix, Host, Kernel, Platform};

/// More than this cannot be the jitter loop.
const STARVED_S: f64 = 5.0;

/// The input of a diagnosis: a machine, boots from logs, traces, or several of them.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// The name in the report: "this machine", the recording, the files.
    pub of: String,
    /// The machine, live or recorded.
    pub host: Option<Host>,
    /// The boots in the logs, the last one last; the machine's own log is among them.
    pub boots: Vec<Boot>,
    /// The reason if the machine's own log could not be read.
    pub log_error: Option<String>,
    /// Output of strace.
    pub traces: Vec<Trace>,
    /// Measurements of the live machine, for `--deep`.
    pub deep: Option<Deep>,
    /// The kernel to judge by, in place of the one that runs.
    pub assumed: Option<Kernel>,
    /// Unix time of the facts: now for the running machine.
    pub time: Option<u64>,
    /// The names by which a fleet knows the machine.
    pub origin: Origin,
    /// The observer's records, the oldest boot first.
    pub observed: Vec<Record>,
    /// Hashed evidence of the machine's identity, for `--identity`.
    pub identity: Option<Identity>,
}

impl Case {
    /// Returns the kernel that findings depend on: the assumed one, else the machine's, else that
    /// of the last boot.
    pub fn kernel(&self) -> Option<Kernel> {
        let running = || self.host.as_ref().and_then(|host| host.kernel.clone());
        let logged = || Kernel::parse(self.boots.last()?.kernel.as_deref()?);
        self.assumed.clone().or_else(running).or_else(logged)
    }

    /// Returns the source of the deciding kernel: the option, the machine's file, or the log's
    /// line.
    pub(crate) fn kernel_by(&self, kernel: &Kernel) -> Evidence {
        let logged = || self.boots.last()?.kernel_by.clone();
        let of_machine = self.host.as_ref().is_some_and(|host| host.kernel.is_some());
        let place = match (&self.assumed, of_machine, logged()) {
            (Some(_), ..) => "--assume-kernel",
            (None, false, Some(line)) => return line,
            _ => "/proc/sys/kernel/osrelease",
        };
        Evidence { place: place.to_owned(), says: kernel.release().to_owned() }
    }

    /// Returns the facts of a live machine, if one was given.
    pub fn live(&self) -> Option<&Live> {
        self.host.as_ref()?.live.as_ref()
    }

    /// Returns the platform, if a machine was given.
    pub fn platform(&self) -> Option<Platform> {
        let by_log = || Platform::of_log(self.boot()?);
        self.host.as_ref().map(|host| host.platform).or_else(by_log)
    }

    /// Returns the fixes for this machine, or general ones if only a log was given.
    pub fn fixes(&self, cause: Cause) -> Vec<Fix> {
        let facts = match &self.host {
            Some(host) => PlatformFacts::read(&host.root, Some(host.platform)),
            None => {
                self.boot().map_or_else(|| PlatformFacts::of_platform(None), PlatformFacts::of_log)
            }
        };
        for_cause(cause, &facts)
    }

    /// Returns the seconds that programs had to wait at the last boot: from the first program's
    /// start until the generator was ready, or until the log ends. `None` if no log shows it.
    pub fn waited(&self) -> Option<Bounds> {
        self.boot()?.waited()
    }

    /// Returns whether the generator was ready when the first program asked, as far as the log
    /// shows: the log may leave a second or two open, in which the jitter loop would have run.
    pub fn was_seeded_early(&self) -> bool {
        let is_over = self.boot().is_some_and(|boot| boot.readiness().is_some());
        let soon = |waited: Bounds| {
            waited.at_least <= 0.0 && waited.at_most.is_some_and(|most| most <= STARVED_S)
        };
        is_over && self.waited().is_some_and(soon)
    }

    /// Returns whether the machine lacks a source of entropy that comes in time: its generator is
    /// not ready, or became ready so late that only interrupts can have fed it. The jitter loop
    /// takes 256 ticks of the clock, 2.6 s at the slowest (100 a second).
    pub fn is_starved(&self) -> bool {
        let not_ready = self.live().is_some_and(|live| live.ready == Ready::No);
        not_ready || self.waited().is_some_and(|waited| waited.at_least > STARVED_S)
    }

    /// Returns whether the kernel credits the CPU's random instruction; `None` if unknown.
    pub fn trusts_cpu(&self) -> Option<bool> {
        let host = self.host.as_ref()?;
        host.cpu.random_flag()?;
        let kernel = self.kernel()?;
        // Gone in 6.0 (049f9ae93d56), in favour of random.trust_cpu.
        if !kernel.is_at_least(6, 0) && host.command_line.iter().any(|word| word == "nordrand") {
            return Some(false);
        }
        // The log of the kernel that runs says it; that is worth more than any number.
        let says_so = |boot: &Boot| boot.hints.iter().any(|hint| hint.kind == HintKind::TrustedCpu);
        if self.assumed.is_none() && self.boot().is_some_and(says_so) {
            return Some(true);
        }
        match (kernel.cpu_trust(), host.switch("random.trust_cpu")) {
            (CpuTrust::Never, _) => Some(false),
            (_, Some(told)) => Some(told),
            (CpuTrust::ByDefault, None) => Some(true),
            (CpuTrust::ByOption, None) => host.is_built_with("CONFIG_RANDOM_TRUST_CPU"),
        }
    }

    /// Returns the observer's record of the machine's present boot. A recording without a boot id
    /// has at most the last one.
    pub fn observed(&self) -> Option<&Record> {
        let last = self.observed.last()?;
        let is_now = self.origin.boot_id.is_none() || last.boot_id == self.origin.boot_id;
        is_now.then_some(last)
    }

    /// Returns the last boot, which led to the machine's present state.
    pub fn boot(&self) -> Option<&Boot> {
        self.boots.last()
    }
}
