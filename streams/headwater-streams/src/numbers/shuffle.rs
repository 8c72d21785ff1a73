//! Shuffling a slice: every order exactly as likely as any other, if a stream's words are uniform.
//!
//! Method: R. Durstenfeld's, "Algorithm 235: Random permutation", CACM 7(7), 1964 (after Fisher and
//! Yates), with several indices out of one word: N. Brackett-Rozinsky and D. Lemire, "Batched
//! Ranged Random Integer Generation", Software: Practice and Experience 55(1), 2025, arXiv
//! 2408.06213; the sizes of the batches are theirs. An index is the upper half of a product with a
//! word, as for one bounded integer, but the lower half is not thrown away: it takes the word's
//! place for the next index. So only the last lower half decides whether the batch is rejected, and
//! a rejected batch takes the same word of the stream's next draw.

use crate::Stream;
use crate::words::Words;

/// Words asked for at a time.
const CHUNK: usize = 64;
/// Indices of one word, at most.
const MOST: usize = 6;

impl Stream {
    /// Shuffles `slice`: a function of the key, the stream and the slice's length.
    ///
    /// The whole slice must be in this process. For arrays that are too long for one process, or
    /// are shuffled in parts, use [`permutation`](Stream::permutation), which is another order.
    pub fn shuffle<T>(&self, slice: &mut [T]) {
        shuffle(self, slice);
    }
}

/// Shuffles `slice` with the words of draw 0 from the first on.
pub(super) fn shuffle<T>(words: &impl Words, slice: &mut [T]) {
    let mut shuffle = Shuffle { words, left: slice.len(), next: 0 };
    let mut buffers = Buffers { words: [0; CHUNK], indices: [0; CHUNK * MOST] };
    // From the end to the front, so each element changes places with itself or one before it. The
    // smaller the bounds, the more indices a word can make before rejections become frequent.
    shuffle.settle::<1, T>(slice, 1 << 30, &mut buffers);
    shuffle.settle::<2, T>(slice, 1 << 19, &mut buffers);
    shuffle.settle::<3, T>(slice, 1 << 14, &mut buffers);
    shuffle.settle::<4, T>(slice, 1 << 11, &mut buffers);
    shuffle.settle::<5, T>(slice, 1 << 9, &mut buffers);
    shuffle.settle::<6, T>(slice, 6, &mut buffers);
    shuffle.settle::<1, T>(slice, 1, &mut buffers);
}

/// The state of a shuffle.
struct Shuffle<'a, W> {
    words: &'a W,
    /// Elements that are not settled yet: the first ones.
    left: usize,
    /// The number of the first word that is not used.
    next: u64,
}

/// The buffers of a shuffle.
struct Buffers {
    words: [u64; CHUNK],
    indices: [usize; CHUNK * MOST],
}

impl<W: Words> Shuffle<'_, W> {
    /// Settles `K` elements at a time, as long as more than `end` are left.
    fn settle<const K: usize, T>(&mut self, slice: &mut [T], end: usize, buffers: &mut Buffers) {
        while self.left > end {
            let batches = (self.left - end).div_ceil(K).min(CHUNK);
            let words = &mut buffers.words[..batches];
            self.words.words(0, self.next, words);
            // No later batch of the buffer has more outcomes than the first one. So one bound
            // serves all of them, in place of a product for each.
            let most = orders::<K>(self.left);
            let mut left = self.left;
            // All indices come first, and then all exchanges: a product that waits in line with
            // exchanges takes their time as well (1.7 ns an element against 1.1).
            let settled = &mut buffers.indices[..batches * K];
            let batches = settled.as_chunks_mut::<K>().0.iter_mut().zip(&*words).zip(self.next..);
            for ((indices, &word), place) in batches {
                let remainder;
                (*indices, remainder) = split(word, left);
                if remainder < most {
                    *indices = self.checked(*indices, remainder, left, place);
                }
                left -= K;
            }
            for &index in &*settled {
                self.left -= 1;
                swap(slice, self.left, index);
            }
            self.next += words.len() as u64;
        }
    }

    /// Returns the indices, or those of a later draw if their remainder says that they would be
    /// likelier than others.
    #[cold]
    fn checked<const K: usize>(
        &self,
        mut indices: [usize; K],
        mut remainder: u64,
        left: usize,
        place: u64,
    ) -> [usize; K] {
        let excess = excess(orders::<K>(left));
        for attempt in 1..=u16::MAX {
            if remainder >= excess {
                break;
            }
            let mut word = [0];
            self.words.words(attempt, place, &mut word);
            (indices, remainder) = split(word[0], left);
        }
        indices
    }
}

/// Returns the number of ways in which `K` elements can be chosen one after the other: at most
/// 2^63.
#[inline(always)]
fn orders<const K: usize>(left: usize) -> u64 {
    (0..K).map(|i| (left - i) as u64).product()
}

/// Returns the excess of 2^64 over a multiple of the number of outcomes, which is not 0.
#[inline(always)]
fn excess(orders: u64) -> u64 {
    orders.wrapping_neg().checked_rem(orders).unwrap_or(0)
}

/// Exchanges two elements. Both exist, and the check stays here because a function for C must not
/// be able to panic.
#[inline(always)]
fn swap<T>(slice: &mut [T], a: usize, b: usize) {
    debug_assert!(a.max(b) < slice.len());
    if a < slice.len() && b < slice.len() {
        slice.swap(a, b);
    }
}

/// Reads the word as a number of mixed radix `left`, `left - 1` and so on. Returns its digits, and
/// the remainder.
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
