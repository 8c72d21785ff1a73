//! Shuffles and permutations: against their definitions, bijections, and no order likelier than
//! another.

use super::{Awkward, stream};
use crate::numbers::path::Path;
use crate::numbers::permutation::Permutation;
use crate::numbers::shuffle::shuffle;
use crate::words::Words;
use crate::{Engine, Error, Key, Stream};

#[test]
fn a_shuffle_is_what_the_method_says() {
    // Around the lengths at which batches change, and where they begin with a rejection.
    for len in (0..20).chain([511, 512, 513, 700, 2047, 2050, 16_383, 16_384, 16_390, 20_000]) {
        let mut order: Vec<usize> = (0..len).collect();
        shuffle(&Awkward, &mut order);
        assert!(
            order == reference::streams::numbers::shuffled(len, Awkward::word),
            "{len} elements"
        );
    }
}

/// 600,000 elements take batches of two first.
#[test]
fn a_long_shuffle_is_what_the_method_says() {
    let word = |draw, place| {
        let mut word = [0];
        stream(20).words(draw, place, &mut word);
        word[0]
    };
    let mut order: Vec<usize> = (0..600_000).collect();
    stream(20).shuffle(&mut order);
    assert!(order == reference::streams::numbers::shuffled(600_000, word));
}

#[test]
fn every_length_is_permuted_one_to_one_and_back() {
    for n in (0..=600).chain([1 << 10, (1 << 10) + 1, 65_535, 65_536, 65_537]) {
        let permutation = stream((n % 251) as u8).permutation(n);
        let mut values = vec![0; n as usize];
        permutation.fill(0, &mut values).unwrap();
        let mut seen = vec![false; n as usize];
        for (index, &value) in (0..).zip(&values) {
            assert!(!core::mem::replace(&mut seen[value as usize], true), "{value} twice of {n}");
            assert_eq!(permutation.at(index), Some(value));
            assert_eq!(permutation.position(value), Some(index));
        }
        assert_eq!((permutation.at(n), permutation.position(n)), (None, None));
    }
}

#[test]
fn a_permutation_is_what_its_network_says_on_every_path() {
    let mut keys = [0; 25];
    for test in 21..25 {
        stream(test).words(0, 0, &mut keys);
        for n in [257, 512, 513, 1_000_003, 1 << 32, (1 << 32) + 1, 10u64.pow(18), u64::MAX] {
            let permutation = stream(test).permutation(n);
            for start in [0, (n - 256) / 2, n - 256] {
                let right = (start..).map(|i| reference::streams::numbers::permuted(n, i, &keys));
                let right: Vec<u64> = right.take(256).collect();
                for path in Path::all() {
                    let mut out = [0; 256];
                    permutation.fill_on(path, start..start + 256, &mut out);
                    assert_eq!(out[..], right[..], "{path:?}, {n} from {start}");
                }
                let back = right.iter().map(|&value| permutation.position(value).unwrap());
                assert!(back.eq(start..start + 256));
            }
        }
    }
}

#[test]
fn a_sample_is_the_beginning_of_a_permutation() {
    let (mut few, mut many, mut part) = ([0; 10], [0; 600], [0; 500]);
    stream(26).sample(10_000, &mut few).unwrap();
    stream(26).sample(10_000, &mut many).unwrap();
    stream(26).permutation(10_000).fill(100, &mut part).unwrap();
    assert_eq!(few, many[..10]);
    assert_eq!(part, many[100..]);
    let past = Err(Error::PastEnd { start: 0, len: 10, n: 9 });
    few = [7; 10];
    assert_eq!(stream(26).sample(9, &mut few), past);
    assert_eq!(few, [7; 10]);
    let far = stream(26).permutation(9).fill(u64::MAX, &mut few);
    assert_eq!(far, Err(Error::PastEnd { start: u64::MAX, len: 10, n: 9 }));
}

/// Returns the statistic of counts that should all be the same, in standard deviations from its
/// mean. Seeds are fixed, so a limit of five is crossed always or never.
fn uneven(counts: &[u32]) -> f64 {
    let mean = counts.iter().map(|&count| f64::from(count)).sum::<f64>() / counts.len() as f64;
    let chi: f64 = counts.iter().map(|&count| (f64::from(count) - mean).powi(2) / mean).sum();
    let degrees = (counts.len() - 1) as f64;
    (chi - degrees) / (2.0 * degrees).sqrt()
}

fn many_streams() -> impl Iterator<Item = Stream> {
    let key = Key::from_raw(Engine::Philox4x32, [0x55; 16]);
    (0..).map(move |id| key.stream(id).unwrap())
}

