//! The report of a run: figures, verdicts and their meaning.

pub(crate) mod html;
mod text;

use crate::args::Request;
use crate::battery::Figure;
use crate::effort::Effort;
use crate::entropy::Entropy;
use crate::external::Battery;
use crate::sources::Named;
use crate::{Error, statistics, stats};
use serde::Serialize;
use std::time::Instant;

/// The share of runs over perfect numbers that fail.
pub const FALSE_ALARMS: f64 = 1e-6;
/// The share of runs over perfect numbers that show something weak.
pub const WEAK_ALARMS: f64 = 1e-2;

/// The verdict on a figure or on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No figure is suspicious.
    Clean,
    /// One clean run in a hundred looks like this. Run again with another seed, or longer.
    Weak,
    /// One clean run in a million looks like this.
    Failed,
}

/// The figures of one arrangement of streams.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) arrangement: String,
    pub(crate) words: u64,
    pub(crate) figures: Vec<Figure>,
    /// Texts about the tests that did not run.
    pub(crate) missed: Vec<String>,
}

/// One judged figure.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    /// The arrangement of streams.
    pub streams: String,
    /// The form of the values.
    pub form: String,
    /// The test.
    pub test: String,
    /// The figure among those of the test.
    pub part: String,
    /// Number of values that went into the figure.
    pub values: u64,
    /// The p-value.
    pub p: f64,
    /// The p-value of the figure as the smallest of all figures of the run.
    pub p_of_all: f64,
    /// The verdict on the figure.
    pub verdict: Verdict,
    /// The p-value of each bit plane, the lowest bit first.
    pub planes: Option<Vec<f64>>,
    /// The publication that describes the test.
    pub origin: Option<&'static str>,
    /// The meaning of a figure that failed or is weak.
    pub meaning: Option<&'static str>,
}

/// The findings of a run. The JSON has the schema `headwater.quality/1`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    schema: &'static str,
    version: &'static str,
    /// The source that was judged.
    pub source: String,
    about: String,
    /// The budget.
    pub effort: Effort,
    seed: Option<u64>,
    /// Number of bytes that were tested.
    pub bytes: u64,
    /// Duration of the run.
    pub seconds: f64,
    /// Seconds after which the first failed figure was known.
    pub failed_after: Option<f64>,
    #[serde(skip)]
    pub(crate) begun: Instant,
    /// The worst verdict of all figures, health tests and other batteries.
    pub verdict: Verdict,
    /// The smallest p-value, judged as the smallest of all figures.
    pub p: f64,
    false_alarms: f64,
    weak_alarms: f64,
    /// Every figure, the smallest p-value first.
    pub rows: Vec<Row>,
    /// Estimates of the entropy of a noise source.
    pub entropy: Option<Entropy>,
    /// Results of other batteries.
    pub external: Vec<Battery>,
    /// Tests that did not run, and defects that this amount of data cannot show.
    pub not_tested: Vec<String>,
    /// True if the run stopped at its first failure, as `--standard` does without `--all`.
    pub stopped: bool,
    #[serde(skip)]
    pub(crate) sections: Vec<Section>,
}

impl Report {
    pub(crate) fn new(request: &Request) -> Report {
        let source = request.source;
        Report {
            schema: "headwater.quality/1",
            version: env!("CARGO_PKG_VERSION"),
            source: source.map_or("standard input", |source| source.name).to_owned(),
            about: source
                .map_or("bytes of a generator unknown here", |source| source.about)
                .to_owned(),
            effort: request.effort,
            seed: source.is_some_and(Named::is_reproducible).then_some(request.seed),
            bytes: 0,
            seconds: 0.0,
            failed_after: None,
            begun: Instant::now(),
            verdict: Verdict::Clean,
            p: 1.0,
            false_alarms: FALSE_ALARMS,
            weak_alarms: WEAK_ALARMS,
            rows: Vec::new(),
            entropy: None,
            external: Vec::new(),
            not_tested: Vec::new(),
            stopped: false,
            sections: Vec::new(),
        }
    }

