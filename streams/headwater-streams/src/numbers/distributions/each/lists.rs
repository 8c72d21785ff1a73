//! Parameters of a chunk's elements, and distributions that are made beside each number.

use super::super::gamma::repeat;
use super::super::private::{By, CHUNK, LAST, MASK, Rejection, TILE};
use core::marker::PhantomData;

/// The parameters of one chunk's elements. Each list is repeated up to the chunk's end, so that
/// every place has one, and a mask keeps a place inside.
pub(super) struct Lists<const N: usize>([[f64; CHUNK]; N]);

impl<const N: usize> Lists<N> {
    /// Returns a copy of lists of at most [`CHUNK`] numbers.
    pub(super) fn new(lists: [&[f64]; N]) -> Lists<N> {
        let many = lists.iter().map(|list| list.len().min(CHUNK)).min().unwrap_or(0);
        Lists::made(many, |all| {
            for (all, list) in all.iter_mut().zip(lists) {
                all[..many].copy_from_slice(&list[..many]);
            }
        })
    }

    /// Returns the lists of which a function writes the first numbers.
    #[inline]
    pub(super) fn made(many: usize, write: impl FnOnce(&mut [[f64; CHUNK]; N])) -> Lists<N> {
        let mut lists = Lists([[0.0; CHUNK]; N]);
        write(&mut lists.0);
        for list in &mut lists.0 {
            repeat(list, many);
        }
        lists
    }

    /// Returns the parameters of the element at this place.
    #[inline(always)]
    pub(super) fn at(&self, place: usize) -> [f64; N] {
        self.0.each_ref().map(|list| list[place & MASK])
    }

    /// Returns the parameters of the elements at these places.
    #[inline(always)]
    pub(super) fn some<const TILE: usize>(&self, places: &[u16]) -> [[f64; TILE]; N] {
        // Not a map over the lists, which copies each of them once more.
        let mut some = [[0.0; TILE]; N];
        for (some, list) in some.iter_mut().zip(&self.0) {
            // After the last one come those of element 0, since a distribution has them.
            some.fill(list[0]);
            for (some, &place) in some.iter_mut().zip(places) {
                *some = list[usize::from(place) & MASK];
            }
        }
        some
    }

    /// Returns the parameters of the tile of this number.
    #[inline(always)]
    pub(super) fn tile<const TILE: usize>(&self, tile: usize) -> [&[f64; TILE]; N] {
        const { assert!(TILE.is_power_of_two() && TILE <= CHUNK) };
        self.0.each_ref().map(|list| &list.as_chunks().0[tile & (CHUNK / TILE - 1)])
    }
}

/// A distribution whose constants are quick to compute from its parameters, in vector code and
/// beside each number. Its functions are `#[inline(always)]` and have no branches.
pub(super) trait Quick<const N: usize>: Sync {
    /// Returns the distribution of parameters that fit.
    fn of(parameters: [f64; N]) -> Self;
}

/// A number that is a function of one block.
pub(super) trait OfBlock<const N: usize>: Quick<N> {
    /// Returns the number.
    fn number(&self, block: [u64; 2]) -> f64;
}

/// A method that accepts or rejects a proposal made of one block.
pub(super) trait Decided<const N: usize>: Quick<N> {
    /// Returns the proposal if it is accepted, otherwise NaN.
    fn decided(&self, block: [u64; 2]) -> f64;

    /// Returns the number of an element of which all attempts are rejected.
    fn fallback(&self) -> f64;
}

/// Distributions of elements that have parameters of their own.
pub(super) struct Each<'a, D, const N: usize> {
    lists: &'a Lists<N>,
    of: PhantomData<fn() -> D>,
}

impl<'a, D, const N: usize> Each<'a, D, N> {
    pub(super) fn new(lists: &'a Lists<N>) -> Each<'a, D, N> {
        Each { lists, of: PhantomData }
    }
}

impl<D: OfBlock<N>, const N: usize> By for Each<'_, D, N> {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (tile, (out, blocks)) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).enumerate() {
            let lists = self.lists.tile::<TILE>(tile);
            let many = out.len().min(blocks.len()).min(TILE);
            let (out, blocks) = (&mut out[..many], &blocks[..many]);
            for i in 0..many {
                out[i] = D::of(lists.map(|list| list[i])).number(blocks[i]);
            }
        }
    }
}

impl<D: Decided<N>, const N: usize> Rejection for Each<'_, D, N> {
    const ATTEMPTS: u16 = LAST + 1;
    const QUICK_DECIDES: bool = true;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (tile, (out, blocks)) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).enumerate() {
            let lists = self.lists.tile::<TILE>(tile);
            let many = out.len().min(blocks.len()).min(TILE);
            let (out, blocks) = (&mut out[..many], &blocks[..many]);
            for i in 0..many {
                out[i] = D::of(lists.map(|list| list[i])).decided(blocks[i]);
            }
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], places: &[u16], out: &mut [f64]) {
        for ((out, &block), &place) in out.iter_mut().zip(blocks).zip(places) {
            *out = D::of(self.lists.at(place.into())).decided(block);
        }
    }

    fn fallback(&self, place: usize) -> f64 {
        D::of(self.lists.at(place)).fallback()
    }
}
