//! The lab's options for this guest: words `hw.NAME=VALUE` of the kernel's command line.

use std::time::Duration;

/// The moment at which the modules in /modules are loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Modules {
    /// Before the first request.
    Early,
    /// After the first wait.
    Late,
    /// Never.
    None,
}

pub(crate) struct Options {
    /// The serial line to the lab. The kernel uses another one as its console.
    pub(crate) port: String,
    pub(crate) modules: Modules,
    /// The time after which the guest stops watching requests that wait.
    pub(crate) limit: Duration,
    /// Write a seed, with this many bits credited.
    pub(crate) credit: Option<u32>,
    /// Resume from the image on the machine's disk.
    pub(crate) resume: bool,
    /// Let the real-time clock interrupt, 64 times a second under QEMU.
    pub(crate) rtc: bool,
    /// Observe who waits, for so many seconds at most.
    pub(crate) observe: Option<u32>,
    /// Let the observer use the kernel's tracepoints.
    pub(crate) tracepoints: bool,
    /// Modes to draw in, with one process each; empty: only boot.
    pub(crate) modes: Vec<String>,
    /// Threads of each process.
    pub(crate) threads: usize,
    /// Pause of a thread between two rounds; `None`: draw at full speed.
    pub(crate) pace: Option<Duration>,
}

impl Options {
    pub(crate) fn parse(command_line: &str) -> Options {
        let value = |name: &str| {
            let words = command_line.split_ascii_whitespace();
            words
                .filter_map(|word| word.strip_prefix("hw.")?.split_once('='))
                .fold(None, |found, (key, value)| if key == name { Some(value) } else { found })
        };
        let number = |name| value(name).and_then(|text| text.parse::<u32>().ok());
        let modes = value("modes").unwrap_or_default();
        Options {
            port: value("port").unwrap_or("ttyS1").to_owned(),
            modules: match value("modules") {
                Some("late") => Modules::Late,
                Some("none") => Modules::None,
                _ => Modules::Early,
            },
            limit: Duration::from_secs(u64::from(number("limit").unwrap_or(60))),
            credit: number("credit"),
            resume: number("resume") == Some(1),
            rtc: number("rtc") == Some(1),
            observe: number("observe"),
            tracepoints: number("tracepoints") != Some(0),
            modes: modes.split(',').filter(|mode| !mode.is_empty()).map(str::to_owned).collect(),
            threads: number("threads").unwrap_or(2) as usize,
            pace: number("pace").map(|ms| Duration::from_millis(u64::from(ms))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_observer_uses_tracepoints_unless_a_word_forbids_it() {
        assert!(Options::parse("hw.observe=600").tracepoints);
        assert!(!Options::parse("hw.observe=600 hw.tracepoints=0").tracepoints);
    }

    #[test]
    fn the_last_word_of_a_name_counts() {
        let options = Options::parse(
            "quiet hw.limit=15 hw.modules=late xhw.rtc=1 hw.limit=7 hw.modes=auto,strict hw.credit=0 hw.pace=50\n",
        );
        assert_eq!(options.limit, Duration::from_secs(7));
        assert!(options.modules == Modules::Late && !options.rtc);
        assert_eq!(options.modes, ["auto", "strict"]);
        assert_eq!((options.credit, options.threads), (Some(0), 2));
        assert_eq!(options.pace, Some(Duration::from_millis(50)));
    }
}
