//! The drawings of a page: SVG whose colours come from the page's style.

use crate::report::Row;
use crate::report::text;
use maud::{Markup, html};

const BARS: usize = 20;
const WIDTH: usize = 640;
const HEIGHT: usize = 160;

/// Draws the number of p-values in each twentieth.
pub(super) fn histogram(rows: &[Row]) -> Markup {
    let mut bars = [0_usize; BARS];
    rows.iter().for_each(|row| bars[((row.p * BARS as f64) as usize).min(BARS - 1)] += 1);
    let highest = bars.into_iter().max().unwrap_or(1).max(1);
    let even = rows.len() * HEIGHT / BARS / highest;
    let step = WIDTH / BARS;
    html! {
        svg.histogram role="img" aria-label="Histogram of p-values" viewBox=(format!("0 0 {WIDTH} {}", HEIGHT + 24)) {
            @for (i, &count) in bars.iter().enumerate() {
                @let height = count * HEIGHT / highest;
                rect x=(i * step + 1) y=(HEIGHT - height) width=(step - 2) height=(height) {
                    title { (count) " of " (rows.len()) " between " (format!("{:.2}", i as f64 / BARS as f64)) " and " (format!("{:.2}", (i + 1) as f64 / BARS as f64)) }
                }
            }
            line.even x1="0" x2=(WIDTH) y1=(HEIGHT - even.min(HEIGHT)) y2=(HEIGHT - even.min(HEIGHT)) {}
            text x="0" y=(HEIGHT + 18) { "p = 0" }
            text x=(WIDTH) y=(HEIGHT + 18) text-anchor="end" { "1" }
        }
    }
}

const CELL: usize = 7;
const LINE: usize = 16;
const LABEL: usize = 280;

/// Draws one line for each figure that has a p-value for every plane; the strangest first, at most
/// thirty.
pub(super) fn planes(rows: &[Row]) -> Markup {
    let full =
        |row: &&Row| row.planes.as_ref().is_some_and(|planes| matches!(planes.len(), 8 | 32 | 64));
    let lines: Vec<&Row> = rows.iter().filter(full).take(30).collect();
    html! {
        div.wide {
            svg.planes role="img" aria-label="Map of bit planes" width=(LABEL + 64 * CELL) viewBox=(format!("0 0 {} {}", LABEL + 64 * CELL, (lines.len() + 1) * LINE)) {
                text x=(LABEL) y="11" { "highest bit" }
                text x=(LABEL + 64 * CELL) y="11" text-anchor="end" { "lowest" }
                @for (i, row) in lines.iter().enumerate() {
                    @let y = (i + 1) * LINE;
                    text x=(LABEL - 8) y=(y + 11) text-anchor="end" { (row.test) ", " (row.part) ", " (row.form) }
                    @for (plane, p) in row.planes.iter().flatten().enumerate() {
                        @let x = LABEL + 64 * CELL - (plane + 1) * CELL;
                        rect class=(format!("p{}", shade(*p))) x=(x) y=(y) width=(CELL - 1) height=(LINE - 2) {
                            title { "bit " (plane) ", " (row.test) ", " (row.part) ", " (row.streams) ": p " (text::p(*p)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a shade from 0, inconspicuous, to 4, certainly a defect.
fn shade(p: f64) -> usize {
    [1e-2, 1e-4, 1e-8, 1e-16].into_iter().filter(|&limit| p < limit).count()
}
