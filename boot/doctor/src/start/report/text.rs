//! The report as text: line one is the answer.

use super::{DrawReport, JITTER_S, StartReport};
use crate::report::fill;
use crate::start::Source;
use crate::start::draws::{GRND_INSECURE, GRND_NONBLOCK, GRND_RANDOM, USUAL};
use anstyle::Style;
use headwater_text::escape;
use std::fmt::Write;

const BOLD: Style = Style::new().bold();
/// Draws in the text; JSON has all that were kept.
const LINES: usize = 10;

impl StartReport {
    /// Returns the answer in one line.
    pub fn headline(&self) -> String {
        let Some(first) = &self.first else {
            return format!(
                "No answer: {} drew no random bytes that can be seen, in {}",
                self.name(),
                time(self.lasted_seconds)
            );
        };
        let had = format!(
            "{} had its first random byte after {}",
            short(first.program.as_deref().unwrap_or_default()),
            time(first.at_seconds)
        );
        let step = self
            .fixes
            .first()
            .map(|fix| format!(" Fix: {}", fix.exact.as_deref().unwrap_or(&fix.what)));
        let step = step.unwrap_or_default();
        let text = if let Some(wait) = self.wait() {
            format!("{had}; it waited {} in {}.{step}", time(wait.took_seconds), source(wait))
        } else if self.jitter_seconds >= JITTER_S {
            let file = short(self.jitter_file.as_deref().unwrap_or_default());
            format!("{had}, {} of that in CPU jitter ({file}).{step}", time(self.jitter_seconds))
        } else if self.has_jitter() {
            let file = short(self.nameless_aws_lc.first().map_or("", String::as_str));
            let most = time(self.computed_seconds.unwrap_or_default());
            format!(
                "{had}, up to {most} of that in CPU jitter (AWS-LC in {file}, without names).{step}"
            )
        } else {
            let usage = first.housekeeping.map(|usage| format!(": {usage}")).unwrap_or_default();
            let is_seed = |draw: &&DrawReport| {
                draw.inside.is_some()
                    && draw.source != Source::Library
                    && draw.at_seconds <= first.at_seconds
            };
            let seed = self.draws.iter().find(is_seed).filter(|_| first.source == Source::Library);
            let seed = seed.map(|seed| format!(", seeded by {}", source(seed))).unwrap_or_default();
            format!("{had}, from {}{usage}{seed}", source(first))
        };
        escape::untrusted(&text)
    }

    fn name(&self) -> String {
        short(self.command.first().map_or("", String::as_str)).to_owned()
    }

    /// Returns the report as text with colours.
    pub fn text(&self) -> String {
        let mut out = String::new();
        fill(&mut out, "", "", &format!("{BOLD}{}{BOLD:#}", self.headline()));
        if !self.draws.is_empty() {
            out.push('\n');
        }
        let (usual, own): (Vec<&DrawReport>, Vec<&DrawReport>) =
            self.draws.iter().partition(|draw| draw.housekeeping.is_some());
        let shown = own.len().min(LINES);
        if shown > 0 {
            let _ = writeln!(out, "    after       took   source");
        }
        for draw in &own[..shown] {
            let inside = draw.inside.as_deref().map(|name| format!(", inside {name}"));
            let by = draw.caller.as_deref().map(|file| format!(", called by {}", short(file)));
            let text = format!("{}{}", source(draw), inside.or(by).unwrap_or_default());
            let at = time(draw.at_seconds);
            // Below the cost of a stop the difference of two clocks says nothing.
            let took = if draw.took_seconds < self.stop_seconds {
                format!("< {}", time(self.stop_seconds))
            } else {
                time(draw.took_seconds)
            };
            let _ = writeln!(out, "{at:>9}  {took:>9}   {}", escape::untrusted(&text));
        }
        if own.len() > shown {
            let _ = writeln!(out, "{:>20}   and {} more", "", own.len() - shown);
        }
        for usage in USUAL {
            let number = usual.iter().filter(|draw| draw.housekeeping == Some(usage)).count();
            if number > 0 {
                let _ = writeln!(out, "{:>20}   {}: {usage}", "", counted(number as u64, "draw"));
            }
        }
        let _ = writeln!(
            out,
            "\nIn {}: {} of getrandom, {} of the vDSO's, {} and {} of devices.",
            time(self.lasted_seconds),
            counted(self.getrandom_calls, "system call"),
            counted(self.vdso_calls, "call"),
            counted(self.device_opens, "opening"),
            counted(self.device_reads, "read"),
        );
        fill(
            &mut out,
            "",
            "",
            &format!(
                "Tracing stopped it {}. A stop costs {} or more, and that is subtracted from each \
                 time.",
                if self.stops == 1 { "once".to_owned() } else { format!("{} times", self.stops) },
                time(self.stop_seconds)
            ),
        );
        for (file, number) in &self.unseen_instructions {
            let text = format!(
                "{} has {} of RDRAND or RDSEED in functions without names: a draw there is not \
                 seen.",
                short(file),
                counted(*number as u64, "use")
            );
            fill(&mut out, "", "", &escape::untrusted(&text));
        }
        for fix in &self.fixes {
            let trusts = fix.trusts.map(|party| format!(" (trusts {party})")).unwrap_or_default();
            fill(&mut out, "Faster: ", "        ", &format!("{}{trusts}", fix.what));
            if let Some(exact) = &fix.exact {
                let _ = writeln!(out, "            {exact}");
            }
        }
        out
    }
}

/// Returns a source in words.
fn source(draw: &DrawReport) -> String {
    let function = draw.function.as_deref().unwrap_or("a function");
    let bytes = draw.bytes.map(|bytes| counted(bytes, "byte")).unwrap_or_default();
    match draw.source {
        Source::Getrandom => match draw.flags {
            Some(GRND_NONBLOCK) => format!("getrandom({bytes}, GRND_NONBLOCK)"),
            Some(GRND_RANDOM) => format!("getrandom({bytes}, GRND_RANDOM)"),
            Some(GRND_INSECURE) => format!("getrandom({bytes}, GRND_INSECURE)"),
            _ => format!("getrandom({bytes})"),
        },
        Source::Vdso => format!("the vDSO's getrandom({bytes})"),
        Source::Urandom => format!("/dev/urandom ({bytes})"),
        Source::Random => format!("/dev/random ({bytes})"),
        Source::Hwrng => format!("/dev/hwrng ({bytes})"),
        Source::Instruction => format!("the CPU's instruction ({function})"),
        Source::Jitter => format!("CPU jitter ({function})"),
        Source::Library => format!("a library's generator ({function})"),
    }
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn short(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Formats a time with its unit and three figures or less.
fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds >= 1.0 => (seconds, "s"),
        seconds if seconds >= 0.001 => (seconds * 1e3, "ms"),
        seconds => (seconds * 1e6, "µs"),
    };
    let digits = match value {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}
