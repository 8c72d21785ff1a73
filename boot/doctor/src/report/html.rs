//! The report as one page: what the terminal shows, and a drawing of the boot.
//!
//! The page has no script and loads nothing, so it can be sent by mail. `html!` escapes the texts
//! of logs. If it ever failed to, the policy of the shared frame would still let no script run.

use super::timeline::{Timeline, TimelineBar};
use super::words;
use crate::boot::{AttemptOutcome, Clock};
use crate::{Finding, Fix, Report, Severity, Verdict};
use headwater_text::page::Page;
use maud::{Markup, html};

const STYLE: &str = include_str!("../../assets/page.css");

const LABEL: f64 = 200.0;
const PLOT: f64 = 640.0;
const ROW: f64 = 22.0;
const HEAD: f64 = 44.0;

impl Report {
    /// Returns the report as one page. The page has no nonce, because it is a pure function of the
    /// report: a machine whose generator is not ready has no random bytes for one, and this is the
    /// report that says so.
    pub fn html(&self) -> String {
        let title = format!("headwater doctor: {}", words::harmless(&self.of));
        let page = Page { title: &title, styles: &[STYLE], nonce: None };
        page.document(&html! {
            header {
                h1 { "headwater doctor" }
                p class={ "verdict " (self.class()) } { (self.headline()) }
                @if self.verdict() == crate::Verdict::Findings { p { (self.tally()) } }
                p { (words::harmless(&self.about())) }
                @if let Some(ready) = self.readiness() { p { (sentence(&ready)) } }
            }
            (self.boots_section())
            @if !self.findings.is_empty() {
                section {
                    h2 { "What was found" }
                    @for finding in &self.findings { (article(finding)) }
                }
            }
            (self.assumed_section())
            (self.measured_section())
            @if !self.not_checked.is_empty() {
                section {
                    h2 { "Not checked, or in part" }
                    ul { @for missed in &self.not_checked {
                        li { (missed.id) ", " (missed.id.about()) ": " (words::harmless(&missed.why)) }
                    } }
                }
            }
            @if !self.passed.is_empty() {
                section {
                    h2 { "Checked, and nothing found" }
                    ul.quiet { @for id in &self.passed { li { (id) ", " (id.about()) } } }
                }
            }
            footer { p { "More about a finding: headwater doctor explain ID" } }
        })
    }

    fn assumed_section(&self) -> Markup {
        html! {
            @if let Some(assumed) = &self.assumed {
                section {
                    h2 { "With Linux " (words::harmless(&assumed.kernel)) ", under which all of this is judged" }
                    ul {
                        @if assumed.changes.is_empty() { li { "No difference to the running kernel is known." } }
                        @for change in &assumed.changes { li { (change.what) ": " b { (change.after) } "; now: " (change.before) } }
                        @for id in &assumed.gone { li.good { "Gone: " (id) ", " (id.about()) } }
                        @for id in &assumed.new { li.warning { "New: " (id) ", " (id.about()) } }
                    }
                }
            }
        }
    }

    fn measured_section(&self) -> Markup {
        html! {
            @if let Some(deep) = &self.deep {
                section {
                    h2 { "Measured" }
                    ul {
                        @if let Some(slope) = &deep.entropy { li { "entropy_avail: " (slope.says()) } }
                        @for sample in &deep.samples {
                            @match &sample.skipped {
                                Some(why) => li { (sample.source) ": " (words::harmless(why)) },
                                None => @for test in &sample.tests { li { (sample.source) ", " (sample.bytes) " bytes: " (test.says()) } },
                            }
                        }
                    }
                }
            }
        }
    }

    fn class(&self) -> &'static str {
        match (self.verdict(), words::worst(&self.findings)) {
            (Verdict::CouldNotCheck | Verdict::Incomplete, _) => "warning",
            (_, Some(severity @ (Severity::Critical | Severity::Warning))) => {
                words::severity(severity)
            }
            _ => "good",
        }
    }

    /// Draws the last boots of a log; older ones are in the JSON.
    fn boots_section(&self) -> Markup {
        const MOST: usize = 3;
        let drawn: Vec<_> = self
            .boots
            .iter()
            .rev()
            .filter_map(|boot| Some((boot, Timeline::of(boot)?)))
            .take(MOST)
            .collect();
        html! {
            @for (i, (boot, timeline)) in drawn.iter().enumerate() {
                section {
                    h2 { (if i == 0 { "The last boot" } else { "A boot before" }) @if let Some(kernel) = &boot.kernel { ", Linux " (words::harmless(kernel)) } }
                    (drawing(timeline))
                    p.quiet {
                        "Seconds since the kernel's start"
                        @if boot.clock == Clock::FirstLine { ", counted from the log's first line, which may be some seconds late" }
                        ". Shaded: programs run, and the generator is not ready. Red: a start that waited for it, timed out or failed."
                        @if timeline.left_out > 0 { " " (timeline.left_out) " quicker services are left out." }
                    }
                }
            }
        }
    }
}

fn article(finding: &Finding) -> Markup {
    html! {
        article class=(words::severity(finding.severity)) {
            h3 { span.tag { (words::severity(finding.severity)) " " (finding.id) } (words::harmless(&finding.title)) }
            p { (words::harmless(&finding.why)) }
            @if !finding.evidence.is_empty() {
                dl { @for seen in &finding.evidence {
                    dt { (words::harmless(&seen.place)) }
                    dd { (words::harmless(&seen.says)) }
                } }
            }
            @for (i, fix) in finding.fixes.iter().enumerate() {
                @if i == 0 || words::side(&finding.fixes[i - 1]) != words::side(fix) { h4 { (words::side(fix)) } }
                (advice(fix))
            }
            p { b { "To verify: " } (words::harmless(&finding.verify)) }
        }
    }
}

