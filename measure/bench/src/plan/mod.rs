//! From arguments to a list of comparisons. A wrong argument that is found only when its turn comes
//! has cost the user all the measurements before it. So everything that can be wrong is found here,
//! before anything is measured.

pub(crate) mod comparison;
pub(crate) mod concurrency;
pub(crate) mod skipped;

use crate::args::Args;
use crate::case::{CROWD_LEN, Case, FIRST_BYTE_LEN, Numbers, UPPER_HALVES_LEN};
use crate::draw::upper_halves::Halves;
use crate::draw::work::{Declined, Work};
use crate::error::Error;
use crate::impls;
use crate::impls::implementation::Absent;
use crate::impls::rfc;
use crate::impls::streams;
use crate::impls::variant::Variant;
use crate::list::{or_default, parse_list};
use crate::plan::comparison::{Batch, Comparison, Pace};
use crate::plan::concurrency::{Concurrencies, Concurrency};
use crate::plan::skipped::Skipped;
use crate::size;
use crate::system::pin::{Pin, Pins};
use std::time::Duration;

/// The lengths of `fill` if none are asked for: what programs mostly draw, and one long one.
const SIZES: [usize; 5] = [16, 64, 256, 1024, 65536];

/// The default length of single calls in the case `latency`.
const LATENCY_SIZES: [usize; 1] = [16];

/// The default lengths of arrays in a stream's cases: in a first cache, in a second one, and in
/// memory.
const STREAM_SIZES: [usize; 3] = [16 << 10, 256 << 10, 64 << 20];

/// The duration of one sample of one implementation. If it were shorter, reading the clock would
/// count in it. If it were longer, the machine might change its speed within a round, and then the
/// implementations of that round could not be compared.
const SAMPLE: Duration = Duration::from_micros(500);

/// The fewest rounds. The interval of a median ratio at 95 % needs six of them, so slow
/// implementations get six as well.
const MIN_ROUNDS: u32 = 6;

/// The longest fill that is counted. The count shows what a call costs besides its bytes, but in a
/// longer call the bytes are nearly everything, and to count it takes long, because each
/// instruction is a single step.
const MAX_COUNTED_LEN: usize = 4096;

/// The fewest fresh processes to start. The first few read this program from the disk and are slow,
/// so a time limit must not stop at them.
const MIN_PROCESSES: u32 = 30;

/// The comparisons of a run, in their order.
pub(crate) struct Plan {
    pub(crate) comparisons: Vec<Comparison>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) warnings: Vec<String>,
}

