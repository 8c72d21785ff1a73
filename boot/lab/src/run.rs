//! `headwater lab all`: the tables of boots, clones and restored processes, with a record of them.

mod record;
mod rows;

use crate::judge::boot::BootReport;
use crate::judge::finding::{Finding, FindingKind};
use crate::judge::image::{self, RestoredImages};
use crate::judge::pair::ClonePair;
use crate::machine::cache::Cache;
use crate::plan::ClonePlan;
use crate::report::text;
use crate::scenario::boot::boot;
use crate::scenario::clone::clone;
use crate::scenario::criu;
use crate::scenario::matrix::BootCase;
use crate::scenario::situations::Situation;
use anyhow::Result;
use rows::Machines;
use std::time::Instant;

pub use rows::{Scope, nothing_ran};

/// Results of a run.
#[derive(Debug, Default)]
pub struct RunResults {
    /// Boots, with the expectation of each.
    pub boots: Vec<(BootCase, BootReport)>,
    /// Clones, with the promise for each.
    pub pairs: Vec<(Situation, ClonePair)>,
    /// Restored processes.
    pub images: Vec<RestoredImages>,
    /// The reasons for rows that did not run.
    pub skipped: Vec<String>,
    /// Broken promises and unmet expectations.
    pub findings: Vec<Finding>,
    /// Seconds that the run took on this host.
    pub wall_s: f64,
}

/// Runs the experiments. A guest that cannot be run is a finding, and the others still run.
///
/// # Errors
///
/// If a file of the record cannot be written, or no row could run.
pub fn run(cache: &Cache, scope: &Scope, report: &dyn Fn(&str)) -> Result<RunResults> {
    let begun = Instant::now();
    let mut results = RunResults::default();
    let keep = |results: &mut RunResults, done: bool| {
        results.wall_s = begun.elapsed().as_secs_f64();
        scope.out.as_ref().map_or(Ok(()), |directory| results.write(cache, directory, done))
    };
    // Before the first guest, so that an unwritable directory is an error now and not in half an
    // hour.
    keep(&mut results, false)?;
    let machines = Machines::of(cache, scope)?;
    for case in scope.cases() {
        match machines.lack(&case.plan.kernel) {
            None => one_boot(cache, scope, case, &mut results, report),
            Some(why) => results.skip(case.title, &why, report),
        }
    }
    keep(&mut results, false)?;
    for situation in scope.situations() {
        match machines.lack(situation.series) {
            None => one_pair(cache, scope, situation, &mut results, report),
            Some(why) => results.skip(situation.title, &why, report),
        }
    }
    keep(&mut results, false)?;
    if scope.clones && !scope.short && scope.only.is_empty() && scope.kernels.is_empty() {
        match criu::all(cache, scope.guest.as_deref(), report) {
            Ok(images) => {
                results.findings.extend(image::findings(&images));
                results.images = images;
            }
            Err(error) => results.skip("restored processes", &format!("{error:#}"), report),
        }
    }
    keep(&mut results, true)?;
    if results.ran() > 0 {
        return Ok(results);
    }
    let failed = results.findings.first().map(|finding| &finding.text);
    let why = failed.or(results.skipped.first()).map_or("no row", String::as_str);
    Err(nothing_ran(cache, why))
}

fn one_boot(
    cache: &Cache,
    scope: &Scope,
    mut case: BootCase,
    results: &mut RunResults,
    report: &dyn Fn(&str),
) {
    case.plan.guest.clone_from(&scope.guest);
    let name: String = case
        .title
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let name = name.replace("--", "-");
    case.plan.record = scope
        .recordings
        .as_ref()
        .map(|directory| directory.join(format!("lab-{}-{name}", case.plan.kernel)));
    match boot(cache, &case.plan) {
        Ok(boot) => {
            let findings = case.findings(&boot);
            let mark = if findings.is_empty() { "" } else { "  NOT AS EXPECTED" };
            report(&format!("{}: {}{mark}", case.title, text::brief(&boot)));
            results.findings.extend(findings);
            results.boots.push((case, boot));
        }
        Err(error) => results.failed(
            "boot",
            format!("'{}' on {}: {error:#}", case.title, case.plan.kernel),
            report,
        ),
    }
}

fn one_pair(
    cache: &Cache,
    scope: &Scope,
    situation: Situation,
    results: &mut RunResults,
    report: &dyn Fn(&str),
) {
    let mut plan = ClonePlan { guest: scope.guest.clone(), ..situation.plan() };
    if scope.short {
        // The repeats of each witness are over, or shown to last, within the first of them.
        plan.count = 100;
    }
    match shown(cache, &situation, &plan, report) {
        Ok((pair, findings)) => {
            results.findings.extend(findings);
            results.pairs.push((situation, pair));
        }
        Err(error) => results.failed(situation.id, format!("{error:#}"), report),
    }
}

/// Clones a machine in a situation, twice if the first pair fails or does not show it. Returns the
/// pair and what it broke, or did not show.
pub(crate) fn shown(
    cache: &Cache,
    situation: &Situation,
    plan: &ClonePlan,
    report: &dyn Fn(&str),
) -> Result<(ClonePair, Vec<Finding>)> {
    let mut last = false;
    loop {
        let pair = match clone(cache, plan) {
            Ok(pair) => pair,
            Err(error) if !last => {
                report(&format!("{}: {error:#}; trying again", situation.title));
                last = true;
                continue;
            }
            Err(error) => return Err(error),
        };
        let findings = situation.findings(&pair);
        // Another run may show what this one did not, because a reseed by the clock or a thread
        // that was not scheduled can hide the repeats. But nothing excuses a broken promise.
        if !last
            && !findings.is_empty()
            && findings.iter().all(|finding| finding.kind == FindingKind::NotShown)
        {
            report(&format!(
                "{}: {}; trying again",
                situation.title,
                text::findings(&findings).trim()
            ));
            last = true;
            continue;
        }
        let mark = if findings.is_empty() { "as promised" } else { "NOT AS PROMISED" };
        report(&format!("{}, {}: {mark} ({:.0} s)", situation.title, pair.kernel, pair.wall_s));
        return Ok((pair, findings));
    }
}

impl RunResults {
    /// Returns the number of experiments that came to their end.
    fn ran(&self) -> usize {
        self.boots.len() + self.pairs.len() + self.images.len()
    }

    fn skip(&mut self, title: &str, why: &str, report: &dyn Fn(&str)) {
        report(&format!("skipped: '{title}': {why}"));
        self.skipped.push(why.to_owned());
    }

    fn failed(&mut self, situation: &'static str, text: String, report: &dyn Fn(&str)) {
        report(&format!("{situation}: {text}"));
        self.findings.push(Finding { situation, kind: FindingKind::NotShown, text });
    }

    /// Returns all tables and findings as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if !self.boots.is_empty() {
            text +=
                &format!("Duration of the first getrandom(2)\n\n{}\n", text::matrix(&self.boots));
        }
        if !self.pairs.is_empty() {
            text += &format!(
                "Repeated draws, of the draws that began after the clone\n\n{}\n",
                text::situations(&self.pairs)
            );
        }
        if !self.images.is_empty() {
            text += &format!(
                "Repeated draws of a process restored twice\n\n{}\n",
                text::images(&self.images)
            );
        }
        text + &text::findings(&self.findings)
    }
}
