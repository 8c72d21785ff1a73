//! The length at which two implementations swap places: the one that is quick to call against the
//! one that is quick for each byte.

use crate::impls::names::is_headwater;
use crate::measure::row::Row;
use crate::report::text::layout::{distinct, words};
use crate::size;
use crate::stats::{Interval, speedup};
use std::cmp::Ordering;

/// One of two is reported as faster only if they differ by as much, and their whole interval does.
const LEAST: f64 = 0.03;

/// From some length on `faster` is faster than `than`, which was the faster one before.
#[derive(Clone, Debug, PartialEq)]
struct Crossing<'a> {
    faster: &'a str,
    than: &'a str,
    /// The longest measured length at which it certainly is not, and the shortest at which it
    /// certainly is.
    between: (usize, usize),
    /// Where their times would be equal if they grew by a power of the length from one measured
    /// length to the next. An estimate: nothing was measured there.
    about: f64,
}

/// Returns a table of the pairs that swap places, from the `fill` rows of one number of threads.
pub(crate) fn crossovers(rows: &[&Row]) -> Option<String> {
    let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.case == "fill").collect();
    let mut lengths = distinct(rows.iter().map(|row| row.len));
    let names = distinct(rows.iter().map(|row| row.implementation.as_str()));
    lengths.sort_unstable();
    if lengths.len() < 2 || names.len() < 2 {
        return None;
    }
    let (least, most) = (size::show(lengths[0]), size::show(lengths[lengths.len() - 1]));
    let crossings = crossings(&rows, &names, &lengths);
    if crossings.is_empty() {
        return Some(format!("crossovers: no two of them swap places between {least} and {most}"));
    }
    let mut title = "crossovers: lengths from which one is faster than another".to_owned();
    if !crossings
        .iter()
        .any(|crossing| is_headwater(crossing.faster) != is_headwater(crossing.than))
    {
        title += &format!("\n(no crossover concerns headwater between {least} and {most})");
    }
    let header = ["between", "becomes faster", "than (from about)"];
    Some(format!("{title}\n{}", words(header, body(&crossings))))
}

/// Returns one line for each implementation that overtakes in an interval, headwater's lines first.
fn body(crossings: &[Crossing<'_>]) -> Vec<Vec<String>> {
    let group = |crossing: &Crossing<'_>| {
        let ours = is_headwater(crossing.faster) || is_headwater(crossing.than);
        (!ours, crossing.between, crossing.faster.to_owned())
    };
    let mut groups = distinct(crossings.iter().map(group));
    groups.sort();
    let line = |key: (bool, (usize, usize), String)| {
        let overtaken = crossings.iter().filter(|crossing| group(crossing) == key);
        let overtaken: Vec<String> = overtaken
            .map(|crossing| format!("{} ({})", crossing.than, show_about(crossing.about)))
            .collect();
        let (_, (from, to), faster) = key;
        vec![format!("{} and {}", size::show(from), size::show(to)), faster, overtaken.join(", ")]
    };
    groups.into_iter().map(line).collect()
}

fn crossings<'a>(rows: &[&Row], names: &[&'a str], lengths: &[usize]) -> Vec<Crossing<'a>> {
    let mut list = Vec::new();
    for (index, first) in names.iter().enumerate() {
        for second in &names[index + 1..] {
            let find = |name: &str, len: usize| {
                rows.iter().find(|row| row.implementation == name && row.len == len).copied()
            };
            let points: Vec<Point> = lengths
                .iter()
                .filter_map(|&len| Some(Point::new(len, find(first, len)?, find(second, len)?)))
                .collect();
            list.extend(changes(&points).map(|(leader, between, about)| {
                let (faster, than) = match leader {
                    Ordering::Greater => (*first, *second),
                    _ => (*second, *first),
                };
                Crossing { faster, than, between, about }
            }));
        }
    }
    list
}

/// Two implementations at one length.
struct Point {
    len: usize,
    /// The logarithm of how many times as fast the first is as the second.
    lead: f64,
    /// `Greater` if the first is certainly faster, `Less` if the second is.
    leader: Option<Ordering>,
}

impl Point {
    fn new(len: usize, first: &Row, second: &Row) -> Point {
        let lead = (second.ns_per_call / first.ns_per_call).ln();
        let leader = if !first.rounds.is_empty() && first.in_same_rounds(second) {
            speedup(&first.rounds, &second.rounds).side_of(1.0)
        } else {
            apart(&first.interval(), &second.interval())
        };
        Point { len, lead, leader: leader.filter(|_| lead.abs() > LEAST.ln_1p()) }
    }
}

/// Returns `Greater` if the first certainly takes less time, and `Less` if the second does, from
/// the two intervals alone.
fn apart(first: &Interval, second: &Interval) -> Option<Ordering> {
    if first.high? < second.low? {
        Some(Ordering::Greater)
    } else if second.high? < first.low? {
        Some(Ordering::Less)
    } else {
        None
    }
}

