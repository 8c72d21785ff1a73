//! How much faster headwater is than each other implementation, in the same rounds.

use crate::report::Row;
use crate::stats;

/// Who the others are compared with.
const SUBJECT: &str = "headwater";

/// Fills in [`Row::headwater_speedup`] of the rows that were measured beside headwater.
pub(crate) fn fill_in(rows: &mut [Row]) {
    let subjects: Vec<Row> =
        rows.iter().filter(|row| row.implementation == SUBJECT).cloned().collect();
    for row in rows.iter_mut().filter(|row| row.implementation != SUBJECT) {
        let subject = subjects.iter().find(|subject| same_comparison(subject, row));
        row.headwater_speedup = subject.map(|subject| stats::speedup(&subject.rounds, &row.rounds));
    }
}

/// Whether all but the implementation is the same, rounds included.
fn same_comparison(a: &Row, b: &Row) -> bool {
    let what = |row: &Row| (row.case.clone(), row.len, row.note.clone());
    let load = |row: &Row| (row.threads, row.procs, row.pin.clone());
    what(a) == what(b) && load(a) == load(b) && a.rounds.len() == b.rounds.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    #[test]
    fn ratios_are_to_headwater_in_the_same_comparison() {
        let row = |name: &str, len, ns: f64| Row::new("fill", name, len, 1, vec![ns; 6]);
        let mut rows = [
            row("urandom-read", 16, 40.0),
            row("headwater", 16, 4.0),
            row("urandom-read", 32, 40.0),
            row("headwater[hedged]", 16, 8.0),
        ];
        fill_in(&mut rows);
        let ratios = rows.map(|row| row.headwater_speedup);
        let ratio =
            |ratio: f64| Some(Interval { median: ratio, low: Some(ratio), high: Some(ratio) });
        assert_eq!(ratios, [ratio(10.0), None, None, ratio(2.0)]);
    }
}
