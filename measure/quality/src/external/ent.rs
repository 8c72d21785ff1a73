//! ent, by John Walker: six figures of bytes.

use super::{BatteryOutcome, Known, by_p};
use crate::effort::Effort;
use crate::report::Verdict;
use crate::stats;

pub(super) const KNOWN: Known = Known {
    name: "ent",
    program: "ent",
    arguments: |_| vec![vec!["-t"]],
    limit: |effort| match effort {
        Effort::Fast => 1 << 20,
        Effort::Standard => 1 << 26,
        Effort::Deep => 1 << 32,
    },
    version: None, // ent reports none
    read,
};

/// Reads a line of names and a line of figures, separated by commas.
fn read(words: &str) -> (Option<String>, Vec<BatteryOutcome>) {
    let line = words.lines().find(|line| line.starts_with("1,"));
    let figures: Vec<f64> = line
        .into_iter()
        .flat_map(|line| line.split(','))
        .filter_map(|word| word.parse().ok())
        .collect();
    let [_, bytes, entropy, chi_square, mean, pi, correlation] = figures[..] else {
        return (None, Vec::new());
    };
    let judged = |test: &str, p: f64, words: String| BatteryOutcome {
        test: test.to_owned(),
        p: Some(p),
        words,
        verdict: by_p(p),
    };
    let told = |test: &str, words: String| BatteryOutcome {
        test: test.to_owned(),
        p: None,
        words,
        verdict: Verdict::Clean,
    };
    // Bytes are uniform between 0 and 255: a variance of (256^2 - 1) / 12. The serial correlation
    // has one of 1 / n.
    let outcomes = vec![
        judged("chi-square of bytes", stats::chi_square(chi_square, 255), format!("{chi_square}")),
        judged(
            "mean of bytes",
            stats::normal((mean - 127.5) / (65_535.0 / 12.0 / bytes).sqrt()),
            format!("{mean}"),
        ),
        judged(
            "serial correlation",
            stats::normal(correlation * bytes.sqrt()),
            format!("{correlation}"),
        ),
        told("entropy", format!("{entropy} bits a byte")),
        told("pi by Monte Carlo", format!("{pi}")),
    ];
    (None, outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_ent_writes() {
        let words = "0,File-bytes,Entropy,Chi-square,Mean,Monte-Carlo-Pi,Serial-Correlation\n\
                     1,1048576,7.999822,258.734375,127.494591,3.146218,-0.000671\n";
        let (_, outcomes) = read(words);
        assert_eq!(outcomes.len(), 5);
        assert!(outcomes.iter().all(|outcome| outcome.verdict == Verdict::Clean), "{outcomes:?}");
        let bad = words.replace("258.734375", "901.5");
        assert_eq!(read(&bad).1[0].verdict, Verdict::Failed);
        assert!(read("ent: no such option").1.is_empty());
    }
}
