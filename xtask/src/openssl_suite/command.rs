//! OpenSSL's own tests of the installed command, without the module and with it.
//!
//! The recipes are those of Debian's source package that run the installed `openssl` and no program
//! of their own. `compiled` runs all recipes, but with an OpenSSL that it builds.

use super::recipes::{self, Outcomes, RecipeOutcome};
use crate::process::{output, program, root, run};
use crate::unpack;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A recipe with one of these compiles a program, or intercepts TLS by one.
const COMPILED: [&str; 7] =
    ["simple_test", "test([", "cmdstr(test", "TLSProxy", "exe([", "fuzz(", "perlproxy"];
/// Recipes that are left out, each with its reason.
const LEFT_OUT: [(&str, &str); 14] = [
    ("00-prep_fipsmodule_cnf", "prepares the module for FIPS"),
    ("01-test_fipsmodule_cnf", "the module for FIPS"),
    ("01-test_symbol_presence", "reads the libraries that the others compile"),
    ("02-test_ordinals", "reads the source alone"),
    ("05-test_pbe", "runs a compiled program under another name"),
    ("20-test_dgst", "loads an engine that the others compile"),
    ("20-test_rand_config", "compares the names of OpenSSL's own generators"),
    ("80-test_cmp_http", "a server on fixed ports"),
    ("81-test_cmp_cli", "a server on fixed ports"),
    ("90-test_store", "loads an engine that the others compile"),
    ("95-test_external_gost_engine", "another project's source"),
    ("95-test_external_krb5", "another project's source"),
    ("95-test_external_pyca", "another project's source"),
    ("99-test_fuzz", "compiled fuzzers"),
];

/// Runs each recipe twice. A recipe that passes without the module must pass with it.
pub(crate) fn run_suite(source: &Path, module: &Path) -> Result<()> {
    let names = of_the_command(source)?;
    ensure!(names.len() > 30, "only {} recipes run the command", names.len());
    let plain = source.join("apps/openssl.cnf.stock");
    let config = source.join("apps/openssl.cnf");
    if !plain.exists() {
        fs::copy(&config, &plain)?;
    }
    fs::copy(&plain, &config)?;
    let stock = recipes::run(source, source, &names)?;

    let ours = fs::read_to_string("fronts/openssl/headwater-openssl.cnf")?;
    let ours = format!("{ours}\n[headwater_sect]\nmodule = {}\n", module.display());
    fs::write(source.join("headwater.cnf"), ours)?;
    let include = format!(".include {}\n", source.join("headwater.cnf").display());
    fs::write(&config, fs::read_to_string(&plain)? + "\n" + &include)?;
    // Otherwise the second run would be the first one again.
    let mut listed = program("openssl list -random-instances");
    let listed = output(listed.env("OPENSSL_CONF", &config))?;
    ensure!(listed.contains("HEADWATER"), "the recipes would not use the module: {listed}");
    let with_module = recipes::run(source, source, &names)?;
    fs::copy(&plain, &config)?;
    compare(&stock, &with_module)
}

fn compare(stock: &Outcomes, ours: &Outcomes) -> Result<()> {
    ensure!(stock.keys().eq(ours.keys()), "the runs have other recipes: {stock:?} {ours:?}");
    let is_failed = |outcome: &RecipeOutcome| matches!(outcome, RecipeOutcome::Failed(_));
    let failed: Vec<&String> =
        stock.iter().filter(|(_, outcome)| is_failed(outcome)).map(|(name, _)| name).collect();
    println!("{} recipes; without the module {} fail: {failed:?}", stock.len(), failed.len());
    let worse: Vec<&String> = ours
        .iter()
        .filter(|(name, outcome)| is_failed(outcome) && !is_failed(&stock[*name]))
        .map(|(name, _)| name)
        .collect();
    if !worse.is_empty() {
        bail!("with the module these fail too: {worse:?}");
    }
    Ok(())
}

/// Returns the directory of OpenSSL's source, ready for recipes that run the installed command.
pub(crate) fn prepared() -> Result<PathBuf> {
    let source = root()?.join(unpack::source("openssl")?);
    let wrapper = source.join("util/wrap.pl");
    if !wrapper.is_file() {
        // Only Perl runs here: nothing is compiled.
        run(program("perl Configure linux-x86_64 shared").current_dir(&source))?;
        let scripts = "util/wrap.pl util/shlib_wrap.sh apps/CA.pl apps/tsget.pl tools/c_rehash";
        run(program(&format!("make -s {scripts}")).current_dir(&source))?;
    }
    let modules = output(&mut program("openssl version -m"))?;
    let modules = modules.split('"').nth(1).context("openssl does not name its modules")?;
    for (name, target) in [
        ("apps/openssl", PathBuf::from("/usr/bin/openssl")),
        ("providers/legacy.so", Path::new(modules).join("legacy.so")),
    ] {
        let link = source.join(name);
        if fs::symlink_metadata(&link).is_err() {
            symlink(target, link)?;
        }
    }
    Ok(source)
}

/// Returns the recipes that run nothing but the command.
fn of_the_command(source: &Path) -> Result<Vec<String>> {
    let mut names = recipes::all(source)?;
    let mut texts = Vec::new();
    for name in &names {
        texts.push(fs::read_to_string(source.join(format!("test/recipes/{name}.t")))?);
    }
    let mut texts = texts.iter();
    names.retain(|name| {
        let text = texts.next().map_or("", |text| text);
        !COMPILED.iter().any(|mark| text.contains(mark)) && !is_left_out(name)
    });
    Ok(names)
}

fn is_left_out(name: &str) -> bool {
    // The fuzzers are a dozen recipes.
    let fuzzers = "99-test_fuzz";
    LEFT_OUT.iter().any(|(left_out, _)| {
        name == *left_out || (*left_out == fuzzers && name.starts_with(fuzzers))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_that_only_the_module_breaks_is_an_error() {
        let of = |pairs: &[(&str, RecipeOutcome)]| -> Outcomes {
            pairs.iter().map(|(name, outcome)| ((*name).to_owned(), outcome.clone())).collect()
        };
        let failed = || RecipeOutcome::Failed("1".to_owned());
        let stock = of(&[("15-test_genrsa", RecipeOutcome::Passed), ("20-test_dgst", failed())]);
        assert!(compare(&stock, &stock).is_ok());
        let broken = of(&[("15-test_genrsa", failed()), ("20-test_dgst", failed())]);
        assert!(compare(&stock, &broken).unwrap_err().to_string().contains("15-test_genrsa"));
        assert!(compare(&broken, &stock).is_ok());
        assert!(compare(&stock, &of(&[("15-test_genrsa", RecipeOutcome::Passed)])).is_err());
    }
}
