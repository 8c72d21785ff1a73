//! Estimators that count: single values, waiting times and pairs.

use super::{Z, upper};

/// Estimates by the most common value (section 6.3.1).
pub(super) fn most_common(data: &[u8]) -> f64 {
    let mut counts = [0_u64; 256];
    data.iter().for_each(|&value| counts[usize::from(value)] += 1);
    let most = counts.into_iter().max().unwrap_or(0) as f64;
    let n = data.len() as f64;
    -upper(most / n, n).log2()
}

/// Estimates by collisions of bits (section 6.3.2): the time until a value repeats, two or three.
///
/// The equation of step 7 is 2 + 2 p (1 - p) = X for bits, a quadratic one.
pub(super) fn collision(bits: &[u8]) -> f64 {
    let (mut at, mut count, mut squares) = (0, 0.0, 0.0);
    while at + 1 < bits.len() {
        let time = if bits[at] == bits[at + 1] { 2 } else { 3 };
        if time == 3 && at + 2 >= bits.len() {
            break;
        }
        at += time;
        count += 1.0;
        squares += (time * time) as f64;
    }
    let mean = at as f64 / count;
    let deviation = ((squares - at as f64 * mean) / (count - 1.0)).sqrt();
    let low = (mean - Z * deviation / count.sqrt()).max(2.0);
    if low < 2.5 { -(0.5 + (1.25 - 0.5 * low).sqrt()).log2() } else { 1.0 }
}

/// Estimates by a Markov chain of bits (section 6.3.3): the likeliest sequence of 128.
pub(super) fn markov(bits: &[u8]) -> f64 {
    let mut pairs = [[0_u64; 2]; 2];
    for two in bits.windows(2) {
        pairs[usize::from(two[0])][usize::from(two[1])] += 1;
    }
    let zeros = bits.iter().filter(|bit| **bit == 0).count() as f64 / bits.len() as f64;
    let start = [zeros, 1.0 - zeros];
    let step = pairs.map(|[zero, one]| match zero + one {
        0 => [0.0, 0.0],
        total => {
            let zero = zero as f64 / total as f64;
            [zero, 1.0 - zero]
        }
    });
    // Each sequence is its first bit and how often each step occurs.
    let sequences: [(usize, [[f64; 2]; 2]); 6] = [
        (0, [[127.0, 0.0], [0.0, 0.0]]),
        (0, [[0.0, 64.0], [63.0, 0.0]]),
        (0, [[0.0, 1.0], [0.0, 126.0]]),
        (1, [[126.0, 0.0], [1.0, 0.0]]),
        (1, [[0.0, 63.0], [64.0, 0.0]]),
        (1, [[0.0, 0.0], [0.0, 127.0]]),
    ];
    let entropy = |(first, times): &(usize, [[f64; 2]; 2])| {
        let mut bits = -start[*first].log2();
        for (from, times) in times.iter().enumerate() {
            for (to, times) in times.iter().enumerate() {
                if *times > 0.0 {
                    bits -= times * step[from][to].log2(); // infinite where it never happened
                }
            }
        }
        bits
    };
    let least = sequences.iter().map(entropy).fold(128.0, f64::min);
    least / 128.0
}
