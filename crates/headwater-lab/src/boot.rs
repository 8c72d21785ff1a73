//! `headwater lab boot`: one guest, and who waited for randomness in it, for how long, and why.

use crate::cache::Cache;
use crate::cause::{self, Cause};
use crate::doctor::{self, Examined};
use crate::line::Line;
use crate::manifest::Kernel;
use crate::qemu::{self, Guest, Machine};
use crate::setup::find_kernel;
use crate::{guest, recording};
use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the machine offers the kernel's generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rng {
    /// Nothing: interrupts and the jitter loop alone
    None,
    /// virtio-rng, its driver loaded before anybody asks
    Virtio,
    /// virtio-rng, its driver loaded when the wait is over
    VirtioLate,
    /// RDRAND and RDSEED, trusted
    Rdrand,
    /// RDRAND and RDSEED, and a kernel told not to trust them
    RdrandUntrusted,
    /// A seed from UEFI firmware that has virtio-rng; no driver in the guest
    Efi,
    /// 256 bits credited by a program, as a saved seed can be
    Seed,
}

/// What the kernel tells time by, which the jitter loop lives on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The CPU's cycle counter
    #[default]
    Tsc,
    /// Timer ticks alone: no cycle counter, no fine clock
    Jiffies,
    /// The HPET: no cycle counter
    Hpet,
}

/// A boot to be made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// A series or a file.
    pub kernel: String,
    /// What the machine offers.
    pub rng: Rng,
    /// What the kernel tells time by.
    pub clock: Clock,
    /// More words for the kernel's command line.
    pub append: String,
    /// More words for QEMU.
    pub devices: String,
    /// Seconds that callers may wait, after which the wait counts as endless.
    pub limit_s: u32,
    /// Where to save what a doctor would look at.
    pub record: Option<PathBuf>,
    /// The guest's program, if it is not the one that would be found or built.
    pub guest: Option<PathBuf>,
}

impl Plan {
    /// A plain boot of a kernel.
    pub fn new(kernel: &str) -> Plan {
        Plan {
            kernel: kernel.to_owned(),
            rng: Rng::None,
            clock: Clock::Tsc,
            append: String::new(),
            devices: String::new(),
            limit_s: 60,
            record: None,
            guest: None,
        }
    }
}

/// What happened. As JSON: schema `headwater.lab-boot/1`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    /// `uname -r` of the guest.
    pub kernel: String,
    /// Its series.
    pub series: String,
    /// What the machine offered.
    pub rng: Rng,
    /// What the kernel told time by.
    pub clock: Clock,
    /// What was appended to the command line, and given to QEMU.
    pub append: String,
    /// When the first program ran, in seconds after boot.
    pub init_s: f64,
    /// Whether getrandom(2) would not have blocked there and then.
    pub ready_at_init: bool,
    /// When the generator was ready, in seconds after boot; null: not within the limit.
    pub ready_s: Option<f64>,
    /// How long getrandom(2) blocked; null: longer than the limit.
    pub blocked_s: Option<f64>,
    /// The limit.
    pub limit_s: u32,
    /// Everybody who asked and may wait.
    pub callers: Vec<Caller>,
    /// Everybody who asked and must not wait.
    pub impatient: Vec<Impatient>,
    /// `entropy_avail`, as time went by.
    pub entropy: Vec<Entropy>,
    /// Bits that the kernel credited per second while callers waited; null: nobody waited for long enough to tell.
    pub bits_per_s: Option<f64>,
    /// How long the rest would have taken at that speed; null: for ever, or not known.
    pub remaining_s: Option<f64>,
    /// Interrupts while callers waited.
    pub interrupts: Interrupts,
    /// The kernel's own words.
    pub kmsg: Vec<Message>,
    /// Modules that the guest loaded.
    pub modules: Vec<Module>,
    /// Files that tell what the kernel had to work with.
    pub facts: BTreeMap<String, String>,
    /// Why it took as long.
    pub cause: Cause,
    /// What the doctor said in the guest, when the first wait was over.
    pub doctor: Option<Examined>,
    /// Boots that panicked before the guest's first line, and were made again.
    pub retries: u32,
    /// Seconds that the whole took here.
    pub wall_s: f64,
}

/// Somebody who waited for random bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Caller {
    /// What it called.
    pub name: String,
    /// When, in seconds after boot.
    pub from_s: f64,
    /// When it had its bytes; null: it was still waiting at the limit.
    pub to_s: Option<f64>,
    /// When the guest gave up on it.
    pub until_s: f64,
}

/// Somebody who asked without waiting.
#[derive(Clone, Debug, Serialize)]
pub struct Impatient {
    /// What it called.
    pub name: String,
    /// `ok`, `not-ready` or `error`.
    pub answer: String,
    /// How long the answer took.
    pub took_s: f64,
}

