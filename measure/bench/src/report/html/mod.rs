//! A report as one page of HTML: charts, their figures, the machine and the method.
//!
//! The page is made from the report's JSON, so that a run and a record of it give the same page. It
//! holds all that it needs, and forbids itself the network.

mod bars;
mod charts;
mod figures;
mod record;
#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::report::document::Report;
use crate::report::parse;
use charts::Chart;
use headwater_text::file;
use headwater_text::page::Page;
use maud::{Markup, PreEscaped, html};
use record::{Record, RecordMachine};
use serde::Serialize;
use std::path::Path;

/// uPlot draws the charts. The page is a copy of it, so it carries the licence too.
const CHART_SCRIPT: &str = concat!(
    "/*! ",
    include_str!("../../../assets/vendor/uplot/LICENSE"),
    "*/\n",
    include_str!("../../../assets/vendor/uplot/uPlot.iife.min.js")
);
const CHART_STYLE: &str = include_str!("../../../assets/vendor/uplot/uPlot.min.css");
const SCRIPT: &str = include_str!("../../../assets/page.js");
const STYLE: &str = include_str!("../../../assets/page.css");

/// Returns the page of a report in JSON, the form that `--json` prints.
///
/// # Errors
///
/// [`Error::BadRecord`] if the text is not a report.
pub fn page(json: &str) -> Result<String, Error> {
    page_of(&parse::parse(json).map_err(Error::BadRecord)?)
}

/// Returns the page of a report of this run.
///
/// # Errors
///
/// [`Error::BadRecord`] if the report does not read back, as a figure that is not a number would
/// not.
pub fn page_of_report(report: &Report) -> Result<String, Error> {
    let json =
        serde_json::to_string(report).map_err(|error| Error::BadRecord(error.to_string()))?;
    page(&json)
}

fn page_of(record: &Record) -> Result<String, Error> {
    let charts = charts::charts(record);
    let nonce = headwater::uuid::v4().map_err(|error| Error::Refused {
        implementation: "headwater".to_owned(),
        reason: error.to_string(),
    })?;
    let nonce = nonce.simple().to_string();
    let machine = machine_line(&record.machine);
    let page = Page {
        title: &format!("headwater bench: {machine}"),
        styles: &[CHART_STYLE, STYLE],
        nonce: Some(&nonce),
    };
    let body = html! {
        header {
            h1 { "headwater bench" }
            p { (machine) }
            @if let Some(date) = record.machine.date {
                p { time data-seconds=(date) { (date) " seconds after the start of 1970" } }
            }
        }
        @for bars in bars::charts(record) { section { (bars.show()) } }
        @if !record.warnings.is_empty() {
            section.warnings {
                h2 { "Before you quote a figure" }
                ul { @for warning in &record.warnings { li { (warning) } } }
            }
        }
        section { (chart_section(&charts)) }
        section { (figures::tables(record)) }
        section { (machine_section(record)) }
        section { (method()) }
        (data("charts", &charts)?)
        (page.script(CHART_SCRIPT))
        (page.script(SCRIPT))
    };
    Ok(page.document(&body))
}

fn chart_section(charts: &[Chart]) -> Markup {
    html! {
        @if charts.is_empty() {
            h2 { "Charts" }
            p { "There is nothing to draw a line through: measure several lengths or numbers of threads." }
        } @else {
            details {
                summary { h2 { "Charts by length, threads and percentile" } }
                p.screen {
                    "Point at a chart to read its values. Select a name below it to hide or show its line, with Ctrl to see it alone."
                }
                noscript { p { "The charts need JavaScript; their figures are in the tables." } }
                div.charts {
                    @for chart in charts { figure { figcaption { (chart.title) } } }
                }
            }
        }
    }
}