/// Returns, for each change, the implementation that is faster from there on, the lengths between
/// which it overtakes, and the estimate.
fn changes(points: &[Point]) -> impl Iterator<Item = (Ordering, (usize, usize), f64)> {
    let certain: Vec<usize> = (0..points.len()).filter(|&at| points[at].leader.is_some()).collect();
    certain
        .windows(2)
        .filter(|pair| points[pair[0]].leader != points[pair[1]].leader)
        .filter_map(|pair| {
            let between = &points[pair[0]..=pair[1]];
            Some((
                points[pair[1]].leader?,
                (points[pair[0]].len, points[pair[1]].len),
                meeting_point(between)?,
            ))
        })
        .collect::<Vec<_>>()
        .into_iter()
}

/// Returns the length at which the lead is 0 for the first time, by the logarithm of the length.
fn meeting_point(points: &[Point]) -> Option<f64> {
    let pair = points.windows(2).find(|pair| (pair[0].lead > 0.0) != (pair[1].lead > 0.0))?;
    let (from, to) = ((pair[0].len as f64).ln(), (pair[1].len as f64).ln());
    let part = pair[0].lead / (pair[0].lead - pair[1].lead);
    Some((from + part * (to - from)).exp())
}

/// Shows a length with about two digits, because the length is an estimate.
fn show_about(len: f64) -> String {
    let (value, unit) = match len {
        len if len < 1024.0 => (len, "B"),
        len if len < 1_048_576.0 => (len / 1024.0, "KiB"),
        len => (len / 1_048_576.0, "MiB"),
    };
    match value {
        value if value < 9.95 => format!("{value:.1} {unit}"),
        value if value < 99.5 => format!("{value:.0} {unit}"),
        value => format!("{:.0} {unit}", (value / 10.0).round() * 10.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns rows of an implementation that takes so many nanoseconds for the call and for each
    /// byte, each round a thousandth slower than the one before.
    fn curve(name: &str, call: f64, byte: f64, lengths: &[usize]) -> Vec<Row> {
        let row = |&len: &usize| {
            let ns = call + byte * len as f64;
            let rounds = (0..9).map(|k| ns * (1.0 + 0.001 * f64::from(k))).collect();
            Row::new("fill", name, len, 1000, rounds)
        };
        lengths.iter().map(row).collect()
    }

    fn text(rows: &[Row]) -> String {
        crossovers(&rows.iter().collect::<Vec<_>>()).unwrap_or_default()
    }

    const LENGTHS: [usize; 4] = [16, 64, 256, 1024];

    #[test]
    fn the_slow_start_overtakes_between_two_measured_lengths() {
        // Equal at 100 bytes.
        let mut rows = curve("headwater", 10.0, 1.0, &LENGTHS);
        rows.extend(curve("aws-lc", 60.0, 0.5, &LENGTHS));
        let text = text(&rows);
        assert!(text.contains("| 64 B and 256 B | aws-lc         | headwater (110 B) |"), "{text}");
    }

    #[test]
    fn what_is_not_certain_widens_the_interval() {
        let mut rows = curve("headwater", 10.0, 1.0, &LENGTHS);
        rows.extend(curve("aws-lc", 60.0, 0.5, &LENGTHS));
        rows[1].rounds = vec![91.0, 80.0, 105.0, 85.0, 100.0, 95.0, 91.0, 80.0, 105.0];
        let text = text(&rows);
        assert!(text.contains("| 16 B and 256 B |"), "{text}");
    }

    #[test]
    fn a_lead_below_three_in_a_hundred_is_none() {
        let mut rows = curve("headwater", 10.0, 1.0, &LENGTHS);
        rows.extend(curve("aws-lc", 10.1, 0.99, &LENGTHS));
        assert_eq!(text(&rows), "crossovers: no two of them swap places between 16 B and 1 KiB");
    }

    #[test]
    fn rows_of_an_old_report_have_no_rounds_and_their_intervals_serve() {
        let mut rows = curve("headwater", 10.0, 1.0, &LENGTHS);
        rows.extend(curve("aws-lc", 60.0, 0.5, &LENGTHS));
        rows.iter_mut().for_each(|row| row.rounds.clear());
        assert!(text(&rows).contains("| 64 B and 256 B | aws-lc "));
    }

    #[test]
    fn pairs_with_headwater_come_first_and_their_absence_is_said() {
        let mut rows = curve("headwater", 1.0, 0.1, &LENGTHS);
        rows.extend(curve("getrandom-vdso", 10.0, 1.0, &LENGTHS));
        rows.extend(curve("aws-lc", 60.0, 0.5, &LENGTHS));
        let first = text(&rows);
        assert!(first.contains("(no crossover concerns headwater between"), "{first}");
        rows.extend(curve("headwater-rng", 200.0, 0.1, &LENGTHS));
        let text = text(&rows);
        let lines: Vec<&str> = text.lines().skip(3).collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[..2].iter().all(|line| line.contains("| headwater-rng ")), "{text}");
        assert!(lines[2].contains("| 64 B and 256 B  | aws-lc "), "{text}");
        assert!(!text.contains("no crossover"), "{text}");
    }

    #[test]
    fn estimates_have_two_digits() {
        for (len, text) in [(17.4, "17 B"), (234.0, "230 B"), (1500.0, "1.5 KiB"), (2e6, "1.9 MiB")]
        {
            assert_eq!(show_about(len), text);
        }
    }
}
