//! Measures the targets and says which are met.

use crate::failure::Failure;
use crate::targets::{Against, FIRST_BYTE, TARGETS, Target, UPPER_HALVES, Vendor};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use headwater_bench::stats::{Interval, figure, speedup};
use headwater_bench::{Args, Report, Row, show_size};
use serde::Serialize;
use std::process::ExitCode;

/// Comparisons of two threads with one: each is short, and all are spread over the run.
const SCALING_REPEATS: usize = 9;

/// Processes whose first bytes are timed.
const FRESH_PROCESSES: u32 = 30;

/// A target, and what was measured.
#[derive(Serialize)]
struct TargetVerdict {
    case: &'static str,
    len: usize,
    threads: usize,
    subject: &'static str,
    against: String,
    at_least: f64,
    /// The subject is so many times as fast; `None` if one of the two could not be measured.
    ratio: Option<f64>,
    /// The 95 % interval of `ratio` over the rounds.
    low: Option<f64>,
    high: Option<f64>,
    /// The subject counted so many fallbacks; `None` where the target does not ask for them.
    fallbacks: Option<u64>,
    met: Option<bool>,
}

/// All verdicts, and their figures.
#[derive(Serialize)]
pub(crate) struct CheckOutcome {
    schema: &'static str,
    /// The targets are those of this maker's CPUs.
    vendor: &'static str,
    targets: Vec<TargetVerdict>,
    pub(crate) report: Report,
}

/// Measures every target, at the pace of `args`.
pub(crate) fn check(args: &Args) -> Result<CheckOutcome, Failure> {
    let mut report = Report::of(Vec::new());
    let vendor = Vendor::of(headwater_bench::machine().vendor.as_deref());
    for comparison @ (case, len, threads) in comparisons() {
        report.extend(headwater_bench::run(&Args {
            cases: vec![case.to_owned()],
            sizes: vec![len.to_string()],
            impls: contenders(comparison),
            threads: vec![threads.to_string()],
            ..args.clone()
        })?);
    }
    report.extend(first_bytes(FRESH_PROCESSES)?);
    report.extend(upper_halves(args)?);
    let mut targets = Vec::new();
    for target in &TARGETS {
        let ratio = match target.against {
            Against::Peer(peer) => {
                let rows = (find(&report, target, target.subject), find(&report, target, peer));
                rows.0.zip(rows.1).map(|(subject, peer)| speedup(&subject.rounds, &peer.rounds))
            }
            Against::Microseconds(limit, note) => report
                .rows
                .iter()
                .find(|row| row.case == target.case && row.note.as_deref() == Some(note))
                .map(|row| speedup(&row.rounds, &vec![1e3 * limit; row.samples])),
            Against::Nanoseconds(limit) => headwater_bench::run(&Args {
                cases: vec![target.case.to_owned()],
                impls: vec![target.subject.to_owned()],
                ..args.clone()
            })?
            .rows
            .first()
            .map(|row| speedup(&row.rounds, &vec![limit; row.samples])),
            Against::ScalingOf(peer) => scaling(args, target, peer)?,
            Against::Clean => {
                let noted = |note: &str| {
                    let mut rows = report.rows.iter();
                    rows.find(|row| {
                        row.case == target.case
                            && row.implementation == target.subject
                            && row.note.as_deref() == Some(note)
                    })
                };
                let rows = noted("dirty upper halves").zip(noted("clean upper halves"));
                rows.map(|(dirty, clean)| speedup(&dirty.rounds, &clean.rounds))
            }
        };
        let fallbacks = find(&report, target, target.subject)
            .filter(|_| target.without_fallbacks)
            .and_then(|row| Some(row.counters?.fallbacks));
        targets.push(TargetVerdict::new(target, vendor, ratio, fallbacks));
    }
    Ok(CheckOutcome { schema: "headwater.bench-check/1", vendor: vendor.title(), targets, report })
}

/// Measures headwater's own function in fresh processes.
fn first_bytes(rounds: u32) -> Result<Report, Failure> {
    Ok(headwater_bench::run(&Args {
        cases: vec![FIRST_BYTE.to_owned()],
        impls: vec!["headwater".to_owned()],
        rounds: Some(rounds),
        ..Args::default()
    })?)
}

/// Measures the rows of all forms whose targets are about upper halves.
fn upper_halves(args: &Args) -> Result<Report, Failure> {
    let subjects = TARGETS.iter().filter(|target| target.case == UPPER_HALVES);
    let report = headwater_bench::run(&Args {
        cases: vec![UPPER_HALVES.to_owned()],
        impls: subjects.map(|target| target.subject.to_owned()).collect(),
        ..args.clone()
    });
    match report {
        // A CPU without such registers leaves the targets missing.
        Err(headwater_bench::Error::NothingToMeasure(_)) => Ok(Report::of(Vec::new())),
        report => Ok(report?),
    }
}

