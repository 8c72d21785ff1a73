//! From arguments to a list of comparisons. Everything that can be wrong with the arguments is found here,
//! before anything is measured.

use crate::contender::Contender;
use crate::impls::Absent;
use crate::report::Skipped;
use crate::work::{Declined, Work};
use crate::{Args, Error, count, impls, machine, rfc, size};
use std::ops::RangeInclusive;
use std::time::Duration;

/// More threads than any machine of today has CPUs.
pub(crate) const MAX_THREADS: usize = 4096;

/// The lengths of `fill` if none are asked for: what programs mostly draw, and one long one.
const SIZES: [usize; 5] = [16, 64, 256, 1024, 65536];

/// How long one sample of one implementation lasts: long enough that reading the clock does not
/// count, short enough that a round is over before the machine changes its speed.
const SAMPLE: Duration = Duration::from_micros(500);

/// However slow the implementations are: the fewest rounds that give a ratio a 95 % interval.
const MIN_ROUNDS: u32 = 6;

/// What a comparison is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Fill,
    U32,
    U64,
    UuidV4,
    RfcU32,
}

impl Case {
    pub(crate) const ALL: [Case; 5] =
        [Case::Fill, Case::U32, Case::U64, Case::UuidV4, Case::RfcU32];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Case::Fill => "fill",
            Case::U32 => "u32",
            Case::U64 => "u64",
            Case::UuidV4 => "uuid-v4",
            Case::RfcU32 => "rfc-u32",
        }
    }

    pub(crate) fn names() -> Vec<&'static str> {
        Case::ALL.map(Case::name).to_vec()
    }

    fn parse(name: &str) -> Result<Case, Error> {
        Case::ALL
            .into_iter()
            .find(|case| case.name() == name)
            .ok_or_else(|| Error::UnknownCase(name.to_owned()))
    }
}

/// How many calls make a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Batch {
    /// As many as take about this long, and at least one.
    Lasting(Duration),
    /// This many.
    Calls(u64),
}

/// How long to go on.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    pub(crate) batch: Batch,
    /// Bounds that hold whatever the budget says.
    pub(crate) rounds: RangeInclusive<u32>,
    /// Time for all rounds together.
    pub(crate) budget: Duration,
}

/// One comparison: everything in it is measured in the same rounds.
pub(crate) struct Cell {
    pub(crate) case: Case,
    pub(crate) work: Work,
    /// Random bytes that one call draws.
    pub(crate) len: usize,
    pub(crate) threads: usize,
    pub(crate) contenders: Vec<Contender>,
    pub(crate) pace: Pace,
    /// Whether what a call does is counted as well.
    pub(crate) counts: bool,
}

impl Cell {
    /// Bytes of output of one call; more than are drawn if it is text.
    pub(crate) fn output_len(&self) -> usize {
        self.work.output_len().unwrap_or(self.len)
    }

    /// Whether headwater's mode changes between its contenders.
    pub(crate) fn switches_modes(&self) -> bool {
        self.contenders.iter().any(|contender| contender.mode.is_some())
    }
}

/// What a run does, in this order.
pub(crate) struct Plan {
    pub(crate) cells: Vec<Cell>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) warnings: Vec<String>,
}

impl Plan {
    pub(crate) fn new(args: &Args) -> Result<Plan, Error> {
        let cases = or_default(parse_list(&args.cases, Case::parse)?, Case::ALL);
        let sizes = or_default(parse_list(&args.sizes, size::parse)?, SIZES);
        let threads = or_default(parse_list(&args.threads, parse_threads)?, [1]);
        let asked = contenders(args)?;
        let budget = budget(args)?;

        let mut plan =
            Plan { cells: Vec::new(), skipped: Vec::new(), warnings: thread_warnings(&threads) };
        let contenders = plan.present(asked.clone());
        let rfc_rows: Vec<Contender> = rfc::ROWS
            .iter()
            .copied()
            .filter(|row| {
                asked.iter().any(|asked| row.name.split('[').next() == Some(&asked.name()))
            })
            .map(Contender::from)
            .collect();
        let rfc_rows =
            if cases.contains(&Case::RfcU32) { plan.present(rfc_rows) } else { Vec::new() };

        let pace = |contenders: &[Contender]| Pace {
            batch: Batch::Lasting(SAMPLE),
            rounds: args.rounds.map_or(MIN_ROUNDS..=u32::MAX, |rounds| rounds..=rounds),
            budget: budget * contenders.len() as u32,
        };
        let mut declined = Vec::new();
        let mut add = |case, work, len, threads| {
            let mut contenders = contenders.clone();
            contenders.retain(|contender| match contender.declines(case, threads) {
                Some(reason) => {
                    declined.push((*contender, reason));
                    false
                }
                None => true,
            });
            let pace = pace(&contenders);
            let counts = args.count && threads == 1 && is_counted(args, case, len);
            plan.cells.push(Cell { counts, case, work, len, threads, contenders, pace });
        };
        for &threads in &threads {
            for &case in &cases {
                match case {
                    Case::Fill => sizes.iter().for_each(|&len| add(case, Work::Fill, len, threads)),
                    Case::U32 => add(case, Work::U32, 4, threads),
                    Case::U64 => add(case, Work::U64, 8, threads),
                    Case::UuidV4 => add(case, Work::UuidV4, 16, threads),
                    Case::RfcU32 => {} // below: it has rows of its own, and one thread as in the RFC
                }
            }
        }
        if cases.contains(&Case::RfcU32) {
            let rounds = args.rounds.unwrap_or(rfc::ROUNDS);
            plan.cells.push(Cell {
                case: Case::RfcU32,
                work: Work::U32,
                len: 4,
                threads: 1,
                pace: Pace {
                    batch: Batch::Calls(rfc::CALLS),
                    rounds: rounds..=rounds,
                    budget: Duration::ZERO,
                },
                contenders: rfc_rows,
                counts: false,
            });
        }
        plan.note_declined(declined);
        plan.cells.retain(|cell| !cell.contenders.is_empty());
        if plan.cells.is_empty() {
            let reasons: Vec<String> = plan.skipped.iter().map(Skipped::to_string).collect();
            return Err(Error::NothingToMeasure(reasons.join("; ")));
        }
        Ok(plan)
    }

