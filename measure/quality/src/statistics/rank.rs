//! Ranks of square matrices over GF(2) made of each bit plane's bits.
//!
//! A linear generator with a state of `s` bits makes no matrix of a rank above `s`, so a side up to
//! `s` shows nothing. Other batteries stop at side 32, which no generator in use fails. Therefore
//! the sides here go up to 4,096.

use super::{Test, TestPart, forwards, spread};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "rank",
    source: "Marsaglia and Tsay 1985; after TestU01's MatrixRank; elimination by four Russians' tables (Arlazarov et al. 1970; Bard's M4RI)",
    meaning: "Rows of bits depend on each other linearly more often than by chance: the generator is linear, or repeats itself.",
    unseen: "whether the bits depend on each other linearly",
    least: 64 * 64,
    costly: true,
    fits: forwards,
    run,
};

const SIDES: [usize; 5] = [64, 192, 320, 1024, 4096];

fn run(view: &View, effort: Effort) -> Vec<TestPart> {
    let mut parts = Vec::new();
    let planes = view.planes();
    for side in SIDES {
        let matrices = (view.values.len() / (side * side)).min(effort.matrices(side));
        let looked: Vec<usize> = match planes.len() {
            64 if side >= 1024 && !effort.thorough() => vec![0, 63],
            _ if side == 4096 && view.form.width != 64 => continue,
            count => (0..count).collect(),
        };
        if matrices == 0 {
            continue;
        }
        let mut smallest = Vec::with_capacity(looked.len());
        let mut missing = [0; 3];
        let mut matrix = Matrix::default();
        for &plane in &looked {
            let mut worst = 1.0_f64;
            let size = side * side / 64;
            let sequence = planes.get(plane);
            for at in spread(sequence.len() / size, matrices) {
                let square = &sequence[at * size..][..size];
                let rank = if side == 64 { rank_64(square) } else { matrix.rank(square, side) };
                missing[(side - rank).min(2)] += 1;
                worst = worst.min(at_least(side - rank));
            }
            smallest.push(worst);
        }
        let used = matrices * side * side; // bits of each plane
        let two = if looked.len() < planes.len() { ", two planes" } else { "" };
        let tally = Tally::Planes { smallest, each: matrices as u64 };
        parts.push(TestPart::new(format!("side {side}{two}"), used, tally));
        if looked.len() * matrices >= 64 {
            let chances = vec![chance(0), chance(1), at_least(2)];
            let tally = Tally::Cells { seen: missing.to_vec(), chances };
            parts.push(TestPart::new(format!("side {side}, all planes"), used, tally));
        }
    }
    parts
}

/// Returns the probability that a square matrix's rank is `missing` below its side, in the limit of
/// large sides. Side 64 agrees with the limit to 19 digits.
fn chance(missing: usize) -> f64 {
    let factor = |i: usize| 1.0 - 0.5_f64.powi(i as i32);
    let above: f64 = (missing + 1..=64.max(missing + 1)).map(factor).product();
    let below: f64 = (1..=missing).map(factor).product();
    0.5_f64.powi((missing * missing).min(2000) as i32) * above / below
}

/// Returns the probability of `missing` or more.
fn at_least(missing: usize) -> f64 {
    if missing == 0 { 1.0 } else { (missing..missing + 6).map(chance).sum() }
}

/// Reduces each row by the rows kept before, by their leading bits.
fn rank_64(rows: &[u64]) -> usize {
    let mut kept = [0_u64; 64];
    let mut rank = 0;
    for &row in rows {
        let mut row = row;
        while row != 0 {
            let lead = row.ilog2() as usize;
            if kept[lead] == 0 {
                kept[lead] = row;
                rank += 1;
                break;
            }
            row ^= kept[lead];
        }
    }
    rank
}

/// Elimination, eight columns at a time: the sum of pivots that a row needs is one entry of a table
/// of 256.
#[derive(Default)]
struct Matrix {
    rows: Vec<u64>,
    table: Vec<u64>,
}

impl Matrix {
    /// Returns the rank. `side` is a multiple of 64, and `bits` holds the rows one after the other.
    fn rank(&mut self, bits: &[u64], side: usize) -> usize {
        let stride = side / 64;
        self.rows.clear();
        self.rows.extend_from_slice(bits);
        let mut rank = 0;
        for strip in 0..side / 8 {
            let (word, shift) = (strip / 8, strip % 8 * 8);
            let pivots = self.pivots(rank, side, stride, word, shift);
            if pivots.is_empty() {
                continue;
            }
            let width = stride - word;
            self.combine(rank, &pivots, stride, word);
            let index = gather(&pivots);
            let done = rank + pivots.len();
            for row in self.rows[done * stride..].chunks_exact_mut(stride) {
                let entry = index[(row[word] >> shift & 0xff) as usize] as usize;
                if entry != 0 {
                    let sum = &self.table[entry * width..(entry + 1) * width];
                    row[word..].iter_mut().zip(sum).for_each(|(bits, sum)| *bits ^= sum);
                }
            }
            rank = done;
            if rank == side {
                break;
            }
        }
        rank
    }

