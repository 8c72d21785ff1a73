//! Comparison of two clones: the point where they diverge, and the bytes that both drew after it.
//!
//! Equal bytes in two clones prove nothing yet: a draw that began before the snapshot is in the
//! memory of both, and rightly so. So each draw has a mark, the cycle counter before it began. Up
//! to the snapshot, the marks of both clones are the same memory, but after it each clone's counter
//! advances at its own pace, so that the first reading differs already. Therefore a draw with equal
//! marks began before the snapshot and belongs to it; at most one per thread was in flight then. If
//! the marks differ, the draw began in the clone, and its bytes must never appear in the other
//! clone.

use anyhow::{Result, bail};
use headwater_lab_protocol::Draw;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The draws of one thread by round: one of each witness.
pub(crate) type Thread = BTreeMap<u64, Vec<Draw>>;

/// Returns the last round of a thread whose mark is equal in both clones, among the marks that were
/// sent.
///
/// `None`: the thread did not run again in one of the clones.
///
/// # Errors
///
/// If no round is in both, or if the rings no longer hold the rounds at the snapshot.
pub(crate) fn last_equal(a: &BTreeMap<u64, u64>, b: &BTreeMap<u64, u64>) -> Result<Option<u64>> {
    let both: Vec<(u64, bool)> =
        a.iter().filter_map(|(round, mark)| Some((*round, b.get(round)? == mark))).collect();
    match both.iter().rfind(|(_, equal)| *equal) {
        None if both.is_empty() => bail!("the clones have no round in common"),
        None => bail!("the ring was overrun: the draws at the snapshot are lost"),
        Some(&(last, _)) => Ok(both.iter().any(|(round, _)| *round > last).then_some(last)),
    }
}

/// Repeats of one witness.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Repeats {
    /// Draws that began after the divergence, in the first clone.
    pub(crate) draws: usize,
    /// Draws among them with 8 bytes that the other clone drew too.
    pub(crate) repeated: usize,
    /// Cycles from the divergence to the last such draw.
    pub(crate) last: u64,
    /// Repeats that began after the stamp had changed in this clone.
    pub(crate) after_stamp: usize,
}

/// All draws of both clones after they diverged.
pub(crate) struct Divergence {
    clones: [Vec<ClonedDraw>; 2],
    /// The last mark that both have: not later than the snapshot.
    pub(crate) at: u64,
    /// Threads that ran again in both clones.
    pub(crate) threads: usize,
}

struct ClonedDraw {
    thread: usize,
    witness: usize,
    mark: u64,
    bytes: u128,
    /// The stamp had changed in this clone before the draw began.
    stamped: bool,
}

impl Divergence {
    /// Compares the threads of both clones. `processes` names each thread's process, and `stamp` is
    /// the witness that holds the generation which headwater shows in that process.
    pub(crate) fn between<P: PartialEq>(
        a: &[Thread],
        b: &[Thread],
        processes: &[P],
        stamp: usize,
    ) -> Divergence {
        let mut divergence = Divergence { clones: [Vec::new(), Vec::new()], at: 0, threads: 0 };
        let points: Vec<_> = a.iter().zip(b).map(|(a, b)| last_shared(a, b)).collect();
        // The stamp at the snapshot is the last that any thread of the process drew, because a
        // preempted thread may hold an older one.
        let stamp_at_snapshot = |process: &P| {
            let threads =
                a.iter().zip(&points).zip(processes).filter(|(_, other)| *other == process);
            let stamps =
                threads.filter_map(|((rounds, point), _)| last_stamp(rounds, (*point)?.0, stamp));
            stamps.max_by_key(|draw| draw.mark).and_then(|draw| draw.bytes)
        };
        for (thread, (a, b)) in a.iter().zip(b).enumerate() {
            let Some((last, mark)) = points[thread] else { continue };
            let before = stamp_at_snapshot(&processes[thread]);
            divergence.at = divergence.at.max(mark);
            let mut ran = true;
            for (clone, rounds) in [a, b].into_iter().enumerate() {
                let draws = draws_after(rounds, last, thread, (stamp, before));
                ran &= !draws.is_empty();
                divergence.clones[clone].extend(draws);
            }
            divergence.threads += usize::from(ran);
        }
        divergence
    }

