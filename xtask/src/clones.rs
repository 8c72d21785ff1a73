//! Copies of warm processes: `headwater clones check`, whose verdicts are compared with known ones.

use crate::java;
use crate::process::{program, root, run, target_directory};
use crate::report::{Stop, need};
use crate::tools;
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

const CHECK: &str = "cargo run --release -p headwater-cli -- clones check --short --json";

/// Verdicts that follow from how a source works, so that another one is a fault of the check, of
/// CRIU, or of headwater. Each kind of witness is among them.
const KNOWN: &[(&str, &str)] = &[
    ("bash/RANDOM", "repeats"),
    ("headwater-auto/Rng", "differs"),
    ("headwater-auto/fill", "differs"),
    ("kernel/dev-urandom", "differs"),
    ("kernel/getrandom", "differs"),
    ("kernel/proc-uuid", "differs"),
    ("libc/drand48", "repeats"),
    ("libc/getentropy", "differs"),
    ("libc/rand", "repeats"),
    ("libc/random", "repeats"),
    ("machine/boot_id", "not-shown"),
    ("openssl/RAND_bytes", "repeats"),
    ("perl/rand", "repeats"),
    ("process/AT_RANDOM", "not-renewable"),
    ("python/os.urandom", "differs"),
    ("python/random.random", "repeats"),
    ("rust/HashMap, kept", "not-renewable"),
    ("rust/rand::rng", "repeats"),
];

/// Copies witnesses of each kind, and compares the verdicts.
pub(crate) fn short() -> Result<(), Stop> {
    const LOSS: &str =
        "whether `clones check` finds the sources that repeat, and none of headwater's";
    need(tools::root_user(), LOSS)?;
    need(crate::lab::newest_criu(), LOSS)?;
    let output = program(CHECK).output().context("cannot run the check")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("the check ended with {}: {said}", output.status))?;
    need(copied(&report), LOSS)?;
    // Sources of the C library repeat, so a check that saw anything ends with 1.
    if output.status.code() != Some(1) {
        return Err(anyhow!("the check ended with {}: {said}", output.status).into());
    }
    Ok(compare(&report)?)
}

/// Returns an error if no witness was copied: a container may forbid what CRIU does, also to root.
fn copied(report: &Value) -> Result<()> {
    let has_draws = |row: &Value| row["draws"].as_u64() > Some(0);
    let rows = report["rows"].as_array().context("a report without rows")?;
    ensure!(rows.iter().any(has_draws), "no witness could be copied: {}", report["absent"][0]);
    Ok(())
}

fn compare(report: &Value) -> Result<()> {
    let rows = report["rows"].as_array().context("a report without rows")?;
    let verdicts: BTreeMap<&str, &str> = rows
        .iter()
        .filter_map(|row| Some((row["id"].as_str()?, row["verdict"].as_str()?)))
        .collect();
    // A runtime that is not installed is no fault, and the check says so itself.
    let absent: Vec<&str> = report["absent"].as_array().map_or(vec![], |list| {
        list.iter().filter_map(|absent| absent["witness"].as_str()).collect()
    });
    let mut faults = Vec::new();
    for (id, known) in KNOWN {
        let witness = id.split('/').next().unwrap_or_default();
        match verdicts.get(id) {
            Some(verdict) if verdict == known => {}
            None if absent.contains(&witness) => {
                println!("skipped: {witness}: {}", report["absent"]);
            }
            found => faults.push(format!("{id}: {known} expected, {found:?} found")),
        }
    }
    for (id, verdict) in &verdicts {
        if id.starts_with("headwater-") && *verdict != "differs" {
            faults.push(format!("{id}: {verdict}"));
        }
    }
    ensure!(faults.is_empty(), "verdicts of `clones check`:\n{}", faults.join("\n"));
    println!("{} verdicts of {} are as known", KNOWN.len(), verdicts.len());
    Ok(())
}

/// Sources that repeat in copies, and that an adapter renews.
const RENEWED: &[&str] = &[
    "gnutls/KEY",
    "gnutls/NONCE",
    "gnutls/RANDOM",
    "java/Collections.shuffle",
    "java/Math.random",
    "java/Random, kept",
    "java/SecureRandom.DRBG",
    "java/SecureRandom.SHA1PRNG",
    "java/SplittableRandom, new",
    "java/ThreadLocalRandom",
    "libbsd/arc4random_buf",
    "libc/drand48",
    "libc/rand",
    "libc/random",
    "node/Math.random",
    "node/Math.random, in a worker",
    "node/crypto.randomBytes",
    "node/crypto.randomFill",
    "node/crypto.randomInt",
    "node/crypto.randomUUID",
    "node/webcrypto.getRandomValues",
    "node/webcrypto.randomUUID",
    "openssl/RAND_bytes",
    "openssl/RAND_priv_bytes",
    "php/array_rand",
    "php/mt_rand",
    "php/openssl_random_pseudo_bytes",
    "php/rand",
    "php/shuffle",
    "php/str_shuffle",
    "python/Random, kept",
    "python/email.make_msgid",
    "python/numpy.RandomState, kept",
    "python/numpy.default_rng, kept",
    "python/numpy.random",
    "python/random.choices",
    "python/random.gauss",
    "python/random.getrandbits",
    "python/random.random",
    "python/random.randrange",
    "python/random.shuffle",
    "python/ssl.RAND_bytes",
    "python/tempfile-name",
    "python/torch.rand",
    "python/uuid1-clock-seq",
    "ruby/OpenSSL::Random",
    "ruby/Random, kept",
    "ruby/Random.bytes",
    "ruby/Random.rand",
    "ruby/Tempfile",
    "ruby/rand",
    "ruby/sample",
    "ruby/shuffle",
];

