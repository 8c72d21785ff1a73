//! Bytes that a key must give to be the library's: what was served, and what its pages hold.

use super::schedule::Row;
use std::collections::HashSet;

/// Bits of the filter that is asked first: it fits into the processor's second cache.
const BITS: usize = 20;

/// A set of rows that can be asked quickly.
pub struct Targets {
    filter: Vec<u64>,
    rows: HashSet<Row>,
}

impl Targets {
    /// Takes every row of the given bytes, at all multiples of 8.
    pub fn new<'a>(all: impl IntoIterator<Item = &'a [u8]>) -> Targets {
        let mut targets = Targets { filter: vec![0; (1 << BITS) / 64], rows: HashSet::new() };
        all.into_iter().flat_map(|bytes| rows(bytes, 8)).for_each(|(_, row)| targets.add(row));
        targets
    }

    /// Adds one row.
    pub fn add(&mut self, row: Row) {
        let bit = bit(&row);
        self.filter[bit / 64] |= 1 << (bit % 64);
        self.rows.insert(row);
    }

    /// Takes rows out again, which the filter does not notice.
    pub fn remove(&mut self, other: &Targets) {
        self.rows.retain(|row| !other.has(row));
    }

    /// Returns whether the row is one of them.
    pub fn has(&self, row: &Row) -> bool {
        let bit = bit(row);
        self.filter[bit / 64] >> (bit % 64) & 1 == 1 && self.rows.contains(row)
    }
}

fn bit(row: &Row) -> usize {
    let [a, b, c, ..] = *row;
    u32::from_le_bytes([a, b, c, 0]) as usize % (1 << BITS)
}

/// Lists the rows at each multiple of `step` that look random, with their places.
pub fn rows(bytes: &[u8], step: usize) -> impl Iterator<Item = (usize, Row)> + '_ {
    let windows = bytes.windows(16).enumerate().step_by(step);
    windows.map(|(at, row)| (at, row.try_into().expect("16 bytes"))).filter(|(_, row)| random(row))
}

/// Returns whether 16 bytes look random: at least 11 differ, as in all but one of a million that
/// are.
fn random(row: &Row) -> bool {
    let mut seen = [0u64; 4];
    row.iter().for_each(|byte| seen[usize::from(byte >> 6)] |= 1 << (byte & 63));
    seen.iter().map(|word| word.count_ones()).sum::<u32>() >= 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_at_multiples_of_eight() {
        let bytes: Vec<u8> = (0..64).map(|i| i * 3).collect();
        let targets = Targets::new([&bytes[..]]);
        assert!(targets.has(bytes[8..24].try_into().unwrap()));
        assert!(!targets.has(bytes[4..20].try_into().unwrap()));
        assert_eq!(rows(&[7; 64], 8).count(), 0);
    }
}
