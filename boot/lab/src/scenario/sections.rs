//! `headwater lab sections`: stresses restartable sequences on one kernel, with one CPU and with a
//! CPU that goes offline and online.

use crate::judge::boot::release;
use crate::judge::sections::{self, SectionsReport};
use crate::machine::cache::Cache;
use crate::machine::qemu::{Guest, Machine};
use crate::machine::{program, setup};
use anyhow::{Context, Result};
use headwater_lab_protocol::{self as protocol, Command, Hello, Message, SectionsPlan};
use std::path::Path;
use std::time::Duration;

/// The guest's CPU. Without RDPID or AVX2 a process uses another path than sections, and the stress
/// would show nothing.
const CPU: &str = "max,+rdpid,enforce";

/// Runs both stresses on a kernel, for `seconds` each.
///
/// # Errors
///
/// If a guest cannot be started, or does not answer.
pub fn sections(
    cache: &Cache,
    kernel: &str,
    seconds: u64,
    guest: Option<&Path>,
) -> Result<Vec<SectionsReport>> {
    let kernel = setup::find_kernel(cache, kernel)?;
    let program = program::find(cache, guest, &kernel.architecture)?;
    let archive = program::archive(cache, &program, &kernel)?;
    let directory = cache.run("sections")?;
    let mut reports = Vec::new();
    for smp in [1, 2] {
        let mut machine = Machine::new(&kernel, &archive);
        machine.cpu = CPU.to_owned();
        machine.cpus = smp;
        machine.append = "hw.limit=60".to_owned();
        let mut guest = Guest::start(cache, &machine, &directory, "sections", None)?;
        let is_ready = |message: &Message| matches!(message, Message::Ready(_));
        let hello = guest.until(is_ready, Duration::from_secs(180))?;
        let hello = protocol::first::<Hello>(&hello).cloned().unwrap_or_default();
        let command = Command::Sections(SectionsPlan { seconds, unplug: smp > 1 });
        let answer = guest.ask_for(&command, Duration::from_secs(seconds * 2 + 120))?;
        let sent = sections::of(&answer).context("the guest did not send a result")?;
        let release = release(&hello.kernel).unwrap_or(&kernel.release);
        reports.push(SectionsReport::new(release, &kernel.series, smp, sent));
        guest.off();
    }
    Ok(reports)
}
