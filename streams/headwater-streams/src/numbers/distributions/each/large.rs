//! Counts of large means, by the tests of [`near`](super::super::near) and then the whole ones.

use super::super::functions::select;
use super::super::near::Near;
use super::counts::TILE;
use super::lists::Lists;

/// A method whose large means have a test of [`Near`], and then the whole one. Its functions are
/// those of a trait, since a closure is not always inlined, and would be compiled for any CPU.
pub(super) trait Large<const N: usize> {
    /// Returns true if the mean is large, and the test.
    fn near(parameters: [f64; N], block: [u64; 2]) -> (bool, Near);

    /// Returns what the whole test accepts, or the table's count of a small mean.
    fn whole(parameters: [f64; N], block: [u64; 2]) -> f64;
}

/// The tests of a tile's proposals.
struct Tests {
    k: [f64; TILE],
    at_most: [f64; TILE],
    at_least: [f64; TILE],
}

impl Tests {
    /// Returns the tests, with this bound from below in the place of small means.
    #[inline(always)]
    fn new<L: Large<N>, const N: usize>(
        parameters: [&[f64; TILE]; N],
        blocks: &[[u64; 2]],
        small: f64,
    ) -> Tests {
        // As many blocks as there are lanes, since a loop that may end early is no vector code.
        let mut all = [[0; 2]; TILE];
        for (to, &block) in all.iter_mut().zip(blocks) {
            *to = block;
        }
        let mut tests = Tests { k: [0.0; TILE], at_most: [0.0; TILE], at_least: [0.0; TILE] };
        for i in 0..TILE {
            let (is_large, near) = L::near(parameters.map(|list| list[i]), all[i]);
            tests.k[i] = near.k;
            tests.at_most[i] = select(is_large, near.at_most, 1.0);
            tests.at_least[i] = select(is_large, near.at_least, small);
        }
        tests
    }

    /// Writes the counts that are accepted, otherwise NaN, by the whole test where one is open.
    #[inline(always)]
    fn decide<L: Large<N>, const N: usize>(
        &self,
        parameters: [&[f64; TILE]; N],
        blocks: &[[u64; 2]],
        out: &mut [f64],
    ) {
        let mut is_open = false;
        let tests = self.k.iter().zip(&self.at_most).zip(&self.at_least);
        for (out, ((&k, &at_most), &at_least)) in out.iter_mut().zip(tests) {
            *out = select(at_most <= 0.0, k, f64::NAN);
            is_open |= (at_most > 0.0) & (at_least <= 0.0);
        }
        if is_open {
            let lanes = out.iter_mut().zip(blocks).zip(self.at_most.iter().zip(&self.at_least));
            for (i, ((out, &block), (&at_most, &at_least))) in lanes.enumerate() {
                if at_most > 0.0 && at_least <= 0.0 {
                    *out = L::whole(parameters.map(|list| list[i]), block);
                }
            }
        }
    }
}

/// Writes the counts of large means that are accepted, otherwise NaN.
#[inline(always)]
pub(super) fn decide_large<L: Large<N>, const N: usize>(
    parameters: [&[f64; TILE]; N],
    blocks: &[[u64; 2]],
    out: &mut [f64],
) {
    Tests::new::<L, N>(parameters, blocks, 1.0).decide::<L, N>(parameters, blocks, out);
}

/// Writes the counts of the elements at these places that are accepted, otherwise NaN. Small means
/// have the count of their table.
#[inline(always)]
pub(super) fn decide<L: Large<N>, const N: usize>(
    lists: &Lists<N>,
    blocks: &[[u64; 2]],
    places: &[u16],
    out: &mut [f64],
) {
    let tiles = out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(places.chunks(TILE));
    for ((out, blocks), places) in tiles {
        let some = &lists.some::<TILE>(places);
        let parameters = some.each_ref();
        Tests::new::<L, N>(parameters, blocks, -1.0).decide::<L, N>(parameters, blocks, out);
    }
}
