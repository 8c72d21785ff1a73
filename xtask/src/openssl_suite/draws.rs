//! Which recipes drew from the module, and how much.
//!
//! A recipe that passes need not have used the module, because it may choose a configuration or a
//! generator of its own. `counted.c` therefore stands in front of the module and writes a line for
//! each process.

use crate::process::{program, run};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const SOURCE: &str = "fronts/openssl/tests/c/counted.c";

/// The module with the counter in front of it.
pub(super) struct Counted {
    /// The file that OpenSSL loads.
    pub(super) module: PathBuf,
    record: PathBuf,
}

/// The part of one recipe.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Draws {
    /// The processes that loaded the module.
    pub(super) processes: u64,
    pub(super) draws: u64,
    pub(super) bytes: u64,
}

impl Counted {
    /// Compiles the counter, with the headers of a built OpenSSL.
    pub(super) fn new(
        module: &Path,
        source: &Path,
        build: &Path,
        folder: &Path,
    ) -> Result<Counted> {
        fs::create_dir_all(folder)?;
        let counted = Counted { module: folder.join("headwater.so"), record: folder.join("draws") };
        let mut compile = program("gcc -O1 -Wall -shared -fPIC -pthread -Wl,-z,nodelete");
        for (name, path) in [("MODULE", module), ("RECORD", &counted.record)] {
            compile.arg(format!("-D{name}=\"{}\"", path.display()));
        }
        compile.arg("-I").arg(build.join("include")).arg("-I").arg(source.join("include"));
        run(compile.arg("-o").arg(&counted.module).arg(SOURCE))?;
        fs::write(&counted.record, "")?;
        Ok(counted)
    }

    /// Returns the draws of each recipe since the last call, by its name.
    pub(super) fn take(&self) -> Result<BTreeMap<String, Draws>> {
        let draws = read(&fs::read_to_string(&self.record)?)?;
        fs::write(&self.record, "")?;
        Ok(draws)
    }
}

fn read(text: &str) -> Result<BTreeMap<String, Draws>> {
    let mut recipes: BTreeMap<String, Draws> = BTreeMap::new();
    for line in text.lines() {
        let mut fields = line.split('\t');
        let mut next = || fields.next().with_context(|| format!("a short line: {line}"));
        let (recipe, _program, draws, bytes) = (next()?, next()?, next()?, next()?);
        ensure!(!recipe.is_empty(), "a process of no recipe: {line}");
        let sum = recipes.entry(recipe.to_owned()).or_default();
        sum.processes += 1;
        sum.draws += draws.parse::<u64>()?;
        sum.bytes += bytes.parse::<u64>()?;
    }
    Ok(recipes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_one_recipe_add_up() {
        let text =
            "80-test_ca\topenssl\t2\t40\n80-test_ca\topenssl\t0\t0\n15-test_dh\tdhtest\t1\t8\n";
        let recipes = read(text).unwrap();
        assert_eq!(recipes["80-test_ca"], Draws { processes: 2, draws: 2, bytes: 40 });
        assert_eq!(recipes["15-test_dh"], Draws { processes: 1, draws: 1, bytes: 8 });
        assert!(read("\topenssl\t1\t1\n").is_err());
    }
}
