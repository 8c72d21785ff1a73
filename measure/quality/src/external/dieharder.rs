//! dieharder, by Robert G. Brown: Marsaglia's diehard and more.

use super::{BatteryOutcome, Known};
use crate::effort::Effort;
use crate::report::Verdict;

pub(super) const KNOWN: Known = Known {
    name: "dieharder",
    program: "dieharder",
    arguments: |effort| match effort {
        // Birthdays, ranks, counted ones, runs, minimum distances: those that take seconds.
        Effort::Fast => vec![vec!["-g", "200", "-d", "0"]],
        Effort::Standard => {
            ["0", "3", "8", "9", "15", "101"].map(|test| vec!["-g", "200", "-d", test]).to_vec()
        }
        Effort::Deep => vec![vec!["-g", "200", "-a"]],
    },
    limit: |_| u64::MAX, // it takes what it needs
    version: None,
    read,
};

/// Reads lines with bars: test, tuple, samples, repetitions, p-value, assessment.
fn read(words: &str) -> (Option<String>, Vec<BatteryOutcome>) {
    let version =
        words.split("dieharder version ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let outcomes = words.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [test, tuple, _, _, p, assessment] = fields[..] else { return None };
        let verdict = match assessment {
            "PASSED" => Verdict::Clean,
            "WEAK" => Verdict::Weak,
            "FAILED" => Verdict::Failed,
            _ => return None, // the heading
        };
        let test = if tuple == "0" { test.to_owned() } else { format!("{test} {tuple}") };
        Some(BatteryOutcome { test, p: p.parse().ok(), words: assessment.to_owned(), verdict })
    });
    (version.map(|version| format!("dieharder {version}")), outcomes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_dieharder_writes() {
        let words = "\
#=============================================================================#
#            dieharder version 3.31.1 Copyright 2003 Robert G. Brown          #
#=============================================================================#
   rng_name    |rands/second|   Seed   |
stdin_input_raw|  7.50e+06  |3344550987|
#=============================================================================#
        test_name   |ntup| tsamples |psamples|  p-value |Assessment
#=============================================================================#
   diehard_birthdays|   0|       100|     100|0.53108347|  PASSED
          sts_serial|   3|    100000|     100|0.00000000|  FAILED
";
        let (version, outcomes) = read(words);
        assert_eq!(version.as_deref(), Some("dieharder 3.31.1"));
        let seen: Vec<_> = outcomes
            .iter()
            .map(|outcome| (outcome.test.as_str(), outcome.p, outcome.verdict))
            .collect();
        assert_eq!(
            seen,
            [
                ("diehard_birthdays", Some(0.531_083_47), Verdict::Clean),
                ("sts_serial 3", Some(0.0), Verdict::Failed)
            ]
        );
    }
}
