//! Numbers out of words, as the definitions have them: logarithms and sines by their series, in
//! integers.
//!
//! `word(draw)` stands for a stream's word at one place of each of its draws, `word(draw, place)`
//! for all of them.

/// A number from 0 to 256, in steps of 2^-120.
type Fixed = u128;

const ONE: Fixed = 1 << 120;

/// Returns a uniform number in [0, 1): the upper 53 bits.
pub fn uniform_f64(word: u64) -> f64 {
    (word >> 11) as f64 / 2f64.powi(53)
}

/// Returns a uniform number in [0, 1): the upper 24 bits.
pub fn uniform_f32(word: u32) -> f32 {
    (word >> 8) as f32 / 2f32.powi(24)
}

/// Returns an integer below `bound`, not 0, by Lemire's method from words of `bits` bits, 32 or 64.
pub fn bounded(bits: u32, bound: u64, word: impl Fn(u16) -> u64) -> u64 {
    let outcomes = 1u128 << bits;
    for draw in 0.. {
        let product = u128::from(word(draw)) * u128::from(bound);
        if product % outcomes >= outcomes % u128::from(bound) {
            return (product / outcomes) as u64;
        }
    }
    unreachable!("65,536 words in a row are rejected with a chance below 2^-65536");
}

/// Returns an exponential number: `-ln u` for the u that is the odd number `word | 1` over 2^64.
pub fn exponential(word: u64) -> f64 {
    to_f64(minus_ln(word | 1, 64))
}

/// Returns the same for `bits` bits, 32 or 64, as a sum of two floats: twice as precise.
pub fn exponential_wide(bits: u32, word: u64) -> [f64; 2] {
    wide(minus_ln(word | 1, bits))
}

/// Returns the smaller and the larger coordinate of a point of the unit circle, without signs, each
/// as a sum of two floats: sine and cosine of the angle that [`normal_pair`] describes.
pub fn direction_wide(bits: u32, direction: u64) -> [[f64; 2]; 2] {
    let (sin, cos) = eighth_of_a_turn(bits, direction);
    [wide(sin), wide(cos)]
}

/// Returns a pair of normal numbers from two words of `bits` bits, 32 or 64: a distance of
/// `sqrt(-2 ln u)`, and a direction.
///
/// The direction's upper bit is the first number's sign, the next one the second's; the third
/// exchanges the two. The other bits, with a 1 after them, are an angle between 0 and an eighth of
/// a turn.
pub fn normal_pair(bits: u32, distance: u64, direction: u64) -> [f64; 2] {
    let distance = sqrt(2 * minus_ln(distance | 1, bits));
    let bit = |i: u32| direction >> (bits - i) & 1 == 1;
    let (sin, cos) = eighth_of_a_turn(bits, direction);
    let (x, y) = if bit(3) { (sin, cos) } else { (cos, sin) };
    let signed = |x: Fixed, negative: bool| {
        // A small one is moved up first, so that none of its bits are lost.
        let up = x.leading_zeros().saturating_sub(8);
        let size = to_f64(multiply(distance, x << up)) / 2f64.powi(up as i32);
        if negative { -size } else { size }
    };
    [signed(x, bit(1)), signed(y, bit(2))]
}

/// Returns sine and cosine of the angle in a direction's lower bits.
fn eighth_of_a_turn(bits: u32, direction: u64) -> (Fixed, Fixed) {
    let angle = ((direction << 1) | 1) & ((1 << (bits - 2)) - 1);
    // In quarters of a turn: the angle over 2^(bits - 1).
    sin_cos(multiply(pi() / 2, Fixed::from(angle) << (121 - bits)))
}

/// Returns, for each element of a shuffled slice of this length, its place before the shuffle.
pub fn shuffled(len: usize, word: impl Fn(u16, u64) -> u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    let (mut left, mut place) = (len, 0);
    while left > 1 {
        let batch = match left {
            0x4000_0001.. => 1,
            0x8_0001.. => 2,
            0x4001.. => 3,
            0x801.. => 4,
            0x201.. => 5,
            7.. => 6,
            _ => 1,
        };
        // A number below the number of outcomes, as for one bounded integer, and its digits of
        // mixed radix, from the top.
        let outcomes: u128 = (0..batch).map(|i| (left - i) as u128).product();
        let of_all = bounded(64, outcomes as u64, |draw| word(draw, place));
        let mut rest = u128::from(of_all);
        let mut below = outcomes;
        for _ in 0..batch {
            below /= left as u128;
            order.swap(left - 1, (rest / below) as usize);
            rest %= below;
            left -= 1;
        }
        place += 1;
    }
    order
}

/// Returns the value at `index` of a permutation of `0..n`, for `n` above 256, with 25 words as its
/// keys.
pub fn permuted(n: u64, index: u64, words: &[u64; 25]) -> u64 {
    let bits = 64 - (n - 1).leading_zeros();
    let low_bits = bits.div_ceil(2);
    let mut x = index;
    loop {
        let mut halves = [x >> low_bits, x % (1 << low_bits)];
        for round in 0..12 {
            let [first, second] = [words[2 * round], words[2 * round + 1]];
            let (to, from) = if round % 2 == 0 { (0, 1) } else { (1, 0) };
            let bits = if to == 0 { bits - low_bits } else { low_bits };
            let once = keyed(halves[from], first);
            halves[to] ^= keyed(once, second) % (1 << bits);
        }
        x = (halves[0] << low_bits) + halves[1];
        if words[24] % 2 == 1 && x < 2 {
            x = 1 - x;
        }
        if x < n {
            return x;
        }
    }
}

