//! Weighted choice among outcomes, by an alias table.
//!
//! Method: A. J. Walker, "An Efficient Method for Generating Discrete Random Variables with General
//! Distributions", ACM TOMS 3(3), 1977: as many buckets as outcomes, each shared by at most two. So
//! a draw reads one bucket, whatever the weights. The table is built by one sweep over the outcomes
//! (L. Huebschle-Schneider and P. Sanders, "Parallel Weighted Random Sampling", 2019). The sweep
//! works in whole numbers, because floats would make the table depend on the order of sums; so
//! every language builds the same one, and the shares add up exactly.

use crate::Error;
use crate::numbers::Number;

/// Two outcomes share a bucket, so an index of more bits would be of no use.
const MOST: u64 = 1 << 32;

/// A bucket of an alias table: the outcome with the bucket's own number below the threshold, and
/// another outcome from the threshold on.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alias {
    /// The share of the bucket's own outcome, times 2^64.
    pub threshold: u64,
    /// The number of the other outcome.
    pub other: u64,
}

/// The distribution of outcomes 0 to n - 1 with weights. [Not for secrets](crate).
///
/// Each number takes one word and one place of a table, for any number of outcomes. The table
/// belongs to the value, or is borrowed, as `T` says.
///
/// ```
/// use headwater_streams::{Key, distributions::Categorical};
///
/// let stream = Key::from_seed(42).stream(0)?;
/// let drinks = Categorical::new(&[3.0, 1.0, 0.0])?;
/// let mut chosen = [0_u32; 1000];
/// stream.fill_distribution(&drinks, 0, &mut chosen)?;
/// let names = chosen.map(|i| ["tea", "coffee", "poison"][i as usize]);
/// assert!(!names.contains(&"poison"));
/// # Ok::<(), headwater_streams::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Categorical<T> {
    table: T,
}

#[cfg(feature = "std")]
impl Categorical<Vec<Alias>> {
    /// Returns the distribution with these weights, which need not add up to 1.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless there are 1 to 2^32 weights, all of them finite and not below 0,
    /// and one of them above 0.
    pub fn new(weights: &[f64]) -> Result<Self, Error> {
        let mut table = crate::kinds::room(weights.len())?;
        build(weights, &mut table)?;
        Ok(Categorical { table })
    }
}

impl<'a> Categorical<&'a [Alias]> {
    /// Builds the table in memory of the caller, and returns the distribution that borrows it.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Categorical::new), and [`Error::Lengths`] unless `table` has a place
    /// for each weight. The table is unchanged then.
    pub fn build(weights: &[f64], table: &'a mut [Alias]) -> Result<Self, Error> {
        build(weights, table)?;
        Ok(Categorical { table })
    }

    /// Returns the distribution of a table that was built before.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless the table has 1 to 2^32 buckets.
    pub fn from_table(table: &'a [Alias]) -> Result<Self, Error> {
        number_of(table.len())?;
        Ok(Categorical { table })
    }
}

impl<T: AsRef<[Alias]>> Categorical<T> {
    /// Returns the buckets.
    pub fn table(&self) -> &[Alias] {
        self.table.as_ref()
    }
}

fn wrong(need: &'static str) -> Error {
    Error::Parameter { name: "weights", need }
}

/// Returns the number of outcomes.
fn number_of(len: usize) -> Result<u64, Error> {
    let n = len as u64;
    if (1..=MOST).contains(&n) { Ok(n) } else { Err(wrong("1 to 2^32 numbers")) }
}

/// Returns the exponent of the largest weight.
fn largest_exponent(weights: &[f64]) -> Result<i32, Error> {
    // A NaN passes no comparison.
    if !weights.iter().all(|&w| w >= 0.0 && w.is_finite()) {
        return Err(wrong("finite numbers from 0"));
    }
    let largest = weights.iter().fold(0.0, |most: f64, &w| most.max(w));
    let (significand, exponent) = parts(largest);
    match significand.checked_ilog2() {
        Some(log) => Ok(exponent + log as i32),
        None => Err(wrong("numbers of which one is above 0")),
    }
}

/// Returns the whole numbers m and e of a weight m 2^e.
fn parts(weight: f64) -> (u64, i32) {
    const FRACTION: u64 = (1 << 52) - 1;
    let (biased, fraction) = ((weight.to_bits() >> 52) as i32, weight.to_bits() & FRACTION);
    match biased {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, biased - 1075),
    }
}

