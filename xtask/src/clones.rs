//! Copies of warm processes: `headwater clones check`, whose verdicts are compared with known ones.

use crate::process::program;
use crate::report::{Stop, need};
use crate::tools;
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;
use std::collections::BTreeMap;

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
    need(crate::lab::criu().map(drop), LOSS)?;
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

#[cfg(test)]
mod tests {
    #[test]
    fn a_known_verdict_is_listed_once() {
        let ids: std::collections::BTreeSet<&str> =
            super::KNOWN.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids.len(), super::KNOWN.len());
    }
}
