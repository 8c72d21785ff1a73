//! Ranges and lists of elements, group by group, through a buffer that stays in the first-level
//! cache.

use super::Number;
use super::path::{Kernel, Path};
use crate::words::Words;

/// Words made at a time: 8 KiB, a quarter of a first-level cache. Half of it without the standard
/// library, for C: a thread with the smallest stack (PTHREAD_STACK_MIN, 16 KiB) must have room for
/// the buffer.
const CHUNK: usize = if cfg!(feature = "std") { 1024 } else { 512 };
/// Words made at a time for a short request, where clearing the larger buffer would take longer
/// than the words.
const SMALL_CHUNK: usize = 64;

/// An array that begins with a cache line. A vector of 512 bits that lies across two lines takes
/// twice the time.
#[repr(align(64))]
pub(super) struct Aligned<T>(pub(super) T);

/// Words of the largest group, and its numbers.
const MOST_WORDS: usize = 2;
const MOST_VALUES: usize = 4;

/// Writes elements `start..start + out.len()`. The caller has checked that their words exist.
pub(crate) fn fill<N: Number>(
    path: Path,
    words: &impl Words,
    number: &N,
    start: u64,
    out: &mut [N::Value],
) {
    let values = N::VALUES as u64;
    // The range has three parts: up to the first whole group, the whole groups, and the rest of the
    // last. `next_multiple_of` would overflow for an empty range at 2^64 - 1.
    let before = ((values - start % values) % values).min(out.len() as u64) as usize;
    let (head, out) = out.split_at_mut(before);
    let (whole, tail) = out.split_at_mut(out.len() / N::VALUES * N::VALUES);
    let after_head = start + before as u64;
    for (out, element) in head.iter_mut().zip(start..) {
        *out = one(words, number, element, 0);
    }
    let maker = Maker { path, words, number };
    if whole.len() <= SMALL_CHUNK {
        maker.groups::<SMALL_CHUNK>(after_head / values, whole);
    } else {
        maker.groups::<CHUNK>(after_head / values, whole);
    }
    for (out, element) in tail.iter_mut().zip(after_head + whole.len() as u64..) {
        *out = one(words, number, element, 0);
    }
}

/// Writes the elements with these numbers. The caller has checked that their words exist, and that
/// `out` has room.
pub(crate) fn at<N: Number>(
    path: Path,
    words: &impl Words,
    number: &N,
    indices: &[u64],
    out: &mut [N::Value],
) {
    const GROUPS: usize = SMALL_CHUNK / MOST_WORDS;
    /// The number of runs up to which one run after the other is quicker than all groups together.
    const FEW_RUNS: usize = 2;
    // Row by row, as a JVM asks: to clear the buffers below would take longer than a number. In
    // WebAssembly it would be a fortieth of the library, whose users load it.
    #[cfg(not(target_family = "wasm"))]
    if let ([index], [out]) = (indices, &mut *out) {
        *out = one(words, number, *index, 0);
        return;
    }
    let group = |index: u64| index / N::VALUES as u64;
    let mut made = [N::Value::default(); GROUPS * MOST_VALUES];
    let mut buffer = [0; GROUPS * MOST_WORDS];
    for (indices, out) in indices.chunks(GROUPS).zip(out.chunks_mut(GROUPS)) {
        let buffer = &mut buffer[..indices.len() * N::WORDS];
        let made = &mut made[..indices.len() * N::VALUES];
        // Groups that follow each other are requested together, because an engine makes many words
        // faster than as many single ones. Counted without a branch, since this is done for every
        // list.
        let follows = |a: u64, b: u64| group(a).wrapping_add(1) == group(b);
        let breaks = indices.iter().zip(indices.iter().skip(1)).filter(|&(&a, &b)| !follows(a, b));
        if breaks.count() < FEW_RUNS {
            one_run_after_the_other::<N>(words, indices, buffer, follows);
        } else {
            let mut groups = [0; GROUPS];
            groups.iter_mut().zip(indices).for_each(|(to, &index)| *to = group(index));
            words.groups(N::WORDS, &groups[..indices.len()], buffer);
        }
        let rejected = path.run(Convert { number, words: buffer, out: made });
        let made = made.chunks_exact(N::VALUES).zip(buffer.chunks_exact(N::WORDS));
        for ((&index, out), (values, group)) in indices.iter().zip(out).zip(made) {
            let place = (index % N::VALUES as u64) as usize;
            *out = values[place];
            if rejected && number.rejects(group, place) {
                *out = one(words, number, index, 1);
            }
        }
    }
}