/// A sample of `entropy_avail`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Entropy {
    /// Seconds after boot.
    pub at_s: f64,
    /// Bits that the kernel counts.
    pub bits: u32,
}

/// Interrupts while callers waited.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Interrupts {
    /// All of them, timers included.
    pub all: u64,
    /// Those of devices, which alone are credited.
    pub devices: u64,
}

/// A line of the kernel's log.
#[derive(Clone, Debug, Serialize)]
pub struct Message {
    /// Seconds after boot.
    pub at_s: f64,
    /// Its text.
    pub text: String,
}

/// A module that was loaded.
#[derive(Clone, Debug, Serialize)]
pub struct Module {
    /// Its file.
    pub name: String,
    /// Seconds after boot.
    pub at_s: f64,
    /// `ok`, or why not.
    pub answer: String,
}

/// Boots it.
///
/// # Errors
///
/// If the guest cannot be started, or ends without having said what is asked of it.
pub fn boot(cache: &Cache, plan: &Plan) -> Result<Report> {
    let kernel = find_kernel(cache, &plan.kernel)?;
    let program = guest::find(cache, plan.guest.as_deref(), &kernel.architecture)?;
    let archive = guest::archive(cache, &program, &kernel)?;
    let machine = machine(cache, &kernel, &archive, plan)?;
    let folder = cache.run("boot")?;
    let mut retries = 0;
    let (mut guest, hello) = loop {
        let mut guest = Guest::start(cache, &machine, &folder, "boot", None)?;
        // Emulated, on a busy machine: many times what it takes on a quiet one.
        match guest.until("hello", Duration::from_secs(120)) {
            Err(error) if guest.panicked() && retries < 1 => {
                eprintln!("headwater lab: {error:#}; once more"); // the emulation's doing, before any of ours
                retries += 1;
            }
            hello => break (guest, hello.with_context(|| format!("kernel {}", kernel.release))?),
        }
    };
    let patience = Duration::from_secs(u64::from(plan.limit_s) * 2 + 60);
    let mut lines = hello;
    lines.extend(
        guest.until("ready", patience).with_context(|| format!("kernel {}", kernel.release))?,
    );
    // First, because a stall that a recording's interrupts have ended is none; its long report last, for the same reason.
    let told = doctor::run(&mut guest)?;
    if let Some(folder) = &plan.record {
        recording::of_guest(&mut guest, folder)?;
    }
    let examined = doctor::fetch(&mut guest, &told)?;
    let wall_s = guest.begun.elapsed().as_secs_f64();
    guest.off();
    Ok(Report { doctor: Some(examined), ..report(plan, &kernel, &lines, retries, wall_s) })
}

fn machine(cache: &Cache, kernel: &Kernel, archive: &Path, plan: &Plan) -> Result<Machine> {
    const VIRTIO: &str =
        "-object rng-random,id=rng0,filename=/dev/urandom -device virtio-rng-pci,rng=rng0";
    let mut machine = Machine::new(kernel, archive);
    let arm = kernel.architecture == "aarch64";
    let mut words = vec![format!("hw.limit={}", plan.limit_s)];
    match plan.rng {
        Rng::None => {}
        Rng::Virtio => machine.device(VIRTIO),
        Rng::VirtioLate => {
            machine.device(VIRTIO);
            words.push("hw.modules=late".into());
        }
        Rng::Rdrand | Rng::RdrandUntrusted if arm => machine.cpu = "max".into(), // has RNDR
        Rng::Rdrand | Rng::RdrandUntrusted => machine.cpu += ",+rdrand,+rdseed",
        Rng::Efi => {
            machine.device(VIRTIO);
            machine.board = "q35".into();
            machine.firmware = Some(qemu::firmware(cache)?);
            words.push("hw.modules=none".into());
        }
        Rng::Seed => words.push("hw.credit=256".into()),
    }
    if plan.rng == Rng::RdrandUntrusted {
        words.push("random.trust_cpu=off".into());
    }
    match plan.clock {
        Clock::Tsc => {}
        // No fine clock may be left: with the HPET or the ACPI timer the jitter loop works.
        Clock::Jiffies => {
            machine.cpu += ",-tsc";
            words.push("clocksource=jiffies nohz=off highres=off".into());
        }
        Clock::Hpet => {
            machine.cpu += ",-tsc";
            words.push("clocksource=hpet".into());
        }
    }
    machine.device(&plan.devices);
    words.push(plan.append.clone());
    machine.append = words.join(" ");
    Ok(machine)
}