impl Plan {
    pub(crate) fn new(args: &Args) -> Result<Plan, Error> {
        let cases = Case::parse_list(&args.cases)?;
        let pins = Pins::new(Pin::parse(&args.pin)?)?;
        let concurrencies = Concurrencies::new(args, &pins)?;
        let sizes = parse_list(&args.sizes, size::parse)?;
        let default_sizes = or_default(parse_list(&args.default_sizes, size::parse)?, SIZES);
        let asked = variants(args, &cases)?;
        let budget = budget(args)?;

        let mut plan = Plan {
            comparisons: Vec::new(),
            skipped: Vec::new(),
            warnings: concurrencies.warnings(&cases, &pins),
        };
        let variants = plan.present(asked.clone());
        let pace = |case, least, variants: usize| match case {
            Case::Crowd => comparison::pace_of_crowd(budget, args.rounds),
            _ => Pace {
                batch: Batch::Lasting(SAMPLE),
                rounds: args.rounds.map_or(least..=u32::MAX, |rounds| rounds..=rounds),
                budget: budget * variants as u32,
            },
        };
        let mut declined = Vec::new();
        let mut add = |case: Case, work, len, concurrency: Concurrency, least| {
            let mut variants = variants.clone();
            variants.retain(|variant| variant.is_meant_by(case));
            variants.retain(|variant| match variant.declines(case, concurrency.all()) {
                Some(reason) => {
                    declined.push((*variant, reason));
                    false
                }
                None => true,
            });
            plan.comparisons.push(Comparison {
                counts: args.count && concurrency.all() == 1 && is_counted(args, case, len),
                case,
                work,
                len,
                threads: concurrency.threads,
                procs: concurrency.procs,
                pins: pins.clone(),
                pace: pace(case, least, variants.len()),
                variants,
            });
        };
        for concurrency in concurrencies.all() {
            for &case in cases.iter().filter(|case| !case.stands_alone()) {
                if !concurrencies.of(case).contains(&concurrency) {
                    continue;
                }
                let (work, lengths) = match case {
                    Case::Fill => (Work::Fill, or_default(sizes.clone(), default_sizes.clone())),
                    Case::Latency => (Work::Fill, or_default(sizes.clone(), LATENCY_SIZES)),
                    Case::Crowd => (Work::Fill, vec![CROWD_LEN]),
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
                    return Err(Error::OddSize(size::show(odd)));
                }
                for len in lengths {
                    add(case, work, len, concurrency, MIN_ROUNDS);
                }
            }
        }
        for case in [Case::FirstByteAfterFork, Case::FirstByteAfterStart] {
            if cases.contains(&case) {
                add(case, Work::Fill, FIRST_BYTE_LEN, Concurrency::ONE, MIN_PROCESSES);
            }
        }
        if cases.contains(&Case::UpperHalves) {
            let work = Work::FillAfter(Halves::Clean);
            add(Case::UpperHalves, work, UPPER_HALVES_LEN, Concurrency::ONE, MIN_ROUNDS);
        }
        if cases.contains(&Case::RfcU32) {
            plan.add_rfc(args, &asked, &pins);
        }
        plan.note_declined(declined);
        plan.comparisons.retain(|comparison| !comparison.variants.is_empty());
        if plan.comparisons.is_empty() {
            let reasons: Vec<String> = plan.skipped.iter().map(Skipped::to_string).collect();
            return Err(Error::NothingToMeasure(reasons.join("; ")));
        }
        Ok(plan)
    }

    /// Notes the implementations that take no part, but only where a reader would look for them. A
    /// generator of UUIDs fills no buffers, and since it takes part elsewhere, a line about that
    /// would only be noise.
    fn note_declined(&mut self, declined: Vec<(Variant, Declined)>) {
        for (variant, reason) in declined {
            let name = variant.name();
            let mut variants = self.comparisons.iter().flat_map(|comparison| &comparison.variants);
            let skipped = Skipped::new(&variant, Absent(reason.to_string()));
            let takes_part = variants.any(|variant| variant.name() == name);
            if (!takes_part || reason == Declined::Threads) && !self.skipped.contains(&skipped) {
                self.skipped.push(skipped);
            }
        }
    }

    /// Adds the comparison for the RFC's table. It cannot take the variants of the other cases,
    /// because the table has rows of its own; `--impls` selects among those.
    fn add_rfc(&mut self, args: &Args, asked: &[Variant], pins: &Pins) {
        let rows = rfc::ROWS.iter().copied().filter(|row| {
            asked.iter().any(|asked| row.name.split('[').next() == Some(&asked.name()))
        });
        let variants = self.present(rows.map(Variant::from).collect());
        let rounds = args.rounds.unwrap_or(rfc::ROUNDS);
        self.comparisons.push(Comparison {
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
            variants,
            counts: false,
        });
    }

    /// Returns the variants that this host has. Each of the others is noted once, although several
    /// cases would miss it.
    fn present(&mut self, variants: Vec<Variant>) -> Vec<Variant> {
        let mut present = Vec::new();
        for variant in variants {
            match variant.probe() {
                Ok(()) => present.push(variant),
                Err(absent) => {
                    let skipped = Skipped::new(&variant, absent);
                    if !self.skipped.contains(&skipped) {
                        self.skipped.push(skipped);
                    }
                }
            }
        }
        present
    }
}