/// Makes the words of these elements' groups, with one request for each run of groups.
///
/// Split by hand: `chunk_by` has a panic in it that the C library would have to bring along.
fn one_run_after_the_other<N: Number>(
    words: &impl Words,
    mut indices: &[u64],
    mut buffer: &mut [u64],
    follows: impl Fn(u64, u64) -> bool,
) {
    while let Some((&first, others)) = indices.split_first() {
        let more = indices.iter().zip(others).take_while(|&(&a, &b)| follows(a, b)).count();
        let run = indices.split_at_checked(1 + more);
        let room = buffer.split_at_mut_checked((1 + more) * N::WORDS);
        let (Some((_, rest)), Some((used, free))) = (run, room) else { break };
        words.words(0, first / N::VALUES as u64 * N::WORDS as u64, used);
        (indices, buffer) = (rest, free);
    }
}

/// Returns element number `element`, of which the attempts before number `attempt` have been
/// rejected.
fn one<N: Number>(words: &impl Words, number: &N, element: u64, attempt: u16) -> N::Value {
    let group = element / N::VALUES as u64;
    let place = (element % N::VALUES as u64) as usize;
    let (mut buffer, mut made) = ([0; MOST_WORDS], [N::Value::default(); MOST_VALUES]);
    let (buffer, made) = (&mut buffer[..N::WORDS], &mut made[..N::VALUES]);
    for attempt in attempt..=u16::MAX {
        words.words(attempt, group * N::WORDS as u64, buffer);
        if !(number.convert(buffer, made) && number.rejects(buffer, place)) {
            break;
        }
    }
    // 65,536 rejections in a row never happen, because each attempt succeeds with a chance of more
    // than one half. The last attempt stands, so that this cannot panic.
    made[place]
}

/// A maker of whole groups.
struct Maker<'a, W, N> {
    path: Path,
    words: &'a W,
    number: &'a N,
}

impl<W: Words, N: Number> Maker<'_, W, N> {
    /// Fills `out` from the group number `first` on, making `CHUNK` words at a time.
    fn groups<const CHUNK: usize>(&self, mut first: u64, out: &mut [N::Value]) {
        let mut buffer = Aligned([0; CHUNK]);
        for out in out.chunks_mut(CHUNK / N::WORDS * N::VALUES) {
            let groups = out.len() / N::VALUES;
            let buffer = &mut buffer.0[..groups * N::WORDS];
            if self.attempt(0, first, buffer, out) {
                self.again(first, buffer, out);
            }
            first += groups as u64;
        }
    }

    /// Makes one attempt at all groups of `out`, through `buffer`. Returns true if any number is
    /// rejected.
    fn attempt(&self, attempt: u16, first: u64, buffer: &mut [u64], out: &mut [N::Value]) -> bool {
        self.words.words(attempt, first * N::WORDS as u64, buffer);
        self.path.run(Convert { number: self.number, words: buffer, out })
    }

    /// Draws anew what was rejected among the numbers `out`, made from `buffer`.
    #[cold]
    fn again(&self, first: u64, buffer: &[u64], out: &mut [N::Value]) {
        const GROUPS: usize = SMALL_CHUNK / MOST_WORDS;
        let blocks = buffer.chunks(GROUPS * N::WORDS).zip(out.chunks_mut(GROUPS * N::VALUES));
        for ((buffer, out), first) in blocks.zip((first..).step_by(GROUPS)) {
            self.again_in_block(first, buffer, out);
        }
    }

    /// Does the same for no more numbers than a `u64` has bits.
    fn again_in_block(&self, first: u64, buffer: &[u64], out: &mut [N::Value]) {
        let rejected = |buffer: &[u64], among: u64| -> u64 {
            let bit = |i: usize| u64::from(self.number.rejects(buffer, i)) << i;
            bits(among).map(bit).fold(0, |all, bit| all | bit)
        };
        let all = u64::MAX >> (64 - out.len());
        let mut left = rejected(buffer, all);
        let mut attempt = 1;
        let mut next = [0; SMALL_CHUNK];
        let next = &mut next[..buffer.len()];
        let mut made = [N::Value::default(); SMALL_CHUNK];
        let made = &mut made[..out.len()];
        // While many elements are left, all of them are tried at once: an engine makes a block of
        // words in the time of a few single ones.
        while left.count_ones() > 4 && attempt < u16::MAX {
            let accepted = match self.attempt(attempt, first, next, made) {
                true => left & !rejected(next, left),
                false => left,
            };
            for (i, (out, made)) in out.iter_mut().zip(&*made).enumerate() {
                if accepted >> i & 1 == 1 {
                    *out = *made;
                }
            }
            left &= !accepted;
            attempt += 1;
        }
        for (i, out) in out.iter_mut().enumerate().filter(|(i, _)| left >> i & 1 == 1) {
            let element = first * N::VALUES as u64 + i as u64;
            *out = one(self.words, self.number, element, attempt);
        }
    }
}

/// Lists the numbers of the bits that are set.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lowest = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (lowest < 64).then_some(lowest)
    })
}

/// [`Number::convert`] as a loop for each path.
struct Convert<'a, N: Number> {
    number: &'a N,
    words: &'a [u64],
    out: &'a mut [N::Value],
}

impl<N: Number> Kernel for Convert<'_, N> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        self.number.convert(self.words, self.out)
    }
}
