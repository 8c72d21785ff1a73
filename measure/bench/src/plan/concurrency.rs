//! The numbers of threads and processes that draw at the same time.

use crate::args::Args;
use crate::case::Case;
use crate::error::Error;
use crate::list::{or_default, parse_list};
use crate::system::facts;
use crate::system::pin::{Pin, Pins};

/// A crowd has these numbers of threads, unless others are asked for.
pub(crate) const CROWD_THREADS: [usize; 5] = [1, 2, 16, 64, 256];

/// More threads than any machine of today has CPUs.
pub(crate) const MAX_THREADS: usize = 4096;
/// Each is this whole program.
pub(crate) const MAX_PROCS: usize = 1024;

/// The threads and processes of one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Concurrency {
    pub(crate) procs: usize,
    /// Threads of each process.
    pub(crate) threads: usize,
}

impl Concurrency {
    pub(crate) const ONE: Concurrency = Concurrency { procs: 1, threads: 1 };

    /// Returns the number of threads of all processes together.
    pub(crate) fn all(self) -> usize {
        self.procs * self.threads
    }
}

/// The numbers of threads and processes that were asked for.
pub(crate) struct Concurrencies {
    procs: Vec<usize>,
    threads: Vec<usize>,
    /// Threads of a macro case, which has all CPUs at work unless a number is asked for.
    threads_of_all: Vec<usize>,
    /// The case `crowd` has these numbers of threads, most of which exceed the CPUs.
    threads_of_crowd: Vec<usize>,
}

impl Concurrencies {
    pub(crate) fn new(args: &Args, pins: &Pins) -> Result<Concurrencies, Error> {
        let asked = parse_list(&args.threads, parse_threads)?;
        let procs = or_default(parse_list(&args.procs, parse_procs)?, [1]);
        // One thread, or the nodes one after the other.
        let threads = match pins.pin {
            Pin::Node => filled(&pins.nodes),
            Pin::None | Pin::Core => vec![1],
        };
        Ok(Concurrencies {
            procs,
            threads: or_default(asked.clone(), threads),
            threads_of_all: or_default(asked.clone(), [facts::cores().unwrap_or(1)]),
            threads_of_crowd: or_default(asked, CROWD_THREADS),
        })
    }

    fn with(&self, threads: &[usize]) -> Vec<Concurrency> {
        let procs = self.procs.iter();
        procs
            .flat_map(|&procs| threads.iter().map(move |&threads| Concurrency { procs, threads }))
            .collect()
    }

    /// Returns the numbers of a case.
    pub(crate) fn of(&self, case: Case) -> Vec<Concurrency> {
        match case {
            _ if case.stands_alone() => vec![Concurrency::ONE],
            Case::Handshake => self.with(&self.threads_of_all),
            // The threads of one process share the state of a generator.
            Case::Crowd => self
                .threads_of_crowd
                .iter()
                .map(|&threads| Concurrency { procs: 1, threads })
                .collect(),
            _ => self.with(&self.threads),
        }
    }

    pub(crate) fn all(&self) -> Vec<Concurrency> {
        let mut all = self.with(&self.threads);
        all.extend(self.with(&self.threads_of_all));
        all.extend(self.of(Case::Crowd));
        let mut distinct = Vec::new();
        for concurrency in all {
            if !distinct.contains(&concurrency) {
                distinct.push(concurrency);
            }
        }
        distinct
    }

    /// Returns the warnings that these numbers call for.
    pub(crate) fn warnings(&self, cases: &[Case], pins: &Pins) -> Vec<String> {
        let mut warnings = Vec::new();
        // Threads that share CPUs are what the case `crowd` is about.
        let warned = || cases.iter().filter(|&&case| case != Case::Crowd);
        let used =
            |concurrency: &Concurrency| warned().any(|&case| self.of(case).contains(concurrency));
        if let Some(cores) = facts::cores() {
            for Concurrency { procs, threads } in self.all().into_iter().filter(used) {
                let of = if procs > 1 { format!("of {procs} processes ") } else { String::new() };
                let all = procs * threads;
                if all > cores {
                    let text =
                        format!("{all} threads {of}share {cores} CPUs, and wait for each other");
                    warnings.push(text);
                }
            }
        }
        match (pins.pin, &pins.nodes[..]) {
            (Pin::Node, [_]) => {
                warnings.push("this machine has one NUMA node: node pins as core does".to_owned());
            }
            (Pin::Node, [first, ..])
                if !self
                    .with(&self.threads)
                    .iter()
                    .any(|concurrency| concurrency.procs * concurrency.threads == *first) =>
            {
                warnings.push(format!("no factors of one node: that takes --threads {first} too"));
            }
            _ => {}
        }
        warnings
    }
}

/// Returns the number of CPUs of the first node, of the first two nodes, and so on.
fn filled(nodes: &[usize]) -> Vec<usize> {
    let sums = nodes.iter().scan(0, |sum, cpus| {
        *sum += cpus;
        Some(*sum)
    });
    sums.collect()
}

fn parse_threads(text: &str) -> Result<usize, Error> {
    match text.parse() {
        Ok(threads @ 1..=MAX_THREADS) => Ok(threads),
        _ => Err(Error::BadThreads { text: text.to_owned(), most: MAX_THREADS }),
    }
}

fn parse_procs(text: &str) -> Result<usize, Error> {
    match text.parse() {
        Ok(procs @ 1..=MAX_PROCS) => Ok(procs),
        _ => Err(Error::BadProcs { text: text.to_owned(), most: MAX_PROCS }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_filled_one_after_the_other() {
        assert_eq!(filled(&[4, 4, 2]), [4, 8, 10]);
        let concurrencies = |threads: &[&str]| {
            let pins = Pins::with_nodes(vec![4, 4]);
            let args = Args {
                threads: threads.iter().map(|&text| text.to_owned()).collect(),
                ..Args::default()
            };
            let concurrencies = Concurrencies::new(&args, &pins).unwrap();
            let mut warnings = concurrencies.warnings(&[Case::U64], &pins);
            warnings.retain(|warning| !warning.contains("share"));
            (concurrencies.threads, warnings)
        };
        assert_eq!(concurrencies(&[]), (vec![4, 8], Vec::new()));
        assert_eq!(
            concurrencies(&["1", "8"]),
            (vec![1, 8], vec!["no factors of one node: that takes --threads 4 too".to_owned()])
        );
    }
}
