//! Two records of one past: where they part, and what came twice after that.
//!
//! Each request has a mark, the cycle counter before it began. Up to the snapshot the marks of two clones are the same
//! memory; afterwards the counter goes on at each clone's own pace, and they differ in the first reading. So a request
//! whose marks are equal was begun before the snapshot and belongs to it; the last of these may have been in flight (at
//! most one per thread). One whose marks differ was begun in the clone, and nothing that it gives may come twice.

use crate::line::Line;
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What one thread drew, by iteration: for each witness the mark, and the bytes unless it is absent.
pub(crate) type Thread = BTreeMap<u64, Vec<Draw>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Draw {
    /// 0: this witness was left out in this iteration.
    pub(crate) mark: u64,
    pub(crate) bytes: Option<u128>,
}

/// The marks that a guest tells of one thread: iteration and mark.
pub(crate) fn parse_marks(line: &Line) -> Result<BTreeMap<u64, u64>> {
    let [first, step] = ["first", "step"].map(|key| line.number::<u64>(key));
    let (first, step) = first.zip(step).context("a line of marks lacks its numbers")?;
    let list = line.get("list").split(',').filter(|mark| !mark.is_empty());
    list.enumerate()
        .map(|(at, mark)| {
            Ok((first + at as u64 * step, u64::from_str_radix(mark, 16).context("a bad mark")?))
        })
        .collect()
}

pub(crate) fn parse_draw(line: &Line) -> Result<(u64, Vec<Draw>)> {
    let iteration = line.number("i").context("a draw lacks its number")?;
    let draws = line.get("list").split(',').map(|draw| {
        let (mark, bytes) = draw.split_once(':').context("a bad draw")?;
        let bytes = (!bytes.is_empty()).then(|| u128::from_str_radix(bytes, 16)).transpose();
        Ok(Draw {
            mark: u64::from_str_radix(mark, 16).context("a bad mark")?,
            bytes: bytes.context("bad bytes")?,
        })
    });
    Ok((iteration, draws.collect::<Result<_>>()?))
}

/// The last iteration of a thread whose mark both clones have alike, of those that were told.
///
/// `None`: the thread did not run again in one of them.
pub(crate) fn last_alike(a: &BTreeMap<u64, u64>, b: &BTreeMap<u64, u64>) -> Result<Option<u64>> {
    let both: Vec<(u64, bool)> = a
        .iter()
        .filter_map(|(iteration, mark)| Some((*iteration, b.get(iteration)? == mark)))
        .collect();
    match both.iter().rfind(|(_, alike)| *alike) {
        None if both.is_empty() => bail!("the clones have no iteration in common"),
        None => bail!("the ring was overrun: what was drawn at the snapshot is gone"),
        Some(&(last, _)) => Ok(both.iter().any(|(iteration, _)| *iteration > last).then_some(last)),
    }
}

/// What became of one witness.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Repeats {
    /// Requests begun after the clones parted, in the first of them.
    pub(crate) draws: usize,
    /// Those of them that hold 8 bytes which the other clone was given too.
    pub(crate) repeated: usize,
    /// Cycles from the parting to the last such request.
    pub(crate) last: u64,
    /// Those that began after the stamp had shown, in this clone, that something had happened.
    pub(crate) after_stamp: usize,
}

/// Everything that both clones drew after they parted.
pub(crate) struct Parted {
    clones: [Vec<Request>; 2],
    /// The last mark that both have: not later than the snapshot.
    pub(crate) at: u64,
    /// Threads that ran again in both.
    pub(crate) threads: usize,
}

struct Request {
    thread: usize,
    witness: usize,
    mark: u64,
    bytes: u128,
    stamped: bool,
}

impl Parted {
    /// From both clones' threads, each of which belongs to a process. `stamp` is the witness that holds the generation that
    /// headwater shows in that process.
    pub(crate) fn of<P: PartialEq>(
        a: &[Thread],
        b: &[Thread],
        processes: &[P],
        stamp: usize,
    ) -> Parted {
        let mut parted = Parted { clones: [Vec::new(), Vec::new()], at: 0, threads: 0 };
        let partings: Vec<_> = a.iter().zip(b).map(|(a, b)| parting(a, b)).collect();
        // The stamp at the snapshot is the last that any thread of the process drew: another may not have run for long.
        let before = |process: &P| {
            let threads = a.iter().zip(&partings).zip(processes).filter(|(_, its)| *its == process);
            let stamps = threads
                .filter_map(|((records, parting), _)| last_stamp(records, (*parting)?.0, stamp));
            stamps.max_by_key(|draw| draw.mark).and_then(|draw| draw.bytes)
        };
        for (thread, (a, b)) in a.iter().zip(b).enumerate() {
            let Some((last, mark)) = partings[thread] else { continue };
            let before = before(&processes[thread]);
            parted.at = parted.at.max(mark);
            let mut ran = true;
            for (clone, records) in [a, b].into_iter().enumerate() {
                let requests = after(records, last, thread, (stamp, before));
                ran &= !requests.is_empty();
                parted.clones[clone].extend(requests);
            }
            parted.threads += usize::from(ran);
        }
        parted
    }

