//! The track for samples that are independent and identically distributed (section 5): permutation
//! tests, chi-square tests, and the longest repeated substring. If all pass, the most common value
//! bounds the entropy, because nothing but the value of a sample helps to guess the next.

mod chi_square;
mod permutations;
mod statistics;

pub use chi_square::ChiSquare;
pub use permutations::Permuted;

use super::{LEAST, Samples, counts, tuples};
use serde::Serialize;
use std::fmt::Write;

/// The tests of samples for independence, and the estimate that holds if they pass.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Iid {
    schema: &'static str,
    /// Number of samples.
    pub samples: usize,
    /// Number of different samples.
    pub symbols: usize,
    /// Bits of a sample.
    pub width: u32,
    /// The chi-square tests; none for samples that are all the same.
    pub chi_square: Vec<ChiSquare>,
    /// The longest repeated substring; `None` for samples that are all the same.
    pub repeated: Option<Repeated>,
    /// The permutation tests, a row for each statistic; none for samples that are all the same.
    pub permutations: Vec<Permuted>,
    /// All tests have passed.
    pub passed: bool,
    /// Bits of min-entropy a sample by the most common value, at most the width.
    pub sample: f64,
    /// The same of a bit. `None`: there are two different samples, so each is a bit.
    pub bit: Option<f64>,
    /// Bits of min-entropy a sample: the smaller of `sample` and `width` times `bit`. `None`: a
    /// test has failed, so the other track has to assess the samples.
    pub assessed: Option<f64>,
}

/// The test of the longest repeated substring (section 5.2.5).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeated {
    /// The length of the longest tuple that occurs twice.
    pub length: usize,
    /// The probability that two samples are the same.
    pub collision: f64,
    /// The probability that any tuple of this length occurs twice.
    pub p: f64,
    /// Passed.
    pub passed: bool,
}

pub(super) fn judge(samples: &Samples, threads: usize) -> Iid {
    let mut iid = before_permutations(samples);
    if samples.symbols > 1 {
        permutations::judge(samples, threads, &mut iid.permutations);
        iid.passed &= iid.permutations.iter().all(|test| test.passed == Some(true));
    }
    let whole = iid.bit.map_or(f64::INFINITY, |bit| bit * f64::from(iid.width));
    iid.assessed = iid.passed.then_some(iid.sample.min(whole));
    iid
}

/// Makes all that is not drawn: the other tests, both estimates, and the statistics that the
/// permutations are compared with.
pub(super) fn before_permutations(samples: &Samples) -> Iid {
    let mut iid = Iid {
        schema: "headwater.sp800-90b-iid/1",
        samples: samples.len(),
        symbols: samples.symbols,
        width: samples.width,
        chi_square: Vec::new(),
        repeated: None,
        permutations: Vec::new(),
        passed: true,
        sample: 0.0,
        bit: None,
        assessed: None,
    };
    if samples.symbols == 1 {
        return iid; // it has none, and no test can fail it
    }
    let width = f64::from(samples.width);
    iid.sample = counts::most_common(&samples.dense).min(width);
    iid.bit =
        (samples.symbols > 2).then(|| counts::most_common(&samples.bits(samples.len())).min(1.0));
    iid.chi_square = chi_square::judge(samples);
    let repeated = repeated(samples);
    iid.passed = repeated.passed && iid.chi_square.iter().all(|test| test.passed);
    iid.repeated = Some(repeated);
    iid.permutations = permutations::statistics(samples);
    iid
}

fn repeated(samples: &Samples) -> Repeated {
    let n = samples.len() as f64;
    let length = tuples::longest_repeated(&samples.dense);
    let squares = samples.counts().into_iter().map(|count| (count as f64 / n).powi(2));
    let collision: f64 = squares.sum();
    let places = n - length as f64 + 1.0;
    let pairs = places * (places - 1.0) / 2.0;
    // A long one's probability is far below a double's 53 bits, so 1 is never subtracted from.
    let p = -(pairs * (-collision.powf(length as f64)).ln_1p()).exp_m1();
    Repeated { length, collision, p, passed: p >= 0.001 }
}

impl Iid {
    /// Returns the tests as text for a terminal.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{} samples of {} bits, {} different; SP 800-90B, section 5\n\n",
            self.samples, self.width, self.symbols
        );
        let word = |passed: bool| if passed { "passed" } else { "FAILED" };
        for test in &self.chi_square {
            let _ = writeln!(
                text,
                "{}  {} ({}): {:.2} for {} degrees of freedom, p {:.4}",
                word(test.passed),
                test.name,
                test.section,
                test.score,
                test.freedom,
                test.p
            );
        }
        if let Some(repeated) = &self.repeated {
            let _ = writeln!(
                text,
                "{}  longest repeated substring (5.2.5): {} samples, p {:.4}",
                word(repeated.passed),
                repeated.length,
                repeated.p
            );
        }
        for test in &self.permutations {
            let lag = test.lag.map_or(String::new(), |lag| format!(" at lag {lag}"));
            let _ = write!(
                text,
                "{}  {}{lag} ({}): {}",
                test.passed.map_or("left  ", word),
                test.name,
                test.section,
                (test.value * 1e4).round() / 1e4
            );
            let _ = match test.passed {
                Some(_) => writeln!(
                    text,
                    "; permutations greater {}, equal {}, smaller {}",
                    test.greater, test.equal, test.smaller
                ),
                None => writeln!(text, "; not compared, since another statistic has failed"),
            };
        }
        let _ = match self.assessed {
            Some(bits) => {
                writeln!(text, "\nAssessed: {bits:.6} bits a sample, by the most common value.")
            }
            None => writeln!(
                text,
                "\nNot independent and identically distributed: --90b without --iid assesses it."
            ),
        };
        if self.samples < LEAST {
            let _ = writeln!(text, "The standard asks for {LEAST} samples.");
        }
        text
    }
}
