//! From arguments to a list of comparisons. Everything that can be wrong with the arguments is found here,
//! before anything is measured.

use crate::case::{Case, Numbers};
use crate::contender::Contender;
use crate::crowd::{Crowd, Crowds};
use crate::impls::Absent;
use crate::impls::streams;
use crate::list::{or_default, parse_list};
use crate::pin::{Pin, Pins};
use crate::report::Skipped;
use crate::upper_halves::Halves;
use crate::work::{Declined, Work};
use crate::{Args, Error, count, first_byte, impls, rfc, size, stretch, upper_halves};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// The lengths of `fill` if none are asked for: what programs mostly draw, and one long one.
const SIZES: [usize; 5] = [16, 64, 256, 1024, 65536];

/// The length of single calls whose latency is told, if no others are asked for.
const LATENCY_SIZES: [usize; 1] = [16];

/// Those of an array in a stream's cases: in a first cache, in a second one, and in memory.
const STREAM_SIZES: [usize; 3] = [16 << 10, 256 << 10, 64 << 20];

/// How long one sample of one implementation lasts: long enough that reading the clock does not
/// count, short enough that a round is over before the machine changes its speed.
const SAMPLE: Duration = Duration::from_micros(500);

/// However slow the implementations are: the fewest rounds that give a ratio a 95 % interval.
const MIN_ROUNDS: u32 = 6;

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

impl Pace {
    /// One item for each round, from now until it is time to stop.
    pub(crate) fn begin(&self) -> impl Iterator<Item = u32> {
        let start = Instant::now();
        (0..*self.rounds.end())
            .take_while(move |round| round < self.rounds.start() || start.elapsed() < self.budget)
    }
}

/// One comparison: everything in it is measured in the same rounds.
pub(crate) struct Cell {
    pub(crate) case: Case,
    pub(crate) work: Work,
    /// Random bytes that one call draws.
    pub(crate) len: usize,
    /// Of each process.
    pub(crate) threads: usize,
    pub(crate) procs: usize,
    pub(crate) pins: Pins,
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
        let cases = Case::parse_list(&args.cases)?;
        let pins = Pins::new(Pin::parse(&args.pin)?)?;
        let crowds = Crowds::new(args, &pins)?;
        let sizes = parse_list(&args.sizes, size::parse)?;
        let default_sizes = or_default(parse_list(&args.default_sizes, size::parse)?, SIZES);
        let asked = contenders(args, &cases)?;
        let budget = budget(args)?;

