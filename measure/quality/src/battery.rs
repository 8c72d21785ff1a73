//! All tests over one block, distributed over threads.

use crate::args::Request;
use crate::effort::Effort;
use crate::report::FALSE_ALARMS;
use crate::statistics::{self, Test};
use crate::stats;
use crate::tally::Tally;
use crate::view::{Form, View};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// One figure of one test over one form.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) test: String,
    pub(crate) form: String,
    pub(crate) part: String,
    /// Number of values that went into the figure.
    pub(crate) values: u64,
    pub(crate) tally: Tally,
    /// Time at which the figure was known.
    #[serde(skip)]
    pub(crate) at: Option<Instant>,
}

/// A test that did not run, because the block has too few values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Missed {
    pub(crate) test: &'static Test,
    pub(crate) form: Form,
}

impl PartialEq for Test {
    fn eq(&self, other: &Test) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for Test {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The largest number of figures of a run. A test of the crate counts those of every source.
pub(crate) const MOST_FIGURES: u64 = 2048;

/// Runs every test for which `words` suffice, and stops at the first failed form if the request
/// allows it. The third result is true if it stopped. The order of the figures does not depend on
/// the number of threads.
///
/// Stopping does not change a verdict. A run stops only at a p-value that fails as one of
/// [`MOST_FIGURES`], so it would fail with all its figures too.
pub(crate) fn run(words: &[u64], request: &Request) -> (Vec<Figure>, Vec<Missed>, bool) {
    let (mut figures, mut missed) = (Vec::new(), Vec::new());
    for form in Form::ALL {
        one_form(words, form, request.effort, request.threads, |_| true, &mut figures, &mut missed);
        let fails =
            |figure: &Figure| stats::smallest_of(figure.tally.p(), MOST_FIGURES) < FALSE_ALARMS;
        if !request.all && figures.iter().any(fails) {
            return (figures, missed, true);
        }
    }
    (figures, missed, false)
}

/// Runs the tests of `--deep` for the block with this number.
pub(crate) fn block(
    words: &[u64],
    effort: Effort,
    threads: usize,
    number: u64,
) -> (Vec<Figure>, Vec<Missed>) {
    let wanted = |test: &Test| !test.costly || number.is_multiple_of(statistics::SHARE);
    let (mut figures, mut missed) = (Vec::new(), Vec::new());
    for form in Form::ALL {
        one_form(words, form, effort, threads, wanted, &mut figures, &mut missed);
    }
    (figures, missed)
}

/// Runs the wanted tests of one form. Forms take turns, because a view of a large block takes as
/// much memory as the block.
fn one_form(
    words: &[u64],
    form: Form,
    effort: Effort,
    threads: usize,
    wanted: impl Fn(&Test) -> bool,
    figures: &mut Vec<Figure>,
    missed: &mut Vec<Missed>,
) {
    let tests: Vec<&'static Test> =
        statistics::ALL.iter().filter(|test| (test.fits)(form) && wanted(test)).collect();
    let limit = if form.width == 64 { words.len() } else { effort.values() };
    let view = View::new(words, form, limit);
    let (able, unable): (Vec<_>, Vec<_>) =
        tests.into_iter().partition(|test| test.least <= view.values.len());
    missed.extend(unable.into_iter().map(|test| Missed { test, form }));
    figures.extend(share(&view, &able, effort, threads));
}

fn share(view: &View, tests: &[&'static Test], effort: Effort, threads: usize) -> Vec<Figure> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
            let figures = (test.run)(view, effort).into_iter().map(|part| Figure {
                test: test.name.to_owned(),
                form: view.form.to_string(),
                part: part.name,
                values: part.values,
                tally: part.tally,
                at: Some(Instant::now()),
            });
            let figures: Vec<Figure> = figures.collect();
            done.lock().expect("a test has panicked").push((test.name, figures));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().expect("a test has panicked");
    tests
        .iter()
        .filter_map(|test| {
            let place = done.iter().position(|(name, _)| *name == test.name)?;
            Some(done.swap_remove(place).1)
        })
        .flatten()
        .collect()
}
