//! Permutations by index: the place of element i, without a list of all places.
//!
//! Up to 256 elements are a true Fisher-Yates table, which fits into the value. A table of more
//! would need memory, so we compute places instead: by a Feistel network over the smallest power of
//! two that holds the elements (M. Luby and C. Rackoff, "How to construct pseudorandom permutations
//! from pseudorandom functions", SIAM J. Comput. 17(2), 1988). If its answer is too large, it is
//! applied again, which keeps it a bijection (J. Black and P. Rogaway, "Ciphers with Arbitrary
//! Finite Domains", CT-RSA 2002). A. Mitchell and others do the same on GPUs ("Bandwidth-Optimal
//! Random Shuffling for GPUs", arXiv 2106.06161). The network has twelve rounds, each of two
//! multiplications with keys of their own.

use super::path::{Kernel, Path};
use super::shuffle::shuffle;
use crate::words::Words;
use crate::{Error, Stream};
use core::fmt;

/// The longest permutation that is kept as a table.
const TABLE: usize = 256;
/// Rounds of the network: six for each half.
const ROUNDS: usize = 12;
/// Elements that go through the network together.
const CHUNK: usize = 256;

impl Stream {
    /// Returns the permutation of `0..n` that this stream makes.
    ///
    /// Its value is 300 bytes, whatever `n`. All permutations of up to 256 elements are equally
    /// likely. Longer ones outnumber the keys, so most of them never occur, but tests find no
    /// pattern in those that do. The permutation uses the stream's own words, so take another
    /// stream for numbers that must be independent of it.
    ///
    /// ```
    /// let order = headwater_streams::Key::from_seed(42).stream(0)?.permutation(1_000_000_000_000);
    /// let value = order.at(17).unwrap();
    /// assert_eq!(order.position(value), Some(17));
    /// # Ok::<(), headwater_streams::Error>(())
    /// ```
    pub fn permutation(&self, n: u64) -> Permutation {
        Permutation::new(self, n)
    }

    /// Writes `out.len()` different numbers of `0..n`, in random order: the beginning of
    /// [`permutation(n)`](Stream::permutation), so that a longer sample begins with a shorter one.
    /// For `n` up to 256 all samples are equally likely; above, tests find no difference from that.
    ///
    /// # Errors
    ///
    /// [`Error::PastEnd`] if `n` is less than `out.len()`.
    pub fn sample(&self, n: u64, out: &mut [u64]) -> Result<(), Error> {
        self.permutation(n).fill(0, out)
    }
}

/// An order of `0..n`: a function from an index to its value, and back. [Not for secrets](crate).
#[derive(Clone, Copy)]
pub struct Permutation {
    n: u64,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    Table([u8; TABLE]),
    Network(Network),
}

impl Permutation {
    pub(super) fn new(words: &impl Words, n: u64) -> Permutation {
        let how = if n <= TABLE as u64 {
            let mut table = core::array::from_fn(|i| i as u8);
            shuffle(words, &mut table[..n as usize]);
            How::Table(table)
        } else {
            How::Network(Network::new(words, n))
        };
        Permutation { n, how }
    }

    /// Returns the number of elements.
    pub const fn n(&self) -> u64 {
        self.n
    }

    /// Returns the value at `index`; `None` from `n` on.
    pub fn at(&self, index: u64) -> Option<u64> {
        let at = || match &self.how {
            How::Table(table) => u64::from(table[usize::from(index as u8)]),
            How::Network(network) => network.walk(index, self.n, Network::forth),
        };
        (index < self.n).then(at)
    }

    /// Returns the index at which `value` is: the inverse of [`at`](Permutation::at). `None` from
    /// `n` on.
    pub fn position(&self, value: u64) -> Option<u64> {
        let position = || match &self.how {
            How::Table(table) => {
                table.iter().position(|&at| u64::from(at) == value).map(|i| i as u64)
            }
            How::Network(network) => Some(network.walk(value, self.n, Network::back)),
        };
        if value < self.n { position() } else { None }
    }

    /// Writes the values at `start..start + out.len()`.
    ///
    /// # Errors
    ///
    /// [`Error::PastEnd`] if there are not so many; nothing is written then.
    pub fn fill(&self, start: u64, out: &mut [u64]) -> Result<(), Error> {
        let len = out.len();
        let end = start.checked_add(len as u64).filter(|&end| end <= self.n);
        let end = end.ok_or(Error::PastEnd { start, len, n: self.n })?;
        self.fill_on(Path::best(), start..end, out);
        Ok(())
    }

    /// Does the same for a range that exists, on one path.
    pub(super) fn fill_on(&self, path: Path, range: core::ops::Range<u64>, out: &mut [u64]) {
        match &self.how {
            How::Table(table) => {
                let values = table.get(range.start as usize..range.end as usize);
                let values = values.unwrap_or_default(); // the range exists
                out.iter_mut().zip(values).for_each(|(out, &value)| *out = value.into());
            }
            How::Network(network) => {
                let starts = range.step_by(CHUNK);
                for (start, out) in starts.zip(out.chunks_mut(CHUNK)) {
                    network.chunk(path, start, self.n, out);
                }
            }
        }
    }
}

impl fmt::Debug for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permutation").field("n", &self.n).finish_non_exhaustive()
    }
}

