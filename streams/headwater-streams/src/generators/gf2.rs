//! Jumps of linear generators, by polynomials over GF(2).
//!
//! One step of such a generator is a matrix `M` over GF(2), and `M` is a root of its own
//! characteristic polynomial `P` (Cayley and Hamilton). So `M^n` equals `R(M)`, where `R` is `x^n`
//! modulo `P`, a polynomial of as many bits as the state has. A jump of any length therefore costs
//! that many steps, and finding `R` costs some hundred squarings. The method is that of Haramoto,
//! Matsumoto, Nishimura, Panneton and L'Ecuyer, "Efficient jump ahead for F2-linear random number
//! generators" (INFORMS Journal on Computing 20, 2008); the constants of the generators' authors
//! are such `R`s.

use core::marker::PhantomData;

/// A generator whose state is a vector of `64 * N` bits, and whose step is linear. `N` is even.
pub(crate) trait Linear<const N: usize> {
    /// The characteristic polynomial of a step, without its leading term; bit `i` of word `w` is
    /// the coefficient of `x^(64 w + i)`. It is primitive, so the period is `2^(64 N) - 1`.
    const CHARACTERISTIC: [u64; N];

    fn step(state: &mut [u64; N]);
}

/// A number of steps below 2^256, lowest word first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps([u64; 4]);

impl Steps {
    /// Returns `n * 2^(64 * words)`. A product that does not fit into 256 bits is a mistake of the
    /// caller.
    pub(crate) const fn times_2_to_64(n: u128, words: usize) -> Steps {
        assert!(words < 3 || (words == 3 && n >> 64 == 0));
        let mut steps = [0; 4];
        steps[words] = n as u64;
        if words < 3 {
            steps[words + 1] = (n >> 64) as u64;
        }
        Steps(steps)
    }

    /// Returns the number of steps forward that equals `n` steps back: the period less `n`. `n` is
    /// not 0 and below the period, `2^(64 * words) - 1`.
    pub(crate) fn back(n: u128, words: usize) -> Steps {
        // Subtracting from a number of ones is a complement.
        let Steps(mut steps) = Steps::times_2_to_64(n, 0);
        steps[..words].iter_mut().for_each(|word| *word = !*word);
        Steps(steps)
    }

    fn bits_from_highest(self) -> impl Iterator<Item = bool> {
        (0..256).rev().map(move |bit| self.0[bit / 64] >> (bit % 64) & 1 == 1)
    }
}

/// Advances `state` by `polynomial` of the step; by `n` steps if it is `x^n`.
pub(crate) fn apply<E: Linear<N>, const N: usize>(state: &mut [u64; N], polynomial: &[u64; N]) {
    let mut sum = [0; N];
    for word in polynomial {
        for bit in 0..64 {
            add_if(&mut sum, word >> bit & 1, state);
            E::step(state);
        }
    }
    *state = sum;
}

/// Advances `state` `times` times by `polynomial` of the step.
pub(crate) fn repeat<E: Linear<N>, const N: usize>(
    state: &mut [u64; N],
    mut polynomial: [u64; N],
    times: u64,
) {
    let high = &HighPowers::<E, N>::TABLE;
    let mut left = times;
    while left != 0 {
        if left & 1 == 1 {
            apply::<E, N>(state, &polynomial);
        }
        polynomial = square(&polynomial, high);
        left >>= 1;
    }
}

/// Advances `state` by so many steps. Some ten microseconds.
pub(crate) fn advance<E: Linear<N>, const N: usize>(state: &mut [u64; N], steps: Steps) {
    apply::<E, N>(state, &power_of_x::<E, N>(steps));
}

/// Returns `x^n` modulo the characteristic polynomial, for `n` below the period: it squares for
/// each bit of `n`, and multiplies by `x` where the bit is set.
pub(crate) fn power_of_x<E: Linear<N>, const N: usize>(n: Steps) -> [u64; N] {
    let high = &HighPowers::<E, N>::TABLE;
    let mut power = [0; N];
    power[0] = 1;
    for bit in n.bits_from_highest().skip_while(|bit| !bit) {
        power = square(&power, high);
        if bit {
            power = times_x::<E, N>(power);
        }
    }
    power
}

/// Squares of polynomials above this degree have terms to be reduced.
const MOST: usize = 128;

