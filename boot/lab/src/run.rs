//! `headwater lab all`: the tables of boots, clones and restored processes, with a record of them.

use crate::judge::boot::BootReport;
use crate::judge::finding::{Finding, FindingKind};
use crate::judge::image::{self, RestoredImages};
use crate::judge::pair::ClonePair;
use crate::machine::cache::Cache;
use crate::machine::manifest::Manifest;
use crate::machine::part::ARM_PART;
use crate::machine::program;
use crate::machine::series::SERIES;
use crate::plan::ClonePlan;
use crate::report::{html, text};
use crate::scenario::boot::boot;
use crate::scenario::clone::clone;
use crate::scenario::criu;
use crate::scenario::matrix::{self, BootCase};
use crate::scenario::situations::{SITUATIONS, Situation};
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The experiments of a run.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Run the boots.
    pub boots: bool,
    /// Run the clones.
    pub clones: bool,
    /// Only these situations, by name; empty: all.
    pub only: Vec<String>,
    /// Only of these kernels, by part of the set-up; empty: all.
    pub kernels: Vec<String>,
    /// Run one boot of each series and three pairs of clones; 15 s count as endless.
    pub short: bool,
    /// The guest's program; `None`: find or build it.
    pub guest: Option<PathBuf>,
    /// Directory for recordings of the guests, one for each boot.
    pub recordings: Option<PathBuf>,
    /// Directory for tables and JSON. It is written after each part, so that a late failure does
    /// not lose half an hour of results.
    pub out: Option<PathBuf>,
}

/// Results of a run.
#[derive(Debug, Default)]
pub struct RunResults {
    /// Boots, with the expectation of each.
    pub boots: Vec<(BootCase, BootReport)>,
    /// Clones, with the promise for each.
    pub pairs: Vec<(Situation, ClonePair)>,
    /// Restored processes.
    pub images: Vec<RestoredImages>,
    /// Broken promises and unmet expectations.
    pub findings: Vec<Finding>,
    /// Seconds that the run took on this host.
    pub wall_s: f64,
}

/// Runs the experiments. A guest that cannot be run is a finding, and the others still run.
///
/// # Errors
///
/// If a file of the record cannot be written.
pub fn run(cache: &Cache, scope: &Scope, report: &dyn Fn(&str)) -> Result<RunResults> {
    let begun = Instant::now();
    let mut results = RunResults::default();
    let keep = |results: &mut RunResults, done: &str| {
        results.wall_s = begun.elapsed().as_secs_f64();
        scope.out.as_ref().map_or(Ok(()), |directory| results.write(cache, directory, done))
    };
    // Before the first guest, so that an unwritable directory is an error now and not in half an
    // hour.
    keep(&mut results, "Nothing has run yet.\n")?;
    let manifest = Manifest::read(&cache.manifest());
    let has = |series: &str| manifest.kernels.iter().any(|kernel| kernel.series == series);
    let arm = arm_works(cache, scope, report);
    let wanted = |kernel: &str| {
        let requested = scope.kernels.is_empty() || scope.kernels.iter().any(|name| name == kernel);
        requested && (kernel != ARM_PART || arm)
    };
    if scope.boots {
        for case in boots(scope).into_iter().filter(|case| wanted(&case.plan.kernel)) {
            if has(&case.plan.kernel) {
                one_boot(cache, scope, case, &mut results, report);
            } else {
                report(&format!(
                    "skipped: '{}': no kernel of series {} in the cache",
                    case.title, case.plan.kernel
                ));
            }
        }
    }
    keep(&mut results, "Everything held so far; not all has run.\n")?;
    if scope.clones {
        let is_wanted = |situation: &Situation| match scope.only.as_slice() {
            [] => situation.short || !scope.short,
            only => only.iter().any(|name| name == situation.id),
        };
        let situations = SITUATIONS.into_iter().filter(is_wanted);
        for situation in situations.filter(|situation| wanted(situation.series)) {
            if has(situation.series) {
                one_pair(cache, scope, situation, &mut results, report);
            } else {
                report(&format!(
                    "skipped: '{}': no kernel of series {} in the cache",
                    situation.title, situation.series
                ));
            }
        }
    }
    keep(&mut results, "Everything held so far; not all has run.\n")?;
    if scope.clones && !scope.short && scope.only.is_empty() && scope.kernels.is_empty() {
        match criu::all(cache, scope.guest.as_deref(), report) {
            Ok(images) => {
                results.findings.extend(image::findings(&images));
                results.images = images;
            }
            Err(error) => report(&format!(
                "skipped: CRIU: {error:#}; repeats of restored processes are not shown"
            )),
        }
    }
    keep(&mut results, "Everything held.\n")?;
    Ok(results)
}

