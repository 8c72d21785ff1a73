//! `headwater lab boot`: boots one guest and reports which requests waited for randomness, and why.

use crate::judge::boot::{BootReport, report};
use crate::judge::doctor::DoctorResults;
use crate::machine::cache::Cache;
use crate::machine::manifest::KernelImage;
use crate::machine::qemu::{Guest, Machine};
use crate::machine::{command, program, setup};
use crate::plan::{BootPlan, Clock, Rng};
use crate::scenario::record;
use anyhow::{Context, Result};
use headwater_lab_protocol::{Command, Message};
use std::path::Path;
use std::time::Duration;

/// The file in the guest that holds the doctor's report.
const DOCTORS_REPORT: &str = "/doctor.json";

/// Boots the guest.
///
/// # Errors
///
/// If the guest cannot be started, or ends before it has sent everything.
pub fn boot(cache: &Cache, plan: &BootPlan) -> Result<BootReport> {
    let kernel = setup::find_kernel(cache, &plan.kernel)?;
    let program = program::find(cache, plan.guest.as_deref(), &kernel.architecture)?;
    let archive = program::archive(cache, &program, &kernel)?;
    let machine = machine(cache, &kernel, archive.path(), plan)?;
    let directory = cache.run("boot")?;
    let mut retries = 0;
    let is_hello = |message: &Message| matches!(message, Message::Hello(_));
    let (mut guest, hello) = loop {
        let mut guest = Guest::start(cache, &machine, &directory, "boot", None)?;
        // Many times what an emulated boot takes on a quiet host.
        match guest.until(is_hello, Duration::from_secs(120)) {
            // The guest's program has not run yet, so the panic is the emulation's.
            Err(error) if guest.panicked() && retries < 1 => {
                eprintln!("headwater lab: {error:#}; trying again");
                retries += 1;
            }
            hello => break (guest, hello.with_context(|| format!("kernel {}", kernel.release))?),
        }
    };
    let patience = Duration::from_secs(u64::from(plan.limit_s) * 2 + 60);
    let mut messages = hello;
    let is_ready = |message: &Message| matches!(message, Message::Ready(_));
    messages.extend(
        guest.until(is_ready, patience).with_context(|| format!("kernel {}", kernel.release))?,
    );
    // The doctor runs first, because the interrupts of a recording can end the stall that it should
    // report. Its own report is fetched last for the same reason: it is hundreds of interrupts
    // long.
    let ends = guest.ask(&Command::Doctor).context("the doctor in the guest")?;
    if let Some(directory) = &plan.record {
        record::of_guest(&mut guest, directory)?;
    }
    let json = guest.read(DOCTORS_REPORT);
    let json = json.with_context(|| format!("the doctor's report, {DOCTORS_REPORT}"))?;
    let doctor = DoctorResults::read(&ends, &json)?;
    let wall_s = guest.begun.elapsed().as_secs_f64();
    guest.off();
    let report = report(plan, &kernel, &messages, retries, wall_s);
    Ok(BootReport { doctor: Some(doctor), ..report })
}

fn machine(
    cache: &Cache,
    kernel: &KernelImage,
    archive: &Path,
    plan: &BootPlan,
) -> Result<Machine> {
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
            machine.firmware = Some(command::firmware(cache)?);
            words.push("hw.modules=none".into());
        }
        Rng::Seed => words.push("hw.credit=256".into()),
    }
    if plan.rng == Rng::RdrandUntrusted {
        words.push("random.trust_cpu=off".into());
    }
    match plan.clock {
        Clock::Tsc => {}
        // No fine clock may remain: with the HPET or the ACPI timer, the jitter loop works.
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
