//! A report as one page: histogram of p-values, map of bit planes, failures in plain words.
//!
//! The charts are drawn here, as SVG, so that the page has no script at all: it works on paper and where scripts are off, and its policy
//! forbids everything but its own style.

mod charts;

use super::text;
use crate::Error;
use crate::report::{Report, Row, Verdict};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::path::Path;

const STYLE: &str = include_str!("../../../assets/page.css");

impl Report {
    /// The report as one page for a browser.
    ///
    /// # Errors
    ///
    /// [`Error::Source`] if there are no random bytes for the page's nonce.
    pub fn html(&self) -> Result<String, Error> {
        let nonce = headwater::array::<16>().map_err(|error| Error::Source {
            source: "headwater".to_owned(),
            reason: error.to_string(),
        })?;
        let nonce: String = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
        let policy = format!(
            "default-src 'none'; style-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'"
        );
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { "headwater quality: " (self.source) }
                    style nonce=(nonce) { (PreEscaped(STYLE)) }
                }
                body {
                    header {
                        h1 { "headwater quality: " (self.source) }
                        p { (self.about()) }
                        p { (text::bytes(self.bytes)) " of data, " (self.rows.len()) " figures, " (self.effort) }
                        p class={ "verdict " (class(self.verdict)) } { (text::summary(self)) }
                    }
                    (findings(&self.rows))
                    section {
                        h2 { "Bit planes" }
                        p { "Each column is one bit of a value, the highest on the left. Perfect numbers leave most of it pale; a dark column is a bit that can be computed." }
                        (charts::planes(&self.rows))
                    }
                    section {
                        h2 { "P-values" }
                        p { "Perfect numbers make bars of about one height; what is strange heaps up on the left. Figures over the same numbers are not independent, so bars differ more than they would otherwise." }
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
                        p { "Perfect numbers fail one run in a million, and show something weak in one of a hundred: each p-value is judged as one of " (self.rows.len()) ". The method and the origin of each test: docs/quality.md of headwater's repository." }
                    }
                }
            }
        };
        Ok(page.into_string())
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
                h2 { "What was found" }
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

/// Finds out before a night of testing, rather than after, that a page has no place.
///
/// # Errors
///
/// [`Error::File`] if `path` cannot be a file.
pub fn check_file(path: &Path) -> Result<(), Error> {
    let wrong =
        |reason: &str| Err(Error::File { path: path.to_owned(), reason: reason.to_owned() });
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    if path.is_dir() {
        return wrong("it is a folder; name a file");
    }
    if !folder.is_dir() {
        return wrong("its folder does not exist");
    }
    Ok(())
}

/// Writes a page.
///
/// # Errors
///
/// [`Error::File`]
pub fn write(path: &Path, page: &str) -> Result<(), Error> {
    std::fs::write(path, page)
        .map_err(|error| Error::File { path: path.to_owned(), reason: error.to_string() })
}

#[cfg(test)]
mod tests;
