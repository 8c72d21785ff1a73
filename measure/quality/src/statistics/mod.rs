//! The statistical tests: one idea a file, each a function from a view of a block to counts.
//!
//! A new test is one file and one line in [`ALL`].

mod autocorrelation;
mod birthdays;
mod bits;
mod blocks;
mod collisions;
mod complexity;
mod copies;
mod correlation;
mod cubes;
mod drift;
mod exchanges;
mod gaps;
mod lags;
mod last_round;
mod pairs;
mod rank;
mod residues;
mod returns;
mod runs;
mod slips;
mod trinomials;
pub(crate) mod triples;
mod tuples;
pub(crate) mod weights;
mod xored;

use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::{Form, View};

/// A statistical test with its texts.
pub(crate) struct Test {
    pub(crate) name: &'static str,
    /// The publication that describes it.
    pub(crate) source: &'static str,
    /// The meaning of a failure.
    pub(crate) meaning: &'static str,
    /// The question that stays open while the test has not run.
    pub(crate) unseen: &'static str,
    /// The smallest number of values that the test accepts.
    pub(crate) least: usize,
    /// `--deep` runs the test on one block in [`SHARE`] only: its defects show in any block, and it
    /// takes most of the time.
    pub(crate) costly: bool,
    /// True for the forms in which the test sees something that it does not see in another.
    pub(crate) fits: fn(Form) -> bool,
    pub(crate) run: fn(&View, Effort) -> Vec<TestPart>,
}

/// One figure of a test: a name, counts, and the amount of data in them.
pub(crate) struct TestPart {
    /// The figure's parameters. Parts with the same name add up.
    pub(crate) name: String,
    /// Number of values that went into the counts.
    pub(crate) values: u64,
    pub(crate) tally: Tally,
}

impl TestPart {
    fn new(name: impl Into<String>, values: usize, tally: Tally) -> TestPart {
        TestPart { name: name.into(), values: values as u64, tally }
    }
}

/// The costly tests see one block of `--deep` in so many.
pub(crate) const SHARE: u64 = 16;

/// All tests, the cheapest for their finds first: a linear generator is known after milliseconds.
pub(crate) const ALL: &[Test] = &[
    complexity::TEST,
    rank::TEST,
    bits::TEST,
    bits::BYTES,
    pairs::TEST,
    returns::TEST,
    residues::TEST,
    drift::TEST,
    triples::TEST,
    lags::TEST,
    autocorrelation::TEST,
    copies::TEST,
    trinomials::TEST,
    correlation::TEST,
    tuples::TEST,
    gaps::TEST,
    runs::TEST,
    weights::TEST,
    birthdays::TEST,
    collisions::TEST,
    collisions::REPEATS,
    slips::TEST,
    cubes::TEST,
    exchanges::TEST,
    last_round::TEST,
];

/// Returns whether a form suits tests that do not depend on the order of bits: one order is enough.
fn forwards(form: Form) -> bool {
    !form.reversed
}

/// Returns whether a form suits tests of memory rather than of numbers: whole words, forwards,
/// which hold the whole block.
fn words(form: Form) -> bool {
    form.width == 64 && !form.reversed
}

/// Returns whether a form suits tests in which equal neighbours must be rare.
fn wide(form: Form) -> bool {
    form.width >= 32
}

fn any(_: Form) -> bool {
    true
}

/// Returns the indices of `wanted` out of `count` pieces, spread evenly over all.
fn spread(count: usize, wanted: usize) -> impl Iterator<Item = usize> {
    let wanted = wanted.min(count);
    (0..wanted).map(move |i| if wanted == 1 { 0 } else { i * (count - 1) / (wanted - 1) })
}

/// Returns the test of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static Test> {
    ALL.iter().find(|test| test.name == name)
}
