//! The record of a run: tables and JSON in a directory.

use crate::judge::boot::BootReport;
use crate::judge::finding::Finding;
use crate::judge::pair::ClonePair;
use crate::machine::cache::Cache;
use crate::machine::manifest::Manifest;
use crate::report::{html, text};
use crate::run::RunResults;
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs;
use std::path::Path;

impl RunResults {
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

    /// Returns what can be said without a finding. Rows that did not run have held nothing.
    fn held(&self, done: bool) -> String {
        let rows = match self.skipped.len() {
            0 => String::new(),
            rows => format!(" {rows} experiments were skipped."),
        };
        match (done, self.ran()) {
            (true, 0) => format!("Nothing ran.{rows}\n"),
            (false, 0) => format!("Nothing has run yet.{rows}\n"),
            (true, _) if self.skipped.is_empty() => "Everything held.\n".to_owned(),
            (true, _) => format!("Everything that ran held.{rows}\n"),
            (false, _) => format!("Everything held so far; not all has run.{rows}\n"),
        }
    }

    /// Writes tables and JSON into a directory; without findings, findings.txt says how
    /// much held.
    pub(super) fn write(&self, cache: &Cache, directory: &Path, done: bool) -> Result<()> {
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
        write("findings.txt", if findings.is_empty() { self.held(done) } else { findings })?;
        let manifest = Manifest::read(&cache.manifest())?;
        write("about.txt", self.about(&manifest))?;
        let manifest = manifest.without_places();
        write("manifest.json", serde_json::to_string_pretty(&manifest)? + "\n")
    }
}
