//! A progress bar for long work, shown only on a terminal.

use indicatif::{BinaryBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// Shorter work shows no bar, which would only flicker.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar on stderr that appears after [`PATIENCE`] and is erased when dropped.
pub(crate) struct Progress {
    total: u64,
    begun: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Makes a bar for `total` bytes. If stdout is a terminal too, no bar appears, because data and
    /// bar would mix.
    pub(crate) fn new(total: u64) -> Progress {
        Progress {
            total,
            begun: Instant::now(),
            wanted: io::stderr().is_terminal() && !io::stdout().is_terminal(),
            bar: None,
        }
    }

    /// Makes a bar for work on `total` bytes whose result follows on stdout after the bar.
    pub(crate) fn before_results(total: u64) -> Progress {
        let mut progress = Progress::new(total);
        progress.wanted = io::stderr().is_terminal();
        progress
    }

    /// Shows that `done` bytes are written.
    pub(crate) fn at(&mut self, done: u64) {
        if self.bar.is_none() && self.wanted && self.begun.elapsed() >= PATIENCE {
            self.bar = Some(bar(self.total).with_elapsed(self.begun.elapsed()));
        }
        if let Some(bar) = &self.bar {
            bar.set_message(speed(done, self.total, self.begun.elapsed()));
            bar.set_position(done);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Returns the rate since the beginning, and the time left at this rate. indicatif's own estimate
/// takes the bytes of the time before the bar for bytes of its first moment: terabytes a second.
fn speed(done: u64, total: u64, elapsed: Duration) -> String {
    let rate = done as f64 / elapsed.as_secs_f64();
    if done == 0 || !rate.is_finite() {
        return String::new();
    }
    let left = Duration::from_secs_f64(total.saturating_sub(done) as f64 / rate);
    format!("{}/s, {} left", BinaryBytes(rate as u64), HumanDuration(left))
}

fn bar(total: u64) -> ProgressBar {
    let style = "{binary_bytes:>10} of {binary_total_bytes}  [{bar:30}]  {msg}";
    let style = ProgressStyle::with_template(style)
        .expect("the template is a constant, and a test draws it")
        .progress_chars("=> ");
    ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_style(style)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_template_is_valid() {
        super::bar(1).abandon();
    }

    #[test]
    fn a_rate_counts_the_time_before_the_bar() {
        let speed = |done, ms| super::speed(done, 600 << 20, std::time::Duration::from_millis(ms));
        assert_eq!(speed(150 << 20, 500), "300.00 MiB/s, 2 seconds left");
        assert_eq!(speed(600 << 20, 2000), "300.00 MiB/s, 0 seconds left");
        assert_eq!(speed(0, 500), "");
    }
}
