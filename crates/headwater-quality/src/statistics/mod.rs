//! The tests: one idea a file, each a function from a view of a block to counts.
//!
//! A new test is one file and one line in [`ALL`].

mod autocorrelation;
mod birthdays;
mod bits;
mod collisions;
mod complexity;
mod correlation;
mod cubes;
mod gaps;
mod rank;
mod runs;
mod tuples;
pub(crate) mod weights;

use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::{Form, View};

/// A test, and what it has to say.
pub(crate) struct Test {
    pub(crate) name: &'static str,
    /// Where it comes from.
    pub(crate) source: &'static str,
    /// What it means when it fails.
    pub(crate) meaning: &'static str,
    /// What nobody knows while it has not run.
    pub(crate) unseen: &'static str,
    /// The fewest values of which it can say anything.
    pub(crate) least: usize,
    /// Whether `--deep` runs it on one block in [`SHARE`] only: what it finds, it finds in any block, and it takes most of the time.
    pub(crate) costly: bool,
    /// Whether it sees something in this form that it does not see in another.
    pub(crate) fits: fn(Form) -> bool,
    pub(crate) run: fn(&View, Effort) -> Vec<Part>,
}

/// One figure of a test.
pub(crate) struct Part {
    /// Which one: its parameters. Parts of one name add up.
    pub(crate) name: String,
    pub(crate) tally: Tally,
}

impl Part {
    fn new(name: impl Into<String>, tally: Tally) -> Part {
        Part { name: name.into(), tally }
    }
}

/// Of how many blocks of `--deep` the costly tests see one.
pub(crate) const SHARE: u64 = 16;

/// In the order of what they cost for what they find: a linear generator is known after milliseconds.
pub(crate) const ALL: &[Test] = &[
    complexity::TEST,
    rank::TEST,
    bits::TEST,
    bits::BYTES,
    autocorrelation::TEST,
    correlation::TEST,
    tuples::TEST,
    gaps::TEST,
    runs::TEST,
    weights::TEST,
    birthdays::TEST,
    collisions::TEST,
    collisions::REPEATS,
    cubes::TEST,
];

/// What does not depend on the order of bits looks at one order only.
fn forwards(form: Form) -> bool {
    !form.reversed
}

/// Whole words, forwards: for what looks at memory rather than at numbers.
fn words(form: Form) -> bool {
    form.width == 64 && !form.reversed
}

/// Values of which equal neighbours are too rare to matter.
fn wide(form: Form) -> bool {
    form.width >= 32
}

fn any(_: Form) -> bool {
    true
}

/// The test of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static Test> {
    ALL.iter().find(|test| test.name == name)
}
