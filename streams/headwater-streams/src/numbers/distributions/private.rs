//! Elements that own blocks, and methods that reject some of what they propose.
//!
//! Block j of element e in a domain has the counter (stream, 2^15 + 2^9 domain + j, e). Domain, j
//! and e have bits of their own, so no two elements share a block, whatever they reject. The
//! element is in the lowest bits, so the first blocks of a range are one run of draw 2^15 + 2^9
//! domain, as fast to make as any array. Further blocks are scattered, but few elements are
//! rejected: these are gathered, and their next blocks made together.

use crate::numbers::fill::Aligned;
use crate::numbers::path::{Kernel, Path};
use crate::words::Words;

/// Elements made at a time: their blocks and values take 9 KiB, and a quarter of that in C, where a
/// thread with the smallest stack must have room for them. A power of two, so that a mask keeps an
/// index inside, without a panic that the C library would have to bring along. At most 2^16, the
/// number of places that 16 bits can name.
pub(super) const CHUNK: usize = if cfg!(feature = "std") { 512 } else { 64 };
pub(super) const MASK: usize = CHUNK - 1;
/// Elements up to which a request has buffers of this length. Most programs draw one or ten at a
/// time, and the buffers of a chunk take longer to clear than so few elements to make. But C has
/// one length only, because the second one would double the code of each method.
pub(super) const FEW: usize = 16;
/// Returns true for a request that is made in the short buffers.
pub(super) const fn is_few(len: usize) -> bool {
    cfg!(feature = "std") && len <= FEW
}
/// Loops over lists run in multiples of this number, since the rest of a vector loop is slow. So
/// the elements after the list are computed and not used.
const LANES: usize = 8;

/// The fields of a private block's draw, above the bit that is set in all of them.
const BLOCK_BITS: u32 = 9;
const DOMAIN_BITS: u32 = 6;
const PRIVATE: u16 = 1 << 15;
const _: () = assert!(BLOCK_BITS + DOMAIN_BITS == 15);

/// The last block of an element.
pub(super) const LAST: u16 = (1 << BLOCK_BITS) - 1;

/// The part of an element's blocks that one method owns. The numbers are part of the specification.
#[derive(Clone, Copy, Debug)]
pub(super) enum Domain {
    Gamma = 0,
    BetaFirst = 1,
    BetaSecond = 2,
    StudentT = 3,
    Poisson = 4,
    Binomial = 5,
    TruncatedNormal = 6,
    VonMises = 7,
    Dirichlet = 8,
    Multinomial = 9,
    Sobol = 10,
    FisherFirst = 11,
    FisherSecond = 12,
    Wald = 13,
    Zipf = 14,
    LogSeries = 15,
    NegativeBinomialMean = 16,
    NegativeBinomial = 17,
    NoncentralFirst = 18,
    NoncentralSecond = 19,
    NoncentralThird = 20,
    NoncentralFFirst = 21,
    NoncentralFSecond = 22,
    NoncentralFThird = 23,
    NoncentralFBelow = 24,
    Hypergeometric = 25,
    MultivariateHypergeometric = 26,
    LogGamma = 27,
    Maxwell = 28,
}

impl Domain {
    /// Returns the draw in which block `block` of each element lies.
    pub(super) const fn draw(self, block: u16) -> u16 {
        debug_assert!(block <= LAST);
        PRIVATE | (self as u16) << BLOCK_BITS | block
    }
}

/// The elements of one chunk.
#[derive(Clone, Copy)]
enum Places<'a> {
    From(u64),
    List(&'a [u64]),
}

/// The words of one chunk of elements.
pub(crate) struct Source<'a, W> {
    pub(super) path: Path,
    words: &'a W,
    places: Places<'a>,
}

impl<'a, W: Words> Source<'a, W> {
    /// Returns the words of elements `start` and following.
    pub(super) fn of_run(path: Path, words: &'a W, start: u64) -> Source<'a, W> {
        Source { path, words, places: Places::From(start) }
    }

    /// Returns the words of the elements with these numbers, at most [`CHUNK`] of them.
    pub(super) fn of_list(path: Path, words: &'a W, list: &'a [u64]) -> Source<'a, W> {
        Source { path, words, places: Places::List(list) }
    }