/// `x^(64 N + 2 k)` modulo the characteristic polynomial, for `k` below `32 N`.
struct HighPowers<E, const N: usize>(PhantomData<E>);

impl<E: Linear<N>, const N: usize> HighPowers<E, N> {
    /// Made by the compiler: 4 KiB would be much of a signal handler's stack.
    const TABLE: [[u64; N]; MOST] = {
        assert!(N.is_multiple_of(2) && 32 * N <= MOST);
        let mut powers = [[0; N]; MOST];
        let mut power = E::CHARACTERISTIC; // equals x^(64 N)
        let mut k = 0;
        while k < 32 * N {
            powers[k] = power;
            power = times_x::<E, N>(times_x::<E, N>(power));
            k += 1;
        }
        powers
    };
}

const fn times_x<E: Linear<N>, const N: usize>(power: [u64; N]) -> [u64; N] {
    let reduced = (power[N - 1] >> 63).wrapping_neg();
    let (mut product, mut word, mut carry) = (power, 0, 0);
    while word < N {
        product[word] = (power[word] << 1 | carry) ^ (E::CHARACTERISTIC[word] & reduced);
        carry = power[word] >> 63;
        word += 1;
    }
    product
}

/// Squares a polynomial. Over GF(2) the square of a sum is the sum of the squares: bit `i` moves to
/// `2 i`.
fn square<const N: usize>(power: &[u64; N], high: &[[u64; N]; MOST]) -> [u64; N] {
    let mut sum = [0; N];
    for (pair, word) in sum.chunks_exact_mut(2).zip(power) {
        pair.copy_from_slice(&[spread(*word as u32), spread((word >> 32) as u32)]);
    }
    for (word, high) in power[N / 2..].iter().zip(high.chunks_exact(64)) {
        for (bit, reduced) in high.iter().enumerate() {
            add_if(&mut sum, word >> bit & 1, reduced);
        }
    }
    sum
}

/// Puts a zero above each bit.
fn spread(bits: u32) -> u64 {
    let mut wide = u64::from(bits);
    for (shift, mask) in [
        (16, 0x0000_FFFF_0000_FFFF),
        (8, 0x00FF_00FF_00FF_00FF),
        (4, 0x0F0F_0F0F_0F0F_0F0F),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        wide = (wide | wide << shift) & mask;
    }
    wide
}

/// Adds `term` if `bit` is 1; without a branch, which would be mispredicted every other time.
#[inline(always)]
fn add_if<const N: usize>(sum: &mut [u64; N], bit: u64, term: &[u64; N]) {
    let mask = bit.wrapping_neg();
    sum.iter_mut().zip(term).for_each(|(sum, term)| *sum ^= term & mask);
}

#[cfg(all(test, reference))]
mod tests {
    use super::*;
    use crate::generators::xorshift128p::{self, Xorshift128p};
    use crate::generators::xoshiro256pp::{self, Xoshiro256pp};
    use reference::streams::generators as reference;

    #[test]
    fn the_characteristic_polynomials_are_those_of_the_words() {
        let found = reference::characteristic(reference::xoshiro256pp);
        assert_eq!(Xoshiro256pp::CHARACTERISTIC, found);
        let found = reference::characteristic(reference::xorshift128p);
        assert_eq!(Xorshift128p::CHARACTERISTIC, found);
    }

    #[test]
    fn the_authors_constants_are_powers_of_x() {
        let power = |words| power_of_x::<Xoshiro256pp, 4>(Steps::times_2_to_64(1, words));
        assert_eq!((power(2), power(3)), (xoshiro256pp::JUMP, xoshiro256pp::LONG_JUMP));
        let power = power_of_x::<Xorshift128p, 2>(Steps::times_2_to_64(1, 1));
        assert_eq!(power, xorshift128p::JUMP);
    }

    #[test]
    fn a_whole_period_is_no_step() {
        let one = |steps| power_of_x::<Xoshiro256pp, 4>(steps);
        assert_eq!(one(Steps([u64::MAX; 4])), [1, 0, 0, 0]);
        assert_eq!(one(Steps([0; 4])), [1, 0, 0, 0]);
        let all = Steps([u64::MAX, u64::MAX, 0, 0]);
        assert_eq!(power_of_x::<Xorshift128p, 2>(all), [1, 0]);
    }
}
