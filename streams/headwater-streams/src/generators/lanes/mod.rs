//! Eight xoshiro256++ side by side, in the vectors of the CPU.

mod step;
mod vector;
mod x8;

use super::Xoshiro256pp;
use super::gf2;
pub(crate) use step::Path;
pub use x8::Xoshiro256ppX8;

/// Generators side by side.
pub(crate) const LANES: usize = 8;
/// One word of each.
pub(crate) type Row = [u64; LANES];

/// The states of all lanes: word `w` of lane `i` is `self.0[w][i]`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Lanes(pub(crate) [Row; 4]);

impl Lanes {
    /// No lanes yet: a state that no generator reaches.
    pub(crate) const ZERO: Lanes = Lanes([[0; LANES]; 4]);

    /// Starts lane `i` at `i` jumps of 2^128 words after `start`.
    pub(crate) fn from_jumps(start: &Xoshiro256pp) -> Lanes {
        let mut lanes = Lanes::ZERO;
        let mut lane = start.clone();
        for i in 0..LANES {
            lanes.set(i, lane.state());
            lane.jump();
        }
        lanes
    }

    fn lane(&self, i: usize) -> [u64; 4] {
        self.0.map(|row| row[i])
    }

    fn set(&mut self, i: usize, state: [u64; 4]) {
        self.0.iter_mut().zip(state).for_each(|(row, word)| row[i] = word);
    }

    /// Advances each lane by the same polynomial of the step.
    fn apply(&mut self, polynomial: &[u64; 4]) {
        for i in 0..LANES {
            let mut state = self.lane(i);
            gf2::apply::<Xoshiro256pp, 4>(&mut state, polynomial);
            self.set(i, state);
        }
    }
}