/// Returns the variants that `--impls` and `--lib` ask for.
fn variants(args: &Args, cases: &[Case]) -> Result<Vec<Variant>, Error> {
    let added = impls::add(&args.libs)?; // before names are read, because they may be theirs
    if args.impls.is_empty() {
        let mut usual = Vec::new();
        if !cases.iter().all(|case| case.is_of_streams()) {
            let more = if args.all { impls::MORE } else { &[] };
            usual.extend(Variant::usual());
            usual.extend(more.iter().copied().map(Variant::from));
        }
        if cases.iter().any(|case| case.is_of_streams()) {
            let more = if args.all { streams::MORE } else { &[] };
            usual.extend(streams::ALL.iter().chain(more).copied().map(Variant::from));
        }
        return Ok(usual);
    }
    let mut asked = parse_list(&args.impls, Variant::parse)?;
    for variant in added.into_iter().map(Variant::from) {
        if !asked.contains(&variant) {
            asked.push(variant);
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

/// Reports whether `--count` counts a comparison: 16 bytes, which show most of the shared state of
/// a call, and the cases that were named.
fn is_counted(args: &Args, case: Case, len: usize) -> bool {
    match case {
        Case::Fill if args.sizes.is_empty() => len == 16,
        Case::Fill => len <= MAX_COUNTED_LEN,
        Case::Crowd | Case::UpperHalves => false,
        _ => !args.cases.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::facts;

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
            let all = plan
                .comparisons
                .iter()
                .flat_map(|comparison| &comparison.variants)
                .map(Variant::name);
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
        let comparisons: Vec<_> = plan
            .comparisons
            .iter()
            .map(|comparison| (comparison.case.name(), comparison.len, comparison.threads))
            .collect();
        assert_eq!(
            comparisons,
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
        let names: Vec<_> = plan.comparisons[0].variants.iter().map(Variant::name).collect();
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
            let comparisons = plan.unwrap().comparisons;
            let of = |name| {
                let comparisons =
                    comparisons.iter().filter(move |comparison| comparison.case.name() == name);
                comparisons.map(|comparison| comparison.threads).collect::<Vec<_>>()
            };
            (of("u64"), of("handshake"))
        };
        assert_eq!(threads(&[]), (vec![1], vec![facts::cores().unwrap()]));
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
            let comparisons = plan.comparisons.iter().filter(|comparison| comparison.case == case);
            let concurrencies: Vec<_> =
                comparisons.map(|comparison| (comparison.procs, comparison.threads)).collect();
            let expected: &[_] = match case {
                Case::UpperHalves if !crate::draw::upper_halves::exist() => &[],
                Case::Crowd => &[(1, 1), (1, 3)],
                case if case.stands_alone() => &[(1, 1)],
                _ => &[(1, 1), (1, 3), (2, 1), (2, 3)],
            };
            assert_eq!(concurrencies, expected, "{case:?}");
        }
    }

    #[test]
    fn a_crowd_has_its_own_threads_and_stretches() {
        let comparisons = |threads: &[&str], rounds, time| {
            let plan = plan(|args| {
                args.cases = list(&["crowd"]);
                args.impls = list(&["headwater"]);
                args.threads = list(threads);
                (args.rounds, args.time) = (rounds, time);
            })
            .unwrap();
            assert_eq!(plan.warnings, [""; 0], "threads that share CPUs are its subject");
            let pace = &plan.comparisons[0].pace;
            let threads: Vec<_> =
                plan.comparisons.iter().map(|comparison| comparison.threads).collect();
            (threads, pace.batch, pace.rounds.clone())
        };
        let lasting = |ms| Batch::Lasting(Duration::from_millis(ms));
        assert_eq!(
            comparisons(&[], None, 0.125),
            (concurrency::CROWD_THREADS.to_vec(), lasting(500), 6..=6)
        );
        assert_eq!(comparisons(&["3"], Some(9), 0.005), (vec![3], lasting(20), 9..=9));
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
        let variants = uuids
            .comparisons
            .iter()
            .map(|comparison| (comparison.case, comparison.threads, comparison.variants.len()));
        assert_eq!(
            variants.collect::<Vec<_>>(),
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
            let present = plan.comparisons[0].variants.iter().map(Variant::name);
            present
                .chain(plan.skipped.into_iter().map(|skipped| skipped.implementation))
                .collect::<Vec<_>>()
        };
        assert!(!names(false).contains(&"go-rand.Read".to_owned()));
        assert!(names(true).contains(&"go-rand.Read".to_owned()));
    }
}