/// All orders of up to six elements, by the table of a permutation and by a shuffle.
#[test]
fn every_order_of_few_elements_comes_as_often_as_any_other() {
    for n in 2..=6u64 {
        let orders: usize = (1..=n as usize).product();
        let mut counts = [vec![0; orders], vec![0; orders]];
        for stream in many_streams().take(200 * orders) {
            let mut shuffled: Vec<u64> = (0..n).collect();
            stream.shuffle(&mut shuffled);
            let permutation = stream.permutation(n);
            let permuted: Vec<u64> = (0..n).map(|i| permutation.at(i).unwrap()).collect();
            for (counts, order) in counts.iter_mut().zip([shuffled, permuted]) {
                // The order's number, by Lehmer's code.
                let smaller = |i: usize| order[i + 1..].iter().filter(|&&x| x < order[i]).count();
                let number =
                    (0..order.len()).fold(0, |sum, i| sum * (order.len() - i) + smaller(i));
                counts[number] += 1;
            }
        }
        for counts in counts {
            assert!(uneven(&counts) < 5.0, "{n} elements: {}", uneven(&counts));
        }
    }
}

/// Checks the known properties of random permutations, for lengths just above the table and in the
/// middle of a power of two, where the network is at its weakest: the place of an element, pairs of
/// places, fixed points, cycles, inversions, sign.
#[test]
fn permutations_by_network_are_like_random_ones() {
    const KEYS: usize = 20_000;
    for n in [257usize, 384, 512] {
        let mut values = vec![0; n];
        let (mut first, mut last, mut gap) = (vec![0; n], vec![0; n], vec![0; n]);
        let (mut fixed, mut cycles, mut inversions, mut odd) = (0, 0, 0.0, 0);
        for stream in many_streams().take(KEYS) {
            stream.permutation(n as u64).fill(0, &mut values).unwrap();
            let at = |i: usize| values[i] as usize;
            first[at(0)] += 1;
            last[at(n - 1)] += 1;
            gap[(n + at(1) - at(0)) % n] += 1;
            fixed += (0..n).filter(|&i| at(i) == i).count();
            let own = cycles_of(&values);
            cycles += own;
            odd += usize::from((n - own) % 2 == 1);
            // Inversions of neighbours: each pair falls with a chance of one half.
            inversions += values.windows(2).filter(|pair| pair[0] > pair[1]).count() as f64;
        }
        assert_eq!(gap.remove(0), 0);
        for counts in [&first, &last, &gap] {
            assert!(uneven(counts) < 5.0, "{n}: {}", uneven(counts));
        }
        let keys = KEYS as f64;
        let off =
            |sum: f64, mean: f64, variance: f64| (sum / keys - mean) / (variance / keys).sqrt();
        let size = n as f64;
        let harmonic = |power: i32| (1..=n).map(|k| (k as f64).powi(-power)).sum::<f64>();
        let offs = [
            off(fixed as f64, 1.0, 1.0),
            off(cycles as f64, harmonic(1), harmonic(1) - harmonic(2)),
            off(inversions, (size - 1.0) / 2.0, (size + 1.0) / 12.0),
            off(odd as f64, 0.5, 0.25),
        ];
        assert!(offs.iter().all(|off| off.abs() < 5.0), "{n}: {offs:?}");
    }
}

fn cycles_of(values: &[u64]) -> usize {
    let mut seen = vec![false; values.len()];
    let mut cycles = 0;
    for start in 0..values.len() {
        let mut at = start;
        cycles += usize::from(!seen[at]);
        while !core::mem::replace(&mut seen[at], true) {
            at = values[at] as usize;
        }
    }
    cycles
}

/// Streams and keys that differ in one bit, and lengths that differ by one, lead to orders with no
/// more in common than any two orders.
#[test]
fn neighbours_have_nothing_in_common() {
    let key = Key::from_raw(Engine::Philox4x32, [0x77; 16]);
    let n = 1 << 20;
    let orders = [0, 1, 2, 4, 1 << 47].map(|id| key.stream(id).unwrap().permutation(n));
    let mut out = orders.map(|order| {
        let mut values = vec![0; 100_000];
        order.fill(0, &mut values).unwrap();
        values
    });
    let first = core::mem::take(&mut out[0]);
    for other in &out[1..] {
        // One in 2^20 agrees by chance: 0.1 of 100,000.
        let same = first.iter().zip(other).filter(|(a, b)| a == b).count();
        assert!(same < 6, "{same}");
    }
}

#[test]
fn debug_says_what_is_permuted() {
    let permutation: Permutation = stream(27).permutation(300);
    assert_eq!(format!("{permutation:?}"), "Permutation { n: 300, .. }");
    assert_eq!(permutation.n(), 300);
}
