//! The report on one pair of clones: repeats of each witness, detectors in use, end of the repeats.

use crate::judge::boot::{release, seconds};
use crate::judge::compare::{Divergence, Repeats, Thread};
use crate::machine::manifest::KernelImage;
use crate::plan::{ClonePlan, CopyMethod, Vmgenid};
use anyhow::{Context, Result, ensure};
use headwater_lab_protocol::{self as protocol, Hello, Log, Message, Ready, Status};
use serde::Serialize;
use std::collections::BTreeMap;

/// The report on a pair of clones, in JSON of schema `headwater.lab-clone/1`.
#[derive(Clone, Debug, Serialize)]
pub struct ClonePair {
    pub(crate) schema: &'static str,
    /// `uname -r` of the guest.
    pub kernel: String,
    /// The series of the guest's kernel.
    pub series: String,
    /// The generation identifier.
    pub vmgenid: Vmgenid,
    /// True if the machine had a VMClock.
    pub vmclock: bool,
    /// Virtual CPUs.
    pub smp: usize,
    /// True if a snapshot was restored in place.
    pub rollback: bool,
    /// True if the machine hibernated, and two machines resumed from copies of its disk.
    pub hibernated: bool,
    /// True if the CPU has a random instruction. Under emulation, the host's generator answers it.
    pub rdrand: bool,
    /// Seconds after the resume in which the first clone drew; null: the counter's speed is
    /// unknown.
    pub watched_s: Option<f64>,
    /// Threads that drew, in all processes. Each may have had one draw in flight at the snapshot.
    pub threads: usize,
    /// Threads that ran again in both clones.
    pub threads_compared: usize,
    /// Each witness, and headwater in each mode.
    pub rows: Vec<WitnessResult>,
    /// Mode and detectors of each process.
    pub modes: Vec<ModeStatus>,
    /// For each clone, the kernel's reseed because of the clone, in seconds after the resume.
    pub fork_reseeds: Vec<Option<f64>>,
    /// Size of the saved state in MiB.
    pub state_mib: u64,
    /// Seconds that the pair took on this host.
    pub wall_s: f64,
}

/// Repeats of one witness.
#[derive(Clone, Debug, Serialize)]
pub struct WitnessResult {
    /// `syscall`, `vdso`, `openssl`, `rand`, `headwater`, `headwater-rng`, `headwater-large`, or
    /// `headwater-openssl` (RAND_bytes with headwater's provider).
    pub witness: String,
    /// headwater's mode that the process asked for; null: the witness has no mode.
    pub mode: Option<String>,
    /// Draws of 16 bytes that began after the resume, in the first clone; 0: absent.
    pub draws: usize,
    /// Draws with bytes that the other clone drew too.
    pub repeated: usize,
    /// Start of the last such draw, in seconds after the resume.
    pub last_s: Option<f64>,
    /// Repeats that began after headwater's stamp had changed in this clone.
    pub after_stamp: usize,
    /// Words of 8 bytes that repeat within one clone.
    pub twice_within: usize,
}

/// Mode and detectors of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModeStatus {
    /// The mode that the process asked for.
    pub asked: String,
    /// The mode before the snapshot.
    pub before: String,
    /// The mode in each clone.
    pub after: Vec<String>,
    /// The reason for the mode before the snapshot.
    pub reason: String,
    /// Detectors: name and state.
    pub guards: BTreeMap<String, String>,
}

/// All messages of a pair of clones.
pub(crate) struct PairTranscript {
    /// Messages up to the snapshot.
    pub(crate) source: Vec<Message>,
    pub(crate) clones: [CloneTranscript; 2],
    pub(crate) state_mib: u64,
}

/// Draws and messages of one clone.
pub(crate) struct CloneTranscript {
    pub(crate) threads: Vec<Thread>,
    pub(crate) messages: Vec<Message>,
}

/// Returns true for witnesses that are drawn in each of headwater's modes.
fn has_mode(witness: &str) -> bool {
    witness.starts_with("headwater")
}

