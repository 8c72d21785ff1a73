//! The report as text.

use crate::impls::rfc;
use crate::measure::row::Row;
use crate::report::document::Report;
use crate::report::ratio::Ratio;
use crate::report::text::case_tables;
use crate::report::text::changes::changes;
use crate::report::text::crossover::crossovers;
use crate::report::text::layout::{
    ABREAST, abreast, distinct, names, table, time_and_spread, widest,
};
use crate::report::text::notes::notes;
use crate::size;
use headwater_text::number::grouped;

/// The lengths of the first table, if they were measured: what programs draw.
const FIRST: [usize; 4] = [16, 64, 256, 1024];
/// From here on the bytes of a call count more than the call.
const LONG: usize = 4096;

/// Returns the report as text of at most 100 columns.
pub fn render(report: &Report) -> String {
    let mut blocks = vec![machine(report)];
    let mut crowds: Vec<(usize, usize)> =
        report.rows.iter().map(|row| (row.procs, row.threads)).collect();
    crowds.sort_unstable();
    crowds.dedup();
    for crowd in crowds {
        let rows: Vec<&Row> =
            report.rows.iter().filter(|row| (row.procs, row.threads) == crowd).collect();
        let on = on(crowd);
        // A screen holds what most people ask; then come the ratios, and everything else.
        let mut fills = fills(&rows, &on).into_iter();
        blocks.extend(fills.next());
        blocks.extend(crossovers(&rows));
        blocks.extend(rfc_table(&rows));
        blocks.extend(ratios(&report.ratios, crowd, &on));
        blocks.extend(fills);
        blocks.extend(draws(&rows, &on));
        blocks.extend(counts(&rows));
        blocks.extend(case_tables::latencies(&rows, &on));
        blocks.extend(case_tables::handshakes(&rows, &on));
        blocks.extend(case_tables::streams(&rows, &on));
        blocks.extend(case_tables::upper_halves(&rows));
        blocks.extend(case_tables::first_bytes(&rows));
    }
    blocks.extend(case_tables::crowds(report));
    blocks.extend(case_tables::nodes(report));
    blocks.extend(
        report.comparison.iter().map(|comparison| changes(comparison, report.machine.date)),
    );
    blocks.push(notes(report));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n")
}

/// Returns the threads and processes for a title: no text for one thread.
fn on((procs, threads): (usize, usize)) -> String {
    match (procs, threads) {
        (1, 1) => String::new(),
        (1, threads) => format!(" on each of {threads} threads"),
        (procs, 1) => format!(" in each of {procs} processes"),
        (procs, threads) => format!(" on each of {threads} threads of {procs} processes"),
    }
}

