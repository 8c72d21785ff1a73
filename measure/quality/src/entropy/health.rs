//! The two health tests that SP 800-90B asks of every noise source (section 4.4), at its
//! recommended false-alarm rate of 2^-20.

use super::Health;
use statrs::function::gamma::ln_gamma;

const ALPHA_BITS: f64 = 20.0;
/// The length of a window for samples that are not binary.
const WINDOW: usize = 512;

/// Runs the repetition count test (section 4.4.1), which counts equal values in a row.
pub(super) fn repetition(samples: &[u8], claim: f64) -> Health {
    let cutoff = 1 + (ALPHA_BITS / claim).ceil() as usize;
    let (mut highest, mut alarms, mut run) = (0, 0, 0);
    let mut last = None;
    for sample in samples {
        run = if last == Some(sample) { run + 1 } else { 1 };
        last = Some(sample);
        highest = highest.max(run);
        alarms += u64::from(run == cutoff);
    }
    Health { name: "repetition count", cutoff, highest, alarms }
}

/// Runs the adaptive proportion test (section 4.4.2), which counts a window's first value in that
/// window.
pub(super) fn proportion(samples: &[u8], claim: f64) -> Health {
    let cutoff = 1 + critical(WINDOW, 2_f64.powf(-claim));
    let (mut highest, mut alarms) = (0, 0);
    for window in samples.chunks_exact(WINDOW) {
        let count = window.iter().filter(|&&sample| sample == window[0]).count();
        highest = highest.max(count);
        alarms += u64::from(count >= cutoff);
    }
    Health { name: "adaptive proportion", cutoff, highest, alarms }
}

/// Returns the least number that a binomial variable exceeds with probability at most 2^-20:
/// CRITBINOM of the standard.
fn critical(n: usize, p: f64) -> usize {
    let term = |k: usize| {
        let (n, k) = (n as f64, k as f64);
        let choose = ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
        (choose + k * p.ln() + (n - k) * (-p).ln_1p()).exp()
    };
    let mut above = 0.0;
    for k in (1..=n).rev() {
        above += term(k);
        if above > 2_f64.powf(-ALPHA_BITS) {
            return k;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard's own examples: H = 1 means a cutoff of 21, and a window of 512 those of its
    /// table in 4.4.2.
    #[test]
    fn cutoffs_are_those_of_the_standard() {
        assert_eq!(repetition(&[], 1.0).cutoff, 21);
        for (claim, cutoff) in [(0.5, 410), (1.0, 311), (2.0, 177), (4.0, 62), (8.0, 13)] {
            assert_eq!(proportion(&[], claim).cutoff, cutoff, "{claim}");
        }
    }

    #[test]
    fn a_stuck_source_alarms_and_a_sound_one_does_not() {
        let mut rng = fastrand::Rng::with_seed(9);
        let mut samples: Vec<u8> = (0..100_000).map(|_| rng.u8(..)).collect();
        assert_eq!(repetition(&samples, 4.0).alarms + proportion(&samples, 4.0).alarms, 0);
        samples[512..1024].fill(7);
        assert_eq!(repetition(&samples, 4.0).alarms, 1);
        assert_eq!(proportion(&samples, 4.0).alarms, 1);
    }
}
