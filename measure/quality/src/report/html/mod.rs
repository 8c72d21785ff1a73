//! A report as one page: histogram of p-values, map of bit planes, failures in plain words.
//!
//! The charts are SVG, so the page has no script: it works on paper and without scripts, and its
//! policy forbids everything except its own style.

mod charts;

use super::text;
use crate::Error;
use crate::report::{Report, Row, Verdict};
use headwater_text::file;
use headwater_text::page::Page;
use headwater_text::size::rounded;
use maud::{Markup, html};
use std::path::Path;

const STYLE: &str = include_str!("../../../assets/page.css");

impl Report {
    /// Returns the report as one page for a browser.
    ///
    /// # Errors
    ///
    /// [`Error::Source`] if no random bytes are available for the page's nonce.
    pub fn html(&self) -> Result<String, Error> {
        let nonce = headwater::array::<16>().map_err(|error| Error::Source {
            source: "headwater".to_owned(),
            reason: error.to_string(),
        })?;
        let nonce: String = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
        let title = format!("headwater quality: {}", self.source);
        let page = Page { title: &title, styles: &[STYLE], nonce: Some(&nonce) };
        Ok(page.document(&self.body(&title)))
    }

    fn body(&self, title: &str) -> Markup {
        let figures_over = format!(
            "{} of data, {} figures, {}",
            rounded(self.bytes),
            self.rows.len(),
            self.effort
        );
        html! {
            header {
                h1 { (title) }
                p { (self.about()) }
                p { (figures_over) }
                p class={ "verdict " (class(self.verdict)) } { (text::summary(self)) }
            }
            (findings(&self.rows))
            section {
                h2 { "Bit planes" }
                p {
                    "Each column is one bit of a value, the highest on the left. "
                    "Perfect numbers leave most of it pale; a dark column is a predictable bit."
                }
                (charts::planes(&self.rows))
            }
            section {
                h2 { "P-values" }
                p {
                    "Perfect numbers make bars of about one height; defects make bars on the left "
                    "grow. Figures over the same numbers are not independent, so bars differ more "
                    "than independent ones would."
                }
                (charts::histogram(&self.rows))
            }
            (self.entropy_section())
            (self.external_section())
            section {
                h2 { "Not tested" }
                ul { @for line in &self.not_tested { li { (line) } } }
            }
            section { details { summary { "Every figure" } (figures(&self.rows)) } }
            footer {
                p {
                    "An ideal generator fails one run in a million, and is weak in one of a "
                    "hundred: each p-value is judged as one of " (self.rows.len()) ". "
                    "The method and the origin of each test: docs/quality.md of headwater's "
                    "repository."
                }
            }
        }
    }

    fn entropy_section(&self) -> Markup {
        let Some(entropy) = &self.entropy else { return html! {} };
        html! {
            section {
                h2 { "Min-entropy" }
                p { (entropy.note) "; of " (entropy.bytes) " bytes" }
                table {
                    thead { tr { th { "estimator" } th { "SP 800-90B" } th { "bits a byte" } } }
                    tbody {
                        @for estimate in &entropy.estimates {
                            tr { th { (estimate.name) } td { (estimate.section) } td { (format!("{:.2}", estimate.bits)) } }
                        }
                    }
                }
                ul {
                    @for test in &entropy.health {
                        li { (test.name) ": " (test.alarms) " alarms, highest count " (test.highest) ", cutoff " (test.cutoff) }
                    }
                }
            }
        }
    }

    fn external_section(&self) -> Markup {
        html! {
            @if !self.external.is_empty() {
                section {
                    h2 { "Other batteries" }
                    @for battery in &self.external {
                        h3 { (battery.name) " " small { (battery.version.as_deref().unwrap_or("version unknown")) } }
                        p { code { (battery.command) } }
                        @match &battery.skipped {
                            Some(reason) => p { "skipped: " (reason) },
                            None => table {
                                tbody {
                                    @for outcome in &battery.results {
                                        tr class=(class(outcome.verdict)) { th { (outcome.test) } td { (outcome.words) } td { (text::word(outcome.verdict)) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Clean => "clean",
        Verdict::Weak => "weak",
        Verdict::Failed => "failed",
    }
}

fn findings(rows: &[Row]) -> Markup {
    let tests = text::findings(rows);
    html! {
        @if !tests.is_empty() {
            section.findings {
                h2 { "Findings" }
                @for (test, of) in &tests {
                    h3 { (test) }
                    p { (of[0].meaning.unwrap_or_default()) (text::planes(of[0])) }
                    p { small { "Origin: " (of[0].origin.unwrap_or_default()) } }
                    ul {
                        @for row in of.iter().take(5) { li class=(class(row.verdict)) { (text::place(row)) } }
                        @if of.len() > 5 { li { "and " (of.len() - 5) " more" } }
                    }
                }
            }
        }
    }
}

fn figures(rows: &[Row]) -> Markup {
    html! {
        div.wide {
            table {
                thead { tr { th { "test" } th { "of" } th { "over" } th { "streams" } th { "values" } th { "p" } th { "" } } }
                tbody {
                    @for row in rows {
                        tr class=(class(row.verdict)) {
                            th { (row.test) } td { (row.part) } td { (row.form) } td { (row.streams) } td { (row.values) }
                            td { (text::p(row.p)) } td { (text::word(row.verdict)) }
                        }
                    }
                }
            }
        }
    }
}

/// Checks the place of a page before the run, because a run may take a night.
///
/// # Errors
///
/// [`Error::File`] if `path` cannot be a file.
pub fn check_file(path: &Path) -> Result<(), Error> {
    file::check(path).map_err(|error| wrong(path, &error))
}

/// Writes a page.
///
/// # Errors
///
/// [`Error::File`]
pub fn write(path: &Path, page: &str) -> Result<(), Error> {
    file::replace(path, page).map_err(|error| wrong(path, &error))
}

fn wrong(path: &Path, error: &std::io::Error) -> Error {
    Error::File { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests;