    /// Cycles from the parting to the last request of the first clone.
    pub(crate) fn watched(&self) -> u64 {
        let last = self.clones[0].iter().map(|request| request.mark).max();
        last.unwrap_or(self.at).saturating_sub(self.at)
    }

    /// Of one witness, in these threads.
    pub(crate) fn repeats(&self, witness: usize, threads: &[usize]) -> Repeats {
        let of = |clone: usize| {
            self.clones[clone]
                .iter()
                .filter(move |it| it.witness == witness && threads.contains(&it.thread))
        };
        let other: HashSet<u64> = of(1).flat_map(|request| halves(request.bytes)).collect();
        let mut found = Repeats::default();
        for request in of(0) {
            found.draws += 1;
            if halves(request.bytes).iter().any(|half| other.contains(half)) {
                found.repeated += 1;
                found.last = found.last.max(request.mark.saturating_sub(self.at));
                found.after_stamp += usize::from(request.stamped);
            }
        }
        found
    }

    /// Eight bytes that one witness gave twice within one clone, which none may ever do.
    pub(crate) fn twice_within(&self, witness: usize) -> usize {
        let mut twice = 0;
        for clone in &self.clones {
            let mut seen = HashSet::new();
            let requests = clone.iter().filter(|request| request.witness == witness);
            twice += requests
                .flat_map(|request| halves(request.bytes))
                .filter(|half| !seen.insert(*half))
                .count();
        }
        twice
    }
}

/// Iteration and witness of the last request of a thread that was begun before the clones parted, and its mark.
fn parting(a: &Thread, b: &Thread) -> Option<((u64, usize), u64)> {
    let marks = |records: &Thread| -> HashMap<(u64, usize), u64> {
        let flat = records.iter().flat_map(|(iteration, draws)| {
            draws.iter().enumerate().map(move |(witness, draw)| ((*iteration, witness), draw.mark))
        });
        flat.filter(|(_, mark)| *mark != 0).collect()
    };
    let other = marks(b);
    // Places are in the order of drawing.
    marks(a).into_iter().filter(|(place, mark)| other.get(place) == Some(mark)).max()
}

/// The last stamp that a thread drew up to that request.
fn last_stamp(records: &Thread, last: (u64, usize), stamp: usize) -> Option<Draw> {
    let upto = records.range(..=last.0).rev().filter(|(iteration, _)| (**iteration, stamp) <= last);
    upto.map(|(_, draws)| draws.get(stamp).copied()).next()?
}

/// The requests of a thread after that one, and whether the stamp had changed by then from what it was before.
fn after(
    records: &Thread,
    last: (u64, usize),
    thread: usize,
    (stamp, before): (usize, Option<u128>),
) -> Vec<Request> {
    let mut stamped = false;
    let mut requests = Vec::new();
    for (iteration, draws) in records.range(last.0..) {
        for (witness, draw) in draws.iter().enumerate() {
            if (*iteration, witness) <= last || draw.mark == 0 {
                continue;
            }
            if witness == stamp {
                stamped = before.is_some() && draw.bytes != before;
            } else if let Some(bytes) = draw.bytes {
                requests.push(Request { thread, witness, mark: draw.mark, bytes, stamped });
            }
        }
    }
    requests
}

