//! The predictors that remember recent samples (sections 6.3.7 and 6.3.8), and the estimate that
//! all predictors make of their hits.

use super::upper;

/// The hits of a predictor.
#[derive(Default)]
pub(super) struct Hits {
    correct: u64,
    run: u64,
    longest: u64,
}

impl Hits {
    pub(super) fn count(&mut self, hit: bool) {
        self.correct += u64::from(hit);
        self.run = if hit { self.run + 1 } else { 0 };
        self.longest = self.longest.max(self.run);
    }

    /// Returns bits of min-entropy: of the share of hits, or of the longest run of them if that is
    /// more than the share explains, and of at least a fair guess among `symbols`.
    pub(super) fn entropy(&self, tries: usize, symbols: usize) -> f64 {
        let n = tries as f64;
        let global = match self.correct {
            0 => 1.0 - 0.01_f64.powf(1.0 / n),
            correct => upper(correct as f64 / n, n),
        };
        let least = global.max(1.0 / symbols as f64);
        -local(self.longest + 1, n, least).log2()
    }
}

/// Returns the hit probability, at least `least`, at which n tries have a run of r hits with a
/// probability of 1 %.
fn local(r: u64, n: f64, least: f64) -> f64 {
    let goal = 0.99_f64.ln();
    if least >= 1.0 || without_run(least, r, n) <= goal {
        return least;
    }
    let (mut low, mut high) = (least, 1.0);
    for _ in 0..100 {
        let p = (low + high) / 2.0;
        if p <= low || p >= high {
            break;
        }
        if without_run(p, r, n) > goal { low = p } else { high = p }
    }
    (low + high) / 2.0
}

/// Returns the logarithm of the probability that n tries, hits with probability p, have no run of r
/// (Feller, volume 1, XIII.7).
///
/// The root x of 1 - x + q p^r x^(r+1) is near 1, and its logarithm is multiplied by millions, so
/// what it exceeds 1 by is computed in its place. The reference program uses 80-bit numbers.
fn without_run(p: f64, r: u64, n: f64) -> f64 {
    let (q, r) = (1.0 - p, r as f64);
    let factor = q * p.powf(r);
    let (mut above, mut last) = (0.0_f64, -1.0);
    for _ in 0..=65 {
        if above - last <= f64::EPSILON * above {
            break;
        }
        last = above;
        above = factor * ((r + 1.0) * above.ln_1p()).exp();
    }
    // 1 - p x and (r + 1 - r x) q.
    ((q - p * above) / ((1.0 - r * above) * q)).ln() - (n + 1.0) * above.ln_1p()
}

/// Sizes of the windows of MultiMCW.
const WINDOWS: [usize; 4] = [63, 255, 1023, 4095];

/// Estimates by the most common value in a window (section 6.3.7).
pub(super) fn windows(data: &[u8], symbols: usize) -> f64 {
    let mut windows = WINDOWS.map(|length| Window::new(length, symbols));
    let mut score = [0_u64; WINDOWS.len()];
    let mut winner = 0;
    let mut hits = Hits::default();
    for (i, &value) in data.iter().enumerate() {
        if i >= WINDOWS[0] {
            hits.count(windows[winner].frequent == value);
        }
        for (which, window) in windows.iter_mut().enumerate() {
            if i >= window.length && window.frequent == value {
                score[which] += 1;
                if score[which] >= score[winner] {
                    winner = which;
                }
            }
            window.push(data, i);
        }
    }
    hits.entropy(data.len() - WINDOWS[0], symbols)
}

/// The last samples, counted.
struct Window {
    length: usize,
    counts: Vec<u32>,
    /// Where each value was last.
    last: Vec<usize>,
    /// The most frequent value, the latest of equals.
    frequent: u8,
}

impl Window {
    fn new(length: usize, symbols: usize) -> Window {
        Window { length, counts: vec![0; symbols], last: vec![0; symbols], frequent: 0 }
    }

    fn push(&mut self, data: &[u8], at: usize) {
        let value = usize::from(data[at]);
        self.counts[value] += 1;
        self.last[value] = at;
        let left = at.checked_sub(self.length).map(|first| data[first]);
        if let Some(left) = left {
            self.counts[usize::from(left)] -= 1;
        }
        let most = self.counts[usize::from(self.frequent)];
        if left == Some(self.frequent) {
            // The most frequent one has lost its lead, perhaps to another than the new value.
            let key = |value: &usize| (self.counts[*value], self.last[*value]);
            self.frequent = (0..self.counts.len()).max_by_key(key).unwrap_or(0) as u8;
        } else if self.counts[value] >= most {
            self.frequent = data[at];
        }
    }
}

/// The longest lag.
const LAGS: usize = 128;

/// Estimates by lags (section 6.3.8): the best of 128 predictors, of which number d expects the
/// sample of d samples ago.
pub(super) fn lags(data: &[u8], symbols: usize) -> f64 {
    let mut score = [0_u32; LAGS];
    let (mut highest, mut winner) = (0, 0);
    let mut hits = Hits::default();
    for (i, &value) in data.iter().enumerate().skip(1) {
        hits.count(data[i - 1 - winner] == value);
        // The highest score of those that rise, and of equals the longest lag: without a branch for
        // each of the 128, of which a coin would mispredict half.
        let mut best = 0;
        let before = data[i - LAGS.min(i)..i].iter().rev();
        for ((lag, score), before) in score.iter_mut().enumerate().zip(before) {
            let rises = u32::from(*before == value);
            *score += rises;
            best = best.max((u64::from(*score) << 7 | lag as u64) * u64::from(rises));
        }
        if best != 0 && best >> 7 >= highest {
            (highest, winner) = (best >> 7, (best % LAGS as u64) as usize);
        }
    }
    hits.entropy(data.len() - 1, symbols)
}
