//! Numbers out of words: each element a function of the key, the stream and its own number alone.
//!
//! A kind of number says how many words make how many elements: a *group*, the smallest piece whose
//! place in the words is known. Element e of an array is in group e / VALUES, which takes the words
//! from group * WORDS on, whatever range was requested. So a range that begins inside a group makes
//! the whole group and leaves out what was not asked for. If an element is rejected (bounded
//! integers only), it takes the same words of the stream's next draw, because the words that follow
//! belong to its neighbours.

mod bounded;
pub mod distributions;
mod exponential;
mod fill;
mod half;
mod integer;
mod normal;
#[cfg(feature = "std")]
mod par;
pub(crate) mod path;
mod permutation;
mod polynomials;
mod root;
mod shuffle;
mod stream;
#[cfg(all(test, reference))]
mod tests;
mod uniform;

pub use integer::Integer;
pub use permutation::Permutation;

/// A kind of number.
// Public code reaches this trait through `Integer`'s hidden `Range`. Rust 1.89 does not see that,
// and later versions do.
#[allow(unreachable_pub)]
pub trait Number: Sync {
    type Value: Copy + Default + Send;
    /// Words of one group: 1 or 2.
    const WORDS: usize;
    /// Numbers of one group: 1, 2 or 4.
    const VALUES: usize;

    /// Makes numbers of whole groups, and returns true if any of them is rejected. Implementations
    /// are `#[inline(always)]`, because each of the [`Path`](path::Path)s compiles them for its
    /// instructions.
    fn convert(&self, words: &[u64], out: &mut [Self::Value]) -> bool;

    /// Returns true if number `i` of the numbers made from these words is rejected.
    fn rejects(&self, _words: &[u64], _i: usize) -> bool {
        false
    }
}
