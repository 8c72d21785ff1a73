//! PractRand's RNG_test, by Chris Doty-Humphrey.

use super::{BatteryOutcome, Known};
use crate::effort::Effort;
use crate::report::Verdict;

pub(super) const KNOWN: Known = Known {
    name: "PractRand",
    program: "RNG_test",
    arguments: |effort| {
        let most = match effort {
            Effort::Fast => "22",
            Effort::Standard => "28",
            Effort::Deep => "36",
        };
        vec![vec!["stdin64", "-tlmin", "20", "-tlmax", most, "-multithreaded"]]
    },
    limit: |_| u64::MAX,
    version: None,
    read,
};

/// Reads lines of anomalies, each with its evaluation, under the length at which they were seen.
fn read(words: &str) -> (Option<String>, Vec<BatteryOutcome>) {
    let version =
        words.split("PractRand version ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let mut length = String::new();
    let mut outcomes = Vec::new();
    for line in words.lines() {
        if let Some(rest) = line.strip_prefix("length= ") {
            length = rest.split(" (").next().unwrap_or(rest).to_owned();
        }
        let (words, verdict) = match line.trim() {
            none if none.starts_with("no anomalies in ") => (none, Verdict::Clean),
            line if line.contains("R=") && line.contains("FAIL") => (line, Verdict::Failed),
            line if line.contains("R=") && line.contains("VERY SUSPICIOUS") => {
                (line, Verdict::Weak)
            }
            line if line.contains("R=") && line.contains("p") => (line, Verdict::Clean),
            _ => continue,
        };
        let test =
            words.split_whitespace().next().filter(|_| words.contains("R=")).unwrap_or("all");
        let p =
            words.split("p~=").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        outcomes.push(BatteryOutcome { test: format!("{test}, {length}"), p, words, verdict });
    }
    (version.map(|version| format!("PractRand {version}")), outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_practrand_writes() {
        let words = "\
RNG_test using PractRand version 0.95
RNG = RNG_stdin64, seed = unknown
test set = core, folding = standard (64 bit)

rng=RNG_stdin64, seed=unknown
length= 16 megabytes (2^24 bytes), time= 2.0 seconds
  no anomalies in 89 test result(s)

rng=RNG_stdin64, seed=unknown
length= 32 megabytes (2^25 bytes), time= 3.1 seconds
  Test Name                         Raw       Processed     Evaluation
  [Low1/64]BRank(12):256(1)         R= +2650  p~=  2.2e-799 FAIL !!!!!!!
  ...and 102 test result(s) without anomalies
";
        let (version, outcomes) = read(words);
        assert_eq!(version.as_deref(), Some("PractRand 0.95"));
        let seen: Vec<_> =
            outcomes.iter().map(|outcome| (outcome.test.as_str(), outcome.verdict)).collect();
        assert_eq!(
            seen,
            [
                ("all, 16 megabytes", Verdict::Clean),
                ("[Low1/64]BRank(12):256(1), 32 megabytes", Verdict::Failed)
            ]
        );
    }
}
