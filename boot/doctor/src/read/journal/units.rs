//! The starts of systemd's units. Since systemd 249 a line names the unit, but before that it has
//! the description only ("OpenBSD Secure Shell server"), which an administrator cannot pass to
//! systemctl. A failure connects the two: name and description then stand on adjacent lines,
//! because systemd is one thread and reports a unit's end in one piece. So we learn the names of
//! those units that failed, which are the ones that matter.

use super::shortened::{SEEDS_UNIT, is_seeds_unit};
use super::split::{split_at, split_at_colon};
use super::stamp::Stamp;
use crate::Evidence;
use crate::boot::{Attempt, AttemptOutcome, Moment, Unit};
use std::collections::HashMap;

/// Starts that are kept of a boot. Nothing starts as many before its generator is ready.
const MOST: usize = 1000;

/// The starts of a boot's units.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts {
    units: Vec<(String, Vec<Start>)>,
    places: HashMap<String, usize>,
    count: usize,
    /// Which unit a description is.
    names: HashMap<String, String>,
    /// A unit that systemd has just said to have failed, until it speaks of something else.
    failing: Option<String>,
    /// A description of which systemd has just said that it could not be started.
    failed: Option<String>,
    /// Kills at the start timeout, of units whose description is not known yet.
    killed: HashMap<String, (Stamp, Evidence)>,
    /// The number of units whose last start did not succeed, or has not ended. It is kept for speed
    /// alone: while it is 0, no start of a system that is ready can be of interest, so its lines
    /// need no search for their unit.
    unsettled: usize,
}

#[derive(Clone, Debug)]
struct Start {
    began: (Stamp, Evidence),
    ended: Option<(Stamp, Evidence)>,
    outcome: AttemptOutcome,
    /// systemd has said that it kills it.
    killed: Option<(Stamp, Evidence)>,
}

impl Starts {
    /// Takes a message of the first program in. Units that start once the generator `is_ready` do
    /// not wait, and are left out.
    pub(super) fn note(
        &mut self,
        message: &str,
        unit: Option<&str>,
        is_ready: bool,
        stamp: Stamp,
        evidence: impl FnOnce() -> Evidence,
    ) {
        let failed = self.failed.take();
        if let Some(name) = failing(message) {
            if let Some(description) = failed {
                self.is_called(&description, name);
            }
            self.failing = Some(name.to_owned());
        } else if let Some(name) = timed_out(message) {
            self.kill(name, (stamp, evidence()));
            self.failing = Some(name.to_owned());
        } else if let Some(label) = message.strip_prefix("Starting ") {
            let label = unit.unwrap_or_else(|| named(label.trim_end_matches(['.', '…'])));
            self.begin(label, is_ready, stamp, evidence);
        } else if let Some(label) = message.strip_prefix("Failed to start ") {
            let label = label.trim_end_matches('.');
            if let Some(name) = self.failing.take()
                && unit.is_none()
                && !is_name(named(label))
            {
                self.is_called(label, &name);
            }
            let label = unit.unwrap_or_else(|| named(label));
            self.end(label, AttemptOutcome::Failed, stamp, evidence);
            self.failed = Some(label.to_owned());
        } else if let Some(label) = started(message) {
            self.end(
                unit.unwrap_or_else(|| named(label)),
                AttemptOutcome::Started,
                stamp,
                evidence,
            );
        } else if let Some(label) = message.strip_prefix("Stopped ") {
            let label = unit.unwrap_or_else(|| named(label.trim_end_matches('.')));
            self.end(label, AttemptOutcome::Failed, stamp, evidence);
        }
        if self.failing.as_deref().is_some_and(|name| !message.contains(name)) {
            self.failing = None;
        }
    }

    fn begin(
        &mut self,
        label: &str,
        is_ready: bool,
        stamp: Stamp,
        evidence: impl FnOnce() -> Evidence,
    ) {
        if is_ready && self.unsettled == 0 {
            return;
        }
        let place = self.place(label);
        let again = place.is_some_and(|place| {
            self.units[place].1.last().is_some_and(|start| start.outcome != AttemptOutcome::Started)
        });
        if self.count == MOST || is_ready && !again {
            return;
        }
        let place = place.unwrap_or_else(|| {
            self.places.insert(label.to_owned(), self.units.len());
            self.units.push((label.to_owned(), Vec::new()));
            self.units.len() - 1
        });
        self.count += 1;
        let start = Start {
            began: (stamp, evidence()),
            ended: None,
            outcome: AttemptOutcome::Unknown,
            killed: None,
        };
        self.units[place].1.push(start);
        self.count_unsettled();
    }

    fn count_unsettled(&mut self) {
        let is_unsettled = |(_, starts): &&(String, Vec<Start>)| {
            starts.last().is_some_and(|start| start.outcome != AttemptOutcome::Started)
        };
        self.unsettled = self.units.iter().filter(is_unsettled).count();
    }

    fn end(
        &mut self,
        label: &str,
        outcome: AttemptOutcome,
        stamp: Stamp,
        evidence: impl FnOnce() -> Evidence,
    ) {
        let Some(start) = self.open(label) else { return };
        (start.ended, start.outcome) = match start.killed.take() {
            Some(killed) if outcome != AttemptOutcome::Started => {
                (Some(killed), AttemptOutcome::TimedOut)
            }
            _ => (Some((stamp, evidence())), outcome),
        };
        self.count_unsettled();
    }

