//! The estimates by t-tuples and by the longest repeated substring (sections 6.3.5 and 6.3.6).
//!
//! Both need the numbers of equal tuples of every length. A suffix array has them: neighbours in it
//! share their longest prefixes, and an interval of it whose least common prefix has length l is a
//! set of equal tuples of length l.

use super::upper;

/// A tuple counts as frequent from so many occurrences on.
const FREQUENT: u64 = 35;

/// Returns both estimates, in bits of entropy a sample. The first is `None` if no sample is
/// frequent and the second if every repeated tuple is.
pub(super) fn estimates(data: &[u8]) -> (Option<f64>, Option<f64>) {
    let n = data.len();
    let shared = prefixes(data, &suffixes(data));
    let longest = shared.iter().copied().max().unwrap_or(0) as usize;
    let (most, pairs) = counted(&shared, longest);
    let bits = |p: f64| -upper(p, n as f64).log2();
    // The least length of which no tuple is frequent.
    let rare = (1..=longest).find(|&length| most[length] < FREQUENT).unwrap_or(longest + 1);
    let frequent = (1..rare)
        .map(|length| (most[length] as f64 / (n - length + 1) as f64).powf(1.0 / length as f64));
    let frequent = frequent.fold(0.0, f64::max);
    let repeated = (rare..=longest).map(|length| {
        let all = (n - length) as f64 * (n - length + 1) as f64 / 2.0;
        (pairs[length] as f64 / all).powf(1.0 / length as f64)
    });
    let repeated = repeated.fold(0.0, f64::max);
    ((frequent > 0.0).then(|| bits(frequent)), (repeated > 0.0).then(|| bits(repeated)))
}

/// Returns the length of the longest tuple that occurs twice.
pub(super) fn longest_repeated(data: &[u8]) -> usize {
    prefixes(data, &suffixes(data)).into_iter().max().unwrap_or(0) as usize
}

/// Returns for each length up to `longest` the number of occurrences of the most frequent tuple,
/// and the number of pairs of equal tuples.
fn counted(shared: &[u32], longest: usize) -> (Vec<u64>, Vec<u128>) {
    let mut most = vec![1_u64; longest + 2];
    let mut pairs = vec![0_i128; longest + 2];
    // Intervals that are open: the length of their prefix and their first place.
    let mut open: Vec<(u32, usize)> = Vec::new();
    for place in 0..=shared.len() {
        let now = shared.get(place).copied().unwrap_or(0);
        let mut first = place;
        while let Some(&(length, begun)) = open.last() {
            if length <= now {
                break;
            }
            open.pop();
            // `shared` has one entry for two neighbours.
            let size = (place - begun + 1) as u64;
            let outer = open.last().map_or(0, |(length, _)| *length).max(now) as usize;
            let count = i128::from(size) * i128::from(size - 1) / 2;
            // These tuples have the lengths above `outer`, up to `length`.
            pairs[outer + 1] += count;
            pairs[length as usize + 1] -= count;
            most[length as usize] = most[length as usize].max(size);
            first = begun;
        }
        if now > open.last().map_or(0, |(length, _)| *length) {
            open.push((now, first));
        }
    }
    // A shorter tuple occurs at least as often as one that begins with it.
    for length in (1..longest).rev() {
        most[length] = most[length].max(most[length + 1]);
    }
    let mut sum = 0;
    let pairs = pairs.into_iter().map(|change| {
        sum += change;
        sum as u128
    });
    (most, pairs.collect())
}

