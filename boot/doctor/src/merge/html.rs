//! The merge as one page: counts, causes, and a table of hosts that can be sorted.

use super::Merged;
use super::fleet::Fleet;
use super::tables::verdict;
use super::text::{hosts, names, seconds, subject};
use crate::report::severity;
use headwater_text::escape::untrusted;
use headwater_text::number::grouped;
use headwater_text::page::Page;
use maud::{Markup, html};

const STYLES: [&str; 2] =
    [include_str!("../../assets/page.css"), include_str!("../../assets/fleet.css")];
const SCRIPT: &str = include_str!("../../assets/fleet.js");
/// Rows of the table. A browser takes seconds to sort more.
const MOST_ROWS: usize = 5000;
const NAMED: usize = 20;

impl Merged {
    /// Returns the page. Its script, which sorts the table, runs only with `nonce`, a value that is
    /// new for each page; without one, the table stays in its order.
    pub fn html(&self, nonce: Option<&str>) -> String {
        let fleet = &self.0;
        let page = Page { title: "headwater doctor: fleet", styles: &STYLES, nonce };
        let class = match fleet.verdict() {
            crate::Verdict::Findings => "critical",
            crate::Verdict::Healthy => "good",
            _ => "warning",
        };
        page.document(&html! {
            header {
                h1 { "headwater doctor: fleet" }
                p class={ "verdict " (class) } { (self.headline()) }
                @for note in self.notes() { p { (note) } }
            }
            (clones(fleet))
            (causes(fleet))
            (table(fleet))
            (bad(fleet))
            footer { p { "More about a finding: headwater doctor explain ID" } }
            (page.script(SCRIPT))
        })
    }
}

fn causes(fleet: &Fleet) -> Markup {
    html! {
        @if !fleet.causes.is_empty() {
            section {
                h2 { "Causes and fixes" }
                @for cause in &fleet.causes {
                    article class=(severity(cause.severity)) {
                        h3 { (hosts(cause.hosts.len())) ": " (untrusted(&cause.id)) ", " (subject(fleet, cause)) }
                        p { "Such as " (untrusted(fleet.name(cause.example.0))) ": " (untrusted(&cause.example.1)) }
                        @if !cause.what.is_empty() { p { "Do: " (untrusted(&cause.what)) } }
                        @if let Some(exact) = &cause.exact { pre { @for line in exact.lines() { (untrusted(line)) "\n" } } }
                        p.quiet { (names(fleet, &cause.hosts, NAMED)) }
                    }
                }
            }
        }
    }
}

fn clones(fleet: &Fleet) -> Markup {
    html! {
        @if !fleet.clones.groups.is_empty() {
            section {
                h2 { "Clones of one image" }
                @for group in fleet.clones.groups.iter().take(100) {
                    article.critical {
                        h3 { (hosts(group.hosts.len())) }
                        ul { @for (kind, count) in &group.shared {
                            li { (group.says(*kind, *count)) ". Do: " (kind.fix()) }
                        } }
                        p.quiet { (names(fleet, &group.hosts, NAMED)) }
                    }
                }
            }
        }
    }
}

fn table(fleet: &Fleet) -> Markup {
    html! {
        section {
            h2 { "Hosts" }
            @if fleet.rows.len() > MOST_ROWS {
                p { "The " (grouped(MOST_ROWS as u64)) " worst of " (hosts(fleet.rows.len())) "; --csv and --json have all." }
            }
            table #hosts {
                thead { tr {
                    @for title in ["host", "verdict", "severity", "findings", "not checked", "ready after", "waited", "platform", "kernel"] {
                        th scope="col" { button type="button" { (title) } }
                    }
                } }
                tbody {
                    @for row in fleet.ordered().take(MOST_ROWS) {
                        tr {
                            td { (untrusted(&row.name)) }
                            td { (verdict(row.verdict)) }
                            @let rank = row.worst.map_or(0, |worst| worst as u8 + 1);
                            td data-sort=(rank) { (row.worst.map_or("", severity)) }
                            td { (untrusted(&row.ids.join(" "))) }
                            td data-sort=(row.not_checked) { (row.not_checked) }
                            td data-sort=(row.ready_seconds.unwrap_or(-1.0)) { (seconds(row.ready_seconds)) }
                            td data-sort=(row.waited_seconds.unwrap_or(-1.0)) { (seconds(row.waited_seconds)) }
                            td { (untrusted(fleet.text(row.platform))) }
                            td { (untrusted(fleet.text(row.kernel))) }
                        }
                    }
                }
            }
        }
    }
}

fn bad(fleet: &Fleet) -> Markup {
    html! {
        @if fleet.bad_count > 0 {
            section {
                h2 { "Reports that do not count: " (grouped(fleet.bad_count as u64)) }
                ul { @for bad in fleet.bad.iter().take(100) {
                    li { (untrusted(&bad.source)) ": " (untrusted(&bad.reason)) }
                } }
            }
        }
    }
}
