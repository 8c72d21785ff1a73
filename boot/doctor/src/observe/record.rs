//! The observer's record of one boot, and the directories that keep records.

use super::victims::{Ending, Table};
use crate::Root;
use crate::boot::Bounds;
use headwater_text::escape::untrusted;
use headwater_text::file;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The schema of a record.
pub const SCHEMA: &str = "headwater.observe/1";
/// The records of this boot. The directory is lost at the next one.
pub const RUN: &str = "/run/headwater/boots";
/// The records of the last boots.
pub const KEPT: &str = "/var/lib/headwater/boots";
/// Bounds as close as this are one figure: two looks, and the time that they take.
const NEAR_S: f64 = 0.25;
/// Records in [`KEPT`]; older ones are removed.
const MOST_KEPT: usize = 20;

/// The threads that waited for the kernel's generator at one boot. Times are seconds since the
/// kernel started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Record {
    /// The name and version of this document's schema.
    pub schema: String,
    /// The version of headwater that observed.
    pub version: String,
    /// The kernel's id of the boot.
    pub boot_id: Option<String>,
    /// The release of the kernel.
    pub kernel: Option<String>,
    /// The start of the observation.
    pub began: f64,
    /// The end of the observation.
    pub ended: f64,
    /// The reason why the observation ended.
    pub outcome: RecordOutcome,
    /// The time at which the kernel's generator was ready; null if it was ready before the
    /// observation, or still was not after it.
    pub ready: Option<f64>,
    /// The source that made the generator ready, as far as it can be seen: the name of a device,
    /// "timing jitter", "interrupts" or "a credited seed".
    pub ready_by: Option<String>,
    /// The way in which waits in getrandom were found.
    #[serde(default)]
    pub method: Method,
    /// The reason why the tracepoints were not used; null if they were, or were not needed.
    #[serde(default)]
    pub no_tracepoints: Option<String>,
    /// Looks at the processes.
    pub looks: u64,
    /// CPU time that the observer used, in seconds.
    pub cpu_seconds: f64,
    /// Processes, threads and waits that the observer's tables had no room for, and lines that the
    /// kernel's trace had no room for.
    pub missed: u64,
    /// The threads that waited, longest first.
    pub victims: Vec<Victim>,
}

/// The way in which waits in getrandom were found. Other waits are always found by looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The kernel's tracepoints wrote the begin and the end of each call.
    Tracepoints,
    /// Looks into /proc, ten times a second.
    #[default]
    Looks,
}

/// The reason why an observation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecordOutcome {
    /// The generator was ready when the observer started.
    ReadyAtStart,
    /// The generator became ready.
    Ready,
    /// The generator was not ready when the observer's time was over.
    TimedOut,
}

/// A thread that waited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Victim {
    /// The systemd unit, by the process's control group.
    pub unit: Option<String>,
    /// The name of the process when it waited, which the kernel cuts to 15 bytes.
    pub process: String,
    /// The number of the process.
    pub pid: u32,
    /// The name of the thread, if it differs.
    pub thread: Option<String>,
    /// The number of the thread.
    pub tid: u32,
    /// The call that waited: "getrandom", "/dev/random" for a read, "poll of /dev/random", or
    /// "random" if it cannot be seen.
    pub call: String,
    /// The first time at which it was seen to wait.
    pub from: f64,
    /// The last time at which it was seen to wait, or the time of readiness.
    pub until: f64,
    /// The time that it waited.
    pub seconds: Bounds,
    /// The number of separate waits.
    pub waits: u32,
    /// The end of the last wait.
    pub ending: Ending,
}

impl Record {
    /// Takes the victims out of the observer's table.
    pub(super) fn take(&mut self, table: &Table) {
        self.missed = table.missed;
        self.victims = table.victims.iter().map(super::victims::Entry::victim).collect();
        self.victims.sort_by(|one, other| {
            other.seconds.at_least.total_cmp(&one.seconds.at_least).then(one.tid.cmp(&other.tid))
        });
    }

    /// Returns one line for each victim, and one for the observation itself.
    pub fn lines(&self) -> Vec<String> {
        let by = self.ready_by.as_ref().map(|by| format!(" by {}", untrusted(by)));
        let by = by.unwrap_or_default();
        let mut lines: Vec<String> = self.victims.iter().map(|victim| victim.line(&by)).collect();
        if self.missed > 0 {
            lines.push(format!("{} processes or threads were not observed", self.missed));
        }
        match (self.outcome, self.ready) {
            (RecordOutcome::TimedOut, _) => lines.push(format!(
                "the kernel's generator is not ready after {:.0} s; the observer stops",
                self.ended
            )),
            (RecordOutcome::Ready, Some(at)) if self.victims.is_empty() => {
                lines.push(format!(
                    "the kernel's generator was ready after {at:.1} s{by}; no process waited"
                ));
            }
            _ => {}
        }
        if self.looks > 0 {
            lines.push(self.method_line());
        }
        lines
    }

    fn method_line(&self) -> String {
        let looks = "waits were found by looks into /proc";
        match (self.method, &self.no_tracepoints) {
            (Method::Tracepoints, _) => {
                "waits in getrandom were timed by tracepoints, others by looks into /proc"
                    .to_owned()
            }
            (Method::Looks, Some(reason)) => {
                format!("{looks}, without tracepoints: {}", untrusted(reason))
            }
            (Method::Looks, None) => looks.to_owned(),
        }
    }