    /// Writes block `block` of each element.
    pub(super) fn blocks(&self, domain: Domain, block: u16, out: &mut [[u64; 2]]) {
        match self.places {
            Places::From(start) => self.words.blocks(domain.draw(block), start, out),
            Places::List(list) => self.words.blocks_at(domain.draw(block), list, out),
        }
    }

    /// Writes block `block` of some elements of the chunk, by their places in it.
    pub(super) fn some_blocks(
        &self,
        domain: Domain,
        block: u16,
        places: &[u16],
        out: &mut [[u64; 2]],
    ) {
        // A few at a time: an array of all would take longer to clear than most lists.
        let mut indices = [0; TILE];
        for (places, out) in places.chunks(TILE).zip(out.chunks_mut(TILE)) {
            for (index, &place) in indices.iter_mut().zip(places) {
                *index = match self.places {
                    Places::From(start) => start.wrapping_add(place.into()),
                    Places::List(list) => list.get(usize::from(place)).copied().unwrap_or_default(),
                };
            }
            let many = places.len().min(out.len()).min(TILE);
            self.words.blocks_at(domain.draw(block), &indices[..many], &mut out[..many]);
        }
    }
}

/// A distribution whose elements own blocks.
pub(crate) trait Sampler<T>: Sync {
    /// Writes the numbers of one chunk, at most [`CHUNK`] of them.
    fn chunk<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]);

    /// Converts numbers to their type.
    fn values(&self, path: Path, made: &[f64], out: &mut [T]);
}

/// Implements [`Sampler`] of both precisions for distributions with a method `chunk`.
macro_rules! real_samplers {
    ($($sampler:ty),*) => {$(
        impl<T: $crate::numbers::distributions::Real> Sampler<T> for $sampler {
            fn chunk<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
                self.numbers(source, out);
            }

            fn values(&self, _: $crate::numbers::path::Path, made: &[f64], out: &mut [T]) {
                for (out, &made) in out.iter_mut().zip(made) {
                    *out = T::rounded(made);
                }
            }
        }
    )*};
}

pub(super) use real_samplers;

/// Writes elements `start..start + out.len()`, which exist.
pub(crate) fn fill<T, W: Words>(
    path: Path,
    words: &W,
    sampler: &impl Sampler<T>,
    start: u64,
    out: &mut [T],
) {
    for (out, start) in out.chunks_mut(CHUNK).zip((start..).step_by(CHUNK)) {
        one_chunk(sampler, &Source::of_run(path, words, start), out);
    }
}

/// Writes the elements with these numbers, which exist.
pub(crate) fn at<T, W: Words>(
    path: Path,
    words: &W,
    sampler: &impl Sampler<T>,
    indices: &[u64],
    out: &mut [T],
) {
    for (out, indices) in out.chunks_mut(CHUNK).zip(indices.chunks(CHUNK)) {
        one_chunk(sampler, &Source::of_list(path, words, indices), out);
    }
}

fn one_chunk<T, W: Words>(sampler: &impl Sampler<T>, source: &Source<'_, W>, out: &mut [T]) {
    match is_few(out.len()) {
        true => one_chunk_of::<T, W, FEW>(sampler, source, out),
        false => one_chunk_of::<T, W, CHUNK>(sampler, source, out),
    }
}

fn one_chunk_of<T, W: Words, const N: usize>(
    sampler: &impl Sampler<T>,
    source: &Source<'_, W>,
    out: &mut [T],
) {
    let mut made = Aligned([0.0; N]);
    let many = out.len().min(N);
    sampler.chunk(source, &mut made.0[..many]);
    sampler.values(source.path, &made.0[..many], out);
}

/// Numbers that go through one loop before the next loop takes them. One long loop would wait for
/// its divisions and roots, since a CPU can reorder a few hundred instructions only.
pub(super) const TILE: usize = if cfg!(feature = "std") { 64 } else { 32 };