    /// Counts cycles from the first clone's first draw. The counter of a machine that was off
    /// begins again, so its marks are below those from before, and no time lies between the two.
    pub(crate) fn count_from_the_first_draw(&mut self) {
        self.at = self.clones[0].iter().map(|draw| draw.mark).min().unwrap_or(self.at);
    }

    /// Returns the cycles from the divergence to the last draw of the first clone.
    pub(crate) fn watched(&self) -> u64 {
        let last = self.clones[0].iter().map(|draw| draw.mark).max();
        last.unwrap_or(self.at).saturating_sub(self.at)
    }

    /// Returns the repeats of one witness in these threads.
    pub(crate) fn repeats(&self, witness: usize, threads: &[usize]) -> Repeats {
        let draws = |clone: usize| {
            self.clones[clone]
                .iter()
                .filter(move |draw| draw.witness == witness && threads.contains(&draw.thread))
        };
        let other: HashSet<u64> = draws(1).flat_map(|draw| halves(draw.bytes)).collect();
        let mut found = Repeats::default();
        for draw in draws(0) {
            found.draws += 1;
            if halves(draw.bytes).iter().any(|half| other.contains(half)) {
                found.repeated += 1;
                found.last = found.last.max(draw.mark.saturating_sub(self.at));
                found.after_stamp += usize::from(draw.stamped);
            }
        }
        found
    }

    /// Returns the number of 8-byte words that one witness repeated within one clone. No generator
    /// may ever do so.
    pub(crate) fn repeats_within(&self, witness: usize) -> usize {
        let mut repeats = 0;
        for clone in &self.clones {
            let mut seen = HashSet::new();
            let draws = clone.iter().filter(|draw| draw.witness == witness);
            repeats += draws
                .flat_map(|draw| halves(draw.bytes))
                .filter(|half| !seen.insert(*half))
                .count();
        }
        repeats
    }
}

/// Returns round and witness of a thread's last draw that began before the divergence, and its
/// mark.
fn last_shared(a: &Thread, b: &Thread) -> Option<((u64, usize), u64)> {
    let marks = |rounds: &Thread| -> HashMap<(u64, usize), u64> {
        let flat = rounds.iter().flat_map(|(round, draws)| {
            draws.iter().enumerate().map(move |(witness, draw)| ((*round, witness), draw.mark))
        });
        // A mark of 0 stands for a witness that was left out, and is equal in all clones.
        flat.filter(|(_, mark)| *mark != 0).collect()
    };
    let other = marks(b);
    // Round and witness are in the order of drawing.
    marks(a).into_iter().filter(|(place, mark)| other.get(place) == Some(mark)).max()
}

/// Returns the last stamp that a thread drew up to that draw.
fn last_stamp(rounds: &Thread, last: (u64, usize), stamp: usize) -> Option<Draw> {
    let upto = rounds.range(..=last.0).rev().filter(|(round, _)| (**round, stamp) <= last);
    upto.map(|(_, draws)| draws.get(stamp).copied()).next()?
}

/// Returns a thread's draws after that one. Each notes whether the stamp had changed by then.
fn draws_after(
    rounds: &Thread,
    last: (u64, usize),
    thread: usize,
    (stamp, before): (usize, Option<[u8; 16]>),
) -> Vec<ClonedDraw> {
    let mut stamped = false;
    let mut after = Vec::new();
    for (round, draws) in rounds.range(last.0..) {
        for (witness, draw) in draws.iter().enumerate() {
            if (*round, witness) <= last || draw.mark == 0 {
                continue;
            }
            if witness == stamp {
                stamped = before.is_some() && draw.bytes != before;
            } else if let Some(bytes) = draw.bytes {
                let bytes = u128::from_be_bytes(bytes);
                after.push(ClonedDraw { thread, witness, mark: draw.mark, bytes, stamped });
            }
        }
    }
    after
}

