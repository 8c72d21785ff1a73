//! Estimators of section 6.3 that take samples of any size.

/// The 99 % confidence bound's factor.
const Z: f64 = 2.575_829_303_548_901;

fn upper(p: f64, n: usize) -> f64 {
    (p + Z * (p * (1.0 - p) / (n as f64 - 1.0)).sqrt()).min(1.0)
}

/// Estimates by the most common value (section 6.3.1).
pub(super) fn most_common(samples: &[u8]) -> f64 {
    let mut counts = [0_usize; 256];
    samples.iter().for_each(|&sample| counts[sample as usize] += 1);
    let most = counts.into_iter().max().unwrap_or(0);
    -upper(most as f64 / samples.len() as f64, samples.len()).log2()
}

/// The longest repeat that is followed. A source with longer ones fails other estimators first.
const LONGEST: usize = 256;
/// A tuple that occurs this often counts as frequent.
const FREQUENT: usize = 35;

/// Estimates by tuples (sections 6.3.5 and 6.3.6): the most frequent tuples of each length, and
/// repeated tuples of the lengths at which no tuple is frequent.
///
/// Tuples are made longer by one sample at a time, and only those that occur at least twice are
/// followed.
pub(super) fn tuples(samples: &[u8]) -> (f64, f64) {
    let n = samples.len();
    // Each entry is a tuple: its first sample's index in the low half; above the index the sample
    // that makes the tuple longer, and above the sample the number of the tuple without it.
    let mut places: Vec<u64> = (0..n as u64).collect();
    let (mut frequent, mut repeated) = (0.0_f64, 0.0_f64);
    for length in 1..=LONGEST.min(n - 1) {
        places.retain(|place| (*place as u32) as usize + length <= n);
        for place in &mut places {
            let at = *place as u32;
            *place = *place & !(0xff << 32) | u64::from(samples[at as usize + length - 1]) << 32;
        }
        places.sort_unstable();
        let tuples = (n - length + 1) as f64;
        let (mut most, mut pairs, mut names) = (0, 0.0, 0_u64);
        let mut longer = Vec::new();
        for same in places.chunk_by(|a, b| a >> 32 == b >> 32) {
            most = most.max(same.len());
            if same.len() >= 2 {
                pairs += same.len() as f64 * (same.len() as f64 - 1.0);
                longer.extend(same.iter().map(|place| names << 40 | u64::from(*place as u32)));
                names += 1;
            }
        }
        if most < 2 {
            break;
        }
        if most >= FREQUENT {
            frequent = frequent.max((most as f64 / tuples).powf(1.0 / length as f64));
        } else {
            repeated = repeated.max((pairs / (tuples * (tuples - 1.0))).powf(1.0 / length as f64));
        }
        places = longer;
    }
    // Everything that was followed to the end was frequent: nothing is left for the other.
    let bits = |p: f64| -upper(p, n).log2();
    (bits(frequent), if repeated == 0.0 { bits(frequent) } else { bits(repeated) })
}

/// Estimates by lags (section 6.3.8): the best of 128 predictors, of which predictor n expects the
/// sample of n samples ago.
pub(super) fn lag(samples: &[u8]) -> f64 {
    const LAGS: usize = 128;
    let mut score = [0_u32; LAGS];
    let mut winner = 0;
    let (mut correct, mut run, mut longest) = (0_usize, 0_usize, 0_usize);
    for (i, &sample) in samples.iter().enumerate().skip(1) {
        let hit = i > winner && samples[i - 1 - winner] == sample;
        correct += usize::from(hit);
        run = if hit { run + 1 } else { 0 };
        longest = longest.max(run);
        for lag in 0..LAGS.min(i) {
            if samples[i - 1 - lag] == sample {
                score[lag] += 1;
                if score[lag] >= score[winner] {
                    winner = lag;
                }
            }
        }
    }
    let n = samples.len() - 1;
    let overall = correct as f64 / n as f64;
    let overall =
        if correct == 0 { 1.0 - 0.01_f64.powf(1.0 / n as f64) } else { upper(overall, n) };
    -overall.max(local(longest + 1, n)).max(1.0 / 256.0).log2()
}

/// Returns the hit probability p at which `n` tries have a run of `r` hits with probability 1 %:
/// 0.99 = (1 - p x) / ((r + 1 - r x) q) / x^(n + 1).
fn local(r: usize, n: usize) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let p = (low + high) / 2.0;
        let q = 1.0 - p;
        let mut x = 1.0;
        for _ in 0..65 {
            x = 1.0 + q * p.powi(r as i32) * f64::powi(x, r as i32 + 1);
        }
        let log = ((1.0 - p * x) / ((r as f64 + 1.0 - r as f64 * x) * q)).ln()
            - (n as f64 + 1.0) * x.ln();
        if log.is_finite() && log > 0.99_f64.ln() { low = p } else { high = p }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen equally likely values: four bits by every estimator.
    #[test]
    fn sixteen_values_have_four_bits() {
        let mut rng = fastrand::Rng::with_seed(11);
        let samples: Vec<u8> = (0..300_000).map(|_| rng.u8(..16)).collect();
        let (tuple, repeated) = tuples(&samples);
        for (name, bits) in [
            ("most common", most_common(&samples)),
            ("tuple", tuple),
            ("repeated", repeated),
            ("lag", lag(&samples)),
        ] {
            assert!((3.3..4.01).contains(&bits), "{name}: {bits}");
        }
    }

    #[test]
    fn a_short_cycle_is_predicted() {
        let samples: Vec<u8> = (0..100_000).map(|i| (i % 100) as u8).collect();
        assert!(lag(&samples) < 0.01, "{}", lag(&samples));
        assert!(most_common(&samples) > 6.0);
        assert!(tuples(&samples).0 < 0.2, "{:?}", tuples(&samples));
    }

    #[test]
    fn a_stuck_source_has_nothing() {
        assert!(lag(&[3; 100_000]) < 0.001);
        assert_eq!(most_common(&[3; 100_000]), 0.0);
        assert!(tuples(&[3; 100_000]).0 < 0.001);
    }
}