/// A method that accepts or rejects a proposal made of one block. Its functions are
/// `#[inline(always)]`, and their loops have no branches, so that compilers make vector code of
/// them. Loops read both words of a block, or none: vector code that skips every other word would
/// read past the end, so compilers leave the last few numbers of such a loop to scalar code.
pub(super) trait Rejection: Sync {
    /// Attempts after which the method ends with its fallback.
    const ATTEMPTS: u16;
    /// True if the quick test accepts all that the full one does.
    const QUICK_DECIDES: bool = false;

    /// Writes the proposals that a test accepts which is quick to compute, otherwise NaN.
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]);

    /// Writes the proposals that are accepted by any test, otherwise NaN, for the elements at these
    /// places of the chunk. There are as many places as blocks.
    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], _places: &[u16], out: &mut [f64]) {
        self.quick(blocks, out);
    }

    /// Returns the number of the element at this place if all of its attempts are rejected.
    fn fallback(&self, place: usize) -> f64;
}

/// Writes the accepted proposals of a chunk of elements.
pub(super) fn accepted<W: Words, R: Rejection>(
    source: &Source<'_, W>,
    domain: Domain,
    method: &R,
    out: &mut [f64],
) {
    match is_few(out.len()) {
        true => accepted_of::<W, R, FEW>(source, domain, method, out),
        false => accepted_of::<W, R, CHUNK>(source, domain, method, out),
    }
}

/// Writes the accepted proposals of at most `N` elements, a power of two and a multiple of `LANES`.
fn accepted_of<W: Words, R: Rejection, const N: usize>(
    source: &Source<'_, W>,
    domain: Domain,
    method: &R,
    out: &mut [f64],
) {
    const { assert!(N.is_power_of_two() && N.is_multiple_of(LANES)) };
    let mut blocks = Aligned([[0; 2]; N]);
    let blocks = &mut blocks.0;
    let many = out.len().min(N);
    source.blocks(domain, 0, &mut blocks[..many]);
    let mut left = [0; N];
    let mut count =
        source.path.run(Quick { method, blocks: &blocks[..many], out, left: &mut left });
    let mut first = 1;
    if R::QUICK_DECIDES {
        source.some_blocks(domain, 1, &left[..count.min(N)], blocks);
        first = 2;
    } else {
        for i in 0..count.min(N) {
            blocks[i & (N - 1)] = blocks[usize::from(left[i & (N - 1)]) & (N - 1)];
        }
    }
    for attempt in first..=R::ATTEMPTS {
        if count == 0 {
            return;
        }
        let all = count.min(N);
        // The last lanes that no element fills are those of one that is left. Others may have been
        // decided by a quick test alone, and would take the longest way here.
        let one = left[0];
        left.iter_mut().take(all.next_multiple_of(LANES)).skip(all).for_each(|place| *place = one);
        count = 0;
        for first in (0..all).step_by(TILE) {
            let many = (all - first).min(TILE);
            // Both ends are inside: LANES divides N, and TILE does unless it is longer.
            let end = first + many.next_multiple_of(LANES);
            let (Some(blocks), Some(places)) = (blocks.get(first..end), left.get(first..end))
            else {
                break;
            };
            let mut made = Aligned([0.0; TILE]);
            let made = &mut made.0[..blocks.len().min(TILE)];
            source.path.run(Full { method, blocks, places, out: made });
            for (i, &mut value) in (first..first + many).zip(made) {
                let place = left[i & (N - 1)];
                if let Some(out) = out.get_mut(usize::from(place)) {
                    *out = value;
                }
                // Never a place that is yet to be read, because no more are kept than were read.
                left[count & (N - 1)] = place;
                count += usize::from(value.is_nan());
            }
        }
        if attempt < R::ATTEMPTS {
            source.some_blocks(domain, attempt, &left[..count.min(N)], blocks);
        }
    }
    for (place, value) in out.iter_mut().enumerate().filter(|(_, value)| value.is_nan()) {
        *value = method.fallback(place);
    }
}

