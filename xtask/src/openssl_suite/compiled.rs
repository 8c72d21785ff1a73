//! All recipes of OpenSSL's test suite, with the programs that it compiles.

use super::build::{self, Built};
use super::differences::{DIFFERENT, Why};
use super::draws::{Counted, Draws};
use super::recipes::{self, Outcomes, RecipeOutcome};
use crate::process::{output, program, root, target_directory};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The configuration of the process's library context.
const PROCESS: &str = "apps/openssl.cnf";
/// Configurations of further library contexts, which tests name in their arguments.
const FURTHER: [&str; 2] = ["test/default.cnf", "test/default-and-legacy.cnf"];
/// 88 recipes draw. If they become fewer, they no longer read these configurations, and a suite
/// that passes would say nothing about the module.
const DRAWING: usize = 80;
/// Activates the default provider, as the module's configuration does, and nothing else.
const ONLY_DEFAULT: &str = "[openssl_init]\nproviders = provider_sect\n\
                            [provider_sect]\ndefault = default_sect\n\
                            [default_sect]\nactivate = 1\n";

pub(crate) struct Suite(Built);

/// Compiles OpenSSL and its test programs, unless the cache has them.
pub(crate) fn prepared() -> Result<Suite> {
    build::built().map(Suite)
}

/// Runs each recipe twice, and writes a table of outcomes and draws to the target directory. A
/// recipe may only differ if `differences` says why.
pub(crate) fn run_suite(suite: &Suite, module: &Path) -> Result<()> {
    let Built { version, source, build, .. } = &suite.0;
    let folder = root()?.join(target_directory()?).join("openssl-suite");
    let counted = Counted::new(module, source, build, &folder)?;
    let ours = fs::read_to_string("fronts/openssl/headwater-openssl.cnf")?;
    let ours = format!("{ours}\n[headwater_sect]\nmodule = {}\n", counted.module.display());
    fs::write(folder.join("headwater.cnf"), ours)?;
    let include = format!(".include {}\n", folder.join("headwater.cnf").display());
    let run = |names: &[String], process: &str, further: &str| {
        configure(source, &[PROCESS], process)?;
        configure(source, &FURTHER, further)?;
        recipes::run(source, build, names)
    };

    let names = recipes::all(source)?;
    let stock = run(&names, "", "")?;
    let with_module = run(&names, &include, &include)?;
    let draws = counted.take()?;
    // Shows the reason, and tests the module in the contexts that these recipes do draw from.
    let again = DIFFERENT.iter().filter(|(_, why)| *why == Why::DefaultProvider);
    let again: Vec<String> = again.map(|(name, _)| (*name).to_owned()).collect();
    let only_default = run(&again, ONLY_DEFAULT, "")?;
    let in_further = run(&again, "", &include)?;
    let further_draws = counted.take()?;
    configure(source, &[PROCESS], "")?;
    configure(source, &FURTHER, "")?;

    let installed = output(&mut program("openssl version"))?;
    let mut text = format!("OpenSSL {version}, compiled; installed: {installed}");
    text += &summary(&stock, &with_module, &draws);
    print!("{text}");
    text += "\nrecipe | without the module | with it | processes with it | draws | bytes\n";
    text += &table(&stock, &with_module, &draws);
    text += "\nWith the module in further library contexts alone:\n";
    text += &table(&only(&stock, &again), &in_further, &further_draws);
    fs::write(folder.join("table.txt"), text)?;
    println!("each recipe: {}", folder.join("table.txt").display());

    let drawing = drawing(&draws);
    ensure!(drawing >= DRAWING, "only {drawing} recipes drew from the module");
    let tls = further_draws.get("90-test_sslapi").is_some_and(|draws| draws.draws > 0);
    ensure!(tls, "the tests of TLS drew nothing from the module in their own contexts");
    let expected: Vec<&str> = DIFFERENT.iter().map(|(name, _)| *name).collect();
    compare(&stock, &with_module, &expected)?;
    compare(&only(&with_module, &again), &only_default, &[])
        .context("a configuration with the default provider alone should fail in the same way")?;
    compare(&only(&stock, &again), &in_further, &[])
        .context("the module is in use in further library contexts alone")
}

