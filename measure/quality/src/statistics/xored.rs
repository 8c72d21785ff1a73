//! Counts of ones in a sum, modulo 2, of the stream with itself at other places.

/// Words that are added side by side.
const LANES: usize = 8;
type Lanes = [u64; LANES];

/// Returns the number of ones among the sums modulo 2 of the bits at `offsets` from each place, and
/// the number of places: all of the words for which every offset has a whole word.
///
/// Counting the ones of each word would take most of the time. Carry-save adders (Harley and Seal;
/// Warren, Hacker's Delight, 5-1) reduce eight words to one whose ones count eight each.
pub(super) fn ones<const N: usize>(values: &[u64], offsets: [usize; N]) -> (u64, u64) {
    let whole = |offset: usize| values.len().saturating_sub(offset.div_ceil(64));
    let words = offsets.into_iter().map(whole).min().unwrap_or(0);
    if words == 0 {
        return (0, 0);
    }
    // A whole number of words has no high part; any slice serves, since all of it is shifted out.
    let parts = offsets.map(|offset| {
        let (at, shift) = (offset / 64, offset % 64);
        (&values[at..at + words], &values[offset.div_ceil(64)..][..words], shift as u32)
    });
    let aligned = words / (8 * LANES) * (8 * LANES);
    let (mut ones, mut twos, mut fours) = ([0; LANES], [0; LANES], [0; LANES]);
    let mut eights = 0;
    for start in (0..aligned).step_by(8 * LANES) {
        let row: [Lanes; 8] = std::array::from_fn(|row| lanes(&parts, start + row * LANES));
        let first = add(&mut ones, row[0], row[1]);
        let second = add(&mut ones, row[2], row[3]);
        let third = add(&mut ones, row[4], row[5]);
        let fourth = add(&mut ones, row[6], row[7]);
        let (low, high) = (add(&mut twos, first, second), add(&mut twos, third, fourth));
        eights += count(&add(&mut fours, low, high));
    }
    let rest = (aligned..words).map(|i| {
        let parts = parts.iter().map(|(low, high, shift)| joined(low[i], high[i], *shift));
        u64::from(parts.fold(0, |sum, part| sum ^ part).count_ones())
    });
    let total = 8 * eights + 4 * count(&fours) + 2 * count(&twos) + count(&ones);
    (total + rest.sum::<u64>(), 64 * words as u64)
}

/// Returns the sums of eight words of each part.
#[inline(always)]
fn lanes<const N: usize>(parts: &[(&[u64], &[u64], u32); N], at: usize) -> Lanes {
    let mut sum = [0; LANES];
    for (low, high, shift) in parts {
        let low: &Lanes = low[at..at + LANES].try_into().expect("eight words");
        let high: &Lanes = high[at..at + LANES].try_into().expect("eight words");
        for i in 0..LANES {
            sum[i] ^= joined(low[i], high[i], *shift);
        }
    }
    sum
}

/// Returns the word that begins `shift` bits after the beginning of `low`. Two shifts, because one
/// of 64 would be none.
#[inline(always)]
fn joined(low: u64, high: u64, shift: u32) -> u64 {
    low >> shift | high << 1 << (63 - shift)
}

/// Adds `a` and `b` to `sum`, bit by bit, and returns the carries.
#[inline(always)]
fn add(sum: &mut Lanes, a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| {
        let (half, old) = (a[i] ^ b[i], sum[i]);
        sum[i] = half ^ old;
        a[i] & b[i] | half & old
    })
}

fn count(lanes: &Lanes) -> u64 {
    lanes.iter().map(|lane| u64::from(lane.count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_is_summed_with_those_at_every_offset() {
        let mut rng = fastrand::Rng::with_seed(13);
        for len in [2, 63, 64, 65, 66, 129, 700] {
            let words: Vec<u64> = (0..len).map(|_| rng.u64(..) & rng.u64(..)).collect();
            let bit = |i: usize| words[i / 64] >> (i % 64) & 1;
            for offsets in [[0, 1, 2], [0, 7, 63], [5, 64, 65], [0, 64, 100], [64, 0, 128]] {
                let far = offsets.iter().max().unwrap_or(&0_usize);
                let places = 64 * (len - far.div_ceil(64).min(len));
                let expected = (0..places)
                    .filter(|i| offsets.iter().fold(0, |sum, offset| sum ^ bit(i + offset)) == 1)
                    .count();
                assert_eq!(
                    ones(&words, offsets),
                    (expected as u64, places as u64),
                    "{len} words, {offsets:?}"
                );
            }
        }
    }
}