/// Returns true if arm64 guests can run. Their program needs a cross compiler, or must be given.
fn arm_works(cache: &Cache, scope: &Scope, report: &dyn Fn(&str)) -> bool {
    let asked = scope.kernels.iter().any(|kernel| kernel == ARM_PART);
    if scope.short || !(asked || scope.kernels.is_empty()) {
        return false;
    }
    let given = scope.guest.as_deref();
    if given.is_some() && !asked {
        report("skipped: arm64 guests: the program of --guest is for x86-64");
        return false;
    }
    let found = program::find(cache, given, "aarch64");
    if let Err(error) = &found {
        report(&format!("skipped: arm64 guests: {error:#}; boots and clones are not shown there"));
    }
    found.is_ok()
}

fn boots(scope: &Scope) -> Vec<BootCase> {
    let newest = SERIES[SERIES.len() - 1].name;
    if scope.short {
        // The oldest series with its jitter loop, the newest with its stall, the others with a
        // source.
        let pick = |series: &str, title: &str| {
            matrix::plain(series).into_iter().find(|case| case.title == title)
        };
        let titles =
            ["nothing", "virtio-rng, driver early", "RDRAND", "RDRAND, random.trust_cpu=off"];
        let plain =
            SERIES.iter().zip(titles).filter_map(|(series, title)| pick(series.name, title));
        return plain.chain(matrix::stalls(newest, 15).into_iter().take(1)).collect();
    }
    let mut cases: Vec<BootCase> =
        SERIES.iter().flat_map(|series| matrix::plain(series.name)).collect();
    cases.extend(SERIES.iter().flat_map(|series| {
        matrix::stalls(series.name, if series.name == newest { 60 } else { 15 })
    }));
    cases.extend(matrix::slow(newest));
    cases.extend(matrix::firmware(newest));
    cases.extend(matrix::arm());
    cases
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

    /// Returns host, versions and duration of the run. Times depend on the host's load, so it is
    /// named.
    fn about(&self, manifest: &Manifest) -> String {
        let file = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let load = file("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" ");
        format!(
            "headwater {}\n{}\nhost: Linux {}, {} CPUs, load {load} at the end\n{} boots, {} pairs of clones, {} images of \
             processes, in {:.0} s\n",
            env!("CARGO_PKG_VERSION"),
            manifest.qemu.as_deref().unwrap_or_default(),
            file("/proc/sys/kernel/osrelease"),
            std::thread::available_parallelism().map_or(1, usize::from),
            self.boots.len(),
            self.pairs.len(),
            self.images.len(),
            self.wall_s
        )
    }

    /// Writes tables and JSON into a directory; without findings, findings.txt has the text `held`.
    fn write(&self, cache: &Cache, directory: &Path, held: &str) -> Result<()> {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
        let write = |name: &str, text: String| {
            let file = directory.join(name);
            fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
        };
        #[derive(Serialize)]
        struct Document<'a, T> {
            schema: &'static str,
            machine: &'static str,
            rows: Vec<T>,
            findings: &'a [Finding],
        }
        // RDRAND, times and the width of the race depend on the emulation; the repeats do not.
        let machine = "QEMU, TCG";
        if !self.boots.is_empty() {
            let rows: Vec<&BootReport> = self.boots.iter().map(|(_, report)| report).collect();
            let document = Document {
                schema: "headwater.lab-boots/1",
                machine,
                rows,
                findings: &self.findings,
            };
            write("boots.json", serde_json::to_string_pretty(&document)? + "\n")?;
            write("boots.txt", text::matrix(&self.boots))?;
            // One page, about the stall.
            if let Some((_, report)) =
                self.boots.iter().find(|(_, report)| report.blocked_s.is_none())
            {
                write("stall.html", html::page(report))?;
            }
        }
        if !self.pairs.is_empty() {
            let rows: Vec<&ClonePair> = self.pairs.iter().map(|(_, pair)| pair).collect();
            let document = Document {
                schema: "headwater.lab-clones/1",
                machine,
                rows,
                findings: &self.findings,
            };
            write("clones.json", serde_json::to_string_pretty(&document)? + "\n")?;
            let each: String = self
                .pairs
                .iter()
                .map(|(situation, pair)| {
                    format!(
                        "\n{}; auto: {}\n\n{}",
                        situation.title,
                        situation.promise(),
                        text::pair(pair)
                    )
                })
                .collect();
            write("clones.txt", text::situations(&self.pairs) + &each)?;
        }
        if !self.images.is_empty() {
            write("criu.json", serde_json::to_string_pretty(&self.images)? + "\n")?;
            write("criu.txt", text::images(&self.images))?;
        }
        let findings = text::findings(&self.findings);
        write("findings.txt", if findings.is_empty() { held.to_owned() } else { findings })?;
        let mut manifest = Manifest::read(&cache.manifest());
        write("about.txt", self.about(&manifest))?;
        // Without the directories of this host.
        for kernel in &mut manifest.kernels {
            let name = |path: &Path| path.file_name().map(PathBuf::from).unwrap_or_default();
            kernel.image = name(&kernel.image);
            kernel.modules = kernel.modules.iter().map(|module| name(module)).collect();
        }
        write("manifest.json", serde_json::to_string_pretty(&manifest)? + "\n")
    }
}