/// Returns the places of all suffixes in their order, by doubling (Manber and Myers 1990; Larsson
/// and Sadakane 2007): suffixes that agree in h values are in the order of those h places later, so
/// only groups that still agree are sorted again.
fn suffixes(data: &[u8]) -> Vec<u32> {
    let n = data.len();
    // Few symbols make long first prefixes: 64 bits of a number hold them.
    let symbols = data.iter().copied().max().map_or(2, |most| u64::from(most) + 1);
    let base = symbols + 1; // 0 is the end
    let first = (1..64).take_while(|&h| base.checked_pow(h + 1).is_some()).last().unwrap_or(0) + 1;
    let highest = base.pow(first - 1);
    let mut keyed: Vec<(u64, u32)> = vec![(0, 0); n];
    let mut key = 0_u64;
    for place in (0..n).rev() {
        key = key / base + (u64::from(data[place]) + 1) * highest;
        keyed[place] = (key, place as u32);
    }
    keyed.sort_unstable();
    let mut order: Vec<u32> = keyed.iter().map(|(_, place)| *place).collect();
    // The rank of a suffix is the last place of its group.
    let mut rank = vec![0_u32; n];
    let mut groups: Vec<(usize, usize)> = Vec::new();
    let mut begun = 0;
    for end in 1..=n {
        if end == n || keyed[end].0 != keyed[begun].0 {
            order[begun..end].iter().for_each(|&place| rank[place as usize] = end as u32 - 1);
            if end - begun > 1 {
                groups.push((begun, end));
            }
            begun = end;
        }
    }
    drop(keyed);
    let mut h = first as usize;
    while !groups.is_empty() {
        // Before any rank of this round changes, each suffix's key is that of the one h later.
        let mut next = Vec::new();
        let mut changes = Vec::new();
        for &(from, to) in &groups {
            let key = |place: u32| rank.get(place as usize + h).map_or(0, |rank| rank + 1);
            order[from..to].sort_unstable_by_key(|&place| key(place));
            let mut begun = from;
            for end in from + 1..=to {
                if end == to || key(order[end]) != key(order[begun]) {
                    changes.push((begun, end));
                    if end - begun > 1 {
                        next.push((begun, end));
                    }
                    begun = end;
                }
            }
        }
        for (from, to) in changes {
            order[from..to].iter().for_each(|&place| rank[place as usize] = to as u32 - 1);
        }
        groups = next;
        h *= 2;
    }
    order
}

/// Returns the lengths of the prefixes that neighbours in `order` share (Kasai and others 2001).
fn prefixes(data: &[u8], order: &[u32]) -> Vec<u32> {
    let n = data.len();
    let mut rank = vec![0_u32; n];
    order.iter().enumerate().for_each(|(i, &place)| rank[place as usize] = i as u32);
    let mut shared = vec![0_u32; n.saturating_sub(1)];
    let mut length = 0;
    for place in 0..n {
        let at = rank[place] as usize;
        if at == 0 {
            length = 0;
            continue;
        }
        let before = order[at - 1] as usize;
        let same = data[place + length..].iter().zip(&data[before + length..]);
        length += same.take_while(|(a, b)| a == b).count();
        shared[at - 1] = length as u32;
        length = length.saturating_sub(1);
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_all_tuples() {
        let mut rng = fastrand::Rng::with_seed(1);
        for (len, symbols) in [(300, 2), (300, 3), (200, 200), (64, 1)] {
            let mut data: Vec<u8> = (0..len).map(|_| rng.u8(..symbols)).collect();
            data.extend_from_within(10..60); // a long repeat
            let order = suffixes(&data);
            assert!(order.windows(2).all(|two| data[two[0] as usize..] < data[two[1] as usize..]));
            let shared = prefixes(&data, &order);
            let longest = shared.iter().copied().max().unwrap() as usize;
            let (most, pairs) = counted(&shared, longest);
            let found = most.iter().zip(&pairs).enumerate().take(longest + 1).skip(1);
            for (length, (most, pairs)) in found {
                let mut counts = std::collections::HashMap::new();
                data.windows(length).for_each(|tuple| *counts.entry(tuple).or_insert(0_u64) += 1);
                assert_eq!(*most, counts.values().copied().max().unwrap(), "{length}");
                let expected: u64 = counts.values().map(|count| count * (count - 1) / 2).sum();
                assert_eq!(*pairs, u128::from(expected), "{length} of {symbols}");
            }
        }
    }
}