/// The weights as whole numbers: shares of a total below 2^63, times the number of outcomes.
struct Shares<'a> {
    weights: &'a [f64],
    scale: Scale,
    n: u128,
    /// The mean of all shares: the sum of the weights' whole numbers.
    total: u128,
    divisor: Divisor,
}

/// The unit of the whole numbers.
#[derive(Clone, Copy)]
struct Scale {
    /// The exponent of the largest weight.
    largest: i32,
    /// Bits dropped, so that the total fits.
    dropped: u32,
}

impl Scale {
    /// Returns a weight as a whole number below 2^63.
    fn whole(self, weight: f64) -> u64 {
        let (significand, exponent) = parts(weight);
        // At most 10, because no weight is above the largest one.
        let shift = exponent + 62 - self.largest;
        let whole = match u32::try_from(shift) {
            Ok(left) => significand.wrapping_shl(left),
            Err(_) => significand.checked_shr(shift.unsigned_abs()).unwrap_or(0),
        };
        whole >> self.dropped
    }

    fn sum(self, weights: &[f64]) -> u128 {
        weights.iter().map(|&weight| u128::from(self.whole(weight))).sum()
    }
}

impl<'a> Shares<'a> {
    fn new(weights: &'a [f64]) -> Result<Shares<'a>, Error> {
        let n = number_of(weights.len())?.into();
        let all = Scale { largest: largest_exponent(weights)?, dropped: 0 };
        let bits = 128 - all.sum(weights).leading_zeros();
        let scale = Scale { dropped: bits.saturating_sub(63), ..all };
        let total = scale.sum(weights);
        Ok(Shares { weights, scale, n, total, divisor: Divisor::new(total as u64) })
    }

    /// Returns the share of an outcome, or `None` past the last one.
    fn of(&self, outcome: usize) -> Option<u128> {
        self.weights.get(outcome).map(|&weight| u128::from(self.scale.whole(weight)) * self.n)
    }

    /// Returns the bucket of an outcome that keeps this much of it.
    fn bucket(&self, own: usize, keeps: u128, other: usize) -> Alias {
        if keeps == self.total {
            return Alias { threshold: u64::MAX, other: own as u64 };
        }
        // At most the total, which is below 2^63.
        let threshold = self.divisor.quotient(keeps as u64);
        Alias { threshold, other: other as u64 }
    }
}

/// A total below 2^63, by which many numbers are divided.
///
/// By its reciprocal (N. Moeller and T. Granlund, "Improved Division by Invariant Integers", IEEE
/// Transactions on Computers 60(2), 2011), because a division of 128 bits would bring an object
/// with LLVM bitcode into the C archive. Linkers with a plugin for bitcode then miss every symbol
/// of the archive.
struct Divisor {
    /// The total, shifted up so that its highest bit is set.
    normal: u64,
    shift: u32,
    /// The integer part of (2^128 - 1) / normal, less 2^64.
    reciprocal: u64,
}

impl Divisor {
    fn new(total: u64) -> Divisor {
        let shift = total.leading_zeros();
        // A total of 0 has no shares to divide.
        let normal = total.checked_shl(shift).unwrap_or(1 << 63);
        // Bit by bit, once for a table: the highest bit of the quotient is 2^64 and taken already.
        let (mut rest, mut reciprocal) = (u128::from(!normal), 0u64);
        for _ in 0..64 {
            rest = rest << 1 | 1;
            let fits = rest >= u128::from(normal);
            rest -= if fits { u128::from(normal) } else { 0 };
            reciprocal = reciprocal << 1 | u64::from(fits);
        }
        Divisor { normal, shift, reciprocal }
    }

