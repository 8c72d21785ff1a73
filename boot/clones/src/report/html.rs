//! The report as one page.

use super::{advice, answer, counted, late, named};
use crate::comparison::{Comparison, Verdict};
use headwater_text::page::Page;
use maud::html;

const STYLE: &str = "
body { font: 16px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; vertical-align: top; border-bottom: 1px solid #8884 }
td:first-child { font-family: ui-monospace, monospace; white-space: nowrap }
.repeats td:first-child { border-left: 4px solid #c33; padding-left: .5rem }
.not-renewable td:first-child { border-left: 4px solid #c93; padding-left: .5rem }
.not-shown td:first-child { border-left: 4px solid #888; padding-left: .5rem }
.differs td:first-child { border-left: 4px solid #393; padding-left: .5rem }
";

/// Returns the page.
pub fn comparison(comparison: &Comparison) -> String {
    let class = |verdict| match verdict {
        Verdict::Repeats => "repeats",
        Verdict::NotRenewable => "not-renewable",
        Verdict::NotShown => "not-shown",
        Verdict::Differs => "differs",
    };
    let body = html! {
        h1 { "Copies" }
        p { (answer(comparison)) }
        @if let Some(note) = comparison.note {
            p { (note) }
        }
        @if let Some(ms) = comparison.reseeded_after_ms {
            p { "The copies' kernels reseeded within " (ms) " ms of the copy; values from before may repeat." }
        }
        @if let Some(late) = late(comparison) {
            p { (late) }
        }
        table {
            thead { tr { th { "source" } th { "of" } th { "verdict" } th { "values" } th { "what to do, or why" } } }
            tbody {
                @for row in &comparison.rows {
                    tr class=(class(row.verdict)) {
                        td { (row.id) }
                        td { (row.title) }
                        td { (named(row.verdict)) }
                        td { (counted(row)) }
                        td { (advice(row)) }
                    }
                }
            }
        }
        @if !comparison.absent.is_empty() {
            h2 { "Skipped" }
            p { "Nothing is known of the sources of these." }
            table {
                tbody {
                    @for absent in &comparison.absent {
                        tr { td { (absent.witness) } td { (absent.why) } }
                    }
                }
            }
        }
    };
    Page { title: "headwater clones", styles: &[STYLE], nonce: None }.document(&body)
}
