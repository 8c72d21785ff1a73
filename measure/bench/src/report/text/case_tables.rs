//! The report's tables of the cases that are not a time per call by length.

use crate::case::{CROWD_LEN, Case};
use crate::draw::upper_halves::{CLEAN, DIRTY};
use crate::measure::row::Row;
use crate::report::document::Report;
use crate::report::ratio::Ratio;
use crate::report::text::layout::{abreast, distinct, names, table, time_and_spread, widest};
use crate::size;
use crate::stats::speedup;
use headwater_text::number::grouped;
use headwater_text::time::from_ns;

fn of_case<'a>(rows: &[&'a Row], case: &str) -> Vec<&'a Row> {
    rows.iter().copied().filter(|row| row.case == case).collect()
}

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Makes a table of percentiles of single calls for each length.
pub(crate) fn latencies(rows: &[&Row], on: &str) -> Vec<String> {
    let rows = of_case(rows, "latency");
    let columns = columns(&["p50", "p90", "p99", "p99.9", "slowest", "calls"]);
    let lengths = distinct(rows.iter().map(|row| row.len));
    let block = |len: usize| {
        let rows = rows.iter().filter(|row| row.len == len);
        let timed = rows.filter_map(|row| Some((row, row.percentiles.as_ref()?)));
        let clock = timed.clone().map(|(_, found)| found).next()?;
        let body = timed.map(|(row, found)| {
            let times = [found.p50, found.p90, found.p99, found.p99_9, found.max].map(from_ns);
            let name = std::iter::once(row.implementation.clone());
            name.chain(times).chain([millions(found.calls)]).collect()
        });
        Some(format!(
            "latency {}: single calls{on}; each includes {} of {}\n{}",
            size::show(len),
            from_ns(clock.clock_ns),
            clock.clock,
            table("implementation", &columns, body.collect())
        ))
    };
    lengths.into_iter().filter_map(block).collect()
}

/// Returns a text such as `12.3 M`, or the number itself if the number is below 100,000.
fn millions(calls: u64) -> String {
    if calls < 100_000 { calls.to_string() } else { format!("{:.1} M", calls as f64 / 1e6) }
}

/// Returns a table of sessions per second, of all threads together.
pub(crate) fn handshakes(rows: &[&Row], on: &str) -> Option<String> {
    let rows = of_case(rows, "handshake");
    let body: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let sessions = format!("{:.3} M", row.calls_per_s / 1e6);
            vec![row.implementation.clone(), time_and_spread(row), sessions]
        })
        .collect();
    let columns = columns(&["time per session", "sessions/s"]);
    (!body.is_empty()).then(|| {
        format!(
            "handshake: secrets of sessions{on}; sessions/s of all together\n{}",
            table("implementation", &columns, body)
        )
    })
}

/// Makes a table for each case of arrays of numbers: the time of one number, and bytes per second.
pub(crate) fn streams(rows: &[&Row], on: &str) -> Vec<String> {
    let block = |case: Case| {
        let rows = of_case(rows, case.name());
        let lengths = distinct(rows.iter().map(|row| row.len));
        let one = |row: &Row| row.ns_per_call / (row.len / 8) as f64;
        let cell = |name: &str, len: usize| {
            let row = rows.iter().find(|row| row.implementation == name && row.len == len);
            row.map_or_else(String::new, |row| {
                format!("{:.2} ns ±{:.0}%, {:.1}", one(row), 100.0 * row.spread(), row.gb_per_s)
            })
        };
        let body = names(&rows).into_iter().map(|name| {
            let cells = lengths.iter().map(|&len| cell(&name, len));
            std::iter::once(name.clone()).chain(cells).collect()
        });
        let columns: Vec<String> = lengths.iter().map(|&len| size::show(len)).collect();
        (!rows.is_empty()).then(|| {
            format!(
                "{}: time per 64-bit number of an array{on}, median ± MAD, and GB/s\n{}",
                case.name(),
                table("implementation", &columns, body.collect())
            )
        })
    };
    Case::ALL.into_iter().filter(|case| case.is_of_streams()).filter_map(block).collect()
}