/// Returns the two words of a draw. A page may be shared out at any 8 bytes.
pub(crate) fn halves(bytes: u128) -> [u64; 2] {
    [(bytes >> 64) as u64, bytes as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice;

    const STAMP: usize = 2;
    type Row = (u64, u64, [u128; 3]);

    /// Makes a thread with three witnesses: one that repeats, one that does not, and the stamp.
    fn thread(rows: &[Row]) -> Thread {
        let draws = |mark: u64, bytes: [u128; 3]| {
            let draw = |at: usize| Some(bytes[at].to_be_bytes());
            (0..3).map(|at| Draw { mark: mark + at as u64, bytes: draw(at) }).collect()
        };
        rows.iter().map(|&(round, mark, bytes)| (round, draws(mark, bytes))).collect()
    }

    /// Returns bytes whose two halves differ from those of every other number.
    fn b(n: u128) -> u128 {
        n << 64 | (n + 1_000_000)
    }

    #[test]
    fn draws_begun_before_the_snapshot_are_exempt() {
        let shared: [Row; 2] = [(1, 100, [b(1), b(2), 5]), (2, 200, [b(3), b(4), 5])];
        let mut one = shared.to_vec();
        one.extend([
            (3, 301, [b(9), b(5), 5]),
            (4, 401, [b(10), b(6), 6]),
            (5, 501, [b(11), b(7), 6]),
        ] as [Row; 3]);
        let mut two = shared.to_vec();
        two.extend([
            (3, 333, [b(9), b(50), 5]),
            (4, 444, [b(10), b(60), 5]),
            (5, 555, [b(12), b(70), 6]),
        ] as [Row; 3]);
        let divergence = Divergence::between(&[thread(&one)], &[thread(&two)], &[0], STAMP);
        assert_eq!((divergence.at, divergence.threads), (202, 1));
        assert_eq!(divergence.watched(), 502 - 202); // the stamp at 503 is not a draw
        // The stamp of round 4 is drawn after its witness 0, so only a later repeat comes after it.
        let expected = Repeats { draws: 3, repeated: 2, last: 401 - 202, after_stamp: 0 };
        assert_eq!(divergence.repeats(0, &[0]), expected);
        assert_eq!(divergence.repeats(1, &[0]), Repeats { draws: 3, ..Repeats::default() });
        assert_eq!(divergence.repeats(0, &[1]).draws, 0);
    }

    #[test]
    fn a_repeat_after_the_stamp_is_counted() {
        let one = thread(&[
            (1, 100, [b(1), b(2), 5]),
            (2, 201, [b(3), b(4), 6]),
            (3, 301, [b(8), b(5), 6]),
        ]);
        let two = thread(&[(1, 100, [b(1), b(2), 5]), (2, 222, [b(8), b(40), 5])]);
        let divergence = Divergence::between(&[one], &[two], &[0], STAMP);
        assert_eq!(divergence.repeats(0, &[0]).after_stamp, 1);
    }

    /// Without a stamp at the snapshot, no later stamp shows a change.
    #[test]
    fn an_absent_stamp_never_changes() {
        let mut one = thread(&[(1, 100, [b(1), b(2), 5]), (2, 201, [b(3), b(4), 6])]);
        let mut two = thread(&[(1, 100, [b(1), b(2), 5]), (2, 222, [b(30), b(40), 6])]);
        for clone in [&mut one, &mut two] {
            clone.get_mut(&1).unwrap()[STAMP].bytes = None;
            let again = clone[&2].clone();
            clone.insert(3, again);
        }
        two.get_mut(&3).unwrap()[0].bytes = Some(b(77).to_be_bytes());
        one.get_mut(&3).unwrap()[0].bytes = Some(b(77).to_be_bytes());
        let found = Divergence::between(&[one], &[two], &[0], STAMP).repeats(0, &[0]);
        assert_eq!((found.repeated, found.after_stamp), (1, 0));
    }

    /// The kernel reseeded before the snapshot, and only one thread of the process had run since.
    #[test]
    fn the_stamp_at_the_snapshot_is_the_last_of_the_process() {
        let (old, new): (Row, Row) = ((1, 100, [b(1), b(2), 5]), (1, 150, [b(1), b(2), 6]));
        let one = [
            thread(&[old, (2, 201, [b(20), b(4), 6]), (3, 301, [b(22), b(8), 6])]),
            thread(&[new]),
        ];
        let two = [
            thread(&[old, (2, 222, [b(20), b(40), 6]), (3, 333, [b(22), b(9), 6])]),
            thread(&[new]),
        ];
        let repeats = |processes: [u8; 2]| {
            Divergence::between(&one, &two, &processes, STAMP).repeats(0, &[0])
        };
        assert_eq!((repeats([0, 0]).repeated, repeats([0, 0]).after_stamp), (2, 0));
        assert_eq!(repeats([0, 1]).after_stamp, 1); // stamps of another process do not count
    }

    #[test]
    fn a_snapshot_in_the_middle_of_a_round_divides_it_there() {
        let mut one = thread(&[(1, 100, [b(1), b(2), 5]), (2, 200, [b(3), b(4), 5])]);
        let mut two = one.clone();
        for (clone, mark) in [(&mut one, 777), (&mut two, 888)] {
            let draws = clone.get_mut(&2).unwrap();
            draws[1] = Draw { mark, bytes: Some(b(70).to_be_bytes()) };
            draws[2].mark = 0; // left out of this round: not a mark that both have
        }
        let divergence = Divergence::between(&[one], &[two], &[0], STAMP);
        assert_eq!(divergence.repeats(1, &[0]).repeated, 1);
        assert_eq!(divergence.repeats(0, &[0]).draws, 0);
    }

    #[test]
    fn half_a_draw_is_a_repeat_and_so_is_one_of_another_thread() {
        let past: Row = (1, 100, [b(1), b(2), 5]);
        let one = [
            thread(&[past, (2, 201, [b(20), b(4), 5])]),
            thread(&[past, (2, 211, [b(21), b(5), 5])]),
        ];
        let shifted = b(20) << 64 | 77; // the second half of the one is the first of the other
        let two = [
            thread(&[past, (2, 222, [b(30), b(40), 5])]),
            thread(&[past, (2, 232, [shifted, b(50), 5])]),
        ];
        let divergence = Divergence::between(&one, &two, &[0, 0], STAMP);
        assert_eq!(divergence.repeats(0, &[0, 1]).repeated, 1);
        assert_eq!(divergence.repeats(0, &[0]).repeated, 0);
        assert_eq!(divergence.repeats_within(0), 0);
    }

    #[test]
    fn a_repeat_within_a_clone_is_counted() {
        let past: Row = (1, 100, [b(1), b(2), 5]);
        let one = thread(&[past, (2, 201, [b(20), b(4), 5]), (3, 301, [b(20), b(5), 5])]);
        let two = thread(&[past, (2, 222, [b(30), b(40), 5])]);
        let divergence = Divergence::between(
            std::slice::from_ref(&one),
            std::slice::from_ref(&two),
            &[0],
            STAMP,
        );
        assert_eq!(divergence.repeats_within(0), 2);
        // The second clone counts as well.
        assert_eq!(Divergence::between(&[two], &[one], &[0], STAMP).repeats_within(0), 2);
    }

    /// A thread that did not run again in one clone has no part in the comparison.
    #[test]
    fn a_thread_counts_only_if_it_ran_in_both_clones() {
        let past: Row = (1, 100, [b(1), b(2), 5]);
        let one = thread(&[past, (2, 201, [b(20), b(4), 5])]);
        let still = thread(&[past]);
        let never = Thread::new();
        let threads = |a: &Thread, b: &Thread| {
            Divergence::between(slice::from_ref(a), slice::from_ref(b), &[0], STAMP).threads
        };
        assert_eq!(threads(&one, &still), 0);
        assert_eq!(threads(&still, &one), 0);
        assert_eq!(threads(&never, &never), 0);
        let two = thread(&[past, (2, 222, [b(30), b(40), 5])]);
        assert_eq!(threads(&one, &two), 1);
    }

    #[test]
    fn the_last_equal_round_is_found_and_an_overrun_ring_is_an_error() {
        let of = |marks: &[(u64, u64)]| BTreeMap::from_iter(marks.iter().copied());
        let a = of(&[(0, 5), (64, 6), (128, 7)]);
        assert_eq!(last_equal(&a, &of(&[(0, 5), (64, 9), (128, 8)])).unwrap(), Some(0));
        assert_eq!(last_equal(&a, &of(&[(0, 5), (64, 6), (128, 8)])).unwrap(), Some(64));
        assert_eq!(last_equal(&a, &a).unwrap(), None);
        assert!(last_equal(&a, &of(&[(0, 8), (64, 9)])).is_err());
        assert!(last_equal(&a, &of(&[(192, 8)])).is_err());
    }
}
