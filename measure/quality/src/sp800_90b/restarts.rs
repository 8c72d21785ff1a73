//! The restart tests (section 3.1.4): a source that is started a thousand times must not begin
//! alike each time, and the samples at one place of all restarts are as unpredictable as those of a
//! run.

use super::iid::{self, Iid};
use super::{Samples, counts, estimates, least};
use crate::Error;
use serde::Serialize;
use statrs::function::gamma::ln_gamma;
use std::fmt::Write;

/// Number of restarts, and of samples of each.
const SIDE: usize = 1000;

/// The restarts of a noise source, as a matrix with a row for each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Restarts {
    schema: &'static str,
    /// Number of different samples.
    pub symbols: usize,
    /// Bits of a sample.
    pub width: u32,
    /// The initial estimate, in bits of min-entropy a sample.
    pub initial: f64,
    /// The largest number of equal samples in a row that the initial estimate allows.
    pub cutoff: usize,
    /// The largest number of equal samples in one row.
    pub row: usize,
    /// The largest number of equal samples in one column.
    pub column: usize,
    /// Neither number is above the cutoff.
    pub sane: bool,
    /// Bits of min-entropy a sample of the rows, one after another. `None`: the matrix is not sane.
    pub rows: Option<f64>,
    /// The same of the columns.
    pub columns: Option<f64>,
    /// With `--iid`: the tests of rows and columns.
    pub iid: Option<[Iid; 2]>,
    /// Bits of min-entropy a sample: the smallest of the three. `None`: the restarts have failed.
    pub assessed: Option<f64>,
}

/// Judges a matrix of restarts beside the initial estimate of the source. With `threads`, the
/// source is claimed to be independent and identically distributed, and is tested for that.
pub(super) fn judge(
    samples: Vec<u8>,
    initial: f64,
    threads: Option<usize>,
) -> Result<Restarts, Error> {
    if samples.len() != SIDE * SIDE {
        return Err(Error::Matrix { samples: samples.len() });
    }
    of(samples, SIDE, initial, threads)
}

/// Judges a matrix of `side` rows and columns. The standard's has a thousand.
pub(super) fn of(
    samples: Vec<u8>,
    side: usize,
    initial: f64,
    threads: Option<usize>,
) -> Result<Restarts, Error> {
    let rows = Samples::new(samples);
    let width = f64::from(rows.width);
    if !(0.0..=width).contains(&initial) {
        return Err(Error::Usage(format!(
            "the estimate of --restart is in bits a sample, from 0 to the {} that these samples have",
            rows.width
        )));
    }
    let across = |i: usize| rows.dense[i % side * side + i / side];
    let columns = Samples {
        dense: (0..side * side).map(across).collect(),
        values: rows.values.clone(),
        symbols: rows.symbols,
        width: rows.width,
    };
    let mut restarts = Restarts {
        schema: "headwater.sp800-90b-restart/1",
        symbols: rows.symbols,
        width: rows.width,
        initial,
        cutoff: cutoff(initial, side),
        row: most_equal(&rows.dense, side),
        column: most_equal(&columns.dense, side),
        sane: false,
        rows: None,
        columns: None,
        iid: None,
        assessed: None,
    };
    restarts.sane = restarts.row.max(restarts.column) <= restarts.cutoff;
    if !restarts.sane {
        return Ok(restarts);
    }
    if rows.symbols == 1 {
        // Sane for a claim of no entropy alone.
        (restarts.rows, restarts.columns, restarts.assessed) = (Some(0.0), Some(0.0), Some(0.0));
        return Ok(restarts);
    }
    let entropy = |samples: &Samples| match threads {
        Some(_) => counts::most_common(&samples.dense).min(width),
        None => least(&estimates(&samples.dense, samples.symbols), width),
    };
    let (row, column) = (entropy(&rows), entropy(&columns));
    (restarts.rows, restarts.columns) = (Some(row), Some(column));
    restarts.iid =
        threads.map(|threads| [&rows, &columns].map(|samples| iid::judge(samples, threads)));
    let independent = restarts.iid.iter().flatten().all(|iid| iid.passed);
    let smaller = row.min(column);
    let enough = smaller >= initial / 2.0 && independent;
    restarts.assessed = enough.then_some(smaller.min(initial));
    Ok(restarts)
}

