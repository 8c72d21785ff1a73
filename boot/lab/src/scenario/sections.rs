//! `headwater lab sections`: stresses restartable sequences on one kernel, with one CPU and with a
//! CPU that goes offline and online.

use crate::judge::boot::release;
use crate::judge::sections::{self, SectionsReport};
use crate::machine::cache::Cache;
use crate::machine::qemu::{Guest, Machine};
use crate::machine::temporary::Temporary;
use crate::machine::{debugger, program, setup};
use anyhow::{Context, Result};
use headwater_lab_protocol::{self as protocol, Command, Hello, Message, SectionsPlan, Symbol};
use std::path::Path;
use std::time::Duration;

/// The guest's CPU. Without RDPID or AVX2 a process uses another path than sections, and the stress
/// would show nothing.
pub(crate) const CPU: &str = "max,+rdpid,enforce";

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
    let mut reports = Vec::new();
    for smp in [1, 2] {
        let mut guest = Stressed::start(cache, kernel, smp, guest)?;
        let plan = SectionsPlan { seconds, unplug: smp > 1 };
        let answer = guest.guest.ask_for(&Command::Sections(plan), patience(seconds))?;
        reports.push(guest.report(&answer)?);
        guest.guest.off();
    }
    Ok(reports)
}

/// Runs the stress with one CPU, and makes the kernel forget to abort sections after half of the
/// `seconds`. A stress that then finds nothing is worth nothing.
///
/// The function that aborts returns at once from then on. It looks simpler to start a kernel that
/// was built without it. But that function also writes the number of the CPU into a thread's area,
/// and without a number no thread would enter a section.
///
/// # Errors
///
/// If a guest cannot be started or does not answer, or the kernel has no such function by itself.
pub fn forgetful(
    cache: &Cache,
    kernel: &str,
    seconds: u64,
    guest: Option<&Path>,
) -> Result<SectionsReport> {
    let mut guest = Stressed::start(cache, kernel, 1, guest)?;
    let symbol = guest.guest.ask_for(&Command::Symbol { name: ABORT.to_owned() }, patience(0))?;
    let address = protocol::first::<Symbol>(&symbol).and_then(|symbol| symbol.address);
    let address = address.with_context(|| {
        format!("the kernel has no function {ABORT}; Linux 6.12 has it: --kernel 6.12")
    })?;
    let command = Command::Sections(SectionsPlan { seconds, unplug: false });
    guest.guest.send(&command)?;
    std::thread::sleep(Duration::from_secs(seconds) / 2);
    let sockets = Temporary::directory()?;
    let socket = sockets.socket("debugger")?;
    debugger::write(&mut guest.guest.qmp, &socket, address, RETURN)?;
    let answer = guest.guest.answer(&command, patience(seconds))?;
    let report = guest.report(&answer)?;
    guest.guest.off();
    Ok(report)
}

/// The function that moves a thread out of an interrupted section.
const ABORT: &str = "__rseq_handle_notify_resume";
/// The instruction that returns.
const RETURN: &[u8] = &[0xc3];

fn patience(seconds: u64) -> Duration {
    Duration::from_secs(seconds * 2 + 120)
}

/// A guest for one stress.
struct Stressed {
    guest: Guest,
    release: String,
    series: String,
    smp: usize,
}

impl Stressed {
    fn start(cache: &Cache, kernel: &str, smp: usize, guest: Option<&Path>) -> Result<Stressed> {
        let kernel = setup::find_x86_kernel(cache, kernel)?;
        let program = program::find(cache, guest, &kernel.architecture)?;
        let archive = program::archive(cache, &program, &kernel)?;
        let directory = cache.run("sections")?;
        let mut machine = Machine::new(&kernel, archive.path());
        machine.cpu = CPU.to_owned();
        machine.cpus = smp;
        machine.append = "hw.limit=60".to_owned();
        let (guest, hello) = Guest::start_until_ready(cache, &machine, &directory, "sections")?;
        let hello = protocol::first::<Hello>(&hello).cloned().unwrap_or_default();
        let release = release(&hello.kernel).unwrap_or(&kernel.release).to_owned();
        Ok(Stressed { guest, release, series: kernel.series, smp })
    }

    fn report(&self, answer: &[Message]) -> Result<SectionsReport> {
        let sent = sections::of(answer).context("the guest did not send a result")?;
        Ok(SectionsReport::new(&self.release, &self.series, self.smp, sent))
    }
}
