//! A map of a target: one character for each part of it, in order.

use crate::document::TargetReport;
use crate::extent::{Extent, ExtentKind};
use headwater_text::size::{exact, rounded};
use std::fmt::Write;

/// Cells of a line of the map.
const COLUMNS: usize = 64;
/// Cells of the whole map.
const CELLS: u64 = 1024;

/// Characters of the kinds, in the order of [`ExtentKind::index`].
const MARKS: [char; ExtentKind::COUNT] = ['0', 'm', 'w', 'b', 'x', '!', '-'];

/// Content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// Every byte is right.
    Intact,
    /// The kind with the most wrong bytes.
    Wrong(usize),
    /// The run was stopped before.
    Unknown,
}

impl Cell {
    fn mark(self) -> char {
        match self {
            Cell::Intact => '.',
            Cell::Wrong(kind) => MARKS[kind],
            Cell::Unknown => ' ',
        }
    }
}

/// Returns bytes of a cell, a power of two from a sector on, and the cells of the range.
pub(crate) fn cells(report: &TargetReport) -> (u64, Vec<Cell>) {
    let len = report.to - report.from;
    let cell = len.div_ceil(CELLS).max(512).next_power_of_two();
    let mut bytes = vec![[0_u64; ExtentKind::COUNT]; len.div_ceil(cell) as usize];
    for extent in &report.found {
        share(report.from, cell, extent, &mut bytes);
    }
    let known = (report.verified_to - report.from).div_ceil(cell) as usize;
    let cells = bytes.iter().enumerate().map(|(i, bytes)| {
        let worst = (0..ExtentKind::COUNT).max_by_key(|&kind| bytes[kind]).unwrap_or(0);
        match bytes[worst] {
            0 if i < known => Cell::Intact,
            0 => Cell::Unknown,
            _ => Cell::Wrong(worst),
        }
    });
    (cell, cells.collect())
}

/// Adds the bytes of an extent to each cell that it touches.
fn share(from: u64, cell: u64, extent: &Extent, cells: &mut [[u64; ExtentKind::COUNT]]) {
    let (mut at, end) = (extent.from.saturating_sub(from), extent.to.saturating_sub(from));
    while at < end {
        let next = (at + 1).next_multiple_of(cell).min(end);
        if let Some(bytes) = cells.get_mut((at / cell) as usize) {
            bytes[extent.kind.index()] += next - at;
        }
        at = next;
    }
}

/// Returns the map as text: a line of cells with its offset in front. Intact lines that follow each
/// other are one line.
pub fn map(report: &TargetReport) -> String {
    let (cell, cells) = cells(report);
    let mut text = format!("{} a cell", exact(cell));
    let has = |wanted: fn(&Cell) -> bool| cells.iter().any(wanted);
    for (kind, words) in WORDS.iter().enumerate() {
        if cells.contains(&Cell::Wrong(kind)) {
            let _ = write!(text, ", {} {words}", MARKS[kind]);
        }
    }
    if has(|cell| *cell == Cell::Intact) {
        text.push_str(", . intact");
    }
    if has(|cell| *cell == Cell::Unknown) {
        text.push_str(", blank not read");
    }
    text.push('\n');
    let lines: Vec<&[Cell]> = cells.chunks(COLUMNS).collect();
    let is_intact = |line: &&[Cell]| line.iter().all(|cell| *cell == Cell::Intact);
    let mut i = 0;
    while i < lines.len() {
        let run = lines[i..].iter().take_while(|line| is_intact(line)).count();
        let offset = rounded(report.from + cell * (i * COLUMNS) as u64);
        if run > 2 {
            let _ = writeln!(text, "{offset:>12}  {run} lines intact");
            i += run;
            continue;
        }
        let marks: String = lines[i].iter().map(|cell| cell.mark()).collect();
        let _ = writeln!(text, "{offset:>12}  {}", marks.trim_end());
        i += 1;
    }
    text
}

/// The kinds in words, in the order of [`ExtentKind::index`].
pub(crate) const WORDS: [&str; ExtentKind::COUNT] =
    ["zeros", "elsewhere", "older seed", "flipped bit", "other data", "unreadable", "missing"];

#[cfg(test)]
mod tests {
    use super::*;

    fn report(to: u64, found: Vec<Extent>) -> TargetReport {
        let mut report = TargetReport::unread("x".to_owned(), String::new());
        (report.to, report.verified_to, report.found) = (to, to, found);
        report
    }

    #[test]
    fn each_cell_shows_its_commonest_damage() {
        let extent = |from, to, kind| Extent { from, to, kind };
        let report = report(
            4096,
            vec![
                extent(0, 512, ExtentKind::Zeros),
                extent(600, 601, ExtentKind::FlippedBit { bit: 0 }),
                extent(700, 710, ExtentKind::Other),
                extent(1500, 2100, ExtentKind::Unreadable),
            ],
        );
        assert_eq!(
            map(&report),
            "512 B a cell, 0 zeros, x other data, ! unreadable, . intact\n         0 B  0x!!!...\n"
        );
    }

    #[test]
    fn intact_lines_are_joined_and_unread_cells_blank() {
        let mut report = report(
            64 << 20,
            vec![Extent { from: 40 << 20, to: (40 << 20) + 1, kind: ExtentKind::Other }],
        );
        report.verified_to = 48 << 20;
        let map = map(&report);
        assert!(map.contains("64 KiB a cell"), "{map}");
        assert!(map.contains("10 lines intact"), "{map}");
        assert!(map.contains("    40.0 MiB  x....."), "{map}");
        assert!(map.contains("blank not read"), "{map}");
        assert!(map.lines().count() < 12, "{map}");
    }

    #[test]
    fn the_end_of_the_range_has_a_cell() {
        assert_eq!(cells(&report(1, Vec::new())).1.len(), 1);
        assert_eq!(cells(&report(0, Vec::new())).1.len(), 0);
        assert_eq!(cells(&report(1025, Vec::new())).1.len(), 3);
        assert!(cells(&report(1 << 50, Vec::new())).1.len() <= CELLS as usize);
    }
}