fn machine_section(record: &Record) -> Markup {
    let machine = &record.machine;
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let hypervisor = machine.hypervisor.map(|under| if under { "yes" } else { "no" }.to_owned());
    let versions = record.names().into_iter().map(|name| {
        let row = record.rows.iter().find(|row| row.implementation == name);
        let mode = row.and_then(|row| row.mode.as_ref()).map(|mode| format!("{mode} mode"));
        let version = row.and_then(|row| row.version.clone());
        (name, record::join(&[known(&version), mode.unwrap_or_default()]))
    });
    html! {
        h2 { "RecordMachine" }
        dl {
            dt { "CPU" } dd { (known(&machine.cpu)) }
            dt { "CPUs for this process" } dd { (known(&machine.cores.map(|cores| cores.to_string()))) }
            dt { "Microcode" } dd { (known(&machine.microcode)) }
            dt { "Kernel" } dd { (known(&machine.kernel)) }
            dt { "C library" } dd { (known(&machine.libc)) }
            dt { "Frequency governor" } dd { (known(&machine.governor)) }
            dt { "Virtual machine" } dd { (known(&hypervisor)) }
            dt { "Mitigations" } dd { (known(&machine.mitigations)) }
            dt { "Compiler" } dd { (known(&machine.rustc)) }
        }
        h2 { "Versions" }
        dl { @for (name, version) in versions { dt { (name) } dd { (version) } } }
        @if !record.skipped.is_empty() {
            h2 { "Not measured" }
            dl {
                @for skipped in &record.skipped {
                    dt { (skipped.implementation) } dd { (skipped.reason) }
                }
            }
        }
    }
}

fn method() -> Markup {
    html! {
        h2 { "Method" }
        ul {
            li { "Each implementation's output is checked before it is timed: every byte changes, draws differ, none is all zero." }
            li { "A round takes one sample of every implementation, one after the other, so that what slows the machine down slows all of them." }
            li { "A figure is the median over the rounds; ± is the median absolute deviation from it." }
            li { "A ratio is taken within each round; its 95 % interval is that of the sign test, exact for any distribution if rounds are independent." }
            li { "Absolute times on a shared machine move by a fifth from one run to the next. Compare figures of one page; quote ratios, with their interval." }
        }
        p { "The whole method is in " code { "docs/bench.md" } " of headwater's repository." }
    }
}

fn machine_line(machine: &RecordMachine) -> String {
    record::join(&[
        machine.cpu.clone().unwrap_or_default(),
        machine.cores.map(|cores| format!("{cores} CPUs")).unwrap_or_default(),
        machine.kernel.as_ref().map(|kernel| format!("Linux {kernel}")).unwrap_or_default(),
        machine.libc.clone().unwrap_or_default(),
    ])
}

/// Returns an element that carries `value` as data for the script. A string in it may hold
/// `</script>`, which would end the element. But in JSON, `<` occurs in strings only, which have
/// another way to write it, and without a `<` nothing can end the element or open a comment.
fn data(id: &str, value: &impl Serialize) -> Result<Markup, Error> {
    let json = serde_json::to_string(value).map_err(|error| Error::BadRecord(error.to_string()))?;
    let json = json.replace('<', "\\u003c");
    Ok(html! { script type="application/json" id=(id) { (PreEscaped(json)) } })
}

/// Checks before an hour of measuring, rather than after it, that a page can be written.
///
/// # Errors
///
/// [`Error::File`] if `path` cannot be a file.
pub fn check_file(path: &Path) -> Result<(), Error> {
    file::check(path).map_err(|error| file_error(path, error))
}

/// Writes a page.
///
/// # Errors
///
/// [`Error::File`]
pub fn write(path: &Path, page: &str) -> Result<(), Error> {
    file::replace(path, page).map_err(|error| file_error(path, error))
}

/// Returns the page of a report in a file, or in a record's directory.
///
/// # Errors
///
/// [`Error::BadRecord`] if it cannot be read or is not a report.
pub fn from_file(path: &Path) -> Result<String, Error> {
    page_of(&parse::read(path, parse::parse)?)
}

fn file_error(path: &Path, reason: impl ToString) -> Error {
    Error::File { path: path.to_owned(), reason: reason.to_string() }
}
