//! Shuffling a slice: every order exactly as likely as any other, as far as a stream can tell.
//!
//! Method: R. Durstenfeld's, "Algorithm 235: Random permutation", CACM 7(7), 1964 (after Fisher and Yates), with several
//! indices out of one word: N. Brackett-Rozinsky and D. Lemire, "Batched Ranged Random Integer Generation", Software:
//! Practice and Experience 55(1), 2025, arXiv 2408.06213; the sizes of the batches are theirs. An index takes a word's upper half
//! of a product, as for one bounded integer, and what is left below goes into the next index. Only the last
//! remainder decides whether the batch is rejected; it then takes the same word of the stream's next draw.

use crate::Stream;
use crate::words::Words;

/// Words asked for at a time.
const CHUNK: usize = 256;

impl Stream {
    /// Shuffles `slice`: a function of the key, the stream and the slice's length.
    ///
    /// The whole slice must be in this process. [`permutation`](Stream::permutation) is for what is too long for that, or is to
    /// be shuffled in parts; it is another order.
    pub fn shuffle<T>(&self, slice: &mut [T]) {
        shuffle(self, slice);
    }
}

/// Shuffles `slice` with the words of draw 0 from the first on.
pub(super) fn shuffle<T>(words: &impl Words, slice: &mut [T]) {
    let mut shuffle = Shuffle { words, left: slice.len(), next: 0 };
    let mut buffer = [0; CHUNK];
    // From the end to the front: each element changes places with one that is not behind it. As many indices share a word as
    // leave few rejections.
    shuffle.settle::<1, T>(slice, 1 << 30, &mut buffer);
    shuffle.settle::<2, T>(slice, 1 << 19, &mut buffer);
    shuffle.settle::<3, T>(slice, 1 << 14, &mut buffer);
    shuffle.settle::<4, T>(slice, 1 << 11, &mut buffer);
    shuffle.settle::<5, T>(slice, 1 << 9, &mut buffer);
    shuffle.settle::<6, T>(slice, 6, &mut buffer);
    shuffle.settle::<1, T>(slice, 1, &mut buffer);
}

/// How far it has come.
struct Shuffle<'a, W> {
    words: &'a W,
    /// Elements that are not settled yet: the first ones.
    left: usize,
    /// The number of the first word that is not used.
    next: u64,
}

impl<W: Words> Shuffle<'_, W> {
    /// Settles `K` elements at a time, as long as more than `end` are left.
    fn settle<const K: usize, T>(
        &mut self,
        slice: &mut [T],
        end: usize,
        buffer: &mut [u64; CHUNK],
    ) {
        while self.left > end {
            let batches = (self.left - end).div_ceil(K).min(CHUNK);
            let buffer = &mut buffer[..batches];
            self.words.words(0, self.next, buffer);
            for (&word, place) in buffer.iter().zip(self.next..) {
                let indices = self.indices::<K>(word, place);
                for (i, index) in indices.into_iter().enumerate() {
                    swap(slice, self.left - 1 - i, index);
                }
                self.left -= K;
            }
            self.next += batches as u64;
        }
    }

    /// Uniform indices below `left`, `left - 1` and so on, independent of each other, from the word number `place`.
    #[inline(always)]
    fn indices<const K: usize>(&self, word: u64, place: u64) -> [usize; K] {
        let (indices, remainder) = split::<K>(word, self.left);
        let orders: u64 = (0..K).map(|i| (self.left - i) as u64).product();
        // Only remainders below the number of outcomes can be biased, so the division is rarely reached.
        if remainder < orders && remainder < excess(orders) {
            return self.again(place, orders);
        }
        indices
    }

    /// The same where draw 0 has rejected the word.
    #[cold]
    fn again<const K: usize>(&self, place: u64, orders: u64) -> [usize; K] {
        let mut indices = [0; K];
        for attempt in 1..=u16::MAX {
            let mut word = [0];
            self.words.words(attempt, place, &mut word);
            let remainder;
            (indices, remainder) = split(word[0], self.left);
            if remainder >= excess(orders) {
                break;
            }
        }
        indices
    }
}

/// By how much 2^64 exceeds a multiple of the number of outcomes, which is not 0.
#[inline(always)]
fn excess(orders: u64) -> u64 {
    orders.wrapping_neg().checked_rem(orders).unwrap_or(0)
}

/// Exchanges two elements. Both exist; asked here, because a function for C must not be able to panic.
#[inline(always)]
fn swap<T>(slice: &mut [T], a: usize, b: usize) {
    debug_assert!(a.max(b) < slice.len());
    if a < slice.len() && b < slice.len() {
        slice.swap(a, b);
    }
}

/// The word as a number of mixed radix `left`, `left - 1` and so on: its digits, and what remains.
#[inline(always)]
fn split<const K: usize>(word: u64, left: usize) -> ([usize; K], u64) {
    let mut rest = word;
    let indices = core::array::from_fn(|i| {
        let product = u128::from(rest) * (left - i) as u128;
        rest = product as u64;
        (product >> 64) as usize
    });
    (indices, rest)
}