    /// Moves up to eight rows that are independent in this strip to the place after `rank`, each
    /// reduced so that it alone has its leading bit. Returns these bits.
    fn pivots(
        &mut self,
        rank: usize,
        side: usize,
        stride: usize,
        word: usize,
        shift: usize,
    ) -> Vec<u8> {
        let mut leads: Vec<u8> = Vec::with_capacity(8);
        for candidate in rank..side {
            let byte = |rows: &[u64], row: usize| (rows[row * stride + word] >> shift) as u8;
            let mut value = byte(&self.rows, candidate);
            let mut used = 0_u8;
            for (i, &lead) in leads.iter().enumerate() {
                if value & lead != 0 {
                    value ^= byte(&self.rows, rank + i);
                    used |= 1 << i;
                }
            }
            if value == 0 {
                continue;
            }
            for i in (0..leads.len()).filter(|i| used >> i & 1 == 1) {
                self.add(rank + i, candidate, stride, word);
            }
            let place = rank + leads.len();
            if place != candidate {
                for i in 0..stride {
                    self.rows.swap(place * stride + i, candidate * stride + i);
                }
            }
            let lead = value & value.wrapping_neg();
            for i in 0..leads.len() {
                if byte(&self.rows, rank + i) & lead != 0 {
                    self.add(place, rank + i, stride, word);
                }
            }
            leads.push(lead);
            if leads.len() == 8 {
                break;
            }
        }
        leads
    }

    /// Adds row `from` to row `to`, from `word` on.
    fn add(&mut self, from: usize, to: usize, stride: usize, word: usize) {
        for i in word..stride {
            self.rows[to * stride + i] ^= self.rows[from * stride + i];
        }
    }

    /// Fills the table: entry `e` is the sum, from `word` on, of the pivots whose bits are set in
    /// `e`.
    fn combine(&mut self, rank: usize, pivots: &[u8], stride: usize, word: usize) {
        let width = stride - word;
        self.table.clear();
        self.table.resize(width << pivots.len(), 0);
        for entry in 1..1_usize << pivots.len() {
            let last = entry.ilog2() as usize;
            let without = entry & !(1 << last);
            let (done, rest) = self.table.split_at_mut(entry * width);
            let row = &self.rows[(rank + last) * stride + word..(rank + last + 1) * stride];
            let former = &done[without * width..(without + 1) * width];
            for ((sum, former), row) in rest[..width].iter_mut().zip(former).zip(row) {
                *sum = former ^ row;
            }
        }
    }
}

/// Returns for each byte of a strip the set of pivots whose leading bits it holds.
fn gather(pivots: &[u8]) -> [u8; 256] {
    std::array::from_fn(|byte| {
        let holds = |lead: u8| byte as u8 & lead != 0;
        pivots.iter().enumerate().fold(0, |sum, (i, &lead)| sum | u8::from(holds(lead)) << i)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_plain_elimination() {
        let mut rng = fastrand::Rng::with_seed(3);
        for side in [64, 128, 192, 320] {
            for kind in 0..8 {
                let mut rows: Vec<u64> = (0..side * side / 64).map(|_| rng.u64(..)).collect();
                let stride = side / 64;
                match kind {
                    0 => rows.fill(0),
                    1 => rows.fill(u64::MAX),
                    2 => (0..side).for_each(|i| rows.copy_within(..stride, i * stride)),
                    3 => (0..side / 2).for_each(|i| {
                        let from = i * stride..(i + 1) * stride;
                        rows.copy_within(from, (side - 1 - i) * stride);
                    }),
                    // Whole strips without a pivot.
                    4 => rows.iter_mut().for_each(|word| *word &= 0xffff_0000_ff00_00ff),
                    _ => {}
                }
                let expected = reference::statistics::binary_rank(&rows, side);
                assert_eq!(Matrix::default().rank(&rows, side), expected, "{side}, kind {kind}");
                if side == 64 {
                    assert_eq!(rank_64(&rows), expected);
                }
            }
        }
    }

    /// The numbers of all 4 x 4 matrices by rank are known: 1, 225, 7350, 37800, 20160. Side 64 is
    /// compared with the limit by counting.
    #[test]
    fn chances_are_those_of_counted_matrices() {
        let sum: f64 = (0..12).map(chance).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        let mut rng = fastrand::Rng::with_seed(4);
        let mut seen = [0_u64; 3];
        for _ in 0..20_000 {
            let rows: Vec<u64> = (0..64).map(|_| rng.u64(..)).collect();
            seen[(64 - rank_64(&rows)).min(2)] += 1;
        }
        let chances = vec![chance(0), chance(1), at_least(2)];
        let p = Tally::Cells { seen: seen.to_vec(), chances }.p();
        assert!(p > 1e-4, "{seen:?}: {p}");
    }
}