    /// Notes who is left out where a reader would look for them. That what makes UUIDs fills no buffers needs no line.
    fn note_declined(&mut self, declined: Vec<(Contender, Declined)>) {
        for (contender, reason) in declined {
            let name = contender.name();
            let mut contenders = self.cells.iter().flat_map(|cell| &cell.contenders);
            let skipped = Skipped::new(&contender, Absent(reason.to_string()));
            let takes_part = contenders.any(|contender| contender.name() == name);
            if (!takes_part || reason == Declined::Threads) && !self.skipped.contains(&skipped) {
                self.skipped.push(skipped);
            }
        }
    }

    /// Those that this host has; the others are noted, once.
    fn present(&mut self, contenders: Vec<Contender>) -> Vec<Contender> {
        let mut present = Vec::new();
        for contender in contenders {
            match contender.probe() {
                Ok(()) => present.push(contender),
                Err(absent) => {
                    let skipped = Skipped::new(&contender, absent);
                    if !self.skipped.contains(&skipped) {
                        self.skipped.push(skipped);
                    }
                }
            }
        }
        present
    }
}

/// What `--impls` and `--lib` ask for.
fn contenders(args: &Args) -> Result<Vec<Contender>, Error> {
    let added = impls::add(&args.libs)?; // before names are read, because they may be theirs
    if args.impls.is_empty() {
        let more = if args.all { impls::MORE } else { &[] };
        let more = more.iter().copied().map(Contender::from);
        return Ok(Contender::usual().into_iter().chain(more).collect());
    }
    let mut asked = parse_list(&args.impls, Contender::parse)?;
    for contender in added.into_iter().map(Contender::from) {
        if !asked.contains(&contender) {
            asked.push(contender);
        }
    }
    Ok(asked)
}

/// Parses each item; of equal ones the first is kept.
fn parse_list<T: PartialEq>(
    items: &[String],
    parse: impl Fn(&str) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut list = Vec::new();
    for item in items {
        let value = parse(item)?;
        if !list.contains(&value) {
            list.push(value);
        }
    }
    Ok(list)
}

fn or_default<T>(list: Vec<T>, default: impl IntoIterator<Item = T>) -> Vec<T> {
    if list.is_empty() { default.into_iter().collect() } else { list }
}

fn parse_threads(text: &str) -> Result<usize, Error> {
    match text.parse() {
        Ok(threads @ 1..=MAX_THREADS) => Ok(threads),
        _ => Err(Error::BadThreads(text.to_owned())),
    }
}

fn budget(args: &Args) -> Result<Duration, Error> {
    if args.rounds == Some(0) {
        return Err(Error::BadPace("bad number of rounds '0': use 1 or more"));
    }
    match Duration::try_from_secs_f64(args.time) {
        Ok(budget) if !budget.is_zero() && budget <= Duration::from_secs(3600) => Ok(budget),
        _ => Err(Error::BadPace("bad time: use more than 0 and at most 3600 seconds")),
    }
}

/// What `--count` counts: 16 bytes, which says most of what a call shares, and what was asked for by name.
fn is_counted(args: &Args, case: Case, len: usize) -> bool {
    match case {
        Case::Fill if args.sizes.is_empty() => len == 16,
        Case::Fill => len <= count::MAX_LEN,
        _ => !args.cases.is_empty(),
    }
}