/// Shows the draws per second of all threads together, by the number of threads. The ratios of
/// headwater and the events at its pools follow.
pub(crate) fn crowds(report: &Report) -> Vec<String> {
    let rows = of_case(&report.rows.iter().collect::<Vec<_>>(), "crowd");
    let mut threads = distinct(rows.iter().map(|row| row.threads));
    threads.sort_unstable();
    let cpus = report.machine.cores.map_or_else(String::new, |cores| format!(" on {cores} CPUs"));
    let rate = |name: &str, threads: usize| {
        let row = rows.iter().find(|row| row.implementation == name && row.threads == threads);
        row.map_or_else(String::new, |row| {
            format!("{:.2} ±{:.0}%", row.calls_per_s / 1e6, 100.0 * row.spread())
        })
    };
    let len = size::show(CROWD_LEN);
    let title = format!(
        "crowd: million draws of {len} per second, all threads together{cpus}, median ± MAD"
    );
    let mut blocks = by_threads(&title, "implementation", &names(&rows), &threads, rate);
    let ratios: Vec<&Ratio> = report
        .ratios
        .iter()
        .filter(|ratio| ratio.case == "crowd" && ratio.implementation == "headwater")
        .collect();
    let times = |name: &str, threads: usize| {
        let ratio = ratios.iter().find(|ratio| ratio.against == name && ratio.threads == threads);
        ratio.map_or_else(String::new, |ratio| ratio.interval().show().replace(" to ", "-"))
    };
    let others = distinct(ratios.iter().map(|ratio| ratio.against.clone()));
    let title = "crowd: ratios of headwater, times as many draws (95 %)";
    blocks.extend(by_threads(title, "as", &others, &threads, times));
    let events = rows.iter().filter_map(|row| {
        let counters = row.counters?;
        let numbers = [counters.refills, counters.busy, counters.fallbacks].map(grouped);
        let first = [row.implementation.clone(), row.threads.to_string()];
        Some(first.into_iter().chain(numbers).collect())
    });
    let events: Vec<Vec<String>> = events.collect();
    if !events.is_empty() {
        blocks.push(format!(
            "crowd: events at headwater's pools in all rounds\n{}",
            table("implementation", &columns(&["threads", "refills", "busy", "fallbacks"]), events)
        ));
    }
    blocks
}

