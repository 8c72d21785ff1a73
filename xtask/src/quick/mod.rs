//! `cargo xtask quick`: the checks that a person repeats while working on a few crates.
//!
//! A crate that changed gets clippy and its quick tests; a crate that depends on it gets clippy and
//! its unit tests. Everything that is left out is named at the end with its reason.

mod workspace;

use crate::process::{cargo, output, program, root, run};
use crate::report::{Choice, Report, need};
use crate::{prose, storeys, tools, unsafe_list};
use anyhow::Result;
use std::collections::BTreeSet;
use std::env;
use std::process::ExitCode;
use workspace::{Package, Workspace};

/// The features that a crate is tested with, where they are not its default ones.
///
/// Without `testing` most tests of the core are not even built: they force a fallback or a failure.
const FEATURES: &[(&str, &str)] = &[("headwater", "testing,uuid,std")];

/// Tests that do not belong into an inner loop: package, file below `tests/`, and the reason.
const LEFT_OUT: &[(&str, &str, &str)] = &[
    ("headwater", "stress", "200,000 rounds of spinning threads"),
    ("headwater", "stepped", "stops after every instruction of a draw, one at a time"),
    ("headwater", "switches", "seconds of draws beside other threads"),
    ("headwater", "vanish", "seconds of draws while the kernel takes pages back"),
    ("headwater-c", "installed", "installs a release build"),
    ("headwater-c", "object", "reads a release build"),
    ("headwater-c", "programs", "compiles C programs against a release build"),
    ("headwater-model", "every_schedule", "millions of states"),
    ("headwater-quality", "batteries", "runs external test batteries"),
    ("headwater-quality", "calibration", "repeats every statistic, to count false alarms"),
];

/// Files outside of packages that the tests of a package read. A document is read by those of
/// xtask as well, which follow its links and look for the tests that it names.
const READ_BY: &[(&str, &str)] = &[
    ("streams/vectors/", "headwater-streams"),
    ("streams/vectors/", "reference"),
    // The figures that documents quote are compared with the records.
    ("README.md", "headwater-bench"),
    ("COMPARE.md", "headwater-bench"),
    ("CHANGELOG.md", "headwater-bench"),
    ("core/DESIGN.md", "headwater-bench"),
    ("docs/bench.md", "headwater-bench"),
    ("docs/quotes.toml", "headwater-bench"),
    ("streams/README.md", "headwater-bench"),
    ("records/bench/", "headwater-bench"),
    // The programs of a page are compiled, and its names looked for.
    ("docs/c.md", "headwater-examples"),
    ("docs/openssl.md", "headwater-openssl"),
    // Generated parts are compared with the table of kinds.
    ("fronts/java/", "xtask"),
    ("fronts/npm/", "xtask"),
    ("fronts/python/", "xtask"),
];

/// Directories outside of the workspace, of which these checks build nothing, and the command that
/// checks each. Without it a change of a front would pass because nothing had looked at it.
const ELSEWHERE: &[(&str, &str)] = &[
    ("boot/fuzz/", "cargo +nightly fuzz build, in boot/"),
    ("fronts/duckdb/", "cargo xtask test --only 'Python package'"),
    ("fronts/java/", "cargo xtask test --only 'Java provider and streams'"),
    ("fronts/java/clones/", "cargo xtask test --only 'Java in images of CRIU'"),
    ("fronts/java/spark/", "cargo xtask test --only 'columns by row id in more engines'"),
    ("fronts/npm/", "cargo xtask test --only 'npm package'"),
    ("fronts/python/", "cargo xtask test --only 'Python package'"),
    ("proof/residue/", "cargo xtask test --only 'format and clippy, residue'"),
];

