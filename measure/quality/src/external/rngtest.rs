//! rngtest of the rng-tools: the tests of FIPS 140-2 over blocks of 20,000 bits.

use super::{BatteryOutcome, Known};
use crate::effort::Effort;
use crate::report::Verdict;
use crate::stats;

pub(super) const KNOWN: Known = Known {
    name: "rngtest",
    program: "rngtest",
    arguments: |effort| match effort {
        Effort::Fast => vec![vec!["-c", "400"]],
        Effort::Standard => vec![vec!["-c", "20000"]],
        Effort::Deep => vec![vec!["-c", "1000000"]],
    },
    limit: |_| u64::MAX,
    version: Some(&["rngtest", "--version"]),
    read,
};

/// A perfect block fails about 8 times in 10,000: the sum of the standard's intervals' chances, and
/// what users see.
const BLOCK_FAILS: f64 = 8e-4;

fn read(words: &str) -> (Option<String>, Vec<BatteryOutcome>) {
    let version =
        words.lines().next().filter(|line| line.starts_with("rngtest ")).map(str::to_owned);
    let after = |name: &str| {
        words.lines().find_map(|line| {
            line.strip_prefix("rngtest: ")?.strip_prefix(name)?.trim().parse::<u64>().ok()
        })
    };
    let (Some(passed), Some(failed)) =
        (after("FIPS 140-2 successes:"), after("FIPS 140-2 failures:"))
    else {
        return (version, Vec::new());
    };
    let expected = (passed + failed) as f64 * BLOCK_FAILS;
    let p = stats::poisson(failed, expected);
    let verdict = match p {
        _ if (failed as f64) < expected => Verdict::Clean, // the rate is known to one digit only
        p if p < 1e-8 => Verdict::Failed,
        p if p < 1e-4 => Verdict::Weak,
        _ => Verdict::Clean,
    };
    let words =
        format!("{failed} of {} blocks failed, where {expected:.1} are expected", passed + failed);
    (version, vec![BatteryOutcome { test: "FIPS 140-2".to_owned(), p: Some(p), words, verdict }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_rngtest_writes() {
        let words = |passed, failed| {
            format!(
                "rngtest 5\nCopyright (c) 2004 by Henrique de Moraes Holschuh\n\nrngtest: starting FIPS tests...\n\
                 rngtest: bits received from input: 8000032\nrngtest: FIPS 140-2 successes: {passed}\n\
                 rngtest: FIPS 140-2 failures: {failed}\nrngtest: FIPS 140-2(2001-10-10) Monobit: 0\n"
            )
        };
        let (version, outcomes) = read(&words(19_984, 16));
        assert_eq!((version.as_deref(), outcomes[0].verdict), (Some("rngtest 5"), Verdict::Clean));
        assert_eq!(read(&words(19_000, 1000)).1[0].verdict, Verdict::Failed);
        assert!(read("rngtest: unrecognized option").1.is_empty());
    }
}