fn on_threads(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// Makes one table, or several if the columns do not fit beside each other.
fn by_threads(
    title: &str,
    first: &str,
    names: &[String],
    threads: &[usize],
    cell: impl Fn(&str, usize) -> String,
) -> Vec<String> {
    let width = |&threads: &usize| {
        let cells = names.iter().map(|name| cell(name, threads));
        widest(cells.chain([on_threads(threads)]))
    };
    let block = |threads: &[usize]| {
        let body = names.iter().map(|name| {
            let cells = threads.iter().map(|&threads| cell(name, threads));
            std::iter::once(name.clone()).chain(cells).collect()
        });
        let heads: Vec<String> = threads.iter().map(|&threads| on_threads(threads)).collect();
        format!("{title}\n{}", table(first, &heads, body.collect()))
    };
    if names.is_empty() {
        return Vec::new();
    }
    abreast(widest(names.iter().cloned()), threads, width).into_iter().map(block).collect()
}

/// Shows what a fill takes after clean and after dirty upper halves of vector registers.
pub(crate) fn upper_halves(rows: &[&Row]) -> Option<String> {
    let rows = of_case(rows, "upper-halves");
    let noted = |name: &str, note: &str| {
        let mut rows = rows.iter();
        rows.find(|row| row.implementation == name && row.note.as_deref() == Some(note)).copied()
    };
    let body: Vec<Vec<String>> = names(&rows)
        .into_iter()
        .filter_map(|name| {
            let (clean, dirty) = (noted(&name, CLEAN)?, noted(&name, DIRTY)?);
            let times = speedup(&clean.rounds, &dirty.rounds).show();
            Some(vec![name, time_and_spread(clean), time_and_spread(dirty), times])
        })
        .collect();
    let columns = columns(&["clean", "dirty", "dirty in times of clean (95 %)"]);
    (!body.is_empty()).then(|| {
        format!(
            "upper-halves: fill of 16 B after clean and dirty upper halves of vector registers\n{}",
            table("implementation", &columns, body)
        )
    })
}

/// Returns the tables of the first draw of a process, after a fork and after its start.
pub(crate) fn first_bytes(rows: &[&Row]) -> Vec<String> {
    let block = |(case, what): (&str, &str)| {
        let body: Vec<Vec<String>> = of_case(rows, case)
            .into_iter()
            .map(|row| {
                let note = row.note.clone().unwrap_or_default();
                let processes = row.samples.to_string();
                let name = row.implementation.clone();
                vec![name, time_and_spread(row), from_ns(row.max), processes, note]
            })
            .collect();
        let columns = columns(&["median ± MAD", "slowest", "processes", "note"]);
        (!body.is_empty()).then(|| {
            format!("{case}: first 16 bytes of {what}\n{}", table("implementation", &columns, body))
        })
    };
    let cases = [
        ("first-byte-after-fork", "the child of a process that has drawn"),
        ("first-byte-after-start", "a fresh process, from its first call on"),
    ];
    cases.into_iter().filter_map(block).collect()
}

/// Returns the throughput in factors of the throughput of the first NUMA node, for rows that fill
/// one node after the other.
pub(crate) fn nodes(report: &Report) -> Option<String> {
    let cpus = report.first_node?;
    let rows: Vec<&Row> =
        report.rows.iter().filter(|row| row.pin.as_deref() == Some("node")).collect();
    let crowd = |row: &Row| row.threads * row.procs;
    let mut body = Vec::new();
    let mut crowds = distinct(rows.iter().map(|row| (crowd(row), row.procs)));
    crowds.sort_unstable();
    for name in names(&rows) {
        let here = rows.iter().filter(|row| row.implementation == name);
        for (case, len) in distinct(here.clone().map(|row| (row.case.clone(), row.len))) {
            let rows: Vec<&Row> =
                here.clone().copied().filter(|row| row.case == case && row.len == len).collect();
            let Some(one) = rows.iter().find(|row| crowd(row) == cpus) else { continue };
            let factors = crowds.iter().map(|&wanted| {
                let row = rows.iter().find(|row| (crowd(row), row.procs) == wanted);
                row.map_or_else(String::new, |row| {
                    format!("{:.2}", row.calls_per_s / one.calls_per_s)
                })
            });
            let title = format!("{case} {}, {name}", size::show(len));
            body.push(std::iter::once(title).chain(factors).collect());
        }
    }
    let columns: Vec<String> = crowds
        .iter()
        .map(|(crowd, procs)| match procs {
            1 => format!("{crowd} threads"),
            procs => format!("{crowd} in {procs} processes"),
        })
        .collect();
    (!body.is_empty()).then(|| {
        format!(
            "calls per second, in factors of one node ({cpus} CPUs)\n{}",
            table("case", &columns, body)
        )
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::measure::latency::Percentiles;

    pub(crate) fn percentiles(ns: f64) -> Percentiles {
        Percentiles {
            p50: ns,
            p90: ns * 2.0,
            p99: ns * 3.0,
            p99_9: ns * 4.0,
            max: ns * 5.0,
            calls: 123_456_789,
            clock: "rdtsc".to_owned(),
            clock_ns: 21.0,
        }
    }

    #[test]
    fn latencies_say_what_the_clock_costs() {
        let row = Row::new("latency", "headwater", 16, 1000, vec![30.0; 6]);
        let row = Row { percentiles: Some(percentiles(30.0)), ..row };
        let text = latencies(&[&row], "").join("\n");
        assert!(
            text.starts_with("latency 16 B: single calls; each includes 21.0 ns of rdtsc\n"),
            "{text}"
        );
        assert!(
            text.contains("| 30.0 ns | 60.0 ns | 90.0 ns | 120 ns |  150 ns | 123.5 M |"),
            "{text}"
        );
    }

    #[test]
    fn factors_are_of_the_row_that_fills_the_first_node() {
        let row = |threads: usize, calls_per_s| Row {
            threads,
            calls_per_s,
            pin: Some("node".to_owned()),
            ..Row::new("u64", "headwater", 8, 1000, vec![5.0; 6])
        };
        let mut report = Report::of(vec![row(1, 1e8), row(4, 4e8), row(8, 7e8)]);
        assert_eq!(nodes(&report), None, "nothing to compare with where there is one node");
        report.first_node = Some(4);
        let text = nodes(&report).unwrap();
        assert!(text.contains("| 1 threads | 4 threads | 8 threads |"), "{text}");
        assert!(text.contains("|      0.25 |      1.00 |      1.75 |"), "{text}");
        report.first_node = Some(2);
        assert_eq!(nodes(&report), None);
    }

    #[test]
    fn first_bytes_show_their_notes() {
        let row = Row {
            note: Some("2000 mappings".to_owned()),
            ..Row::new("first-byte-after-start", "headwater", 16, 1, vec![1e5, 2e5, 3e5])
        };
        let text = first_bytes(&[&row]).join("\n");
        assert!(text.contains("| 2000 mappings |") && text.contains("300.0 µs"), "{text}");
    }
}