/// Targets compare peers in a case, with a length and on a number of threads.
type Compared = (&'static str, usize, usize);

impl Target {
    fn compared(&self) -> Compared {
        (self.case, self.len, self.threads)
    }
}

/// Lists each comparison of peers once.
fn comparisons() -> Vec<Compared> {
    let mut list: Vec<_> = peer_targets().map(|(target, _)| target.compared()).collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// Lists all that the targets of this comparison name, to be measured in the same rounds.
fn contenders(comparison: Compared) -> Vec<String> {
    let here = peer_targets().filter(|(target, _)| target.compared() == comparison);
    here.flat_map(|(target, peer)| [target.subject.to_owned(), peer.to_owned()]).collect()
}

fn peer_targets() -> impl Iterator<Item = (&'static Target, &'static str)> {
    TARGETS.iter().filter_map(|target| match target.against {
        Against::Peer(peer) => Some((target, peer)),
        Against::ScalingOf(_)
        | Against::Microseconds(..)
        | Against::Nanoseconds(_)
        | Against::Clean => None,
    })
}

fn find<'a>(report: &'a Report, target: &Target, implementation: &str) -> Option<&'a Row> {
    report.rows.iter().find(|row| {
        row.case == target.case
            && row.len == target.len
            && row.threads == target.threads
            && row.implementation == implementation
    })
}

/// Returns how much the subject's lead over the peer grows with a second thread. `None` on one CPU.
fn scaling(args: &Args, target: &Target, peer: &str) -> Result<Option<Interval>, Failure> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return Ok(None);
    }
    let mut ratios = Vec::new();
    for _ in 0..SCALING_REPEATS {
        let report = headwater_bench::run(&Args {
            cases: vec![target.case.to_owned()],
            sizes: vec![target.len.to_string()],
            impls: vec![target.subject.to_owned(), peer.to_owned()],
            threads: vec!["1".to_owned(), "2".to_owned()],
            ..args.clone()
        })?;
        // Within each round, because the machine may change its speed between one thread and two.
        let lead = |threads| {
            let row = |implementation: &str| {
                let mut rows = report.rows.iter();
                rows.find(|row| row.implementation == implementation && row.threads == threads)
            };
            Some(speedup(&row(target.subject)?.rounds, &row(peer)?.rounds).median)
        };
        let Some((one, two)) = lead(1).zip(lead(2)) else {
            return Ok(None);
        };
        ratios.push(two / one);
    }
    Ok(Some(Interval::of(&ratios)))
}

impl TargetVerdict {
    fn new(
        target: &Target,
        vendor: Vendor,
        ratio: Option<Interval>,
        fallbacks: Option<u64>,
    ) -> TargetVerdict {
        let at_least = target.at_least.on(vendor);
        let served = !target.without_fallbacks || fallbacks == Some(0);
        TargetVerdict {
            case: match target.against {
                Against::ScalingOf(_) => "scaling",
                _ => target.case,
            },
            len: target.len,
            subject: target.subject,
            against: match target.against {
                Against::Peer(peer) | Against::ScalingOf(peer) => peer.to_owned(),
                Against::Microseconds(limit, note) => format!("{limit} µs {note}"),
                Against::Nanoseconds(limit) => format!("{limit} ns"),
                Against::Clean => "clean upper halves".to_owned(),
            },
            threads: target.threads,
            at_least,
            ratio: ratio.map(|ratio| ratio.median),
            low: ratio.and_then(|ratio| ratio.low),
            high: ratio.and_then(|ratio| ratio.high),
            fallbacks,
            met: ratio.map(|ratio| ratio.median >= at_least && served),
        }
    }

    fn cells(&self) -> Vec<String> {
        let ratio = self.ratio.map_or_else(
            || "-".to_owned(),
            |median| Interval { median, low: self.low, high: self.high }.show(),
        );
        let len = if matches!(self.case, "fill" | "scaling" | "stream-u64") {
            format!(" {}", show_size(self.len))
        } else {
            String::new()
        };
        let verdict = match self.met {
            Some(true) => "met",
            Some(false) => "short",
            None => "missing",
        };
        let case = match self.threads {
            1 => self.case.to_owned(),
            threads => format!("{} on {threads}", self.case),
        };
        vec![
            format!("{case}{len} {}", self.subject),
            self.against.clone(),
            figure(self.at_least),
            ratio,
            verdict.to_owned(),
        ]
    }

    /// Says that a promise of no fallbacks was broken. A column would be too narrow for the number.
    fn broken(&self) -> Option<String> {
        let fallbacks = self.fallbacks.filter(|&fallbacks| fallbacks > 0)?;
        let TargetVerdict { case, threads, subject, .. } = self;
        Some(format!(
            "short: {subject} counted {fallbacks} fallbacks in {case} on {threads} threads\n"
        ))
    }
}

impl CheckOutcome {
    pub(crate) fn exit_code(&self) -> ExitCode {
        if self.count(Some(false)) > 0 {
            ExitCode::from(1)
        } else if self.count(None) > 0 {
            ExitCode::from(3)
        } else {
            ExitCode::SUCCESS
        }
    }

    fn count(&self, met: Option<bool>) -> usize {
        self.targets.iter().filter(|verdict| verdict.met == met).count()
    }