fn report(plan: &Plan, kernel: &Kernel, lines: &[Line], retries: u32, wall_s: f64) -> Report {
    let of = |word: &'static str| lines.iter().filter(move |line| line.word == word);
    let hello = of("hello").next().cloned().unwrap_or_default();
    let number = |line: &Line, key: &str| line.number::<f64>(key).unwrap_or(0.0);
    let text = |line: &Line, key: &str| line.get(key).to_owned();
    let mut facts: BTreeMap<String, String> =
        of("file").map(|line| (text(line, "path"), text(line, "text"))).collect();
    for (word, keys) in [
        ("cpu", ["rdrand", "rdseed", "tsc"].as_slice()),
        ("machine", ["efi", "vmgenid", "vmclock"].as_slice()),
        ("seed", ["bits", "answer"].as_slice()),
    ] {
        for line in of(word) {
            facts.extend(keys.iter().map(|key| (format!("{word}.{key}"), text(line, key))));
        }
    }
    let callers: Vec<Caller> = of("caller")
        .map(|line| Caller {
            name: text(line, "name"),
            from_s: number(line, "from"),
            to_s: line.number("to"),
            until_s: line.number("to").or_else(|| line.number("at")).unwrap_or(0.0),
        })
        .collect();
    let waited = callers.iter().find(|caller| caller.name == "getrandom");
    let ended = waited.and_then(|caller| caller.to_s);
    let blocked_s = waited.and_then(|caller| Some(caller.to_s? - caller.from_s));
    let kmsg: Vec<Message> = of("kmsg")
        .map(|line| Message { at_s: number(line, "at"), text: text(line, "text") })
        .collect();
    let done = kmsg.iter().find(|message| {
        message.text.starts_with("random: crng init done")
            || message.text.starts_with("random: crng done")
    });
    let entropy: Vec<Entropy> = of("entropy")
        .filter_map(|line| {
            Some(Entropy { at_s: line.number("at")?, bits: line.number("available")? })
        })
        .collect();
    let slope = cause::slope(&entropy);
    let interrupts = of("interrupts").next().map_or_else(Interrupts::default, |line| Interrupts {
        all: line.number("during_all").unwrap_or(0),
        devices: line.number("during_devices").unwrap_or(0),
    });
    let impatient = of("impatient")
        .map(|line| Impatient {
            name: text(line, "name"),
            answer: text(line, "answer"),
            took_s: number(line, "took"),
        })
        .collect();
    let modules = of("module")
        .map(|line| Module {
            name: text(line, "name"),
            at_s: number(line, "at"),
            answer: text(line, "answer"),
        })
        .collect();
    let mut report = Report {
        schema: "headwater.lab-boot/1",
        kernel: hello.get("text").split(' ').nth(2).unwrap_or(&kernel.release).to_owned(),
        series: kernel.series.clone(),
        rng: plan.rng,
        clock: plan.clock,
        append: [plan.append.trim(), plan.devices.trim()].join(" ").trim().to_owned(),
        init_s: number(&hello, "init"),
        ready_at_init: hello.is("ready"),
        ready_s: done.map(|message| message.at_s).or(ended),
        blocked_s,
        limit_s: plan.limit_s,
        callers,
        impatient,
        entropy,
        bits_per_s: slope.map(|slope| slope.bits_per_s),
        remaining_s: if blocked_s.is_none() {
            slope.and_then(|slope| slope.remaining_s)
        } else {
            None
        },
        interrupts,
        kmsg,
        modules,
        facts,
        cause: Cause::default(),
        doctor: None,
        retries,
        wall_s,
    };
    report.cause = cause::of(&report);
    report
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use snapbox::{assert_data_eq, file};

    /// From what a real guest said: Linux 7.3.4 without a cycle counter, and virtio-rng's driver after 15 s.
    pub(crate) fn late() -> Report {
        let lines = include_str!("../tests/guests/late.lines");
        let lines: Vec<Line> = lines.lines().filter_map(Line::parse).collect();
        let kernel = Kernel {
            series: "7".into(),
            release: "7".into(),
            architecture: "x86_64".into(),
            image: PathBuf::new(),
            sha256: String::new(),
            modules: Vec::new(),
        };
        let plan =
            Plan { rng: Rng::VirtioLate, clock: Clock::Jiffies, limit_s: 15, ..Plan::new("7") };
        report(&plan, &kernel, &lines, 0, 20.0)
    }

    #[test]
    fn lines_of_a_guest_become_a_timeline() {
        assert_data_eq!(crate::text::boot(&late()), file!["../tests/guests/late.txt"]);
    }

    /// The same guest, had nothing come to its rescue.
    #[test]
    fn a_wait_without_end_is_told_with_its_cause() {
        let mut report = late();
        let plan = Plan { rng: Rng::None, clock: Clock::Jiffies, ..Plan::new("7") };
        report.rng = plan.rng;
        report.blocked_s = None;
        assert_eq!(cause::of(&report).id, "no_counter");
        report.blocked_s = Some(1.02);
        assert_eq!(cause::of(&report).id, "jitter_loop");
        report.ready_at_init = true;
        report.facts.insert("cpu.rdrand".into(), "true".into());
        assert_eq!(cause::of(&report).id, "seeded_by_cpu");
    }
}
