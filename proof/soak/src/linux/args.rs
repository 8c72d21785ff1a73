//! The command line.

use std::path::PathBuf;

/// Draws random bytes under forks, signals, dropped pages and reseeds, and checks that no word
/// repeats
#[derive(clap::Parser)]
pub(crate) struct Arguments {
    /// Minutes to run
    #[arg(long, default_value_t = 1.0, value_parser = minutes)]
    pub(crate) minutes: f64,
    /// Repeats the plans of another run, which printed this number
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// First round
    #[arg(long, default_value_t = 0)]
    pub(crate) round: u64,
    /// Continues the soak of this file, or begins one there: its seed, its next round, all sums,
    /// and beside it, in a file that ends in .words, the words that are compared across rounds
    #[arg(long, value_name = "STATE")]
    pub(crate) resume: Option<PathBuf>,
    /// Draws under locks (HEADWATER_NO_RSEQ=1) in all rounds, not in every second one
    #[arg(long)]
    pub(crate) no_sections: bool,
    /// For the first process of a round: the round's number and the record's descriptor
    #[arg(long, hide = true, num_args = 2, allow_hyphen_values = true, value_names = ["ROUND", "FD"])]
    pub(crate) worker: Option<Vec<i32>>,
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if minutes > 0.0 && minutes <= 60.0 * 24.0 * 365.0 => Ok(minutes),
        _ => Err("a number of minutes above 0, such as 60 or 0.5".to_owned()),
    }
}
