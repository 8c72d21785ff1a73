//! The command line.

use std::fmt;
use std::path::PathBuf;

/// The largest number of a round. So many rounds take a thousand years.
pub(crate) const LAST_ROUND: u64 = u32::MAX as u64;

/// A command line that cannot mean anything.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Draws random bytes under forks, signals, dropped pages and reseeds, and checks that no word
/// repeats
#[derive(clap::Parser)]
#[command(after_help = "\
Exit status: 0 no word was zero or repeated; 1 one was, or a process failed or hung; 2 wrong usage; 3
could not be done, or a signal ended it.")]
pub(crate) struct Arguments {
    /// Minutes to run
    #[arg(long, default_value_t = 1.0, value_parser = minutes)]
    pub(crate) minutes: f64,
    /// Repeats the plans of another run, which printed this number
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// First round
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=LAST_ROUND))]
    pub(crate) round: u64,
    /// Continues the soak of this file, or begins one there: its seed, its next round, all sums,
    /// and beside it, in a file that ends in .words, the words that are compared across rounds
    #[arg(long, value_name = "STATE")]
    pub(crate) resume: Option<PathBuf>,
    /// Draws under locks (HEADWATER_NO_RSEQ=1) in all rounds, not in every second one
    #[arg(long)]
    pub(crate) no_sections: bool,
    /// For the first process of a round: the round's number, the record's descriptor, and the
    /// process with which it ends
    #[arg(long, hide = true, num_args = 3, allow_hyphen_values = true,
        value_names = ["ROUND", "FD", "PARENT"])]
    pub(crate) worker: Option<Vec<i64>>,
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if minutes > 0.0 && minutes <= 60.0 * 24.0 * 365.0 => Ok(minutes),
        _ => Err("a number of minutes above 0, such as 60 or 0.5".to_owned()),
    }
}