/// Copies witnesses with their adapters and without, and compares the verdicts.
///
/// Both, because a source that does not repeat without its adapter shows nothing of the adapter.
pub(crate) fn adapters() -> Result<(), Stop> {
    const LOSS: &str = "whether the adapters renew generators in copies";
    need(tools::root_user(), LOSS)?;
    need(crate::lab::newest_criu(), LOSS)?;
    let python = need(crate::python::installed(), LOSS)?;
    run(&mut program(
        "cargo build --release -p headwater-cli -p headwater-adapters -p headwater-preload",
    ))?;
    let agent = need(java::clones_agent(), LOSS)?;
    let plain = verdicts(&mut check(&python)?, LOSS)?;
    let renewed = verdicts(&mut with_adapters(check(&python)?, &agent)?, LOSS)?;
    let (mut faults, mut shown) = (Vec::new(), 0);
    for id in RENEWED {
        match (plain.get(*id).map(String::as_str), renewed.get(*id).map(String::as_str)) {
            (Some("repeats" | "not-renewable"), Some("differs")) => shown += 1,
            (None, None) | (Some("not-shown"), Some("not-shown")) => {
                println!("skipped: {id}: its runtime or its library is not installed");
            }
            (before, after) => faults.push(format!("{id}: {before:?}, with its adapter {after:?}")),
        }
    }
    if !faults.is_empty() {
        return Err(anyhow!("verdicts with adapters:\n{}", faults.join("\n")).into());
    }
    println!("{shown} sources repeat, and differ with their adapter");
    Ok(())
}

/// Returns the check of the witnesses that have adapters, with the Python that has the package.
fn check(python: &Path) -> Result<Command> {
    let programs = python.parent().context("a Python without a directory")?.to_path_buf();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(std::iter::once(programs).chain(env::split_paths(&path)))?;
    let mut check = Command::new(target_directory()?.join("release/headwater"));
    check.args(["clones", "check", "--json", "--only"]).env("PATH", path);
    check.arg("libc,libbsd,openssl,gnutls,python,node,ruby,php,java");
    Ok(check)
}

/// Puts each adapter into place as its page says: docs/adapters.md.
fn with_adapters(mut check: Command, agent: &Path) -> Result<Command> {
    let adapters = root()?.join("fronts/adapters");
    let library = target_directory()?.join("release/libheadwater_clones.so");
    let site = target_directory()?.join("tools/adapters");
    fs::create_dir_all(&site)?;
    fs::write(
        site.join("sitecustomize.py"),
        "import headwater.clones\nheadwater.clones.install()\n",
    )?;
    // Both, as `headwater run --clones` has them: the first is before arc4random of libbsd.
    let preload = target_directory()?.join("release/libheadwater_preload.so");
    let both = format!("{}:{}", preload.display(), library.display());
    check.env("HEADWATER_CLONES_LIBRARY", &library).env("LD_PRELOAD", both);
    // After the system's own directories, which an empty entry stands for.
    let ini = target_directory()?.join("tools/adapters/php");
    fs::create_dir_all(&ini)?;
    let php = adapters.join("php.php");
    fs::write(ini.join("headwater.ini"), format!("auto_prepend_file={}\n", php.display()))?;
    check.env("PHP_INI_SCAN_DIR", format!(":{}", ini.display()));
    check.env("PYTHONPATH", site);
    check.env("NODE_OPTIONS", format!("--require {}", adapters.join("node.cjs").display()));
    check.env("JAVA_TOOL_OPTIONS", format!("-javaagent:{}", agent.display()));
    check.env("RUBYOPT", format!("-r{}", adapters.join("ruby.rb").display()));
    Ok(check)
}

/// Runs a check, and returns the verdicts of all sources that were drawn.
fn verdicts(check: &mut Command, loss: &'static str) -> Result<BTreeMap<String, String>, Stop> {
    let output = check.output().context("cannot run the check")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let report: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("the check ended with {}: {said}", output.status))?;
    need(copied(&report), loss)?;
    for absent in report["absent"].as_array().into_iter().flatten() {
        println!("absent: {absent}");
    }
    let rows = report["rows"].as_array().context("a report without rows")?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Ok(rows.iter().filter_map(|row| Some((text(&row["id"])?, text(&row["verdict"])?))).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_known_verdict_is_listed_once() {
        let ids: std::collections::BTreeSet<&str> =
            super::KNOWN.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids.len(), super::KNOWN.len());
    }
}