/// Checks the named crates, or those that differ from `since` or from the last commit.
pub(crate) fn quick(names: &[String], since: Option<&str>) -> Result<ExitCode> {
    env::set_current_dir(root()?)?;
    let workspace = Workspace::read(&root()?)?;
    let mut elsewhere = BTreeSet::new();
    let touched = if names.is_empty() {
        let changed = changed_files(since.unwrap_or("HEAD"))?;
        elsewhere = checked_elsewhere(&changed);
        touched(&workspace, &changed)
    } else {
        let packages = names.iter().flat_map(|name| match storeys::find(name) {
            Some(storey) => storey.packages.iter().map(|&package| package.to_owned()).collect(),
            None => vec![name.clone()],
        });
        packages.map(|name| workspace.find(&name)).collect::<Result<_>>()?
    };
    let dependents = workspace.dependents(&touched);

    let mut report = Report::new(Choice::Ordinary);
    report.step("format", || {
        need(tools::component("rustfmt"), "the layout of the source")?;
        cargo("fmt --all --check")
    });
    report.step("unsafe list", || Ok(unsafe_list::check()?));
    report.step("prose", || Ok(prose::check()?));
    clippy(&mut report, &touched, &dependents);
    for package in &touched {
        tests(&mut report, package);
    }
    unit_tests(&mut report, &dependents);
    say_what_is_left_out(&touched, &dependents, &elsewhere);
    Ok(report.finish())
}

/// Returns the paths that differ from the revision, new files included.
fn changed_files(since: &str) -> Result<Vec<String>> {
    let changed = output(program("git diff --name-only --no-renames").args([since, "--"]))?;
    let new = output(&mut program("git ls-files --others --exclude-standard"))?;
    Ok(changed.lines().chain(new.lines()).map(str::to_owned).collect())
}

/// Returns the packages that own one of the files, or whose tests read one.
fn touched<'a>(workspace: &'a Workspace, files: &[String]) -> Vec<&'a Package> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for file in files {
        names.extend(workspace.owner(file).map(|package| package.name.as_str()));
        names.extend(READ_BY.iter().filter(|(path, _)| file.starts_with(path)).map(|(_, by)| *by));
        names.extend(file.ends_with(".md").then_some("xtask"));
        if ["Cargo.toml", "Cargo.lock"].contains(&file.as_str()) {
            println!("{file} differs, which may concern every package: cargo xtask test");
        }
    }
    workspace.0.iter().filter(|package| names.contains(package.name.as_str())).collect()
}

/// Returns the commands that check those of the files that lie outside of the workspace.
fn checked_elsewhere(files: &[String]) -> BTreeSet<&'static str> {
    let of = |file: &String| {
        let file = file.clone();
        ELSEWHERE
            .iter()
            .filter(move |(path, _)| file.starts_with(path))
            .map(|(_, command)| *command)
    };
    files.iter().flat_map(of).collect()
}

fn clippy(report: &mut Report, touched: &[&Package], dependents: &[&Package]) {
    let run_clippy = |scope: &str| -> Result<(), crate::report::Stop> {
        need(tools::component("clippy"), "the warnings of clippy")?;
        cargo(&format!("clippy --all-targets {scope} -- -D warnings"))
    };
    // One call for all crates without features of their own, so that they share one build.
    let (own, common): (Vec<&Package>, Vec<&Package>) =
        touched.iter().chain(dependents).partition(|package| features(package).is_some());
    for package in own {
        let scope = format!("-p {} {}", package.name, features_argument(package));
        report.step(&format!("clippy of {}", package.name), || run_clippy(&scope));
    }
    if !common.is_empty() {
        let scope: Vec<String> =
            common.iter().map(|package| format!("-p {}", package.name)).collect();
        report.step("clippy", || run_clippy(&scope.join(" ")));
    }
}

/// Runs every quick test of a crate that changed.
fn tests(report: &mut Report, package: &Package) {
    let kept: Vec<&String> =
        package.tests.iter().filter(|test| left_out(package, test).is_none()).collect();
    if kept.is_empty() && !package.has_lib && !package.has_bins {
        return;
    }
    report.step(&format!("tests of {}", package.name), || {
        let mut test = program(&format!(
            "cargo test --no-fail-fast -p {} {}",
            package.name,
            features_argument(package)
        ));
        test.args(package.has_lib.then_some("--lib")).args(package.has_bins.then_some("--bins"));
        test.args(kept.iter().flat_map(|name| ["--test", name.as_str()]));
        Ok(run(&mut test)?)
    });
}