/// A bijection of all numbers of a given count of bits.
#[derive(Clone, Copy)]
struct Network {
    /// Mask of the upper half's bits, their shift, and mask of the lower half's bits.
    upper: u32,
    shift: u32,
    lower: u32,
    /// 1 if the first two values change places. A network alone makes even permutations only.
    odd: u64,
    rounds: [Round; ROUNDS],
}

/// The keys of one round.
#[derive(Clone, Copy)]
struct Round {
    before: u32,
    first: u32,
    between: u32,
    second: u32,
}

impl Round {
    /// Returns the value that one half adds to the other.
    #[inline(always)]
    fn mix(self, half: u32) -> u32 {
        let folded = |product: u64| (product ^ product >> 32) as u32;
        let once = folded(u64::from(half ^ self.before) * u64::from(self.first));
        folded(u64::from(once ^ self.between) * u64::from(self.second))
    }
}

impl Network {
    /// Makes the network for `n` elements, more than one.
    fn new(words: &impl Words, n: u64) -> Network {
        let bits = (n - 1).ilog2() + 1;
        let shift = bits.div_ceil(2);
        let mut keys = [0; 2 * ROUNDS + 1];
        words.words(0, 0, &mut keys);
        let rounds = core::array::from_fn(|i| Round {
            before: keys[2 * i] as u32,
            first: (keys[2 * i] >> 32) as u32 | 1,
            between: keys[2 * i + 1] as u32,
            second: (keys[2 * i + 1] >> 32) as u32 | 1,
        });
        let mask = |bits: u32| (1u64 << bits).wrapping_sub(1) as u32;
        Network {
            upper: mask(bits - shift),
            shift,
            lower: mask(shift),
            odd: keys[2 * ROUNDS] & 1,
            rounds,
        }
    }

    /// Repeats `step` until the number is below `n`. The loop ends, because the numbers from `x` on
    /// form a cycle, and `x` itself, which is on it, is below `n`.
    #[inline]
    fn walk(&self, x: u64, n: u64, step: impl Fn(&Network, u64) -> u64) -> u64 {
        let mut x = step(self, x);
        while x >= n {
            x = step(self, x);
        }
        x
    }

    fn forth(&self, x: u64) -> u64 {
        let (mut high, mut low) = self.halves(x);
        for [to_high, to_low] in self.rounds.as_chunks::<2>().0 {
            high ^= to_high.mix(low) & self.upper;
            low ^= to_low.mix(high) & self.lower;
        }
        self.joined(high, low)
    }

    fn back(&self, x: u64) -> u64 {
        let (mut high, mut low) = self.halves(self.exchanged(x));
        for [to_high, to_low] in self.rounds.as_chunks::<2>().0.iter().rev() {
            low ^= to_low.mix(high) & self.lower;
            high ^= to_high.mix(low) & self.upper;
        }
        u64::from(high) << self.shift | u64::from(low)
    }

    #[inline(always)]
    fn halves(&self, x: u64) -> (u32, u32) {
        ((x >> self.shift) as u32, x as u32 & self.lower)
    }

    #[inline(always)]
    fn joined(&self, high: u32, low: u32) -> u64 {
        self.exchanged(u64::from(high) << self.shift | u64::from(low))
    }

    #[inline(always)]
    fn exchanged(&self, x: u64) -> u64 {
        x ^ (u64::from(x < 2) & self.odd)
    }

    /// Writes the values of up to [`CHUNK`] indices from `start` on.
    fn chunk(&self, path: Path, start: u64, n: u64, out: &mut [u64]) {
        let (mut high, mut low) = ([0; CHUNK], [0; CHUNK]);
        let mut places = [0u16; CHUNK];
        let rows = high.iter_mut().zip(&mut low).zip(&mut places);
        for ((i, x), ((high, low), place)) in (0..).zip(start..start + out.len() as u64).zip(rows) {
            (*high, *low) = self.halves(x);
            *place = i;
        }
        let mut left = out.len();
        while left > 0 {
            let together = (high.get_mut(..left), low.get_mut(..left));
            let (high_left, low_left) =
                (together.0.unwrap_or_default(), together.1.unwrap_or_default());
            path.run(Together { network: self, high: high_left, low: low_left });
            // Numbers that are too large move to the front and go through again. There is no
            // branch, because it would be mispredicted up to half of the time.
            let mut kept = 0;
            for i in 0..left {
                // `i` and `kept` are below CHUNK, and `%` lets the compiler see it: the C library
                // must not reach a panic, and a check would stand in the loop.
                let (from, to) = (i % CHUNK, kept % CHUNK);
                let x = self.joined(high[from], low[from]);
                if let Some(out) = out.get_mut(usize::from(places[from])) {
                    *out = x;
                }
                places[to] = places[from];
                (high[to], low[to]) = self.halves(x);
                kept += usize::from(x >= n);
            }
            left = kept;
        }
    }
}

/// Many numbers that go through the rounds together: all of them take one round before the next, so
/// that the compiler can use vectors.
struct Together<'a> {
    network: &'a Network,
    high: &'a mut [u32],
    low: &'a mut [u32],
}

impl Kernel for Together<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Together { network, high, low } = self;
        for [to_high, to_low] in network.rounds.as_chunks::<2>().0 {
            for (high, low) in high.iter_mut().zip(&mut *low) {
                *high ^= to_high.mix(*low) & network.upper;
                *low ^= to_low.mix(*high) & network.lower;
            }
        }
    }
}
