//! Runs recipes of OpenSSL's test suite, and reads how each ended.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Perl runs this at the start of each recipe, which leaves its name to the programs that it runs.
const NAMING: &str = "package HeadwaterRecipe;\n\
                      $ENV{HEADWATER_TEST_RECIPE} = $1 if $0 =~ m{/recipes/([^/]+)\\.t$};\n1;\n";

/// The end of a recipe.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RecipeOutcome {
    Passed,
    Skipped,
    /// The numbers of the recipe's tests that failed, as the suite prints them.
    Failed(String),
}

impl fmt::Display for RecipeOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecipeOutcome::Passed => f.write_str("passed"),
            RecipeOutcome::Skipped => f.write_str("skipped"),
            RecipeOutcome::Failed(tests) if tests.is_empty() => f.write_str("failed"),
            RecipeOutcome::Failed(tests) => write!(f, "failed: {tests}"),
        }
    }
}

/// The outcome of each recipe, by the name of its file without its end.
pub(super) type Outcomes = BTreeMap<String, RecipeOutcome>;

/// Returns the name of every recipe in the source, with its number.
pub(super) fn all(source: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for file in fs::read_dir(source.join("test/recipes"))? {
        let name = file?.file_name();
        if let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".t")) {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Runs these recipes, each named with its number, in a directory in which OpenSSL was built.
pub(super) fn run(source: &Path, build: &Path, names: &[String]) -> Result<Outcomes> {
    let mut tests = Command::new("perl");
    tests.arg(source.join("test/run_tests.pl")).current_dir(build);
    for name in names {
        // run_tests.pl adds the number itself.
        let (_, name) = name.split_once('-').context("a recipe without a number")?;
        tests.arg(name);
    }
    tests.env("SRCTOP", source);
    for (name, value) in [("BLDTOP", "."), ("PERL", "perl"), ("EXE_EXT", ""), ("HARNESS_JOBS", "2")]
    {
        tests.env(name, value);
    }
    fs::write(build.join("HeadwaterRecipe.pm"), NAMING)?;
    tests.env("PERL5OPT", "-MHeadwaterRecipe").env("PERL5LIB", build);
    for name in ["OPENSSL_CONF", "OPENSSL_MODULES"] {
        tests.env_remove(name);
    }
    // Exits with 1 if a recipe fails, which the caller judges.
    let said = tests.output().context("cannot run perl")?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let mut outcomes = read(&text);
    // run_tests.pl prepares the module for FIPS by a recipe of its own.
    outcomes.retain(|name, _| names.contains(name));
    let silent: Vec<&String> = names.iter().filter(|name| !outcomes.contains_key(*name)).collect();
    ensure!(silent.is_empty(), "recipes that ended without a word: {silent:?}\n{text}");
    Ok(outcomes)
}

/// Reads the output of run_tests.pl.
fn read(text: &str) -> Outcomes {
    let mut outcomes = Outcomes::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        // "80-test_tsa.t ............ ok", also "skipped: ..."; a failure names itself in the
        // summary, "90-test_store.t   (Wstat: 512 ...", before "  Failed tests:  1, 3-4".
        let Some((name, rest)) = line.split_once(".t ") else { continue };
        let name = name.trim().to_owned();
        if rest.trim_start().starts_with("(Wstat:") {
            let tests = lines.peek().and_then(|line| line.trim_start().strip_prefix("Failed test"));
            let tests = tests.and_then(|rest| rest.split_once(':')).map(|(_, tests)| tests.trim());
            outcomes.insert(name, RecipeOutcome::Failed(tests.unwrap_or_default().to_owned()));
        } else if rest.contains(" skipped:") {
            outcomes.insert(name, RecipeOutcome::Skipped);
        } else if rest.contains(" ok") {
            outcomes.insert(name, RecipeOutcome::Passed);
        }
    }
    outcomes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_says_which_tests_of_a_recipe_failed() {
        let text = "\
10-test_a.t ....... ok
10-test_b.t ....... skipped: no fips
80-test_c.t .......
Failed 1/26 subtests
90-test_d.t .......
Test Summary Report
-------------------
80-test_c.t       (Wstat: 256 (exited 1) Tests: 26 Failed: 1)
  Failed test:  26
  Non-zero exit status: 1
90-test_d.t       (Wstat: 512 (exited 2) Tests: 4 Failed: 3)
  Failed tests:  1, 3-4
90-test_e.t       (Wstat: 139 (Signal: SEGV, dumped core) Tests: 0 Failed: 0)
  Non-zero wait status: 139
";
        let said: Vec<(String, String)> =
            read(text).into_iter().map(|(name, outcome)| (name, outcome.to_string())).collect();
        let expected = [
            ("10-test_a", "passed"),
            ("10-test_b", "skipped"),
            ("80-test_c", "failed: 26"),
            ("90-test_d", "failed: 1, 3-4"),
            ("90-test_e", "failed"),
        ];
        let expected: Vec<(String, String)> =
            expected.iter().map(|(name, said)| ((*name).into(), (*said).into())).collect();
        assert_eq!(said, expected);
    }
}
