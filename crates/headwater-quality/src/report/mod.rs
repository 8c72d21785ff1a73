//! What a run found, and what it means.

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

/// How a figure, or a run, is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing was seen.
    Clean,
    /// What one clean run in a hundred shows. Run again with another seed, or longer.
    Weak,
    /// What one clean run in a million shows.
    Failed,
}

/// What one arrangement of streams gave.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) arrangement: String,
    pub(crate) words: u64,
    pub(crate) figures: Vec<Figure>,
    /// Tests that did not run, in words.
    pub(crate) missed: Vec<String>,
}

/// One judged figure.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Which streams.
    pub streams: String,
    /// Which values.
    pub form: String,
    /// Which test.
    pub test: String,
    /// Which of its figures.
    pub part: String,
    /// How many values, at most.
    pub values: u64,
    /// The p-value.
    pub p: f64,
    /// The p-value of the same figure as one of all of this run's.
    pub p_of_all: f64,
    /// How to take it.
    pub verdict: Verdict,
    /// The p-value of each bit plane, the lowest bit first.
    pub planes: Option<Vec<f64>>,
    /// Where the test comes from.
    pub origin: Option<&'static str>,
    /// What it means, if it failed or is weak.
    pub meaning: Option<&'static str>,
}

/// Everything that a run found. Its JSON is of the schema `headwater.quality/1`.
#[derive(Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    version: &'static str,
    /// What was judged.
    pub source: String,
    about: String,
    /// How long it was looked at.
    pub effort: Effort,
    seed: Option<u64>,
    /// Bytes that were tested.
    pub bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// After how many of these the first figure that failed was known.
    pub failed_after: Option<f64>,
    #[serde(skip)]
    pub(crate) begun: Instant,
    /// The worst of all.
    pub verdict: Verdict,
    /// The smallest p-value, as the smallest of so many.
    pub p: f64,
    false_alarms: f64,
    weak_alarms: f64,
    /// Every figure, the strangest first.
    pub rows: Vec<Row>,
    /// Estimates of the entropy of a noise source.
    pub entropy: Option<Entropy>,
    /// Other people's batteries.
    pub external: Vec<Battery>,
    /// What was not tested, and what this much data cannot show.
    pub not_tested: Vec<String>,
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
            sections: Vec::new(),
        }
    }

    /// What the source is, in a few words.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Turns what was counted into rows, and rows into a verdict.
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
        self.rows.sort_by(|a, b| a.p.total_cmp(&b.p)); // stable: equals stay in the tests' order
        self.p = self.rows.first().map_or(1.0, |row| row.p_of_all);
        let rows = self.rows.iter().map(|row| row.verdict);
        let external = self.external.iter().map(Battery::verdict);
        let health = self.entropy.iter().map(Entropy::verdict);
        self.verdict = rows.chain(external).chain(health).max().unwrap_or(Verdict::Clean);
        self.not_tested = self.limits();
        Ok(self)
    }

    /// What nobody knows after this run.
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
                "{}: what shows only after {} words, such as a longer period",
                section.arrangement, section.words
            ));
        }
        if self.seed.is_none() {
            limits.push(
                "streams of other seeds or keys: this source has none that could be chosen here"
                    .to_owned(),
            );
        }
        if self.effort == Effort::Fast {
            limits.push("most of what --standard looks at: it reads 32 times as much, and every plane for longer".to_owned());
        }
        limits.push(
            "whether the numbers can be predicted: no test of numbers shows that they are secret"
                .to_owned(),
        );
        limits
    }
}
