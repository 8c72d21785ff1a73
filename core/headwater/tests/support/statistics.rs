//! Two crude tests of bytes. They find an implementation that is broken, never a cipher that is
//! weak.

use headwater_testing::words::sort;

/// Checks that the bits and the bytes of at least 64 KiB are balanced. False alarms have
/// probability 3e-9 for random bytes: 1e-9 by the bits, and 2e-9 by the two sides of the bytes'
/// chi-square.
pub(crate) fn assert_balanced(bytes: &[u8], what: &str) {
    assert!(bytes.len() >= 1 << 16, "too short for a statistic");
    let ones: u64 = bytes.iter().map(|byte| u64::from(byte.count_ones())).sum();
    let bits = 8.0 * bytes.len() as f64;
    // |Z| > 6.11 has probability 1e-9.
    let z = (ones as f64 - bits / 2.0) / (bits.sqrt() / 2.0);
    assert!(z.abs() < 6.11, "{what}: the bits are off by {z:.1} deviations");

    let mut counts = [0u64; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let statistic = chi_square(&counts);
    // 255 degrees of freedom: each side has probability 1e-9.
    assert!(
        (141.9..414.6).contains(&statistic),
        "{what}: chi-square of the bytes is {statistic:.1}"
    );
}

/// Returns the chi-square of counts whose expectations are equal.
pub(crate) fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let square = |&count: &u64| (count as f64 - expected).powi(2) / expected;
    counts.iter().map(square).sum()
}

/// Checks that all words differ. False alarms have probability n^2 / 2^65 for `n` random words of
/// 64 bits: 1e-7 for 2 M.
pub(crate) fn assert_distinct(mut words: Vec<u64>, what: &str) {
    sort(&mut words);
    if let Some(pair) = words.windows(2).find(|pair| pair[0] == pair[1]) {
        panic!("{what}: {:#x} repeats among {}", pair[0], words.len());
    }
}
