//! When the kernel reseeded, and when a stamp of headwater was stale, as witnesses saw it while
//! they waited.
//!
//! A generation that moved between the planting and the draw proves nothing of the copies: a kernel
//! reseeds by its clock each minute, and a warm original waits for longer than that before it is
//! copied. So the witness looks at the generation all the time and notes the nanosecond of each
//! look. Its notes are copied with it, so looks from before the copy have the same nanosecond in
//! every copy, and a look that no other copy has came later. `compare` finds the copy by that.

use crate::post::Reseed;
use std::collections::VecDeque;

/// Looks that are kept, as the nanoseconds between two of them and their number: all of the last
/// three seconds, one a second of the two minutes before, one a minute of the hour before.
///
/// Why not the last looks alone? Because a reseed that comes later after the copy than they reach
/// back would seem to come as soon as they do.
const LOOKS: [(u64, usize); 3] = [(0, 150), (1_000_000_000, 120), (60_000_000_000, 60)];
/// Reseeds that are kept. The last ones matter, because a copy is drawn from soon after it is made.
pub(crate) const KEPT: usize = 8;

/// The notes of a witness on a number that moves.
#[derive(Default)]
pub(super) struct Watch {
    generation: Option<u64>,
    looks: [VecDeque<u64>; LOOKS.len()],
    seen: VecDeque<Reseed>,
}

impl Watch {
    /// Notes the number as it is now, or None where it cannot be read.
    pub(super) fn look(&mut self, number: Option<u64>) {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let ns = u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
            + u64::try_from(time.tv_nsec).unwrap_or(0);
        self.note(number, ns);
    }

    fn note(&mut self, generation: Option<u64>, ns: u64) {
        if let (Some(new), Some(old)) = (generation, self.generation)
            && new != old
        {
            if self.seen.len() == KEPT {
                self.seen.pop_front();
            }
            let looks = self.looks.iter().rev().flatten().copied().collect();
            self.seen.push_back(Reseed { generation: new, ns, looks });
        }
        self.generation = generation.or(self.generation);
        let mut leaving = Some(ns);
        for (looks, (apart, most)) in self.looks.iter_mut().zip(LOOKS) {
            // A look that left the looks of a level is the newest of the next.
            let Some(ns) = leaving.take() else { break };
            if looks.back().is_none_or(|last| ns.saturating_sub(*last) >= apart) {
                looks.push_back(ns);
            }
            if looks.len() > most {
                leaving = looks.pop_front();
            }
        }
    }

    /// Returns the reseeds that were seen, oldest first.
    pub(super) fn seen(&self) -> Vec<Reseed> {
        self.seen.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reseed_is_noted_with_the_looks_before_it() {
        let mut watch = Watch::default();
        for (generation, ns) in [(Some(4), 10), (Some(4), 20), (None, 30), (Some(5), 40)] {
            watch.note(generation, ns);
        }
        assert_eq!(watch.seen(), [Reseed { generation: 5, ns: 40, looks: vec![10, 20, 30] }]);
        for ns in 41..1_000 {
            watch.note(Some(ns), ns);
        }
        assert_eq!(watch.seen().len(), KEPT);
        // All of the first level, and the first look of the second.
        assert_eq!(watch.seen()[KEPT - 1].looks.len(), LOOKS[0].1 + 1);
    }

    /// A copy of up to an hour ago has a look shortly before it.
    #[test]
    fn looks_reach_back_to_a_copy_of_long_ago() {
        let mut watch = Watch::default();
        let (every, end) = (20_000_000, 5_000_000_000_000);
        for ns in (every..=end).step_by(20_000_000) {
            watch.note(Some(1), ns);
        }
        watch.note(Some(2), end + every);
        let looks = &watch.seen()[0].looks;
        assert!(looks.is_sorted_by(|a, b| a < b), "{looks:?}");
        assert_eq!(looks.len(), 150 + 120 + 60);
        for (age, within) in [(1, 0), (2, 0), (4, 1), (60, 1), (120, 1), (180, 61), (3_600, 61)] {
            let copied = end - age * 1_000_000_000;
            let before = looks.iter().rfind(|look| **look <= copied);
            let before = before.expect("a look before the copy");
            assert!(copied - before <= within * 1_000_000_000, "{age} s: {before}");
        }
    }
}
