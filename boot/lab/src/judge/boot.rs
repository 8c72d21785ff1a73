//! The report on one boot, from the messages of its guest.

use crate::judge::cause::{self, BootFacts, Cause};
use crate::judge::doctor::DoctorResults;
use crate::machine::manifest::KernelImage;
use crate::plan::{BootPlan, Clock, Rng};
use headwater_lab_protocol::{
    self as protocol, Caller, Cpu, Devices, Entropy, Fact, Hello, Impatient, Interrupts, Log,
    Message, Module, Seed,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// The report on a boot, in JSON of schema `headwater.lab-boot/1`.
#[derive(Clone, Debug, Serialize)]
pub struct BootReport {
    pub(crate) schema: &'static str,
    /// `uname -r` of the guest.
    pub kernel: String,
    /// The series of the guest's kernel.
    pub series: String,
    /// Entropy sources of the machine.
    pub rng: Rng,
    /// The kernel's clock.
    pub clock: Clock,
    /// Words added to the command lines of the kernel and of QEMU.
    pub append: String,
    /// Start of the first program, in seconds after boot.
    pub init_s: f64,
    /// True if getrandom(2) would not have blocked at that moment.
    pub ready_at_init: bool,
    /// Readiness of the generator, in seconds after boot; null: not within the limit.
    pub ready_s: Option<f64>,
    /// Duration of the first getrandom(2); null: longer than the limit.
    pub blocked_s: Option<f64>,
    /// The limit.
    pub limit_s: u32,
    /// Requests that may wait.
    pub callers: Vec<CallerReport>,
    /// Requests that must not wait.
    pub impatient: Vec<ImpatientReport>,
    /// Samples of `entropy_avail`.
    pub entropy: Vec<EntropySample>,
    /// Bits that the kernel credited per second while requests waited; null: too short to measure.
    pub bits_per_s: Option<f64>,
    /// Seconds that the rest would have taken at that speed; null: for ever, or unknown.
    pub remaining_s: Option<f64>,
    /// Interrupts while requests waited.
    pub interrupts: InterruptCounts,
    /// Lines of the kernel's log.
    pub kmsg: Vec<LogLine>,
    /// Modules that the guest loaded.
    pub modules: Vec<ModuleReport>,
    /// Facts that decide how soon the kernel is ready.
    pub facts: BTreeMap<String, String>,
    /// The reason for the wait's duration.
    pub cause: Cause,
    /// Results of the doctor in the guest, after the first wait.
    pub doctor: Option<DoctorResults>,
    /// Boots that panicked before the guest's first message, and were repeated.
    pub retries: u32,
    /// Seconds that the boot took on this host.
    pub wall_s: f64,
}

/// A request that may wait.
#[derive(Clone, Debug, Serialize)]
pub struct CallerReport {
    /// The interface that was called.
    pub name: String,
    /// Start, in seconds after boot.
    pub from_s: f64,
    /// Return, in seconds after boot; null: still waiting at the limit.
    pub to_s: Option<f64>,
    /// End of the observation, in seconds after boot.
    pub until_s: f64,
}

/// A request that must not wait.
#[derive(Clone, Debug, Serialize)]
pub struct ImpatientReport {
    /// The interface that was called.
    pub name: String,
    /// `ok`, `not-ready` or `error`.
    pub answer: String,
    /// Duration.
    pub took_s: f64,
}

/// A sample of `entropy_avail`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EntropySample {
    /// Seconds after boot.
    pub at_s: f64,
    /// Bits that the kernel counts.
    pub bits: u32,
}

/// Interrupts while requests waited.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct InterruptCounts {
    /// All of them, timers included.
    pub all: u64,
    /// Interrupts of devices; the kernel credits no others.
    pub devices: u64,
}

/// A line of the kernel's log.
#[derive(Clone, Debug, Serialize)]
pub struct LogLine {
    /// Seconds after boot.
    pub at_s: f64,
    /// The text of the line.
    pub text: String,
}

/// A module that the guest loaded.
#[derive(Clone, Debug, Serialize)]
pub struct ModuleReport {
    /// File name.
    pub name: String,
    /// Seconds after boot.
    pub at_s: f64,
    /// `ok`, or the reason of the failure.
    pub answer: String,
}

pub(crate) fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

/// Returns the release in the text of /proc/version.
pub(crate) fn release(version: &str) -> Option<&str> {
    version.split(' ').nth(2)
}

fn facts(messages: &[Message]) -> BTreeMap<String, String> {
    let files = protocol::all::<Fact>(messages);
    let mut facts: BTreeMap<String, String> =
        files.map(|file| (file.path.clone(), file.text.clone())).collect();
    let mut add = |name: &str, value: &dyn ToString| {
        facts.insert(name.to_owned(), value.to_string());
    };
    if let Some(cpu) = protocol::first::<Cpu>(messages) {
        add("cpu.rdrand", &cpu.rdrand);
        add("cpu.rdseed", &cpu.rdseed);
        add("cpu.tsc", &cpu.tsc);
    }
    if let Some(devices) = protocol::first::<Devices>(messages) {
        add("machine.efi", &devices.efi);
        add("machine.vmgenid", &devices.vmgenid);
        add("machine.vmclock", &devices.vmclock);
    }
    if let Some(seed) = protocol::first::<Seed>(messages) {
        add("seed.bits", &seed.bits);
        add("seed.answer", &if seed.accepted { "ok" } else { "refused" });
    }
    facts
}

fn callers(messages: &[Message]) -> Vec<CallerReport> {
    protocol::all::<Caller>(messages)
        .map(|caller| CallerReport {
            name: caller.name.clone(),
            from_s: seconds(caller.from_us),
            to_s: caller.to_us.map(seconds),
            until_s: seconds(caller.until_us),
        })
        .collect()
}