    /// Returns the figures and, after the figures, the verdicts. The user asked for the verdicts,
    /// and reads the verdicts last.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new();
        table
            .load_style(presets::ASCII_MARKDOWN)
            .set_width(100)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_header(["case", "against", "least", "times faster (95 %)", ""])
            .add_rows(self.targets.iter().map(TargetVerdict::cells));
        for column in table.column_iter_mut().skip(2).take(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let mut broken: Vec<String> =
            self.targets.iter().filter_map(TargetVerdict::broken).collect();
        broken.dedup(); // several targets may have one row
        format!(
            "{}\n\ntargets for {}\ntimes faster, as the median over the rounds and its 95 % interval\n{}\n{}{} met, {} short, {} missing",
            headwater_bench::table(&self.report),
            self.vendor,
            table.trim_fmt(),
            broken.concat(),
            self.count(Some(true)),
            self.count(Some(false)),
            self.count(None)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(target: &Target, ratio: Option<Interval>) -> TargetVerdict {
        TargetVerdict::new(target, Vendor::Intel, ratio, Some(0))
    }

    fn outcome(ratios: &[Option<&[f64]>]) -> CheckOutcome {
        let verdicts = ratios.iter().map(|ratio| verdict(&TARGETS[0], ratio.map(Interval::of)));
        CheckOutcome {
            vendor: Vendor::Intel.title(),
            schema: "headwater.bench-check/1",
            targets: verdicts.collect(),
            report: Report::of(Vec::new()),
        }
    }

    #[test]
    fn every_contender_is_one_that_run_knows() {
        for comparison @ (case, len, threads) in comparisons() {
            let args = Args {
                cases: vec![case.to_owned()],
                sizes: vec!["16".to_owned()],
                impls: contenders(comparison),
                rounds: Some(1),
                time: 0.001,
                ..Args::default()
            };
            if let Err(error) = headwater_bench::run(&args) {
                assert!(!error.is_usage(), "{case} {len} {threads}: {error}");
            }
        }
    }

    #[test]
    fn verdicts_come_from_the_median_and_show_the_interval() {
        let fast = [1.7, 1.5, 1.8, 1.6, 1.9, 1.7];
        let verdict = verdict(&TARGETS[0], Some(Interval::of(&fast)));
        assert_eq!(
            verdict.cells(),
            [
                "fill 16 B headwater[buffered]",
                "rand-thread_rng",
                "1.50",
                "1.70 (1.50 to 1.90)",
                "met"
            ]
        );
    }

    #[test]
    fn the_table_names_the_vendor_whose_targets_hold() {
        let at_least = |name: Option<&str>| {
            let vendor = Vendor::of(name);
            let verdict = TargetVerdict::new(&TARGETS[0], vendor, None, None);
            let text = CheckOutcome { vendor: vendor.title(), ..outcome(&[None]) }.table();
            assert!(text.contains(&format!("targets for {}\n", vendor.title())), "{text}");
            verdict.at_least
        };
        assert_eq!(at_least(Some("GenuineIntel")), 1.5);
        assert_eq!(at_least(Some("AuthenticAMD")), 1.8);
        assert_eq!(at_least(None), 1.5);
    }

    #[test]
    fn a_fallback_breaks_a_promise_of_none() {
        let target = TARGETS.iter().find(|target| target.without_fallbacks).unwrap();
        let fast = || Some(Interval::of(&[9.0; 6]));
        let verdict = |fallbacks| TargetVerdict::new(target, Vendor::Amd, fast(), fallbacks);
        assert_eq!(verdict(Some(0)).met, Some(true));
        assert_eq!(verdict(None).met, Some(false), "what is not counted is not none");
        let twice = vec![verdict(Some(3)), verdict(Some(3))];
        let text = CheckOutcome { targets: twice, ..outcome(&[]) }.table();
        let line = "\nshort: headwater counted 3 fallbacks in crowd on 64 threads\n";
        assert_eq!(text.matches(line).count(), 1, "{text}");
        assert!(text.ends_with("0 met, 2 short, 0 missing"), "{text}");
    }

    #[test]
    fn the_verdicts_fit_100_columns() {
        let verdicts =
            TARGETS.iter().map(|target| verdict(target, Some(Interval::of(&[123.4; 9]))));
        let vendor = Vendor::Unknown.title();
        let outcome = CheckOutcome { vendor, targets: verdicts.collect(), ..outcome(&[]) };
        let text = outcome.table();
        let rows = text.lines().filter(|line| line.ends_with("met |")).count();
        assert_eq!(rows, TARGETS.len(), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }

    #[test]
    fn exit_status_says_short_before_missing() {
        let (met, short, missing): (Option<&[f64]>, Option<&[f64]>, _) =
            (Some(&[1.6]), Some(&[1.4]), None);
        let code = |ratios: &[_]| format!("{:?}", outcome(ratios).exit_code());
        assert_eq!(code(&[met]), format!("{:?}", ExitCode::SUCCESS));
        assert_eq!(code(&[met, missing]), format!("{:?}", ExitCode::from(3)));
        assert_eq!(code(&[met, missing, short]), format!("{:?}", ExitCode::from(1)));
        assert!(outcome(&[met, missing, short]).table().ends_with("1 met, 1 short, 1 missing"));
    }
}
