//! A battery that the user names: a shell command that reads standard input. TestU01's summaries
//! are understood; of others, the exit status.

use super::{Battery, BatteryOutcome, feed};
use crate::Error;
use crate::effort::Effort;
use crate::report::Verdict;
use crate::sources::Source;

pub(super) fn run(
    command: &str,
    _: Effort,
    open: &impl Fn() -> Result<Box<dyn Source>, Error>,
) -> Battery {
    let fed = open().map_err(|error| error.to_string()).and_then(|mut source| {
        // The status is asked of a shell, since the command may be a pipeline itself.
        let script = format!("{command}\necho \"headwater-status $?\"");
        feed::run("sh", &["-c", &script], &mut *source, u64::MAX)
    });
    match fed {
        Err(reason) => Battery::skipped("own", command, reason),
        Ok(done) => {
            let (version, results) = read(&done.words);
            Battery {
                name: "own".to_owned(),
                command: command.to_owned(),
                version,
                bytes: done.bytes,
                results,
                skipped: None,
            }
        }
    }
}

fn read(words: &str) -> (Option<String>, Vec<BatteryOutcome>) {
    let version = words
        .lines()
        .find_map(|line| line.trim().strip_prefix("Version:"))
        .map(|line| line.trim().to_owned());
    let status = words.lines().find_map(|line| line.strip_prefix("headwater-status "));
    let mut outcomes: Vec<BatteryOutcome> = words.lines().filter_map(testu01).collect();
    if outcomes.is_empty() {
        let clean = status == Some("0");
        let said = if words.contains("All tests were passed") {
            "All tests were passed".to_owned()
        } else {
            format!("exit status {}", status.unwrap_or("unknown"))
        };
        let verdict = if clean { Verdict::Clean } else { Verdict::Failed };
        outcomes.push(BatteryOutcome { test: "all".to_owned(), p: None, words: said, verdict });
    }
    (version, outcomes)
}

/// Reads a line of TestU01's summary: number, test, p-value. "eps" stands for less than 1e-300 and
/// "eps1" for less than 1e-15.
fn testu01(line: &str) -> Option<BatteryOutcome> {
    let mut words = line.split_whitespace();
    words.next()?.parse::<u32>().ok()?;
    let rest: Vec<&str> = words.collect();
    let text = rest.join(" ");
    let (test, p) = if let Some(test) =
        text.strip_suffix("1 - eps1").or_else(|| text.strip_suffix("1 - eps"))
    {
        (test, 1.0)
    } else if let Some(test) = text.strip_suffix("eps") {
        (test, 0.0)
    } else if let Some((test, p)) = text.rsplit_once(" 1 - ") {
        (test, 1.0 - p.parse::<f64>().ok()?)
    } else {
        let (test, p) = text.rsplit_once(' ')?;
        (test, p.parse::<f64>().ok()?)
    };
    if test.is_empty() || !(0.0..=1.0).contains(&p) {
        return None;
    }
    Some(BatteryOutcome {
        test: test.trim().to_owned(),
        p: Some(p),
        words: text.clone(),
        verdict: super::by_p(p),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_summary_of_testu01() {
        let words = "\
========= Summary results of SmallCrush =========

 Version:          TestU01 1.2.3
 Generator:        stdin
 Number of statistics:  15
 Total CPU time:   00:00:05.61
 The following tests gave p-values outside [0.001, 0.9990]:
 (eps  means a value < 1.0e-300):
 (eps1 means a value < 1.0e-15):

       Test                          p-value
 ----------------------------------------------
  1  BirthdaySpacings                 eps
  6  MaxOft                         1 - eps1
  7  WeightDistrib                   5.0e-4
 ----------------------------------------------
 All other tests were passed

headwater-status 0
";
        let (version, outcomes) = read(words);
        assert_eq!(version.as_deref(), Some("TestU01 1.2.3"));
        let seen: Vec<_> =
            outcomes.iter().map(|outcome| (outcome.test.as_str(), outcome.verdict)).collect();
        assert_eq!(
            seen,
            [
                ("BirthdaySpacings", Verdict::Failed),
                ("MaxOft", Verdict::Failed),
                ("WeightDistrib", Verdict::Clean)
            ]
        );
    }

    #[test]
    fn of_others_the_exit_status_counts() {
        let source = || crate::sources::by_name("counter")?.begin(0, crate::Way::Plain);
        let battery = run("head -c 100000 > /dev/null", Effort::Fast, &source);
        assert_eq!((battery.verdict(), battery.skipped), (Verdict::Clean, None));
        assert!(battery.bytes < 10 << 20, "fed until it had enough");
        assert_eq!(run("false", Effort::Fast, &source).verdict(), Verdict::Failed);
    }
}