/// Compares both clones.
///
/// # Errors
///
/// If the guest was never ready, or if no thread drew in both clones.
pub(crate) fn judge(
    plan: &ClonePlan,
    kernel: &KernelImage,
    transcript: &PairTranscript,
) -> Result<ClonePair> {
    let source = &transcript.source;
    let ready = protocol::first::<Ready>(source).context("the guest was never ready")?;
    let stamp = ready.witnesses.iter().position(|name| name == "stamp");
    let stamp = stamp.context("the guest does not draw a stamp")?;
    let [one, two] = &transcript.clones;
    let mut divergence = Divergence::between(&one.threads, &two.threads, &ready.threads, stamp);
    let hibernated = plan.method == CopyMethod::Hibernation;
    if hibernated {
        divergence.count_from_the_first_draw();
    }
    ensure!(divergence.threads > 0, "no thread drew in both clones");
    let frequency = frequency(source);
    let in_seconds = |cycles: u64| frequency.map(|frequency| cycles as f64 / frequency);
    // The counter starts before the kernel's clock; the guest's `ready` has both at one moment.
    let resumed = frequency.filter(|_| !hibernated).map(|frequency| {
        seconds(ready.at_us) + (divergence.at as f64 - ready.cycles as f64) / frequency
    });
    let hello = protocol::first::<Hello>(source);
    let clones = transcript.clones.iter();
    Ok(ClonePair {
        schema: "headwater.lab-clone/1",
        // A kernel that was given as a file has only the name that it reports.
        kernel: hello
            .and_then(|hello| release(&hello.kernel))
            .unwrap_or(&kernel.release)
            .to_owned(),
        series: kernel.series.clone(),
        vmgenid: plan.vmgenid,
        vmclock: plan.vmclock,
        smp: plan.smp,
        rollback: plan.method == CopyMethod::Rollback,
        hibernated,
        rdrand: plan.rdrand,
        watched_s: in_seconds(divergence.watched()),
        threads: ready.threads.len(),
        threads_compared: divergence.threads,
        rows: rows(&divergence, ready, stamp, &plan.modes, &in_seconds),
        modes: plan.modes.iter().map(|mode| mode_status(mode, transcript)).collect(),
        fork_reseeds: clones.map(|clone| fork_reseed(&clone.messages, resumed)).collect(),
        state_mib: transcript.state_mib,
        wall_s: 0.0,
    })
}

/// Returns one row for each witness; for witnesses of headwater, one for each mode.
fn rows(
    divergence: &Divergence,
    ready: &Ready,
    stamp: usize,
    modes: &[String],
    in_seconds: &dyn Fn(u64) -> Option<f64>,
) -> Vec<WitnessResult> {
    let all_threads: Vec<usize> = (0..ready.threads.len()).collect();
    let mut rows = Vec::new();
    for (index, witness) in ready.witnesses.iter().enumerate().filter(|(at, _)| *at != stamp) {
        let mut add = |mode: Option<&str>, threads: &[usize]| {
            let Repeats { draws, repeated, last, after_stamp } = divergence.repeats(index, threads);
            rows.push(WitnessResult {
                witness: witness.clone(),
                mode: mode.map(str::to_owned),
                draws,
                repeated,
                last_s: if repeated > 0 { in_seconds(last) } else { None },
                after_stamp,
                twice_within: divergence.repeats_within(index),
            });
        };
        if has_mode(witness) {
            for mode in modes {
                let threads: Vec<usize> =
                    all_threads.iter().copied().filter(|at| ready.threads[*at] == *mode).collect();
                add(Some(mode), &threads);
            }
        } else {
            add(None, &all_threads);
        }
    }
    rows
}

/// Returns the frequency of the cycle counter in Hz, as the guest's kernel measured it.
fn frequency(messages: &[Message]) -> Option<f64> {
    let mut mhz = protocol::all::<Log>(messages).filter_map(|line| {
        let rest = match line.text.strip_prefix("tsc: Detected ") {
            Some(rest) => rest,
            None => line.text.split_once("cp15 timer running at ")?.1,
        };
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        rest[..digits]
            .parse::<f64>()
            .ok()
            .filter(|_| rest[digits..].trim_start().starts_with("MHz"))
    });
    mhz.next().map(|mhz| mhz * 1e6)
}

fn mode_status(mode: &str, transcript: &PairTranscript) -> ModeStatus {
    // The last one: `auto` settles on a mode once the process has drawn.
    let status = |messages: &[Message]| {
        protocol::all::<Status>(messages).filter(|status| status.asked == mode).last().cloned()
    };
    let before = status(&transcript.source).unwrap_or_default();
    let after =
        transcript.clones.iter().map(|clone| status(&clone.messages).unwrap_or_default().mode);
    let guards = [
        ("reseed_generation", &before.reseed_generation),
        ("vmgenid", &before.vmgenid),
        ("vmclock", &before.vmclock),
        ("hardware", &before.hardware),
        ("cpu_rng", &before.cpu_rng),
        ("source", &before.source),
        ("page", &before.page),
    ];
    ModeStatus {
        asked: mode.to_owned(),
        after: after.collect(),
        guards: guards.map(|(name, state)| (name.to_owned(), state.clone())).into(),
        before: before.mode,
        reason: before.reason,
    }
}

/// Returns the time between the resume and the kernel's line about its reseed because of the clone.
fn fork_reseed(messages: &[Message], resumed: Option<f64>) -> Option<f64> {
    let line = protocol::all::<Log>(messages)
        .filter(|line| line.text.contains("reseeded due to virtual machine fork"))
        .last()?;
    Some(seconds(line.at_us) - resumed?)
}

#[cfg(test)]
mod tests;
