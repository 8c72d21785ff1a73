//! Everything at once: the matrix of boots and the table of clones, as assertions, with a record of both.

use crate::boot::{Report, boot};
use crate::cache::Cache;
use crate::clone::{Pair, clone};
use crate::criu::{self, Images};
use crate::guest;
use crate::html;
use crate::manifest::Manifest;
use crate::matrix::{self, Case};
use crate::series::SERIES;
use crate::setup::ARM_PART;
use crate::situations::{Finding, Kind, SITUATIONS, Situation};
use crate::text;
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The boots.
    pub boots: bool,
    /// The clones.
    pub clones: bool,
    /// Only these situations, by name; empty: all.
    pub only: Vec<String>,
    /// Only of these kernels, by part of the set-up; empty: all.
    pub kernels: Vec<String>,
    /// One boot of each series and three pairs of clones, with 15 s for endless.
    pub short: bool,
    /// The guest's program, if it is not the one that would be found or built.
    pub guest: Option<PathBuf>,
    /// Where recordings of the guests go: a folder for each case.
    pub recordings: Option<PathBuf>,
    /// Where tables and JSON go, a part at a time: what ran for half an hour is not lost with the rest.
    pub out: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The boots, with what was expected of each.
    pub boots: Vec<(Case, Report)>,
    /// The clones, with what was promised for each.
    pub pairs: Vec<(Situation, Pair)>,
    /// Processes restored twice.
    pub images: Vec<Images>,
    /// What does not hold.
    pub findings: Vec<Finding>,
    /// Seconds that the whole took here.
    pub wall_s: f64,
}

/// Runs it. A guest that cannot be run is a finding, and the rest goes on.
///
/// # Errors
///
/// If a file of the record cannot be written.
pub fn run(cache: &Cache, scope: &Scope, say: &dyn Fn(&str)) -> Result<Outcome> {
    let begun = Instant::now();
    let mut outcome = Outcome::default();
    let keep = |outcome: &mut Outcome, done: &str| {
        outcome.wall_s = begun.elapsed().as_secs_f64();
        scope.out.as_ref().map_or(Ok(()), |folder| outcome.write(cache, folder, done))
    };
    // Before the first guest: a folder that cannot be written is told now, and not in half an hour.
    keep(&mut outcome, "Nothing has run yet.\n")?;
    let manifest = Manifest::read(&cache.manifest());
    let has = |series: &str| manifest.kernels.iter().any(|kernel| kernel.series == series);
    let arm = arm_works(cache, scope, say);
    let wanted = |kernel: &str| {
        let named = scope.kernels.is_empty() || scope.kernels.iter().any(|it| it == kernel);
        named && (kernel != ARM_PART || arm)
    };
    if scope.boots {
        for case in boots(scope).into_iter().filter(|case| wanted(&case.plan.kernel)) {
            if has(&case.plan.kernel) {
                one_boot(cache, scope, case, &mut outcome, say);
            } else {
                say(&format!(
                    "skipped: '{}': there is no kernel of series {}",
                    case.title, case.plan.kernel
                ));
            }
        }
    }
    keep(&mut outcome, "Everything held so far; not all has run.\n")?;
    if scope.clones {
        let is_wanted = |situation: &Situation| match scope.only.as_slice() {
            [] => situation.short || !scope.short,
            only => only.iter().any(|name| name == situation.id),
        };
        let situations = SITUATIONS.into_iter().filter(is_wanted);
        for situation in situations.filter(|situation| wanted(situation.series)) {
            if has(situation.series) {
                one_pair(cache, scope, situation, &mut outcome, say);
            } else {
                say(&format!(
                    "skipped: '{}': there is no kernel of series {}",
                    situation.title, situation.series
                ));
            }
        }
    }
    keep(&mut outcome, "Everything held so far; not all has run.\n")?;
    if scope.clones && !scope.short && scope.only.is_empty() && scope.kernels.is_empty() {
        match criu::all(cache, scope.guest.as_deref(), say) {
            Ok(images) => {
                outcome.findings.extend(criu::findings(&images));
                outcome.images = images;
            }
            Err(error) => say(&format!(
                "skipped: CRIU: {error:#}; whether restored processes repeat is not shown"
            )),
        }
    }
    keep(&mut outcome, "Everything held.\n")?;
    Ok(outcome)
}

/// Whether guests of arm64 can be made: their program needs a cross compiler, or has to be given.
fn arm_works(cache: &Cache, scope: &Scope, say: &dyn Fn(&str)) -> bool {
    let asked = scope.kernels.iter().any(|kernel| kernel == ARM_PART);
    if scope.short || !(asked || scope.kernels.is_empty()) {
        return false;
    }
    let given = scope.guest.as_deref();
    if given.is_some() && !asked {
        say("skipped: arm64 guests: the program given by --guest is for the others");
        return false;
    }
    let found = guest::find(cache, given, "aarch64");
    if let Err(error) = &found {
        say(&format!("skipped: arm64 guests: {error:#}; boots and clones are not shown there"));
    }
    found.is_ok()
}