/// Returns the largest number of equal samples in a row of `side` samples.
fn most_equal(matrix: &[u8], side: usize) -> usize {
    let rows = matrix.chunks_exact(side).map(|row| {
        let mut counts = [0; 256];
        row.iter().for_each(|&symbol| counts[usize::from(symbol)] += 1);
        counts.into_iter().max().unwrap_or(0)
    });
    rows.max().unwrap_or(0)
}

/// Returns the largest number of equal samples in a row that is not too many for a source of
/// `entropy` bits a sample: in one of a hundred matrices, any row or column has more.
///
/// The likeliest symbols have the probability 2^-entropy each, as many as there is room for, and
/// one more has the rest, because no other source of this entropy repeats as much. The reference
/// program draws five million such rows, of which 25 lie beyond, so its cutoff changes by one from
/// run to run. Here it is computed: counts of symbols are independent Poisson counts, given their
/// sum, so the probability that none is above m is a coefficient of a product of polynomials.
pub(super) fn cutoff(entropy: f64, side: usize) -> usize {
    let alpha = -(0.99_f64.ln() / (2 * side) as f64).exp_m1();
    let (mut below, mut enough) = (0, side);
    while enough - below > 1 {
        let middle = (below + enough) / 2;
        if at_most(middle, entropy, side) >= 1.0 - alpha { enough = middle } else { below = middle }
    }
    enough
}

/// Returns the probability that no symbol comes more than `most` times in a row.
pub(super) fn at_most(most: usize, entropy: f64, side: usize) -> f64 {
    let n = side as f64;
    let chance = 0.5_f64.powf(entropy);
    let symbols = (1.0 / chance).floor();
    let rest = (1.0 - symbols * chance).max(0.0);
    // Probabilities of Poisson counts up to `most`.
    let counts = |mean: f64| -> Vec<f64> {
        let each = |count| if count <= most { poisson(mean, count) } else { 0.0 };
        (0..=side).map(each).collect()
    };
    let (mut product, mut power) = (counts(n * rest), counts(n * chance));
    let mut left = symbols as u64;
    while left > 0 {
        if left % 2 == 1 {
            product = times(&product, &power);
        }
        left /= 2;
        if left > 0 {
            power = times(&power, &power);
        }
    }
    product[side] / poisson(n, side)
}

fn poisson(mean: f64, count: usize) -> f64 {
    let count = count as f64;
    if mean == 0.0 {
        return if count == 0.0 { 1.0 } else { 0.0 };
    }
    (count * mean.ln() - mean - ln_gamma(count + 1.0)).exp()
}

/// Multiplies polynomials of equal lengths, and leaves the powers beyond that length.
fn times(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; a.len()];
    for (i, a) in a.iter().enumerate().filter(|(_, a)| **a != 0.0) {
        product[i..].iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
    }
    product
}

impl Restarts {
    /// Returns the reason for which the restarts failed.
    pub(super) fn failure(&self) -> Option<&'static str> {
        let independent = self.iid.iter().flatten().all(|iid| iid.passed);
        match self.assessed {
            Some(_) => None,
            None if !self.sane => {
                Some("restarts repeat more samples than the initial estimate allows")
            }
            None if !independent => Some(
                "the restarts are not independent and identically distributed: judge them without --iid",
            ),
            None => Some("restarts have less than half of the entropy of the initial estimate"),
        }
    }

    /// Returns the tests as text for a terminal.
    pub fn table(&self) -> String {
        let mut text = format!(
            "1000 restarts of 1000 samples of {} bits, {} different; SP 800-90B, section 3.1.4\n\n",
            self.width, self.symbols
        );
        let _ = writeln!(
            text,
            "Most equal samples: {} in a row, {} in a column; at {} bits at most {} are chance.",
            self.row, self.column, self.initial, self.cutoff
        );
        for (name, bits) in [("Rows", self.rows), ("Columns", self.columns)] {
            if let Some(bits) = bits {
                let _ = writeln!(text, "{name}: {bits:.6} bits of min-entropy a sample.");
            }
        }
        for (name, iid) in ["Rows", "Columns"].into_iter().zip(self.iid.iter().flatten()) {
            let _ = write!(text, "\n{name}: {}", iid.table());
        }
        let _ = match (self.assessed, self.failure()) {
            (Some(bits), _) => writeln!(text, "\nAssessed: {bits:.6} bits a sample."),
            (None, Some(why)) => writeln!(text, "\nFAILED: {why}."),
            (None, None) => Ok(()),
        };
        text
    }
}
