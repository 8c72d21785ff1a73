//! All tests over one block, shared out among threads.

use crate::effort::Effort;
use crate::statistics::{self, Test};
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
    /// How many values were looked at, at most.
    pub(crate) values: u64,
    pub(crate) tally: Tally,
    /// When it was known.
    #[serde(skip)]
    pub(crate) at: Option<Instant>,
}

/// A test that did not run, for want of values.
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

/// Runs every test that `words` are enough for. The order of the figures does not depend on `threads`.
pub(crate) fn run(words: &[u64], effort: Effort, threads: usize) -> (Vec<Figure>, Vec<Missed>) {
    some(words, effort, threads, |_| true)
}

/// The tests of `--deep` for the block of this number.
pub(crate) fn block(
    words: &[u64],
    effort: Effort,
    threads: usize,
    number: u64,
) -> (Vec<Figure>, Vec<Missed>) {
    some(words, effort, threads, |test| !test.costly || number.is_multiple_of(statistics::SHARE))
}

fn some(
    words: &[u64],
    effort: Effort,
    threads: usize,
    wanted: impl Fn(&Test) -> bool,
) -> (Vec<Figure>, Vec<Missed>) {
    let (mut figures, mut missed) = (Vec::new(), Vec::new());
    // One form after the other: a view of a large block takes as much memory as the block.
    for form in Form::ALL {
        let tests: Vec<&'static Test> =
            statistics::ALL.iter().filter(|test| (test.fits)(form) && wanted(test)).collect();
        let view = View::new(words, form, effort.values(form.width));
        let (able, unable): (Vec<_>, Vec<_>) =
            tests.into_iter().partition(|test| test.least <= view.values.len());
        missed.extend(unable.into_iter().map(|test| Missed { test, form }));
        figures.extend(share(&view, &able, effort, threads));
    }
    (figures, missed)
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
                values: view.values.len() as u64,
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