    /// Returns the integer part of x 2^64 / total, of an x below the total.
    fn quotient(&self, x: u64) -> u64 {
        let (upper, normal) = (x << self.shift, self.normal);
        // Algorithm 4 of the paper, for a lower word of 0. With k = 2^128 - (2^64 + reciprocal)
        // normal, which is at most normal, the rest is (upper k + low normal) / 2^64 - normal. It
        // is below normal, so the paper's second correction never happens.
        let product = u128::from(self.reciprocal) * u128::from(upper);
        let quotient = product.wrapping_add(u128::from(upper) << 64);
        let (high, low) = ((quotient >> 64) as u64, quotient as u64);
        let high = high.wrapping_add(1);
        let rest = 0u64.wrapping_sub(high.wrapping_mul(normal));
        if rest > low { high.wrapping_sub(1) } else { high }
    }
}

/// Builds the table of these weights.
///
/// Two places move through the outcomes: of the next light one, whose share is at most the mean,
/// and of the next heavy one. A heavy outcome fills the buckets of light ones until it is light
/// itself; then the next heavy one fills its bucket. No list is needed, so C can call this.
fn build(weights: &[f64], table: &mut [Alias]) -> Result<(), Error> {
    if weights.len() != table.len() {
        return Err(Error::Lengths { indices: weights.len(), out: table.len() });
    }
    let shares = Shares::new(weights)?;
    let next = |from: usize, heavy: bool| -> Option<(usize, u128)> {
        (from..weights.len())
            .filter_map(|outcome| Some((outcome, shares.of(outcome)?)))
            .find(|&(_, share)| (share > shares.total) == heavy)
    };
    for (own, bucket) in table.iter_mut().enumerate() {
        *bucket = shares.bucket(own, shares.total, own);
    }
    let mut put = |own: usize, bucket: Alias| {
        if let Some(place) = table.get_mut(own) {
            *place = bucket;
        }
    };
    let (mut light, mut heavy) = (next(0, false), next(0, true));
    while let Some((giver, left)) = heavy {
        if left > shares.total {
            // Present, because the shares have their mean. The sweep ends if it were not.
            let Some((own, share)) = light else { break };
            put(own, shares.bucket(own, share, giver));
            heavy = Some((giver, left - (shares.total - share)));
            light = next(own + 1, false);
        } else {
            // After the last heavy outcome exactly the mean is left.
            let Some((following, share)) = next(giver + 1, true) else { break };
            put(giver, shares.bucket(giver, left, following));
            heavy = Some((following, share - (shares.total - left)));
        }
    }
    Ok(())
}

/// Outcomes as numbers of one type.
pub(super) struct Choice<'a, V> {
    table: &'a [Alias],
    value: core::marker::PhantomData<fn() -> V>,
}

impl<'a, V> Choice<'a, V> {
    pub(super) fn new<T: AsRef<[Alias]>>(of: &'a Categorical<T>) -> Choice<'a, V> {
        Choice { table: of.table(), value: core::marker::PhantomData }
    }
}

/// A type of outcomes' numbers.
pub(super) trait Outcome: Copy + Default + Send {
    fn of(outcome: u64) -> Self;
}

impl Outcome for u64 {
    #[inline(always)]
    fn of(outcome: u64) -> u64 {
        outcome
    }
}

impl Outcome for u32 {
    #[inline(always)]
    fn of(outcome: u64) -> u32 {
        outcome as u32
    }
}

impl<V: Outcome> Number for Choice<'_, V> {
    type Value = V;
    const WORDS: usize = 1;
    const VALUES: usize = 1;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [V]) -> bool {
        let n = self.table.len() as u64;
        for (out, &word) in out.iter_mut().zip(words) {
            let product = u128::from(word) * u128::from(n);
            let own = (product >> 64) as u64;
            // Always present, because the product is below n 2^64. The C library has no panics.
            let bucket = self.table.get(own as usize).copied().unwrap_or_default();
            // A selection: the CPU could not predict this branch.
            let stays = (product as u64) < bucket.threshold;
            *out = V::of(core::hint::select_unpredictable(stays, own, bucket.other));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Divisors at both ends and around powers of two, and dividends beside 0 and the divisor.
    #[test]
    fn quotients_are_those_of_a_division() {
        let mut x = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = || {
            x = x.wrapping_mul(0xDA94_2042_E4DD_58B5).wrapping_add(0x1234_5678_9ABC_DEF1);
            x ^ x >> 29
        };
        let powers = (0..63).flat_map(|k| [(1u64 << k) - 1, 1 << k, (1 << k) + 1]);
        let any: Vec<u64> = (0..2000).map(|i| random() >> (1 + i % 63)).collect();
        for total in powers.chain(any).chain([(1 << 63) - 1]).filter(|&total| total > 0) {
            let divisor = Divisor::new(total);
            let any = [random() % total, random() % total, random() % total];
            for x in any.into_iter().chain([0, 1, total / 2, total - 1]).filter(|&x| x < total) {
                let expected = (u128::from(x) << 64) / u128::from(total);
                assert_eq!(u128::from(divisor.quotient(x)), expected, "{x} / {total}");
            }
        }
    }
}