fn machine(report: &Report) -> String {
    let machine = &report.machine;
    let parts = [
        machine.cpu.clone(),
        machine.cores.map(|cores| format!("{cores} CPUs")),
        machine.kernel.as_ref().map(|kernel| format!("Linux {kernel}")),
        machine.libc.clone(),
        machine
            .hypervisor
            .map(|virtual_| if virtual_ { "virtual machine" } else { "no hypervisor" }.to_owned()),
        machine.governor.as_ref().map(|governor| format!("governor {governor}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns the tables of the time per call by length, and of the bytes per second of the long
/// lengths.
fn fills(rows: &[&Row], on: &str) -> Vec<String> {
    let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.case == "fill").collect();
    let mut lengths = distinct(rows.iter().map(|row| row.len));
    let long: Vec<usize> = lengths.iter().copied().filter(|&len| len >= LONG).collect();
    let cell = |format: fn(&Row) -> String, name: &str, len: usize| {
        rows.iter()
            .find(|row| row.implementation == name && row.len == len)
            .map_or_else(String::new, |row| format(row))
    };
    let block = |title: String, lengths: &[usize], format: fn(&Row) -> String| {
        let columns: Vec<String> = lengths.iter().map(|&len| size::show(len)).collect();
        let body = names(&rows).into_iter().map(|name| {
            let cells = lengths.iter().map(|&len| cell(format, &name, len));
            std::iter::once(name.clone()).chain(cells).collect()
        });
        format!("{title}\n{}", table("implementation", &columns, body.collect()))
    };
    let first = if FIRST.iter().all(|len| lengths.contains(len)) { FIRST.len() } else { 0 };
    if first > 0 {
        lengths.retain(|len| !FIRST.contains(len));
        lengths.splice(0..0, FIRST);
    }
    let width = |len: &usize| {
        let cells = rows.iter().filter(|row| row.len == *len).map(|row| time_and_spread(row));
        widest(cells.chain([size::show(*len)]))
    };
    let name = widest(names(&rows));
    let parts = abreast(name, &lengths[..first], width).into_iter().chain(abreast(
        name,
        &lengths[first..],
        width,
    ));
    let mut blocks: Vec<String> = parts
        .map(|lengths| {
            block(format!("fill: time per call{on}, median ± MAD"), lengths, time_and_spread)
        })
        .collect();
    let together = if on.is_empty() { "" } else { ", all together" };
    blocks.extend(long.chunks(ABREAST).map(|lengths| {
        block(format!("fill: GB/s{together}"), lengths, |row| format!("{:.2}", row.gb_per_s))
    }));
    blocks
}

/// Returns the ratios of headwater, with the interval of each figure. The report has the ratios of
/// all lengths and of all forms of headwater; this table has those that fit on a page.
fn ratios(ratios: &[Ratio], crowd: (usize, usize), on: &str) -> Vec<String> {
    let here = || ratios.iter().filter(|ratio| (ratio.procs, ratio.threads) == crowd);
    let Some(subject) = here()
        .map(|ratio| ratio.implementation.as_str())
        .min_by_key(|name| usize::from(*name != "headwater"))
    else {
        return Vec::new();
    };
    let here: Vec<&Ratio> = here()
        .filter(|ratio| ratio.implementation == subject)
        .filter(|ratio| ratio.case != "fill" || FIRST.contains(&ratio.len))
        .filter(|ratio| ratio.case != "rfc-u32") // its table stands above
        .filter(|ratio| ratio.case != "crowd") // a table of its own has all numbers of threads
        .collect();
    let columns = distinct(here.iter().map(|ratio| (ratio.case.as_str(), ratio.len)));
    let names = distinct(here.iter().map(|ratio| ratio.against.clone()));
    let title = |&(case, len): &(&str, usize)| match case.strip_prefix("stream-") {
        Some("child") | None if case != "fill" => case.to_owned(),
        Some(numbers) => format!("{numbers} {}", size::show(len)),
        None => size::show(len),
    };
    let cell = |name: &str, column: &(&str, usize)| {
        let ratio = here
            .iter()
            .find(|ratio| ratio.against == name && (ratio.case.as_str(), ratio.len) == *column);
        ratio.map_or_else(String::new, |ratio| ratio.interval().show().replace(" to ", "-"))
    };
    let width = |column: &(&str, usize)| {
        widest(names.iter().map(|name| cell(name, column)).chain([title(column)]))
    };
    let block = |columns: &[(&str, usize)]| {
        let body = names.iter().map(|name| {
            let cells = columns.iter().map(|column| cell(name, column));
            std::iter::once(name.clone()).chain(cells).collect::<Vec<_>>()
        });
        // No implementation takes part in all cases.
        let body = body.filter(|row| row[1..].iter().any(|cell| !cell.is_empty()));
        let titles: Vec<String> = columns.iter().map(title).collect();
        format!(
            "ratios: {subject}{on}, times as fast (95 %)\n{}",
            table("as", &titles, body.collect())
        )
    };
    abreast(widest(names.iter().cloned()), &columns, width).into_iter().map(block).collect()
}

/// Returns the table of the time per call of the cases without a length.
fn draws(rows: &[&Row], on: &str) -> Option<String> {
    let rows: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|row| ["u32", "u64", "uuid-v4", "uuid-v7", "dns"].contains(&row.case.as_str()))
        .collect();
    let cases = distinct(rows.iter().map(|row| row.case.clone()));
    let body = names(&rows).into_iter().map(|name| {
        let cells = cases.iter().map(|case| {
            let row = rows.iter().find(|row| row.implementation == name && row.case == *case);
            row.map_or_else(String::new, |row| time_and_spread(row))
        });
        std::iter::once(name.clone()).chain(cells).collect()
    });
    let body: Vec<Vec<String>> = body.collect();
    (!body.is_empty()).then(|| {
        format!("draws: time per call{on}, median ± MAD\n{}", table("implementation", &cases, body))
    })
}

/// Returns the counts of calls: a table for each case and length.
fn counts(rows: &[&Row]) -> Vec<String> {
    let counted = rows.iter().filter_map(|row| Some((row, row.count.as_ref()?)));
    let cells = distinct(counted.clone().map(|(row, _)| (row.case.clone(), row.len)));
    let columns = ["instructions", "locked", "system calls", "shared lines", "rdrand"];
    let columns = columns.map(str::to_owned);
    let block = |(case, len): (String, usize)| {
        let here = counted.clone().filter(|(row, _)| row.case == case && row.len == len);
        let body = here.map(|(row, count)| {
            let mean = &count.mean;
            vec![
                row.implementation.clone(),
                count_and_mean(count.instructions, mean.instructions),
                count_and_mean(count.locked, mean.locked),
                count_and_mean(count.syscalls, mean.syscalls),
                count
                    .shared_lines
                    .zip(mean.shared_lines)
                    .map_or_else(|| "-".to_owned(), |(lines, mean)| count_and_mean(lines, mean)),
                count_and_mean(count.rdrand, mean.rdrand),
            ]
        });
        let what = if case == "fill" { format!("fill {}", size::show(len)) } else { case.clone() };
        format!(
            "count: what a warm call of {what} does; in brackets the average of all, refills included\n{}",
            table("implementation", &columns, body.collect())
        )
    };
    cells.into_iter().map(block).collect()
}

/// Returns a count and its mean, such as `84 (96.3)`. The mean is left out if it says the same as
/// the count.
fn count_and_mean(count: u64, mean: f64) -> String {
    let decimals = match mean {
        mean if mean < 1.0 => 3,
        mean if mean < 10.0 => 2,
        _ => 1,
    };
    let (count, mean) = (count.to_string(), format!("{mean:.decimals$}"));
    let is_same = mean.trim_end_matches('0').trim_end_matches('.') == count
        || mean.parse() == Ok(0.0) && count == "0";
    if is_same { count } else { format!("{count} ({mean})") }
}

/// Returns the table of the RFC, with the RFC's columns.
fn rfc_table(rows: &[&Row]) -> Option<String> {
    let rows = rows.iter().filter(|row| row.case == "rfc-u32");
    let body: Vec<Vec<String>> = rows
        .clone()
        .map(|row| {
            vec![
                rfc::title(&row.implementation).to_owned(),
                format!("{:.4}", row.seconds),
                format!("{:.1}", 1e3 / row.ns_per_call),
                format!("{:.1} ±{:.1}", row.ns_per_call, row.mad),
                row.discarded_bytes.map_or_else(|| "-".to_owned(), grouped),
            ]
        })
        .collect();
    let draws = rows.map(|row| row.calls * row.samples as u64).max()?;
    let columns = [
        "seconds".to_owned(),
        "M u32/s".to_owned(),
        "ns per u32".to_owned(),
        "bytes discarded".to_owned(),
    ];
    Some(format!("rfc-u32: {} draws of a u32\n{}", grouped(draws), table("way", &columns, body)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::counted::Count;
    use crate::count::counted::Mean;
    use crate::draw::crowd::Counters;
    use crate::draw::upper_halves::{CLEAN, DIRTY};
    use crate::report::text::layout::COLUMNS;

    fn report(rows: Vec<Row>) -> Report {
        Report::new(rows, Vec::new(), vec!["w ".repeat(200)])
    }

    fn counted(implementation: &str) -> Row {
        let count = Count {
            instructions: 123_456,
            locked: 1234,
            syscalls: 1,
            rdrand: 0,
            shared_lines: Some(12),
            mean: Mean {
                instructions: 654_321.4,
                locked: 1234.5,
                syscalls: 1.0,
                rdrand: 0.0078,
                shared_lines: Some(12.3),
            },
            calls: 9,
        };
        Row { count: Some(count), ..Row::new("fill", implementation, 1234, 1, vec![1.0]) }
    }

    #[test]
    fn counts_show_the_mean_where_it_says_more() {
        let text = render(&report(vec![counted("headwater")]));
        assert!(text.contains("a warm call of fill 1234 B"), "{text}");
        assert!(
            text.contains(
                " 123456 (654321.4) | 1234 (1234.5) |            1 |    12 (12.3) | 0 (0.008) |"
            ),
            "{text}"
        );
        assert_eq!(count_and_mean(100, 100.0), "100");
        assert_eq!(count_and_mean(0, 0.0), "0");
        assert_eq!(count_and_mean(2, 2.0), "2");
    }

    #[test]
    fn fits_100_columns_with_everything_at_its_longest() {
        let mut rows = Vec::new();
        for implementation in ["headwater-rng[buffered]", "rand-thread_rng-held"] {
            for len in [4, 16, 32, 64, 256, 1024, 4096, 65536, 1 << 20, 64 << 20] {
                let ns = 98_765.4 * len as f64;
                rows.push(Row::new("fill", implementation, len, 1, vec![ns, ns * 1.5, ns * 3.0]));
            }
            rows.push(counted(implementation));
            for case in ["u32", "u64", "uuid-v4", "uuid-v7", "dns", "handshake", "rfc-u32"] {
                rows.push(Row::new(case, implementation, 8, 10_000_000, vec![1e6, 2e6, 3e6]));
            }
            for note in [CLEAN, DIRTY] {
                let row = Row::new("upper-halves", implementation, 16, 1000, vec![1e6; 6]);
                rows.push(Row { note: Some(note.to_owned()), ..row });
            }
            for threads in [1_u32, 2, 16, 64, 256, 1024, 4096] {
                let ns = 1e9 / f64::from(threads * 7);
                let row = Row::new("crowd", implementation, 16, 1000, vec![ns; 6]);
                let counters = Counters { refills: u64::MAX, busy: u64::MAX, fallbacks: u64::MAX };
                let calls_per_s = f64::from(threads) * row.calls_per_s;
                let threads = threads as usize;
                rows.push(Row { threads, calls_per_s, counters: Some(counters), ..row });
            }
            for case in ["first-byte-after-fork", "first-byte-after-start"] {
                rows.push(Row {
                    note: Some("the child's bytes are its parent's".to_owned()),
                    ..Row::new(case, implementation, 16, 1, vec![1e6, 2e6, 3e6])
                });
            }
            for (procs, threads) in [(1, 1), (1, 128), (16, 128)] {
                let percentiles = case_tables::tests::percentiles(98_765_432.1);
                let row = Row::new("latency", implementation, 65536, 10_000, vec![1e7; 6]);
                rows.push(Row { percentiles: Some(percentiles), procs, threads, ..row });
            }
        }
        let text = render(&report(rows));
        for line in text.lines() {
            assert!(line.chars().count() <= usize::from(COLUMNS), "{line}");
        }
        for expected in [
            "64 MiB",
            "uuid-v4",
            "dns",
            "sessions/s",
            "p99.9",
            "4096 threads",
            "fallbacks",
            "dirty in times of clean",
            "bytes discarded",
            "slowest",
            "warning",
        ] {
            assert!(text.contains(expected), "{expected} in\n{text}");
        }
    }

    /// The rows of a host with every library, and the longest names.
    #[test]
    fn the_first_screen_holds_any_number_of_implementations() {
        let mut rows = Vec::new();
        for index in 0..28 {
            let name = if index == 0 {
                "headwater".to_owned()
            } else {
                format!("openssl-RAND_priv_bytes@3.{index:02}")
            };
            for len in [4, 16, 64, 256, 1024, 65536] {
                let ns = 1000.0 / f64::from(index + 1) + f64::from(index + 1) * len as f64;
                rows.push(Row::new("fill", &name, len, 1, vec![ns; 9]));
            }
        }
        let text = render(&report(rows));
        for line in text.lines() {
            assert!(line.chars().count() <= usize::from(COLUMNS), "{line}");
        }
        let blocks: Vec<&str> = text.split("\n\n").collect();
        assert!(blocks[1].starts_with("fill: time per call, median ± MAD\n"), "{text}");
        let header: Vec<&str> =
            blocks[1].lines().nth(1).unwrap().split('|').map(str::trim).collect();
        assert_eq!(header[1..6], ["implementation", "16 B", "64 B", "256 B", "1 KiB"]);
        assert_eq!(blocks[1].lines().count(), 3 + 28, "no name is broken into lines");
        assert!(blocks[2].starts_with("crossovers: "), "{text}");
        assert!(text.contains("\nmachine  microcode "), "{text}");
    }

    #[test]
    fn ratios_stand_with_their_interval() {
        let rounds = |ns: f64| (0..9).map(|k| ns + f64::from(k) / 10.0).collect::<Vec<_>>();
        let rows = vec![
            Row::new("fill", "headwater[hedged]", 16, 1, rounds(30.0)),
            Row::new("fill", "headwater", 16, 1, vec![10.0; 9]),
            Row::new("fill", "urandom-read", 16, 1, rounds(400.0)),
        ];
        let text = render(&report(rows));
        assert!(text.contains("ratios: headwater, times as fast"), "{text}");
        assert!(text.contains("| urandom-read      | 40.0 (40.0-40.1) |"), "{text}");
    }

    #[test]
    fn figures_carry_their_spread_and_the_unknown_is_a_dash() {
        let mut row = Row::new("rfc-u32", "getrandom-vdso[pool]", 4, 10_000, vec![9.0, 10.0, 12.0]);
        row.discarded_bytes = Some(1_016_000);
        let direct = Row::new("rfc-u32", "getrandom-vdso", 4, 10_000, vec![9.0, 10.0, 12.0]);
        let text = render(&report(vec![row, direct]));
        assert!(text.contains("rfc-u32: 30,000 draws of a u32"), "{text}");
        assert!(
            text.contains(
                "| pooled over the vDSO |  0.0003 |   100.0 |  10.0 ±1.0 |       1,016,000 |"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "| direct vDSO          |  0.0003 |   100.0 |  10.0 ±1.0 |               - |"
            ),
            "{text}"
        );
    }
}