    /// Returns a short description of the source.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Turns counts into rows, and rows into a verdict.
    pub(crate) fn judge(mut self) -> Result<Report, Error> {
        let total: usize = self.sections.iter().map(|section| section.figures.len()).sum();
        self.bytes = self.sections.iter().map(|section| 8 * section.words).sum();
        if total == 0 {
            return Err(Error::TooLittle { bytes: self.bytes });
        }
        for section in &self.sections {
            for figure in &section.figures {
                let p = figure.tally.p();
                let p_of_all = stats::smallest_of(p, total as u64);
                let verdict = match p_of_all {
                    p if p < FALSE_ALARMS => Verdict::Failed,
                    p if p < WEAK_ALARMS => Verdict::Weak,
                    _ => Verdict::Clean,
                };
                let test = statistics::by_name(&figure.test);
                if verdict == Verdict::Failed {
                    let after = figure.at.map(|at| (at - self.begun).as_secs_f64());
                    let first = self.failed_after.unwrap_or(f64::INFINITY);
                    self.failed_after = after.map(|after| after.min(first)).or(self.failed_after);
                }
                self.rows.push(Row {
                    streams: section.arrangement.clone(),
                    form: figure.form.clone(),
                    test: figure.test.clone(),
                    part: figure.part.clone(),
                    values: figure.values,
                    p,
                    p_of_all,
                    verdict,
                    planes: figure.tally.planes(),
                    origin: test.map(|test| test.source),
                    meaning: test.map(|test| test.meaning).filter(|_| verdict != Verdict::Clean),
                });
            }
        }
        // Equal p-values, which are those of 1, are in the tests' order: with --deep the order of
        // the figures is that in which threads first had one.
        let order = |row: &Row| statistics::ALL.iter().position(|test| test.name == row.test);
        self.rows.sort_by(|a, b| a.p.total_cmp(&b.p).then_with(|| order(a).cmp(&order(b))));
        self.p = self.rows.first().map_or(1.0, |row| row.p_of_all);
        let rows = self.rows.iter().map(|row| row.verdict);
        let external = self.external.iter().map(Battery::verdict);
        let health = self.entropy.iter().map(Entropy::verdict);
        self.verdict = rows.chain(external).chain(health).max().unwrap_or(Verdict::Clean);
        self.not_tested = self.limits();
        Ok(self)
    }

    /// Returns the questions that stay open after this run.
    fn limits(&self) -> Vec<String> {
        let mut limits: Vec<String> = Vec::new();
        for section in &self.sections {
            limits.extend(
                section.missed.iter().map(|missed| format!("{}: {missed}", section.arrangement)),
            );
            let longest = |test: &str| {
                let parts = section.figures.iter().filter(|figure| figure.test == test);
                let numbers = parts.filter(|figure| {
                    figure.part.starts_with("length of ") || figure.part.starts_with("side ")
                });
                numbers
                    .filter_map(|figure| {
                        figure.part.split([' ', ',']).find_map(|word| word.parse::<u64>().ok())
                    })
                    .max()
            };
            if let Some(bits) = longest("linear-complexity") {
                limits.push(format!(
                    "{}: linear recurrences in a bit of a degree above {}",
                    section.arrangement,
                    bits / 2
                ));
            }
            limits.push(format!(
                "{}: defects that show only after {} words, such as a longer period",
                section.arrangement, section.words
            ));
        }
        if self.stopped {
            limits.push("everything after the first failure: --all continues".to_owned());
        }
        if self.seed.is_none() {
            limits
                .push("streams of other seeds or keys: this source has none to choose".to_owned());
        }
        if self.effort == Effort::Fast {
            limits.push("most of the data of --standard, which reads 32 times as much and more of every plane".to_owned());
        }
        limits.push("predictability: no test of numbers shows that they are secret".to_owned());
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schema that the JSON of a report satisfies. `SNAPSHOTS=overwrite` rewrites the file: a
    /// changed field is seen in review, because programs read it.
    #[test]
    fn the_schema_is_the_one_that_is_checked_in() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/headwater.quality.1.json");
        let schema = serde_json::to_string_pretty(&schemars::schema_for!(Report)).unwrap() + "\n";
        if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
            std::fs::write(path, &schema).unwrap();
        }
        let recorded = std::fs::read_to_string(path).unwrap_or_default();
        assert!(schema == recorded, "the report has another schema than {path}");
    }
}
