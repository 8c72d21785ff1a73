//! Numbers that are a function of one word: the way that inverses of distribution functions share.
//!
//! Most such inverses are functions of -ln u, so the loop makes the exponential number of the word
//! first, for a tile of words at a time. In one loop, the function would wait for the division of
//! the logarithm, because a CPU can reorder a few hundred instructions only.

use super::Real;
use crate::numbers::Number;
use crate::numbers::exponential::ExponentialF64;
use core::marker::PhantomData;

/// A distribution whose number is a function of a word, and of the exponential number that
/// [`exponent`](Shaped::exponent) chooses. Its functions are `#[inline(always)]` and have no
/// branches, as those of [`Number`].
pub(super) trait Shaped: Copy + Sync {
    /// False if the number needs no exponential number.
    const EXPONENTIAL: bool = true;
    /// True if the number has a half of its own, which a loop of its own makes.
    const HALVES: bool = false;

    /// Returns the word of which the exponential number is made.
    #[inline(always)]
    fn exponent(word: u64) -> u64 {
        word
    }

    /// Returns the first half of the number.
    #[inline(always)]
    fn half(&self, _exponential: f64) -> f64 {
        0.0
    }

    /// Returns the number, of which `half` is the first half if it has one.
    fn number(&self, word: u64, exponential: f64, half: f64) -> f64;

    /// Returns the number at once.
    #[inline(always)]
    fn whole(&self, word: u64, exponential: f64) -> f64 {
        self.number(word, exponential, self.half(exponential))
    }
}

/// Returns the word of a distance from the middle: all bits of a word but the highest, turned above
/// the middle. Without a branch, as a mask of the sign.
#[inline(always)]
pub(super) fn distance(word: u64) -> u64 {
    word << 1 ^ ((word as i64) >> 63) as u64
}

/// Returns a number with the side that the highest bit of a word is: below the middle if it is 0.
#[inline(always)]
pub(super) fn on_side(word: u64, x: f64) -> f64 {
    f64::from_bits(x.to_bits() | !word & 1 << 63)
}

/// The numbers of a distribution in one precision.
pub(super) struct Of<D, T> {
    distribution: D,
    value: PhantomData<fn() -> T>,
}

impl<D: Copy, T> Of<D, T> {
    pub(super) fn new(&distribution: &D) -> Of<D, T> {
        Of { distribution, value: PhantomData }
    }
}

/// Words that go through one loop before the next loop takes them.
pub(super) const TILE: usize = 64;

impl<D: Shaped, T: Real> Number for Of<D, T> {
    type Value = T;
    const WORDS: usize = 1;
    const VALUES: usize = 1;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [T]) -> bool {
        for (out, words) in out.chunks_mut(TILE).zip(words.chunks(TILE)) {
            if !D::EXPONENTIAL {
                for (out, &word) in out.iter_mut().zip(words) {
                    *out = T::rounded(self.distribution.whole(word, 0.0));
                }
                continue;
            }
            let (mut chosen, mut made) = ([0; TILE], [0.0; TILE]);
            let (chosen, made) = (&mut chosen[..words.len()], &mut made[..words.len()]);
            for (chosen, &word) in chosen.iter_mut().zip(words) {
                *chosen = D::exponent(word);
            }
            ExponentialF64.convert(chosen, made);
            let numbers = out.iter_mut().zip(&*made).zip(words);
            if !D::HALVES {
                for ((out, &made), &word) in numbers {
                    *out = T::rounded(self.distribution.whole(word, made));
                }
                continue;
            }
            let mut halves = [0.0; TILE];
            for (half, &made) in halves.iter_mut().zip(&*made) {
                *half = self.distribution.half(made);
            }
            for (((out, &made), &word), &half) in numbers.zip(&halves) {
                *out = T::rounded(self.distribution.number(word, made, half));
            }
        }
        false
    }
}
