//! Which random sources repeat in copies of a warm process or machine, and what renews them.
//!
//! A platform that starts a thousand sandboxes from one warm image copies every generator in it.
//! Some generators ask the kernel at each call, and some hold a state that all copies continue.
//! Which ones do depends on the runtime, its version and its build, and a repeat shows no error. So
//! this crate does not list opinions: it starts a *witness* for each runtime, has it copied, lets
//! every copy draw, and compares.
//!
//! `plant` starts witnesses, `builtin` has those that need only this command, and `witnesses/` the
//! others. `draw` runs in a copy; `criu` and `driven` make copies; `compare` judges and never makes
//! any; `catalogue` says what each source is and who can renew it.

mod args;
mod builtin;
mod catalogue;
mod check;
mod clean;
mod compare;
mod comparison;
mod criu;
mod draw;
mod driven;
mod plant;
mod planting;
mod post;
mod process;
mod repair;
mod report;
mod reseeded;
mod stop;
mod watch;

/// A command line that cannot mean anything.
#[derive(Debug)]
pub struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

pub use args::{
    Args, CheckArgs, CompareArgs, DrawArgs, OutputArgs, PlantArgs, RepairArgs, UprootArgs, Verb,
    WatchArgs,
};
pub use builtin::run as witness;
pub use catalogue::{Class, Renewer};
pub use check::{check, draw, files, plant, uproot};
pub use compare::compare;
pub use comparison::{Absent, Compared, Comparison, Copied, Stamps, Verdict};
pub use draw::{Draws, Reseed, Row, Skipped, Witness};
pub use repair::{Repair, Step, pass_gate, repair};
pub use report::{html, junit, text};
pub use stop::{Interrupted, is_ignored, stop_in_order};
pub use watch::{Beginning, Response, Seen, Signal, watch};