        let mut plan = Plan {
            cells: Vec::new(),
            skipped: Vec::new(),
            warnings: crowds.warnings(&cases, &pins),
        };
        let contenders = plan.present(asked.clone());
        let pace = |case, least, contenders: usize| match case {
            Case::Crowd => stretch::pace(budget, args.rounds),
            _ => Pace {
                batch: Batch::Lasting(SAMPLE),
                rounds: args.rounds.map_or(least..=u32::MAX, |rounds| rounds..=rounds),
                budget: budget * contenders as u32,
            },
        };
        let mut declined = Vec::new();
        let mut add = |case: Case, work, len, crowd: Crowd, least| {
            let mut contenders = contenders.clone();
            contenders.retain(|contender| contender.is_meant_by(case));
            contenders.retain(|contender| match contender.declines(case, crowd.all()) {
                Some(reason) => {
                    declined.push((*contender, reason));
                    false
                }
                None => true,
            });
            plan.cells.push(Cell {
                counts: args.count && crowd.all() == 1 && is_counted(args, case, len),
                case,
                work,
                len,
                threads: crowd.threads,
                procs: crowd.procs,
                pins: pins.clone(),
                pace: pace(case, least, contenders.len()),
                contenders,
            });
        };
        for crowd in crowds.all() {
            for &case in cases.iter().filter(|case| !case.stands_alone()) {
                if !crowds.of(case).contains(&crowd) {
                    continue;
                }
                let (work, lengths) = match case {
                    Case::Fill => (Work::Fill, or_default(sizes.clone(), default_sizes.clone())),
                    Case::Latency => (Work::Fill, or_default(sizes.clone(), LATENCY_SIZES)),
                    Case::Crowd => (Work::Fill, vec![stretch::LEN]),
                    Case::U32 => (Work::U32, vec![4]),
                    Case::U64 => (Work::U64, vec![8]),
                    Case::UuidV4 => (Work::UuidV4, vec![16]),
                    Case::UuidV7 => (Work::UuidV7, vec![16]),
                    Case::Dns => (Work::DnsQuery, vec![4]),
                    Case::Handshake => {
                        (Work::Session, Work::Session.output_len().into_iter().collect())
                    }
                    Case::Stream(Numbers::Child) => (Work::Stream(Numbers::Child), vec![16]),
                    Case::Stream(numbers) => {
                        (Work::Stream(numbers), or_default(sizes.clone(), STREAM_SIZES))
                    }
                    Case::FirstByteAfterFork
                    | Case::FirstByteAfterStart
                    | Case::RfcU32
                    | Case::UpperHalves => continue,
                };
                if let Case::Stream(_) = case
                    && let Some(&odd) = lengths.iter().find(|len| !len.is_multiple_of(8))
                {
                    return Err(Error::OddSize(odd));
                }
                for len in lengths {
                    add(case, work, len, crowd, MIN_ROUNDS);
                }
            }
        }
        for case in [Case::FirstByteAfterFork, Case::FirstByteAfterStart] {
            if cases.contains(&case) {
                add(case, Work::Fill, first_byte::LEN, Crowd::ONE, first_byte::MIN_PROCESSES);
            }
        }
        if cases.contains(&Case::UpperHalves) {
            let work = Work::FillAfter(Halves::Clean);
            add(Case::UpperHalves, work, upper_halves::LEN, Crowd::ONE, MIN_ROUNDS);
        }
        if cases.contains(&Case::RfcU32) {
            plan.add_rfc(args, &asked, &pins);
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

    /// The RFC's table has rows of its own, of which `--impls` selects.
    fn add_rfc(&mut self, args: &Args, asked: &[Contender], pins: &Pins) {
        let rows = rfc::ROWS.iter().copied().filter(|row| {
            asked.iter().any(|asked| row.name.split('[').next() == Some(&asked.name()))
        });
        let contenders = self.present(rows.map(Contender::from).collect());
        let rounds = args.rounds.unwrap_or(rfc::ROUNDS);
        self.cells.push(Cell {
            case: Case::RfcU32,
            work: Work::U32,
            len: 4,
            threads: 1,
            procs: 1,
            pins: pins.clone(),
            pace: Pace {
                batch: Batch::Calls(rfc::CALLS),
                rounds: rounds..=rounds,
                budget: Duration::ZERO,
            },
            contenders,
            counts: false,
        });
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
fn contenders(args: &Args, cases: &[Case]) -> Result<Vec<Contender>, Error> {
    let added = impls::add(&args.libs)?; // before names are read, because they may be theirs
    if args.impls.is_empty() {
        let mut usual = Vec::new();
        if !cases.iter().all(|case| case.is_of_streams()) {
            let more = if args.all { impls::MORE } else { &[] };
            usual.extend(Contender::usual());
            usual.extend(more.iter().copied().map(Contender::from));
        }
        if cases.iter().any(|case| case.is_of_streams()) {
            let more = if args.all { streams::MORE } else { &[] };
            usual.extend(streams::ALL.iter().chain(more).copied().map(Contender::from));
        }
        return Ok(usual);
    }
    let mut asked = parse_list(&args.impls, Contender::parse)?;
    for contender in added.into_iter().map(Contender::from) {
        if !asked.contains(&contender) {
            asked.push(contender);
        }
    }
    Ok(asked)
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
        Case::Crowd | Case::UpperHalves => false,
        _ => !args.cases.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine;

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
            "unknown case 'fil': use fill, u32, u64, uuid-v4, uuid-v7, dns, handshake, latency, \
             first-byte-after-fork, first-byte-after-start, rfc-u32, crowd, upper-halves, stream-u64, stream-f64, \
             stream-normal, stream-bounded, stream-shuffle, stream-child, or all"
        );
        assert_eq!(
            message(|args| args.procs = list(&["many"])),
            "bad number of processes 'many': use 1 to 1024"
        );
        assert_eq!(
            message(|args| args.pin = "socket".to_owned()),
            "unknown way to pin 'socket': use none, core or node"
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
    fn streams_are_a_field_of_their_own() {
        let names = |cases: &[&str]| {
            let plan = plan(|args| args.cases = list(cases)).unwrap();
            let all = plan.cells.iter().flat_map(|cell| &cell.contenders).map(Contender::name);
            all.collect::<Vec<_>>()
        };
        let streams = names(&["stream-f64"]);
        assert!(streams.contains(&"headwater-ars7".to_owned()), "{streams:?}");
        assert!(!streams.contains(&"headwater".to_owned()), "{streams:?}");
        let bytes = names(&["fill"]);
        assert!(!bytes.contains(&"headwater-ars7".to_owned()), "{bytes:?}");
        assert_eq!(
            message(|args| {
                args.cases = list(&["stream-u64"]);
                args.sizes = list(&["100"]);
            }),
            "bad size '100 B' for an array of 64-bit numbers: use a multiple of 8"
        );
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

    fn warnings(change: impl FnOnce(&mut Args)) -> Vec<String> {
        plan(|args| {
            args.impls = list(&["headwater"]);
            args.sizes = list(&["16"]);
            change(args);
        })
        .unwrap()
        .warnings
    }

    #[test]
    fn more_threads_than_cpus_are_allowed_with_a_warning() {
        let found = warnings(|args| args.threads = list(&["1", "4096"]));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("4096 threads share "), "{found:?}");
        let found = warnings(|args| args.procs = list(&["1", "1024"]));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("1024 threads of 1024 processes share "), "{found:?}");
        let alone = warnings(|args| {
            args.cases = list(&["rfc-u32", "first-byte-after-fork"]);
            args.threads = list(&["4096"]);
        });
        assert_eq!(alone, [""; 0], "these cases have one thread");
    }

    #[test]
    fn a_handshake_takes_all_cpus_unless_told_otherwise() {
        let threads = |threads: &[&str]| {
            let plan = plan(|args| {
                args.cases = list(&["u64", "handshake"]);
                args.impls = list(&["headwater"]);
                args.threads = list(threads);
            });
            let cells = plan.unwrap().cells;
            let of = |name| {
                let cells = cells.iter().filter(move |cell| cell.case.name() == name);
                cells.map(|cell| cell.threads).collect::<Vec<_>>()
            };
            (of("u64"), of("handshake"))
        };
        assert_eq!(threads(&[]), (vec![1], vec![machine::cores().unwrap()]));
        assert_eq!(threads(&["2", "3"]), (vec![2, 3], vec![2, 3]));
    }

    #[test]
    fn processes_multiply_threads_except_where_a_case_stands_alone() {
        let plan = plan(|args| {
            args.cases = list(&["all"]);
            args.sizes = list(&["16"]);
            args.impls = list(&["headwater"]);
            args.procs = list(&["1", "2"]);
            args.threads = list(&["1", "3"]);
        })
        .unwrap();
        for case in Case::ALL {
            if case.is_of_streams() {
                continue; // of which `headwater` is none
            }
            let cells = plan.cells.iter().filter(|cell| cell.case == case);
            let crowds: Vec<_> = cells.map(|cell| (cell.procs, cell.threads)).collect();
            let expected: &[_] = match case {
                Case::UpperHalves if !crate::upper_halves::are_here() => &[],
                Case::Crowd => &[(1, 1), (1, 3)],
                case if case.stands_alone() => &[(1, 1)],
                _ => &[(1, 1), (1, 3), (2, 1), (2, 3)],
            };
            assert_eq!(crowds, expected, "{case:?}");
        }
    }

    #[test]
    fn a_crowd_has_its_own_threads_and_stretches() {
        let cells = |threads: &[&str], rounds, time| {
            let plan = plan(|args| {
                args.cases = list(&["crowd"]);
                args.impls = list(&["headwater"]);
                args.threads = list(threads);
                (args.rounds, args.time) = (rounds, time);
            })
            .unwrap();
            assert_eq!(plan.warnings, [""; 0], "threads that share CPUs are its subject");
            let pace = &plan.cells[0].pace;
            let threads: Vec<_> = plan.cells.iter().map(|cell| cell.threads).collect();
            (threads, pace.batch, pace.rounds.clone())
        };
        let lasting = |ms| Batch::Lasting(Duration::from_millis(ms));
        assert_eq!(cells(&[], None, 0.125), (stretch::THREADS.to_vec(), lasting(500), 6..=6));
        assert_eq!(cells(&["3"], Some(9), 0.005), (vec![3], lasting(20), 9..=9));
    }

    #[test]
    fn a_pace_ends_by_rounds_or_by_time_but_not_before_the_least() {
        let rounds = |least, most, budget| {
            let batch = Batch::Calls(1);
            let pace = Pace { batch, rounds: least..=most, budget: Duration::from_secs(budget) };
            pace.begin().count()
        };
        assert_eq!(rounds(6, u32::MAX, 0), 6);
        assert_eq!(rounds(6, 9, 1000), 9);
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
