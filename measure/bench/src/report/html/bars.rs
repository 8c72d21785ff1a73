//! A page opens with bars: one figure of each implementation, the best one first.

use crate::case::CROWD_LEN;
use crate::impls::names::is_headwater;
use crate::report::html::record::{Load, Record, RecordRow};
use crate::size;
use headwater_text::time::from_ns;
use maud::{Markup, html};

/// Most programs draw this length.
const LEN: usize = 16;

/// The chart shows so many threads of a crowd, or else the largest number there is.
const THREADS: usize = 64;

/// A chart has one bar for each implementation.
pub(super) struct Bars {
    title: String,
    /// The scale is explained in one or two sentences.
    scale: String,
    bars: Vec<Bar>,
    /// Lines cross the bars at these places, in percent of the width.
    lines: Vec<f64>,
}

struct Bar {
    name: String,
    figure: String,
    /// The bar takes so many percent of the width.
    width: f64,
    is_ours: bool,
    /// The remark is short, such as `not secure`.
    note: Option<String>,
}

/// Returns the charts that the record has figures for.
pub(super) fn charts(record: &Record) -> Vec<Bars> {
    times(record).into_iter().chain(crowd(record)).collect()
}

/// Makes the chart of the time of one fill, the shortest one first, on a logarithmic scale.
fn times(record: &Record) -> Option<Bars> {
    let fills = || record.rows.iter().filter(|row| row.case == "fill" && row.len == LEN);
    let load = fills().map(RecordRow::load).min_by_key(Load::all)?;
    let mut found: Vec<(&RecordRow, f64)> = fills()
        .filter(|row| row.load() == load)
        .filter_map(|row| Some((row, row.ns_per_call.filter(|ns| *ns > 0.0)?)))
        .collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    let first = found.first()?.1.log10().floor() as i32;
    let most = found.last()?.1.log10();
    // A single figure of exactly one, ten or a hundred nanoseconds leaves no room.
    let room = (most - f64::from(first)).max(f64::MIN_POSITIVE);
    let part = |ns: f64| 100.0 * (ns.log10() - f64::from(first)) / room;
    let bar = |(row, ns): (&RecordRow, f64)| Bar::new(row, from_ns(ns), part(ns));
    Some(Bars {
        title: crate::report::html::charts::title_of(
            &format!("Time of one fill of {}, the fastest first", size::show(LEN)),
            &load,
        ),
        scale: format!(
            "Shorter is better. The scale is logarithmic: it begins at {}, and each line stands \
             for ten times as much as the line before.",
            from_ns(10_f64.powi(first))
        ),
        bars: found.into_iter().map(bar).collect(),
        lines: (first + 1..=most.floor() as i32).map(|power| part(10_f64.powi(power))).collect(),
    })
}

/// Makes the chart of the draws per second of all threads together, the most first.
fn crowd(record: &Record) -> Option<Bars> {
    let crowds = || record.rows.iter().filter(|row| row.case == "crowd");
    let loads = || crowds().map(RecordRow::load);
    let load = loads().find(|load| load.threads == THREADS);
    let load = load.or_else(|| loads().max_by_key(Load::all))?;
    let mut found: Vec<(&RecordRow, f64)> = crowds()
        .filter(|row| row.load() == load)
        .filter_map(|row| Some((row, row.million_calls_per_s()?)))
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let most = found.first()?.1;
    let figure = |rate: f64| format!("{} M/s", crate::stats::figure(rate));
    let bar = |(row, rate): (&RecordRow, f64)| Bar::new(row, figure(rate), 100.0 * rate / most);
    let on = record.machine.cores.map_or_else(String::new, |cores| format!(" on {cores} CPUs"));
    let on = format!("{}{on}, together", load.show());
    Some(Bars {
        title: format!("{on}: draws of {} per second, the most first", size::show(CROWD_LEN)),
        scale: "Longer is better. The scale begins at zero.".to_owned(),
        bars: found.into_iter().map(bar).collect(),
        lines: Vec::new(),
    })
}

impl Bar {
    fn new(row: &RecordRow, figure: String, width: f64) -> Bar {
        Bar {
            name: row.implementation.clone(),
            figure,
            // A bar that cannot be seen would look like a figure that is missing.
            width: width.clamp(0.3, 100.0),
            is_ours: is_headwater(&row.implementation),
            note: row.note.clone().filter(|note| note.starts_with("not ")),
        }
    }
}

impl Bars {
    /// Makes a table, in which readers without pictures find all names and figures.
    pub(super) fn show(&self) -> Markup {
        html! {
            div.answer {
                h2 { (self.title) }
                table.bars {
                    tbody {
                        @for bar in &self.bars {
                            tr.ours[bar.is_ours] {
                                th scope="row" {
                                    (bar.name)
                                    @if let Some(note) = &bar.note { " " span.quiet { "(" (note) ")" } }
                                }
                                td { (self.draw(bar)) }
                                td { (crate::report::html::figures::whole(&bar.figure)) }
                            }
                        }
                    }
                }
                p.quiet { (self.scale) }
            }
        }
    }

    fn draw(&self, bar: &Bar) -> Markup {
        let percent = |part: f64| format!("{part:.2}%");
        html! {
            svg width="100%" height="100%" aria-hidden="true" {
                @for &line in &self.lines {
                    line x1=(percent(line)) x2=(percent(line)) y1="0" y2="100%" {}
                }
                rect width=(percent(bar.width)) height="100%" y="0" {}
            }
        }
    }
}