/// [`Rejection::quick`] as a loop for each path. Returns the number of elements that it does not
/// accept, and lists their places.
struct Quick<'a, R, const N: usize> {
    method: &'a R,
    blocks: &'a [[u64; 2]],
    out: &'a mut [f64],
    left: &'a mut [u16; N],
}

impl<R: Rejection, const N: usize> Kernel for Quick<'_, R, N> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        self.method.quick(self.blocks, self.out);
        let mut count = 0;
        // Without a branch for each number, which would often be mispredicted.
        let mut list = |group: &[f64], first: u16| {
            for (value, place) in group.iter().zip(first..) {
                self.left[count & (N - 1)] = place;
                count += usize::from(value.is_nan());
            }
        };
        let (groups, rest) = self.out.as_chunks::<LANES>();
        for (group, first) in groups.iter().zip((0..).step_by(LANES)) {
            if group.iter().fold(false, |any, value| any | value.is_nan()) {
                list(group, first);
            }
        }
        list(rest, (groups.len() * LANES) as u16);
        count
    }
}

/// [`Rejection::full`] as a loop for each path.
struct Full<'a, R> {
    method: &'a R,
    blocks: &'a [[u64; 2]],
    places: &'a [u16],
    out: &'a mut [f64],
}

impl<R: Rejection> Kernel for Full<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.method.full(self.blocks, self.places, self.out);
    }
}

/// A function of an element's block, and perhaps of its number so far, as a loop for each path.
pub(super) struct Map<'a, F> {
    pub(super) by: F,
    pub(super) blocks: &'a [[u64; 2]],
    pub(super) out: &'a mut [f64],
}

/// The function of a [`Map`], `#[inline(always)]` as a [`Rejection`]'s.
pub(super) trait By {
    /// Replaces the numbers so far.
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]);
}

impl<F: By> Kernel for Map<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.by.by(self.blocks, self.out);
    }
}

/// Writes a function of block `block` of each element.
pub(super) fn map<W: Words>(
    source: &Source<'_, W>,
    domain: Domain,
    block: u16,
    by: impl By,
    out: &mut [f64],
) {
    match is_few(out.len()) {
        true => map_of::<W, FEW>(source, domain, block, by, out),
        false => map_of::<W, CHUNK>(source, domain, block, by, out),
    }
}

fn map_of<W: Words, const N: usize>(
    source: &Source<'_, W>,
    domain: Domain,
    block: u16,
    by: impl By,
    out: &mut [f64],
) {
    let mut blocks = Aligned([[0; 2]; N]);
    let many = out.len().min(N);
    source.blocks(domain, block, &mut blocks.0[..many]);
    source.path.run(Map { by, blocks: &blocks.0[..many], out });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter;

    /// Every draw of every domain is another one, and none is a draw that version 1 takes before
    /// 2^15 rejections.
    #[test]
    fn no_two_domains_share_a_draw() {
        use Domain::*;
        let mut seen = vec![false; 1 << 16];
        for domain in [
            Gamma,
            BetaFirst,
            BetaSecond,
            StudentT,
            Poisson,
            Binomial,
            TruncatedNormal,
            VonMises,
            Dirichlet,
            Multinomial,
            Sobol,
            FisherFirst,
            FisherSecond,
            Wald,
            Zipf,
            LogSeries,
            NegativeBinomialMean,
            NegativeBinomial,
            NoncentralFirst,
            NoncentralSecond,
            NoncentralThird,
            NoncentralFFirst,
            NoncentralFSecond,
            NoncentralFThird,
            NoncentralFBelow,
            Hypergeometric,
            MultivariateHypergeometric,
            LogGamma,
            Maxwell,
        ] {
            assert!((domain as u16) < 1 << DOMAIN_BITS);
            for block in 0..=LAST {
                let draw = domain.draw(block);
                assert!(draw >= 1 << 15, "{domain:?} {block}");
                assert!(!core::mem::replace(&mut seen[usize::from(draw)], true), "{draw}");
                assert_eq!(counter::upper(1, draw), 1 << 16 | u64::from(draw));
            }
        }
    }
}