/// Puts this text after the suite's own configurations.
fn configure(source: &Path, names: &[&str], addition: &str) -> Result<()> {
    for name in names {
        let plain = source.join(format!("{name}.stock"));
        if !plain.exists() {
            fs::copy(source.join(name), &plain)?;
        }
        let text = fs::read_to_string(plain)? + "\n" + addition;
        fs::write(source.join(name), text)?;
    }
    Ok(())
}

fn only(outcomes: &Outcomes, names: &[String]) -> Outcomes {
    let of = |name: &String| Some((name.clone(), outcomes.get(name)?.clone()));
    names.iter().filter_map(of).collect()
}

/// Returns an error unless exactly the expected recipes differ.
fn compare(one: &Outcomes, other: &Outcomes, expected: &[&str]) -> Result<()> {
    ensure!(one.keys().eq(other.keys()), "the runs have other recipes: {one:?} {other:?}");
    let mut wrong = String::new();
    for (name, first) in one {
        let second = &other[name];
        match (first == second, expected.contains(&name.as_str())) {
            (false, false) => writeln!(wrong, "{name}: {first}, then {second}")?,
            (true, true) => writeln!(wrong, "{name}: {first} twice, but is listed as different")?,
            _ => (),
        }
    }
    if !wrong.is_empty() {
        bail!("recipes differ from xtask/src/openssl_suite/differences.rs:\n{wrong}");
    }
    Ok(())
}

fn drawing(draws: &BTreeMap<String, Draws>) -> usize {
    draws.values().filter(|draws| draws.draws > 0).count()
}

fn summary(stock: &Outcomes, ours: &Outcomes, draws: &BTreeMap<String, Draws>) -> String {
    let count = |outcomes: &Outcomes| {
        let is_failed = |outcome: &RecipeOutcome| matches!(outcome, RecipeOutcome::Failed(_));
        let skipped =
            outcomes.values().filter(|outcome| **outcome == RecipeOutcome::Skipped).count();
        let failed = outcomes.values().filter(|outcome| is_failed(outcome)).count();
        let passed = outcomes.len() - skipped - failed;
        format!("{passed} passed, {skipped} skipped, {failed} failed")
    };
    let bytes: u64 = draws.values().map(|draws| draws.bytes).sum();
    let calls: u64 = draws.values().map(|draws| draws.draws).sum();
    format!(
        "{} recipes\nwithout the module: {}\nwith the module: {}\n\
         {} recipes loaded the module, {} drew from it: {calls} draws, {bytes} bytes\n",
        stock.len(),
        count(stock),
        count(ours),
        draws.len(),
        drawing(draws),
    )
}

/// Returns a line for each recipe.
fn table(stock: &Outcomes, ours: &Outcomes, draws: &BTreeMap<String, Draws>) -> String {
    let mut text = String::new();
    let none = Draws::default();
    for (name, stock) in stock {
        let Draws { processes, draws, bytes } = draws.get(name).unwrap_or(&none);
        let ours = &ours[name];
        text += &format!("{name} | {stock} | {ours} | {processes} | {draws} | {bytes}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_listed_recipe_may_differ() {
        let of = |a: RecipeOutcome, b: RecipeOutcome| {
            Outcomes::from([("05-test_rand".to_owned(), a), ("80-test_cms".to_owned(), b)])
        };
        let failed = |tests: &str| RecipeOutcome::Failed(tests.to_owned());
        let stock = of(RecipeOutcome::Passed, failed("26"));
        let listed = ["05-test_rand"];
        assert!(compare(&stock, &stock, &[]).is_ok());
        assert!(compare(&stock, &of(failed("1"), failed("26")), &listed).is_ok());
        for (ours, listed) in [
            (of(failed("1"), failed("26")), &[][..]),
            (of(RecipeOutcome::Skipped, failed("26")), &[]),
            // Other tests of a recipe that fails in both.
            (of(RecipeOutcome::Passed, failed("25-26")), &[]),
            // The list is out of date.
            (stock.clone(), &listed),
        ] {
            assert!(compare(&stock, &ours, listed).is_err(), "{ours:?} {listed:?}");
        }
    }
}
