//! What the lab asks of this guest: words `hw.NAME=VALUE` of the kernel's command line.

use std::time::Duration;

/// When the modules in /modules are loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Modules {
    /// Before anybody asks for randomness.
    Early,
    /// When the first wait is over, one way or the other.
    Late,
    /// Never.
    None,
}

pub(crate) struct Options {
    /// The serial line that the lab listens on; the console is the kernel's own.
    pub(crate) port: String,
    pub(crate) modules: Modules,
    /// How long the callers may wait before the guest gives up on them.
    pub(crate) limit: Duration,
    /// Adds a seed: credited with so many bits, or with 0 bits as a plain write does.
    pub(crate) credit: Option<u32>,
    /// Lets the real-time clock interrupt, 64 times a second under QEMU.
    pub(crate) rtc: bool,
    /// The modes to draw in, a process for each; empty: only boot.
    pub(crate) modes: Vec<String>,
    /// Threads of each of these processes.
    pub(crate) threads: usize,
    /// How long a thread rests between two rounds; none: it draws as fast as it can.
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
            rtc: number("rtc") == Some(1),
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