/// Runs the unit tests of crates that depend on the changed crates, in one build.
fn unit_tests(report: &mut Report, dependents: &[&Package]) {
    let mut test = program("cargo test --no-fail-fast");
    let tested: Vec<_> =
        dependents.iter().filter(|package| package.has_lib || package.has_bins).collect();
    if tested.is_empty() {
        return;
    }
    test.args(tested.iter().flat_map(|package| ["-p", package.name.as_str()]));
    test.args(tested.iter().any(|package| package.has_lib).then_some("--lib"));
    test.args(tested.iter().any(|package| package.has_bins).then_some("--bins"));
    report.step("unit tests of dependents", || Ok(run(&mut test)?));
}

fn say_what_is_left_out(touched: &[&Package], dependents: &[&Package], elsewhere: &BTreeSet<&str>) {
    if !elsewhere.is_empty() {
        println!("\nNot looked at, because it is outside of the workspace. Run as well:");
    }
    for command in elsewhere {
        println!("  {command}");
    }
    println!("\nLeft out, and part of `cargo xtask test`:");
    for (package, test, why) in LEFT_OUT {
        if touched.iter().any(|touched| touched.name == *package) {
            println!("  {package}, --test {test}: {why}");
        }
    }
    println!("  documentation tests, ignored tests, other features, targets and compilers");
    for package in dependents.iter().filter(|package| !package.tests.is_empty()) {
        println!("  {}, a dependent: {}", package.name, package.tests.join(", "));
    }
}

fn features(package: &Package) -> Option<&'static str> {
    FEATURES.iter().find(|(name, _)| *name == package.name).map(|(_, features)| *features)
}

fn features_argument(package: &Package) -> String {
    features(package).map(|features| format!("--features {features}")).unwrap_or_default()
}

fn left_out(package: &Package, test: &str) -> Option<&'static str> {
    let entry = LEFT_OUT.iter().find(|(name, file, _)| *name == package.name && *file == test);
    entry.map(|(_, _, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::ensure;

    #[test]
    fn each_test_that_is_left_out_exists() -> Result<()> {
        let workspace = Workspace::read(&root()?)?;
        for (package, test, _) in LEFT_OUT {
            let tests = &workspace.find(package)?.tests;
            ensure!(tests.iter().any(|name| name == test), "{package} has no tests/{test}.rs");
        }
        for (package, _) in FEATURES {
            workspace.find(package)?;
        }
        Ok(())
    }

    #[test]
    fn a_document_touches_the_package_that_reads_it() -> Result<()> {
        let workspace = Workspace::read(&root()?)?;
        let files = ["SECURITY.md", "fronts/c/src/lib.rs", "LICENSE-MIT"];
        let touched = touched(&workspace, &files.map(str::to_owned));
        let names: Vec<&str> = touched.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["headwater-c", "xtask"]);
        for (_, by) in READ_BY {
            workspace.find(by)?;
        }
        Ok(())
    }

    /// A workspace of its own that is not listed would be tested by no quick run, in silence.
    #[test]
    fn what_is_outside_of_the_workspace_has_a_command() -> Result<()> {
        for workspace in crate::version::LOCKS.iter().filter(|path| **path != ".") {
            let is_listed =
                ELSEWHERE.iter().any(|(path, _)| format!("{workspace}/").starts_with(path));
            ensure!(
                is_listed,
                "{workspace}/ is a workspace of its own: list it in ELSEWHERE of \
                 xtask/src/quick/mod.rs, with the command that checks it"
            );
        }
        let mut names = Report::new(Choice::Names);
        crate::test::offer(&mut names);
        let steps = ELSEWHERE.iter().filter_map(|(_, command)| command.split('\'').nth(1));
        names.find(&steps.map(str::to_owned).collect::<Vec<_>>())?;
        Ok(())
    }
}