    /// Returns the record as JSON. Control and format characters are escaped.
    ///
    /// # Errors
    ///
    /// The errors of serde_json, which cannot occur: every value of this type can be written.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(headwater_text::escape::json(&serde_json::to_string_pretty(self)?) + "\n")
    }

    /// Reads a record. Returns `None` for other documents, and for records of a newer schema.
    pub fn parse(text: &str) -> Option<Record> {
        serde_json::from_str::<Record>(text).ok().filter(|record| record.schema == SCHEMA)
    }

    /// Writes the record of this boot to a directory that the next boot empties.
    ///
    /// # Errors
    ///
    /// Returns the error of mkdir(2), open(2), write(2) or rename(2).
    pub fn save(&self, directory: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(directory)?;
        let name = self.boot_id.as_deref().filter(|id| is_plain(id)).unwrap_or("unknown");
        let file = directory.join(format!("{name}.json"));
        if self.knows_less_than(&file) {
            return Ok(file);
        }
        file::replace(&file, self.json().map_err(io::Error::from)?)?;
        Ok(file)
    }

    /// Returns whether a file holds the record of an observer of the same boot that began earlier:
    /// one of the initramfs, beside one of the system.
    fn knows_less_than(&self, file: &Path) -> bool {
        let text = fs::read_to_string(file).unwrap_or_default();
        Record::parse(&text).is_some_and(|other| {
            other.boot_id == self.boot_id
                && other.began < self.began
                && other.outcome != RecordOutcome::ReadyAtStart
        })
    }

    /// Adds the record to the kept ones, unless the boot's record is among them, and removes the
    /// oldest beyond the limit. Names begin with a number, because a machine without a battery has
    /// no clock to order boots by.
    ///
    /// # Errors
    ///
    /// Returns the error of mkdir(2), open(2), write(2) or rename(2).
    pub fn keep(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        let mut kept = numbered(directory)?;
        let id = self.boot_id.as_deref().filter(|id| is_plain(id)).unwrap_or("unknown");
        let end = format!("-{id}.json");
        let is_of_this_boot = |(_, path): &&(u64, PathBuf)| {
            path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&end))
        };
        let number = match kept.iter().find(is_of_this_boot) {
            Some((number, _)) => *number,
            None => kept.last().map_or(1, |(number, _)| number.saturating_add(1)),
        };
        let file = directory.join(format!("{number:06}{end}"));
        if self.knows_less_than(&file) {
            return Ok(());
        }
        file::replace(&file, self.json().map_err(io::Error::from)?)?;
        kept.retain(|(_, path)| *path != file);
        let excess = (kept.len() + 1).saturating_sub(MOST_KEPT);
        for (_, old) in kept.iter().take(excess) {
            fs::remove_file(old)?;
        }
        Ok(())
    }
}

/// Returns whether a boot id can be part of a file's name.
fn is_plain(id: &str) -> bool {
    id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns the kept records with their numbers, the oldest first.
fn numbered(directory: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut kept = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let number = name.split_once('-').filter(|_| name.ends_with(".json"));
        if let Some(number) = number.and_then(|(number, _)| number.parse::<u64>().ok()) {
            kept.push((number, path));
        }
    }
    kept.sort();
    Ok(kept)
}

impl Victim {
    /// Returns the name for a sentence: `ssh.service: sshd[312]`.
    pub fn name(&self) -> String {
        let unit = self.unit.as_ref().map(|unit| format!("{}: ", untrusted(unit)));
        let thread = self.thread.as_ref().map(|name| format!(", thread {}", untrusted(name)));
        format!(
            "{}{}[{}]{}",
            unit.unwrap_or_default(),
            untrusted(&self.process),
            self.pid,
            thread.unwrap_or_default()
        )
    }

    /// Returns the time as one figure, which is off by an eighth of a second at most, if the bounds
    /// are close enough.
    pub fn exact(&self) -> Option<f64> {
        let most = self.seconds.at_most?;
        let is_near = most - self.seconds.at_least <= NEAR_S;
        is_near.then_some((self.seconds.at_least + most) / 2.0)
    }

    /// Returns the time in words. The journal's reader compares boots, so tenths are kept.
    pub fn waited(&self) -> String {
        match self.exact() {
            Some(seconds) => format!("{seconds:.1} s"),
            None => self.seconds.words(),
        }
    }

    fn line(&self, by: &str) -> String {
        let (name, waited, call) = (self.name(), self.waited(), untrusted(&self.call));
        match self.ending {
            Ending::Ready => format!("{name} waited {waited} in {call}, ready{by}"),
            Ending::GaveUp => {
                format!(
                    "{name} waited {waited} in {call}, and ended before the generator was ready"
                )
            }
            Ending::StillWaits => format!("{name} waits in {call}, {waited} so far"),
        }
    }
}

/// Reads the records of a machine, the oldest boot first. Files that are not records are left out,
/// because the checks have other evidence.
pub(crate) fn records(root: &Root) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for directory in [KEPT, RUN] {
        for name in root.names(directory).iter().rev().take(MOST_KEPT).rev() {
            let text = root.text(&format!("{directory}/{name}")).ok();
            let Some(record) = text.and_then(|text| Record::parse(&text)) else { continue };
            records.retain(|kept| kept.boot_id.is_none() || kept.boot_id != record.boot_id);
            records.push(record);
        }
    }
    records
}