    fn kill(&mut self, name: &str, moment: (Stamp, Evidence)) {
        let known =
            self.names.iter().find(|(_, known)| *known == name).map(|(label, _)| label.clone());
        if let Some(start) = self.open(known.as_deref().unwrap_or(name)) {
            start.killed = Some(moment);
        } else if self.killed.len() < MOST {
            self.killed.insert(name.to_owned(), moment);
        }
    }

    /// Notes that the unit with this description is called `name`. A kill that was logged under the
    /// name then belongs to the unit's last start.
    fn is_called(&mut self, description: &str, name: &str) {
        let Some(place) = self.place(description) else { return };
        self.names.insert(description.to_owned(), name.to_owned());
        let (Some(killed), Some(start)) =
            (self.killed.remove(name), self.units[place].1.last_mut())
        else {
            return;
        };
        match start.outcome {
            AttemptOutcome::Unknown => start.killed = Some(killed),
            AttemptOutcome::Failed => {
                (start.ended, start.outcome) = (Some(killed), AttemptOutcome::TimedOut);
            }
            AttemptOutcome::Started | AttemptOutcome::TimedOut => {}
        }
    }

    fn place(&self, label: &str) -> Option<usize> {
        self.places.get(label).copied()
    }

    fn open(&mut self, label: &str) -> Option<&mut Start> {
        if self.unsettled == 0 {
            return None;
        }
        let place = self.place(label)?;
        self.units[place].1.last_mut().filter(|start| start.outcome == AttemptOutcome::Unknown)
    }

    /// Returns all units. `moment` converts a stamp to the boot's clock.
    pub(super) fn finish(mut self, moment: impl Fn(Stamp, Evidence) -> Moment) -> Vec<Unit> {
        let moment = |(stamp, evidence): (Stamp, Evidence)| moment(stamp, evidence);
        let attempt = |start: Start| match (start.ended, start.killed) {
            (None, Some(killed)) => Attempt {
                began: moment(start.began),
                ended: Some(moment(killed)),
                outcome: AttemptOutcome::TimedOut,
            },
            (ended, _) => Attempt {
                began: moment(start.began),
                ended: ended.map(moment),
                outcome: start.outcome,
            },
        };
        let mut units: Vec<Unit> = Vec::new();
        for (label, starts) in self.units {
            let name = self.names.remove(&label).unwrap_or(label);
            let attempts: Vec<Attempt> = starts.into_iter().map(attempt).collect();
            match units.iter_mut().find(|unit| unit.name == name) {
                Some(unit) => unit.attempts.extend(attempts),
                None => units.push(Unit { name, attempts }),
            }
        }
        units
    }
}

/// Returns the unit's name in a label such as `ssh.service - OpenBSD Secure Shell server`, or the
/// whole label if it has none.
fn named(label: &str) -> &str {
    let name = match label.split_once(' ') {
        Some((name, rest)) if rest.starts_with("- ") && (is_name(name) || name.contains('…')) => {
            name
        }
        _ => label,
    };
    if name.contains('…') && is_seeds_unit(name) { SEEDS_UNIT } else { name }
}

fn is_name(label: &str) -> bool {
    const KINDS: [&str; 10] = [
        "service",
        "socket",
        "mount",
        "target",
        "timer",
        "device",
        "swap",
        "path",
        "automount",
        "scope",
    ];
    !label.contains(' ') && label.rsplit_once('.').is_some_and(|(_, kind)| KINDS.contains(&kind))
}

fn started(message: &str) -> Option<&str> {
    let label = message.strip_prefix("Started ").or_else(|| message.strip_prefix("Finished "))?;
    Some(label.strip_suffix('.').unwrap_or(label))
}

/// Returns the unit in `ssh.service: Failed with result 'timeout'.`; before systemd 233
/// `ssh.service: Unit entered failed state.`; before 229 `Unit ssh.service entered failed state.`.
fn failing(message: &str) -> Option<&str> {
    if !message.ends_with(['.', '\'']) {
        return None; // most lines, and this is read for each
    }
    if let Some(name) =
        message.strip_prefix("Unit ").and_then(|rest| rest.strip_suffix(" entered failed state."))
    {
        return is_name(name).then_some(name);
    }
    let (name, rest) = split_at_colon(message)?;
    let fails = rest.starts_with("Failed with result ") || rest == "Unit entered failed state.";
    (fails && is_name(name)).then_some(name)
}

/// Returns the unit in `ssh.service: start-pre operation timed out. Terminating.`; without the
/// colon before systemd 229, and in capitals before 243.
fn timed_out(message: &str) -> Option<&str> {
    let (name, rest) = split_at(message, b' ')?;
    // Nearly every line ends here, without a search in its rest.
    if !rest.as_bytes().get(..5)?.eq_ignore_ascii_case(b"start") {
        return None;
    }
    let name = name.strip_suffix(':').unwrap_or(name);
    (is_name(name) && rest.contains(" operation timed out.")).then_some(name)
}