/// Returns the report. The doctor's results are added by the caller.
pub(crate) fn report(
    plan: &BootPlan,
    kernel: &KernelImage,
    messages: &[Message],
    retries: u32,
    wall_s: f64,
) -> BootReport {
    let hello = protocol::first::<Hello>(messages).cloned().unwrap_or_default();
    let callers = callers(messages);
    let waited = callers.iter().find(|caller| caller.name == "getrandom");
    let ended = waited.and_then(|caller| caller.to_s);
    let blocked_s = waited.and_then(|caller| Some(caller.to_s? - caller.from_s));
    let kmsg: Vec<LogLine> = protocol::all::<Log>(messages)
        .map(|line| LogLine { at_s: seconds(line.at_us), text: line.text.clone() })
        .collect();
    let done = kmsg.iter().find(|line| {
        line.text.starts_with("random: crng init done")
            || line.text.starts_with("random: crng done")
    });
    let samples: Vec<Entropy> = protocol::all::<Entropy>(messages).copied().collect();
    let slope = cause::slope(&samples);
    let interrupts = protocol::first::<Interrupts>(messages);
    let impatient = protocol::all::<Impatient>(messages).map(|asked| ImpatientReport {
        name: asked.name.clone(),
        answer: asked.answer.name().to_owned(),
        took_s: seconds(asked.took_us),
    });
    let modules = protocol::all::<Module>(messages).map(|module| ModuleReport {
        name: module.name.clone(),
        at_s: seconds(module.at_us),
        answer: module.error.clone().unwrap_or_else(|| "ok".to_owned()),
    });
    let cause = cause::of(&BootFacts {
        rng: plan.rng,
        clock: plan.clock,
        rdrand: protocol::first::<Cpu>(messages).is_some_and(|cpu| cpu.rdrand),
        ready_at_init: hello.ready,
        blocked_s,
    });
    BootReport {
        schema: "headwater.lab-boot/1",
        kernel: release(&hello.kernel).unwrap_or(&kernel.release).to_owned(),
        series: kernel.series.clone(),
        rng: plan.rng,
        clock: plan.clock,
        append: [plan.append.trim(), plan.devices.trim()].join(" ").trim().to_owned(),
        init_s: seconds(hello.init_us),
        ready_at_init: hello.ready,
        ready_s: done.map(|line| line.at_s).or(ended),
        blocked_s,
        limit_s: plan.limit_s,
        impatient: impatient.collect(),
        entropy: samples
            .iter()
            .map(|sample| EntropySample { at_s: seconds(sample.at_us), bits: sample.bits })
            .collect(),
        bits_per_s: slope.map(|slope| slope.bits_per_s),
        remaining_s: slope.filter(|_| blocked_s.is_none()).and_then(|slope| slope.remaining_s),
        interrupts: interrupts.map_or_else(InterruptCounts::default, |counts| InterruptCounts {
            all: counts.all,
            devices: counts.devices,
        }),
        modules: modules.collect(),
        facts: facts(messages),
        callers,
        kmsg,
        cause,
        doctor: None,
        retries,
        wall_s,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::path::PathBuf;

    pub(crate) fn messages(lines: &str) -> Vec<Message> {
        lines.lines().filter_map(|line| protocol::read(line).unwrap()).collect()
    }

    /// Returns the report on the messages of a real guest: Linux 7 without a cycle counter, with
    /// virtio-rng's driver loaded after 15 s.
    pub(crate) fn late() -> BootReport {
        late_as(&messages(include_str!("../../tests/guests/late.lines")))
    }

    fn late_as(messages: &[Message]) -> BootReport {
        let kernel = KernelImage {
            series: "7".into(),
            release: "7".into(),
            architecture: "x86_64".into(),
            image: PathBuf::new(),
            sha256: String::new(),
            modules: Vec::new(),
        };
        let plan = BootPlan {
            rng: Rng::VirtioLate,
            clock: Clock::Jiffies,
            limit_s: 15,
            ..BootPlan::new("7")
        };
        report(&plan, &kernel, messages, 0, 20.0)
    }

    /// Without the kernel's own line, the end of the first wait counts as readiness.
    #[test]
    fn readiness_falls_back_to_the_end_of_the_wait() {
        let whole = late();
        let mut messages = messages(include_str!("../../tests/guests/late.lines"));
        messages.retain(|message| !matches!(message, Message::Log(_)));
        let without = late_as(&messages);
        let getrandom = whole.callers.iter().find(|caller| caller.name == "getrandom").unwrap();
        assert_eq!(without.ready_s, getrandom.to_s);
        assert!(whole.ready_s.is_some());
        assert_eq!(without.blocked_s, whole.blocked_s);
    }

    /// A guest that never gets its bytes: no end, a rest, and another cause.
    #[test]
    fn a_wait_without_end_has_no_readiness() {
        let mut messages = messages(include_str!("../../tests/guests/late.lines"));
        messages.retain(|message| !matches!(message, Message::Log(_)));
        for message in &mut messages {
            if let Message::Caller(caller) = message {
                caller.to_us = None;
            }
        }
        let report = late_as(&messages);
        assert_eq!((report.ready_s, report.blocked_s), (None, None));
        assert!(report.bits_per_s.is_some());
    }

    #[test]
    fn a_guest_without_hello_is_named_by_its_kernel() {
        assert_eq!(late_as(&[]).kernel, "7");
        assert_eq!(release("Linux version 6.1.0-9-cloud-amd64 (a b)"), Some("6.1.0-9-cloud-amd64"));
    }
}
