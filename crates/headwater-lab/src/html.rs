//! A boot as one page of HTML: the timeline and entropy_avail drawn, everything else in tables.
//!
//! The drawing is SVG in the page. There is no script, and nothing is fetched.

use crate::boot::Report;
use crate::text::word;
use anyhow::{Context, Result};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::fs;
use std::path::Path;

const STYLE: &str = include_str!("../assets/boot.css");
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Width of the drawing, and of the names at its left, in its own units.
const WIDTH: f64 = 960.0;
const NAMES: f64 = 120.0;
const ROW: f64 = 26.0;
const CURVE: f64 = 130.0;

/// Writes the page of a boot.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(report: &Report, file: &Path) -> Result<()> {
    fs::write(file, page(report)).with_context(|| format!("cannot write {}", file.display()))
}

/// The page of a boot.
pub fn page(report: &Report) -> String {
    let title =
        format!("Linux {}: rng {}, clock {}", report.kernel, word(report.rng), word(report.clock));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "headwater lab: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "headwater lab" }
                    p { (title) @if !report.append.is_empty() { ", with " code { (report.append) } } }
                }
                section.verdict {
                    p.result { (result(report)) }
                    p { "Because " (report.cause.text) "." }
                    @if !report.cause.cure.is_empty() { p { "Cure: " (report.cause.cure) "." } }
                }
                section {
                    h2 { "Timeline" }
                    div.scroll tabindex="0" { (drawing(report)) }
                }
                section { (waits(report)) }
                section { (details(report)) }
            }
        }
    };
    page.into_string()
}

fn result(report: &Report) -> String {
    match (report.ready_at_init, report.blocked_s) {
        (true, _) => "The generator was ready before the first program ran.".to_owned(),
        (false, Some(blocked)) => format!("getrandom(2) blocked for {blocked:.3} s."),
        (false, None) => {
            format!("getrandom(2) blocked for longer than the limit of {} s.", report.limit_s)
        }
    }
}

/// Seconds since boot to places in the drawing.
struct Scale {
    end: f64,
}

impl Scale {
    fn x(&self, at: f64) -> f64 {
        NAMES + (WIDTH - NAMES - 10.0) * at / self.end
    }

    /// About eight round numbers of seconds.
    fn ticks(&self) -> Vec<f64> {
        let step = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0]
            .into_iter()
            .find(|step| self.end / step <= 10.0)
            .unwrap_or(1000.0);
        let count = (self.end / step).floor() as u32;
        (0..=count).map(|tick| f64::from(tick) * step).collect()
    }
}

fn drawing(report: &Report) -> Markup {
    let ends = report.callers.iter().map(|caller| caller.until_s);
    let samples = report.entropy.iter().map(|sample| sample.at_s);
    let end = ends
        .chain(samples)
        .chain([report.init_s, report.ready_s.unwrap_or(0.0)])
        .fold(1.0, f64::max);
    let scale = Scale { end: end * 1.02 };
    let bars = ROW * (report.callers.len() as f64 + 1.0);
    let height = bars + CURVE + 60.0;
    let bottom = bars + CURVE + 20.0;
    let y = |bits: u32| bottom - CURVE * f64::from(bits.min(256)) / 256.0;
    let curve: Vec<String> = report
        .entropy
        .iter()
        .map(|sample| format!("{:.1},{:.1}", scale.x(sample.at_s), y(sample.bits)))
        .collect();
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="Who waited, and the bits that the kernel counted" {
            @for tick in scale.ticks() {
                line.grid x1=(scale.x(tick)) x2=(scale.x(tick)) y1="0" y2=(bottom) {}
                text.tick x=(scale.x(tick)) y=(bottom + 16.0) { (format!("{tick} s")) }
            }
            @for (row, caller) in report.callers.iter().enumerate() {
                @let top = ROW * (row as f64 + 1.0);
                @let x = scale.x(caller.from_s);
                @let class = if caller.to_s.is_some() { "served" } else { "stuck" };
                text.name x=(NAMES - 8.0) y=(top + 15.0) { (caller.name) }
                rect class=(class) x=(x) y=(top + 4.0) width=((scale.x(caller.until_s) - x).max(2.0)) height=(ROW - 8.0) {
                    title { (format!("{}: from {:.3} s to {:.3} s", caller.name, caller.from_s, caller.until_s)) }
                }
            }
            @for (at, class, label) in marks(report) {
                line class=(class) x1=(scale.x(at)) x2=(scale.x(at)) y1="14" y2=(bottom) {}
                // What is late is named at its left, or the edge would cut the name.
                @let (side, x) = if at > 0.9 * scale.end { ("before", -4.0) } else { ("after", 4.0) };
                text class=(format!("{class} {side}")) x=(scale.x(at) + x) y="12" { (label) }
            }
            text.name x=(NAMES - 8.0) y=(y(256) + 4.0) { "256 bits" }
            line.limit x1=(NAMES) x2=(WIDTH - 10.0) y1=(y(256)) y2=(y(256)) {}
            text.name x=(NAMES - 8.0) y=(bottom) { "entropy_avail" }
            @if curve.len() > 1 { polyline.curve points=(curve.join(" ")) {} }
        }
    }
}