/// A request of 16 bytes as two words: a page may be shared out at any 8 bytes.
fn halves(bytes: u128) -> [u64; 2] {
    [(bytes >> 64) as u64, bytes as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: usize = 2;
    type Row = (u64, u64, [u128; 3]);

    /// Three witnesses: one that repeats, one that does not, and the stamp.
    fn thread(rows: &[Row]) -> Thread {
        let draws = |mark: u64, bytes: [u128; 3]| {
            (0..3).map(|at| Draw { mark: mark + at as u64, bytes: Some(bytes[at]) }).collect()
        };
        rows.iter().map(|&(iteration, mark, bytes)| (iteration, draws(mark, bytes))).collect()
    }

    /// Both halves of each are distinct from all others'.
    fn b(n: u128) -> u128 {
        n << 64 | (n + 1_000_000)
    }

    #[test]
    fn requests_begun_before_the_snapshot_are_exempt() {
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
        let parted = Parted::of(&[thread(&one)], &[thread(&two)], &[0], STAMP);
        assert_eq!((parted.at, parted.threads), (202, 1));
        assert_eq!(parted.watched(), 502 - 202); // the stamp at 503 is no request
        // The stamp of iteration 4 is drawn after its witness 0, so that only a later repeat comes after it.
        let expected = Repeats { draws: 3, repeated: 2, last: 401 - 202, after_stamp: 0 };
        assert_eq!(parted.repeats(0, &[0]), expected);
        assert_eq!(parted.repeats(1, &[0]), Repeats { draws: 3, ..Repeats::default() });
        assert_eq!(parted.repeats(0, &[1]).draws, 0);
    }

    #[test]
    fn a_repeat_after_the_stamp_is_told() {
        let one = thread(&[
            (1, 100, [b(1), b(2), 5]),
            (2, 201, [b(3), b(4), 6]),
            (3, 301, [b(8), b(5), 6]),
        ]);
        let two = thread(&[(1, 100, [b(1), b(2), 5]), (2, 222, [b(8), b(40), 5])]);
        assert_eq!(Parted::of(&[one], &[two], &[0], STAMP).repeats(0, &[0]).after_stamp, 1);
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
        let of = |processes: [u8; 2]| Parted::of(&one, &two, &processes, STAMP).repeats(0, &[0]);
        assert_eq!((of([0, 0]).repeated, of([0, 0]).after_stamp), (2, 0));
        assert_eq!(of([0, 1]).after_stamp, 1); // of another process, whose stamps are its own
    }

    #[test]
    fn a_snapshot_in_the_middle_of_an_iteration_parts_it_there() {
        let mut one = thread(&[(1, 100, [b(1), b(2), 5]), (2, 200, [b(3), b(4), 5])]);
        let mut two = one.clone();
        for (clone, mark) in [(&mut one, 777), (&mut two, 888)] {
            let draws = clone.get_mut(&2).unwrap();
            draws[1] = Draw { mark, bytes: Some(b(70)) };
            draws[2].mark = 0; // left out in this iteration: a mark of 0 is not one that both have
        }
        let parted = Parted::of(&[one], &[two], &[0], STAMP);
        assert_eq!(parted.repeats(1, &[0]).repeated, 1);
        assert_eq!(parted.repeats(0, &[0]).draws, 0);
    }

    #[test]
    fn half_a_request_is_a_repeat_and_so_is_one_of_another_thread() {
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
        let parted = Parted::of(&one, &two, &[0, 0], STAMP);
        assert_eq!(parted.repeats(0, &[0, 1]).repeated, 1);
        assert_eq!(parted.repeats(0, &[0]).repeated, 0);
        assert_eq!(parted.twice_within(0), 0);
    }

    #[test]
    fn what_comes_twice_within_a_clone_is_told() {
        let past: Row = (1, 100, [b(1), b(2), 5]);
        let one = thread(&[past, (2, 201, [b(20), b(4), 5]), (3, 301, [b(20), b(5), 5])]);
        let two = thread(&[past, (2, 222, [b(30), b(40), 5])]);
        assert_eq!(Parted::of(&[one], &[two], &[0], STAMP).twice_within(0), 2);
    }

    #[test]
    fn lines_of_the_guest_are_understood() {
        let marks =
            Line::parse("HW marks worker=0 first=64 step=64 begun=200 list=ff,100").unwrap();
        assert_eq!(parse_marks(&marks).unwrap(), BTreeMap::from([(64, 255), (128, 256)]));
        let line =
            Line::parse("HW draw i=7 list=1f:000000000000000000000000000000ff,0:,20:").unwrap();
        let (iteration, draws) = parse_draw(&line).unwrap();
        assert_eq!((iteration, draws.len()), (7, 3));
        assert_eq!(draws[0], Draw { mark: 31, bytes: Some(255) });
        assert_eq!(draws[2], Draw { mark: 32, bytes: None });
    }

    #[test]
    fn the_parting_is_found_and_an_overrun_ring_is_told() {
        let of = |marks: &[(u64, u64)]| BTreeMap::from_iter(marks.iter().copied());
        let a = of(&[(0, 5), (64, 6), (128, 7)]);
        assert_eq!(last_alike(&a, &of(&[(0, 5), (64, 9), (128, 8)])).unwrap(), Some(0));
        assert_eq!(last_alike(&a, &a).unwrap(), None);
        assert!(last_alike(&a, &of(&[(0, 8), (64, 9)])).is_err());
        assert!(last_alike(&a, &of(&[(192, 8)])).is_err());
    }
}