fn thread_warnings(threads: &[usize]) -> Vec<String> {
    let Some(cores) = machine::cores() else {
        return Vec::new();
    };
    let too_many = threads.iter().filter(|&&threads| threads > cores);
    too_many
        .map(|threads| format!("{threads} threads share {cores} CPUs, and wait for each other"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(change: impl FnOnce(&mut Args)) -> Result<Plan, Error> {
        let mut args = Args::default();
        change(&mut args);
        Plan::new(&args)
    }

    fn message(change: impl FnOnce(&mut Args)) -> String {
        let error = plan(change).err().expect("refused");
        assert!(error.is_usage());
        assert!(!error.to_string().contains('\n'));
        error.to_string()
    }

    fn list(items: &[&str]) -> Vec<String> {
        items.iter().map(|&item| item.to_owned()).collect()
    }

    #[test]
    fn errors_say_what_would_be_right() {
        assert_eq!(
            message(|args| args.cases = list(&["fil"])),
            "unknown case 'fil': use fill, u32, u64, uuid-v4, rfc-u32"
        );
        assert_eq!(
            message(|args| args.threads = list(&["0"])),
            "bad number of threads '0': use 1 to 4096"
        );
        assert_eq!(
            message(|args| args.rounds = Some(0)),
            "bad number of rounds '0': use 1 or more"
        );
        for time in [0.0, -1.0, f64::NAN, 1e9] {
            assert_eq!(
                message(|args| args.time = time),
                "bad time: use more than 0 and at most 3600 seconds"
            );
        }
    }

    #[test]
    fn covers_what_was_asked_for_once() {
        let plan = plan(|args| {
            args.cases = list(&["fill", "u64"]);
            args.sizes = list(&["16", "1k", "1024"]);
            args.impls = list(&["headwater", "urandom-read"]);
            args.threads = list(&["1", "2"]);
        })
        .unwrap();
        let cells: Vec<_> =
            plan.cells.iter().map(|cell| (cell.case.name(), cell.len, cell.threads)).collect();
        assert_eq!(
            cells,
            [
                ("fill", 16, 1),
                ("fill", 1024, 1),
                ("u64", 8, 1),
                ("fill", 16, 2),
                ("fill", 1024, 2),
                ("u64", 8, 2)
            ]
        );
    }

    #[test]
    fn the_rfc_has_its_own_rows_which_impls_selects() {
        let plan = plan(|args| {
            args.cases = list(&["rfc-u32"]);
            args.impls = list(&["headwater", "getrandom-syscall"]);
        })
        .unwrap();
        let names: Vec<_> = plan.cells[0].contenders.iter().map(Contender::name).collect();
        assert_eq!(names, ["getrandom-syscall", "getrandom-syscall[pool]", "headwater"]);
    }

    #[test]
    fn more_threads_than_cpus_are_allowed_with_a_warning() {
        let warnings = thread_warnings(&[1, MAX_THREADS]);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].starts_with("4096 threads share "), "{warnings:?}");
    }

    #[cfg(feature = "peers")]
    #[test]
    fn a_generator_of_one_thing_takes_part_in_that_and_says_where_it_is_missed() {
        let plan = |cases: &[&str], threads: &[&str]| {
            plan(|args| {
                args.cases = list(cases);
                args.impls = list(&["headwater", "python-uuid4"]);
                args.threads = list(threads);
            })
            .unwrap()
        };
        let uuids = plan(&["u64", "uuid-v4"], &["1", "2"]);
        let first = uuids.skipped.first().map(Skipped::to_string);
        if first.as_deref() == Some("python-uuid4: python3 is not installed") {
            eprintln!("skipped: {}: nothing is known of generators of one thing", first.unwrap());
            return;
        }
        let contenders =
            uuids.cells.iter().map(|cell| (cell.case, cell.threads, cell.contenders.len()));
        assert_eq!(
            contenders.collect::<Vec<_>>(),
            [(Case::U64, 1, 1), (Case::UuidV4, 1, 2), (Case::U64, 2, 1), (Case::UuidV4, 2, 1)]
        );
        assert_eq!(first.as_deref(), Some("python-uuid4: it is measured on one thread only"));
        assert_eq!(uuids.skipped.len(), 1);
        let integers = plan(&["u64"], &["1"]);
        assert_eq!(
            integers.skipped[0].to_string(),
            "python-uuid4: it has no call for any of these cases"
        );
    }

    #[cfg(feature = "peers")]
    #[test]
    fn what_needs_a_runtime_is_measured_when_asked_for() {
        let names = |all| {
            let plan = plan(|args| {
                args.cases = list(&["fill"]);
                args.all = all;
            })
            .unwrap();
            let present = plan.cells[0].contenders.iter().map(Contender::name);
            present
                .chain(plan.skipped.into_iter().map(|skipped| skipped.implementation))
                .collect::<Vec<_>>()
        };
        assert!(!names(false).contains(&"go-rand.Read".to_owned()));
        assert!(names(true).contains(&"go-rand.Read".to_owned()));
    }
}