/// Moments: the first program, the generator's readiness.
fn marks(report: &Report) -> Vec<(f64, &'static str, &'static str)> {
    let mut marks = vec![(report.init_s, "init", "/init")];
    if let Some(ready) = report.ready_s {
        // Side by side they would hide each other's words.
        marks.push((
            ready,
            "ready",
            if (ready - report.init_s).abs() < 0.2 { "" } else { "ready" },
        ));
    }
    marks
}

fn waits(report: &Report) -> Markup {
    html! {
        h2 { "Who waited" }
        div.scroll tabindex="0" {
            table {
                thead { tr { th scope="col" { "asked by" } th scope="col" { "at" } th scope="col" { "waited" } } }
                tbody {
                    @for caller in &report.callers {
                        tr {
                            th scope="row" { (caller.name) }
                            td { (format!("{:.3} s", caller.from_s)) }
                            td { @match caller.to_s {
                                Some(to) => (format!("{:.3} s", to - caller.from_s)),
                                None => (format!("over {:.1} s, given up", caller.until_s - caller.from_s)),
                            } }
                        }
                    }
                    @for asked in &report.impatient {
                        tr { th scope="row" { (asked.name) } td { "before" } td { "does not wait: " (asked.answer) } }
                    }
                }
            }
        }
        @if let Some(speed) = report.bits_per_s {
            p {
                "Meanwhile the kernel credited " (format!("{speed:.2}")) " bits a second, from " (report.interrupts.devices)
                " interrupts of devices among " (report.interrupts.all) " in all; timers are not credited."
            }
        }
    }
}

fn details(report: &Report) -> Markup {
    html! {
        h2 { "What the kernel had to work with" }
        dl { @for (path, text) in &report.facts { @if !text.is_empty() { dt { (path) } dd { (text) } } } }
        h2 { "What it said" }
        dl { @for message in &report.kmsg { dt { (format!("{:.6}", message.at_s)) } dd { (message.text) } } }
        p.quiet { "Booted by QEMU's emulation: times are those of the guest's clock on a host that may be busy." }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the guest that `boot::tests` has the lines of.
    #[test]
    fn a_page_draws_everybody_and_runs_nothing() {
        let page = page(&crate::boot::tests::late());
        for name in ["getrandom", "/dev/random", "headwater", "rand", "openssl"] {
            assert!(page.contains(&format!("<title>{name}: from ")), "{name}");
        }
        assert!(page.contains("getrandom(2) blocked for 15.3"), "the verdict comes first");
        assert!(page.contains("<polyline") && !page.contains("<script"));
        assert_eq!(page.matches("class=\"stuck\"").count(), 0);
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(Scale { end: 4.0 }.ticks(), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]);
        for end in [0.5, 1.0, 7.3, 63.0, 270.0, 9000.0] {
            let count = Scale { end }.ticks().len();
            assert!((2..=11).contains(&count), "{count} ticks for {end} s");
        }
    }
}
