//! headwater under everything at once, for as long as you like, with a check that nothing came twice.
//!
//! The library here is the one that is shipped: no test hooks, release build. (The feature `hooks` adds them, to fork
//! at exact places as well.) Time is cut into rounds. Each starts fresh
//! processes, whose threads draw in every way while a plan drawn at random disturbs them: forks of every kind,
//! signals whose handlers draw, fork and jump away, pages dropped, the kernel reseeded, modes changed. What they draw goes
//! into one record in shared memory, and at the end of a round no word of it may be zero, or there twice.
//!
//! Seed and number of a round give its plan again. What the scheduler makes of it is new each time.

#[cfg(target_os = "linux")]
mod draws;
#[cfg(target_os = "linux")]
mod forks;
#[cfg(all(target_os = "linux", feature = "hooks"))]
mod hooks;
#[cfg(all(target_os = "linux", not(feature = "hooks")))]
#[path = "no_hooks.rs"]
mod hooks;
mod plan;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod trouble;
#[cfg(target_os = "linux")]
mod worker;

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<std::process::ExitCode> {
    use clap::Parser;
    match args::Arguments::parse() {
        args::Arguments { worker: Some(worker), seed: Some(seed), .. } => worker::run(worker, seed),
        args::Arguments { minutes, seed, round, no_sections, .. } => {
            supervisor::run(minutes, seed, round, no_sections)
        }
    }
}

#[cfg(target_os = "linux")]
mod args {
    /// Draws random bytes under forks, signals, dropped pages and reseeds, and checks that none came twice
    #[derive(clap::Parser)]
    pub(crate) struct Arguments {
        /// How long, in minutes
        #[arg(long, default_value_t = 1.0, value_parser = minutes)]
        pub(crate) minutes: f64,
        /// Repeats the plans of another run, which has printed it
        #[arg(long)]
        pub(crate) seed: Option<u64>,
        /// Begins with this round
        #[arg(long, default_value_t = 0)]
        pub(crate) round: u64,
        /// All rounds draw under locks (HEADWATER_NO_RSEQ=1), not only every second one
        #[arg(long)]
        pub(crate) no_sections: bool,
        /// What the first process of a round is started with: number of the round, record's descriptor
        #[arg(long, hide = true, num_args = 2, allow_hyphen_values = true, value_names = ["ROUND", "FD"])]
        pub(crate) worker: Option<Vec<i32>>,
    }

    fn minutes(text: &str) -> Result<f64, String> {
        match text.parse() {
            Ok(minutes) if minutes > 0.0 && minutes <= 60.0 * 24.0 * 365.0 => Ok(minutes),
            _ => Err("a number of minutes above 0, such as 60 or 0.5".to_owned()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("headwater-soak: only Linux has what is soaked here");
    std::process::exit(1);
}