/// Returns a clause with a capital. Advice is written as a clause, because the terminal prints a
/// number before it.
fn sentence(clause: &str) -> String {
    let mut rest = clause.chars();
    rest.next().into_iter().flat_map(char::to_uppercase).chain(rest).collect()
}

fn advice(fix: &Fix) -> Markup {
    let brings = words::brings(fix);
    html! {
        p { (sentence(&words::harmless(&fix.what))) "." }
        @if let Some(exact) = &fix.exact { pre { (lines(exact)) } }
        @if !brings.is_empty() { p { small { (brings) } } }
    }
}

fn drawing(timeline: &Timeline) -> Markup {
    let x = |at: f64| LABEL + PLOT * (at / timeline.until).clamp(0.0, 1.0);
    let bottom = HEAD + ROW * timeline.rows.len().max(1) as f64;
    let waited_until = timeline.ready.unwrap_or(timeline.until);
    let waiting = timeline.init.filter(|init| *init < waited_until);
    let ticks =
        (0..).map(|i| f64::from(i) * timeline.step()).take_while(|at| *at <= timeline.until);
    let label = match timeline.ready {
        Some(ready) => format!("Boot: the generator was ready at {}", words::time(ready)),
        None => "Boot: the generator was not ready as far as the log goes".to_owned(),
    };
    html! {
        div.wide {
            svg.boot role="img" aria-label=(label) viewBox=(format!("0 0 {} {}", LABEL + PLOT + 10.0, bottom + 24.0)) {
                @if let Some(init) = waiting {
                    rect.waiting x=(px(x(init))) y=(HEAD - 6.0) width=(px(x(waited_until) - x(init))) height=(bottom - HEAD + 6.0) {
                        title { "programs run, and the generator is not ready: " (words::time(waited_until - init)) }
                    }
                }
                @for at in ticks {
                    line.axis x1=(px(x(at))) x2=(px(x(at))) y1=(HEAD - 6.0) y2=(bottom) {}
                    text.quiet x=(px(x(at))) y=(bottom + 16.0) text-anchor="middle" { (seconds(at)) }
                }
                @if let Some(init) = timeline.init { (mark(x(init), bottom, 14.0, "first program", "mark")) }
                @if let Some(ready) = timeline.ready { (mark(x(ready), bottom, 30.0, &format!("generator ready, {}", words::time(ready)), "mark ready")) }
                @for fork in &timeline.forks { (mark(x(*fork), bottom, 30.0, "cloned", "mark fork")) }
                @for (at, who) in &timeline.early {
                    circle.tick cx=(px(x(*at))) cy=(HEAD - 6.0) r="4" { title { "bytes drawn too early, at " (words::time(*at)) ": " (words::harmless(who)) } }
                }
                @for (i, row) in timeline.rows.iter().enumerate() {
                    @let y = HEAD + ROW * i as f64;
                    text x=(LABEL - 8.0) y=(y + 15.0) text-anchor="end" { (short(&words::harmless(&row.name))) }
                    @for bar in &row.bars {
                        rect class=(class(bar)) x=(px(x(bar.from))) y=(y + 3.0) width=(px((x(bar.to) - x(bar.from)).max(2.0))) height=(ROW - 6.0) {
                            title { (words::harmless(&row.name)) ": " (words::time(bar.from)) " to " (words::time(bar.to)) ", " (outcome(bar.outcome)) }
                        }
                    }
                }
            }
        }
    }
}

/// Draws a vertical line with its name above; on the left of the line if the right has no room.
fn mark(x: f64, bottom: f64, y: f64, name: &str, class: &str) -> Markup {
    let right = x < LABEL + 0.6 * PLOT;
    html! {
        line class=(class) x1=(px(x)) x2=(px(x)) y1=(y - 10.0) y2=(bottom) {}
        text x=(px(if right { x + 5.0 } else { x - 5.0 })) y=(y) text-anchor=(if right { "start" } else { "end" }) { (name) }
    }
}

fn class(bar: &TimelineBar) -> &'static str {
    match bar.outcome {
        AttemptOutcome::TimedOut => "bar timedout",
        AttemptOutcome::Failed => "bar failed",
        // The log does not show the end, so the bar claims neither a wait nor a failure.
        AttemptOutcome::Unknown => "bar unknown",
        AttemptOutcome::Started if bar.straddles => "bar straddles",
        AttemptOutcome::Started => "bar",
    }
}

const fn outcome(outcome: AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Started => "started",
        AttemptOutcome::TimedOut => "killed at its start timeout",
        AttemptOutcome::Failed => "failed",
        AttemptOutcome::Unknown => "the log does not show the end",
    }
}

/// Escapes a command line by line, so that its line breaks stay.
fn lines(exact: &str) -> String {
    exact.lines().map(words::harmless).collect::<Vec<String>>().join("\n")
}

/// Formats a length on the drawing, to a tenth.
fn px(length: f64) -> String {
    format!("{length:.1}")
}

fn seconds(at: f64) -> String {
    let text = format!("{at:.2}");
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Shortens the name of a service, which can be long; the whole one is on the bar.
fn short(name: &str) -> String {
    const MOST: usize = 28;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 3).chain("...".chars()).collect()
}