fn boots(scope: &Scope) -> Vec<Case> {
    let newest = SERIES[SERIES.len() - 1].name;
    if scope.short {
        // The oldest by its jitter loop, the newest by the stall that it has without a counter, the others by what cures.
        let pick = |series: &str, title: &str| {
            matrix::plain(series).into_iter().find(|case| case.title == title)
        };
        let titles =
            ["nothing", "virtio-rng, driver early", "RDRAND", "RDRAND, random.trust_cpu=off"];
        let plain =
            SERIES.iter().zip(titles).filter_map(|(series, title)| pick(series.name, title));
        return plain.chain(matrix::stalls(newest, 15).into_iter().take(1)).collect();
    }
    let mut cases: Vec<Case> =
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
    mut case: Case,
    outcome: &mut Outcome,
    say: &dyn Fn(&str),
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
        .map(|folder| folder.join(format!("lab-{}-{name}", case.plan.kernel)));
    match boot(cache, &case.plan) {
        Ok(report) => {
            let findings = case.findings(&report);
            let mark = if findings.is_empty() { "" } else { "  NOT AS EXPECTED" };
            say(&format!("{}: {}{mark}", case.title, text::brief(&report)));
            outcome.findings.extend(findings);
            outcome.boots.push((case, report));
        }
        Err(error) => outcome.failed(
            "boot",
            format!("'{}' on {}: {error:#}", case.title, case.plan.kernel),
            say,
        ),
    }
}

fn one_pair(
    cache: &Cache,
    scope: &Scope,
    situation: Situation,
    outcome: &mut Outcome,
    say: &dyn Fn(&str),
) {
    let plan = crate::clone::Plan { guest: scope.guest.clone(), ..situation.plan() };
    for last in [false, true] {
        let pair = match clone(cache, &plan) {
            Ok(pair) => pair,
            Err(error) if !last => {
                say(&format!("{}: {error:#}; once more", situation.title));
                continue;
            }
            Err(error) => return outcome.failed(situation.id, format!("{error:#}"), say),
        };
        let findings = situation.findings(&pair);
        // A reseed by the clock, or a thread that was not scheduled, can hide what is to be shown; nothing excuses a
        // broken promise.
        if !last
            && !findings.is_empty()
            && findings.iter().all(|finding| finding.kind == Kind::NotShown)
        {
            say(&format!("{}: {}; once more", situation.title, text::findings(&findings).trim()));
            continue;
        }
        let mark = if findings.is_empty() { "as promised" } else { "NOT AS PROMISED" };
        say(&format!("{}, {}: {mark} ({:.0} s)", situation.title, pair.kernel, pair.wall_s));
        outcome.findings.extend(findings);
        outcome.pairs.push((situation, pair));
        return;
    }
}

impl Outcome {
    fn failed(&mut self, situation: &'static str, text: String, say: &dyn Fn(&str)) {
        say(&format!("{situation}: {text}"));
        self.findings.push(Finding { situation, kind: Kind::NotShown, text });
    }

    /// Everything as text: both tables, then what does not hold.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if !self.boots.is_empty() {
            text += &format!("How long getrandom(2) blocked\n\n{}\n", text::matrix(&self.boots));
        }
        if !self.pairs.is_empty() {
            text += &format!(
                "What came twice, of requests begun after the event\n\n{}\n",
                text::situations(&self.pairs)
            );
        }
        if !self.images.is_empty() {
            text += &format!(
                "What came twice in a process restored twice\n\n{}\n",
                text::images(&self.images)
            );
        }
        text + &text::findings(&self.findings)
    }

    /// What ran where, and for how long: times are an emulator's, on a host that others may have used too.
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

    /// Writes tables and JSON into a folder; `held` is said where there is no finding.
    fn write(&self, cache: &Cache, folder: &Path, held: &str) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let write = |name: &str, text: String| {
            let file = folder.join(name);
            fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
        };
        #[derive(Serialize)]
        struct Document<'a, T> {
            schema: &'static str,
            machine: &'static str,
            rows: Vec<T>,
            findings: &'a [Finding],
        }
        // RDRAND, timing and the race's width are the emulation's; what repeats and what does not is the guest's.
        let machine = "QEMU, TCG";
        if !self.boots.is_empty() {
            let rows: Vec<&Report> = self.boots.iter().map(|(_, report)| report).collect();
            let document = Document {
                schema: "headwater.lab-boots/1",
                machine,
                rows,
                findings: &self.findings,
            };
            write("boots.json", serde_json::to_string_pretty(&document)? + "\n")?;
            write("boots.txt", text::matrix(&self.boots))?;
            // One page, of the stall: it is what people come to see.
            if let Some((_, report)) =
                self.boots.iter().find(|(_, report)| report.blocked_s.is_none())
            {
                write("stall.html", html::page(report))?;
            }
        }
        if !self.pairs.is_empty() {
            let rows: Vec<&Pair> = self.pairs.iter().map(|(_, pair)| pair).collect();
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
        // Without the folders of whoever ran it.
        for kernel in &mut manifest.kernels {
            let name = |path: &Path| path.file_name().map(PathBuf::from).unwrap_or_default();
            kernel.image = name(&kernel.image);
            kernel.modules = kernel.modules.iter().map(|module| name(module)).collect();
        }
        write("manifest.json", serde_json::to_string_pretty(&manifest)? + "\n")
    }
}
