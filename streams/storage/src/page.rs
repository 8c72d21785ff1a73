//! The report as one page for a browser: a picture of each target and its extents.
//!
//! The page has no script, so that it works on paper, and its policy forbids all but its style.

use crate::document::{Document, TargetReport, Verdict};
use crate::map::{Cell, WORDS, cells};
use crate::table::stands_there;
use headwater_text::escape::untrusted;
use headwater_text::number::grouped;
use headwater_text::page::Page;
use headwater_text::size::{exact, rounded};
use maud::{Markup, html};

const STYLE: &str = include_str!("../assets/page.css");

/// Extents of a target that the page lists.
const LISTED: usize = 1000;

/// Cells of a row of the picture, and pixels of a cell.
const COLUMNS: usize = 64;
const PIXELS: usize = 12;

/// Returns the report as one page.
pub fn page(document: &Document) -> String {
    let title = "headwater stream verify";
    let body = html! {
        header {
            h1 { (title) }
            p { "engine " (document.engine) ", substream " (document.substream) }
            p class={ "verdict " (document.verdict.word()) } { (document.verdict.word()) }
        }
        @for target in &document.targets { (section(target)) }
    };
    Page { title, styles: &[STYLE], nonce: None }.document(&body)
}

fn section(target: &TargetReport) -> Markup {
    let size = target.size.map(rounded).unwrap_or_default();
    html! {
        section {
            h2 { (untrusted(&target.path)) }
            p {
                (size)
                @if let Some(model) = &target.model { ", " (model) }
                @if let Some(serial) = &target.serial { ", serial " (serial) }
                ": " b { (target.verdict.word()) }
            }
            @if let Some(error) = &target.error { p { (untrusted(error)) } }
            @if let Some(size) = target.shrank_to {
                p { "The file became shorter while it was read: " (grouped(size)) " bytes." }
            }
            @if target.verified_to < target.to {
                p { "Stopped at byte " (grouped(target.verified_to)) "." }
            }
            @if target.error.is_none() { (picture(target)) (counts(target)) }
            @if !target.extents.is_empty() { (extents(target)) }
        }
    }
}

fn picture(target: &TargetReport) -> Markup {
    let (cell, cells) = cells(target);
    let rows = cells.len().div_ceil(COLUMNS);
    let (width, height) = (COLUMNS * PIXELS, rows * PIXELS);
    let class = |cell: &Cell| match cell {
        Cell::Intact => "intact".to_owned(),
        Cell::Unknown => "unknown".to_owned(),
        Cell::Wrong(kind) => format!("k{kind}"),
    };
    html! {
        p { "One cell is " (exact(cell)) "; a row begins where the one above ends." }
        svg viewBox=(format!("0 0 {width} {height}")) role="img" aria-label="map" {
            @for (i, cell) in cells.iter().enumerate() {
                rect class=(class(cell)) x=(i % COLUMNS * PIXELS) y=(i / COLUMNS * PIXELS)
                    width=(PIXELS - 1) height=(PIXELS - 1) {}
            }
        }
    }
}

fn counts(target: &TargetReport) -> Markup {
    html! {
        table {
            thead { tr { th { "kind" } th { "extents" } th { "bytes" } } }
            tbody {
                @for (kind, (tally, words)) in target.counts.all().iter().zip(WORDS).enumerate() {
                    @if tally.extents > 0 {
                        tr {
                            th { span class={ "key k" (kind) } {} (words) }
                            td { (grouped(tally.extents)) }
                            td { (grouped(tally.bytes)) }
                        }
                    }
                }
            }
        }
        @if target.verdict == Verdict::Intact { p { "Every byte is the seed's." } }
    }
}

fn extents(target: &TargetReport) -> Markup {
    let further = target.extents.len().saturating_sub(LISTED) as u64 + target.extents_left_out;
    html! {
        table {
            thead { tr { th { "from" } th { "to" } th { "bytes" } th { "stands there" } } }
            tbody {
                @for extent in target.extents.iter().take(LISTED) {
                    tr {
                        td { (grouped(extent.from)) }
                        td { (grouped(extent.to)) }
                        td { (grouped(extent.to - extent.from)) }
                        td.words { (stands_there(extent)) }
                    }
                }
            }
        }
        @if further > 0 { p { "And " (grouped(further)) " more." } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Extent, ExtentKind, Pattern, Shape};
    use headwater_streams::Key;

    #[test]
    fn names_of_files_are_escaped_and_no_script_runs() {
        let mut report =
            TargetReport::unread("<script>alert(1)</script>\u{1b}".to_owned(), "<b>".to_owned());
        report.error = None;
        (report.to, report.verified_to) = (4096, 4096);
        report.found = vec![Extent { from: 512, to: 1024, kind: ExtentKind::Zeros }];
        let pattern = Pattern::new(Key::from_seed(1).stream(0).unwrap(), Shape::default());
        let text = page(&Document::new(&pattern, vec![report]));
        assert!(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;\\u{1b}"), "{text}");
        assert!(!text.contains("<script"), "{text}");
        assert!(text.contains("script-src") || text.contains("default-src 'none'"), "{text}");
        assert_eq!(text.matches("<rect").count(), 8);
        assert_eq!(text.matches("class=\"k0\"").count(), 1);
    }
}
