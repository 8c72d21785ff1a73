//! The report on a boot as an HTML page: a drawing of the timeline and entropy_avail, and tables.
//!
//! The drawing is SVG in the page. The page has no script and fetches nothing.

use crate::judge::boot::BootReport;
use crate::plan::name;
use anyhow::{Context, Result};
use headwater_text::page::Page;
use maud::{Markup, html};
use std::path::Path;

const STYLE: &str = include_str!("../../assets/boot.css");

/// Widths of the drawing and of its names, and heights of its rows and curve, in the drawing's
/// units.
const WIDTH: f64 = 960.0;
const NAMES: f64 = 120.0;
const ROW: f64 = 26.0;
const CURVE: f64 = 130.0;

/// Writes the page of a boot to a file.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(report: &BootReport, file: &Path) -> Result<()> {
    headwater_text::file::replace(file, page(report))
        .with_context(|| format!("cannot write {}", file.display()))
}

/// Returns the page of a boot.
pub fn page(report: &BootReport) -> String {
    let title =
        format!("Linux {}: rng {}, clock {}", report.kernel, name(report.rng), name(report.clock));
    let body = html! {
        header {
            h1 { "headwater lab" }
            p { (title) @if !report.append.is_empty() { ", with " code { (report.append) } } }
        }
        section.verdict {
            p.result { (result(report)) }
            p { "Reason: " (report.cause.text) "." }
            @if !report.cause.fix.is_empty() { p { "Fix: " (report.cause.fix) "." } }
        }
        section {
            h2 { "Timeline" }
            div.scroll tabindex="0" { (drawing(report)) }
        }
        section { (waits(report)) }
        section { (details(report)) }
    };
    let title = format!("headwater lab: {title}");
    Page { title: &title, styles: &[STYLE], nonce: None }.document(&body)
}

fn result(report: &BootReport) -> String {
    match (report.ready_at_init, report.blocked_s) {
        (true, _) => "The generator was ready before the first program ran.".to_owned(),
        (false, Some(blocked)) => format!("getrandom(2) blocked for {blocked:.3} s."),
        (false, None) => {
            format!("getrandom(2) blocked for longer than the limit of {} s.", report.limit_s)
        }
    }
}

/// The horizontal scale of the drawing, from seconds after boot to units.
struct Scale {
    end: f64,
}

impl Scale {
    fn x(&self, at: f64) -> f64 {
        NAMES + (WIDTH - NAMES - 10.0) * at / self.end
    }

    /// Returns about eight round numbers of seconds.
    fn ticks(&self) -> Vec<f64> {
        let step = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0]
            .into_iter()
            .find(|step| self.end / step <= 10.0)
            .unwrap_or(1000.0);
        let count = (self.end / step).floor() as u32;
        (0..=count).map(|tick| f64::from(tick) * step).collect()
    }
}

fn drawing(report: &BootReport) -> Markup {
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
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="Requests that waited, and the bits that the kernel counted" {
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
                // The name of a late event is at its left, because the edge would cut it at its
                // right.
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

/// Returns the moments of the first program and of the generator's readiness.
fn marks(report: &BootReport) -> Vec<(f64, &'static str, &'static str)> {
    let mut marks = vec![(report.init_s, "init", "/init")];
    if let Some(ready) = report.ready_s {
        // Two names side by side would hide each other.
        marks.push((
            ready,
            "ready",
            if (ready - report.init_s).abs() < 0.2 { "" } else { "ready" },
        ));
    }
    marks
}

fn waits(report: &BootReport) -> Markup {
    html! {
        h2 { "Requests" }
        div.scroll tabindex="0" {
            table {
                thead { tr { th scope="col" { "interface" } th scope="col" { "at" } th scope="col" { "waited" } } }
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
                "Meanwhile the kernel credited " (format!("{speed:.2}")) " bits a second, from "
                (report.interrupts.devices) " interrupts of devices among " (report.interrupts.all)
                " in all; timers are not credited."
            }
        }
    }
}

fn details(report: &BootReport) -> Markup {
    html! {
        h2 { "Facts about the machine" }
        dl { @for (path, text) in &report.facts { @if !text.is_empty() { dt { (path) } dd { (text) } } } }
        h2 { "Log of the kernel" }
        dl { @for message in &report.kmsg { dt { (format!("{:.6}", message.at_s)) } dd { (message.text) } } }
        p.quiet { "Booted under QEMU's emulation. Times are from the guest's clock, on a host that may be busy." }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page of the guest in tests/guests.
    #[test]
    fn a_page_draws_everybody_and_runs_nothing() {
        let page = page(&crate::judge::boot::tests::late());
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