/// Returns 32 bits of the product of a sum and a factor, both keyed: its upper half XORed with its
/// lower one.
fn keyed(x: u64, key: u64) -> u64 {
    let product = (x ^ (key % (1 << 32))) * ((key >> 32) | 1);
    (product >> 32) ^ (product % (1 << 32))
}

/// Returns `-ln(m / 2^bits)` of an odd `m`.
fn minus_ln(m: u64, bits: u32) -> Fixed {
    let (m, whole) = (u128::from(m), 1u128 << bits);
    if m > whole / 2 {
        // ln((1 + s) / (1 - s)) = 2 artanh s, with s so that the quotient is whole / m.
        return 2 * artanh(divide(whole - m, whole + m));
    }
    let exponent = m.ilog2();
    let power = 1u128 << exponent;
    let ln_2 = 2 * artanh(divide(1, 3));
    u128::from(bits - exponent) * ln_2 - 2 * artanh(divide(m - power, m + power))
}

/// Returns `s + s^3/3 + s^5/5 + ...`.
fn artanh(s: Fixed) -> Fixed {
    series(s, multiply(s, s), |n, power, _| (power / (2 * n + 1), false))
}

/// Computes pi by Machin's formula.
fn pi() -> Fixed {
    let arctan = |s| series(s, multiply(s, s), |n, power, _| (power / (2 * n + 1), n % 2 == 1));
    4 * (4 * arctan(divide(1, 5)) - arctan(divide(1, 239)))
}

fn sin_cos(x: Fixed) -> (Fixed, Fixed) {
    let square = multiply(x, x);
    let factorial = |n: u128, last: Fixed, from: u128| match n {
        0 => (last, false),
        _ => (multiply(last, square) / ((2 * n + from) * (2 * n + from - 1)), n % 2 == 1),
    };
    let sin = series(x, ONE, |n, _, last| factorial(n, last, 1));
    let cos = series(ONE, ONE, |n, _, last| factorial(n, last, 0));
    (sin, cos)
}

/// Sums terms, each with a sign, until one is 0. `term` gets its number, `first * ratio^n`, and the
/// last term.
fn series(first: Fixed, ratio: Fixed, term: impl Fn(u128, Fixed, Fixed) -> (Fixed, bool)) -> Fixed {
    let (mut plus, mut minus) = (0, 0);
    let (mut power, mut last) = (first, first);
    for n in 0.. {
        let (size, negative) = term(n, power, last);
        if size == 0 {
            break;
        }
        *(if negative { &mut minus } else { &mut plus }) += size;
        last = size;
        power = multiply(power, ratio);
    }
    plus - minus
}

/// Returns `a * b`, by long multiplication of 64-bit digits.
fn multiply(a: Fixed, b: Fixed) -> Fixed {
    let digits = |x: u128| (x >> 64, x % (1 << 64));
    let ((a1, a0), (b1, b0)) = (digits(a), digits(b));
    let (high, low) = ((a1 * b0), (a0 * b1));
    let middle = ((a0 * b0) >> 64) + high % (1 << 64) + low % (1 << 64);
    let top = a1 * b1 + (high >> 64) + (low >> 64) + (middle >> 64);
    (top << 8) + ((middle % (1 << 64)) >> 56)
}

/// Returns `a / b` for `a` below `b` below 2^127, by long division.
fn divide(a: u128, b: u128) -> Fixed {
    let (mut rest, mut quotient) = (a, 0);
    for _ in 0..120 {
        rest *= 2;
        quotient = quotient * 2 + rest / b;
        rest %= b;
    }
    quotient
}

/// Computes a root below 16 bit by bit.
fn sqrt(x: Fixed) -> Fixed {
    let mut root = 0;
    for bit in (0..124).rev() {
        let larger = root + (1 << bit);
        if multiply(larger, larger) <= x {
            root = larger;
        }
    }
    root
}

/// Returns the nearest float, and the rest that it lacks.
fn wide(x: Fixed) -> [f64; 2] {
    let nearest = x as f64;
    let lacking = x as i128 - nearest as i128;
    [nearest / 2f64.powi(120), lacking as f64 / 2f64.powi(120)]
}

fn to_f64(x: Fixed) -> f64 {
    x as f64 / 2f64.powi(120)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the first digits with published constants.
    #[test]
    fn constants_are_those_of_the_tables() {
        assert_eq!(to_f64(pi()), core::f64::consts::PI);
        assert_eq!(exponential(1 << 63), core::f64::consts::LN_2);
        assert_eq!(to_f64(sqrt(2 * ONE)), core::f64::consts::SQRT_2);
        let (sin, cos) = sin_cos(ONE / 2);
        assert_eq!((to_f64(sin), to_f64(cos)), (0.479425538604203, 0.8775825618903728));
    }
}
