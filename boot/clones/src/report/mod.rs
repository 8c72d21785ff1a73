//! A comparison as text, as a page, and as a file for CI systems.

pub mod html;
pub mod junit;
pub mod text;

use crate::comparison::{Comparison, Stamps, Verdict};
use crate::{Compared, Copied};

/// Returns the answer in one line.
fn answer(comparison: &Comparison) -> String {
    let Comparison { copies, repeats, not_renewable, differs, not_shown, .. } = comparison;
    let what = match comparison.copied {
        Copied::Process => "processes",
        Copied::Machine => "machines",
    };
    let drawn = repeats + not_renewable + differs;
    if drawn == 0 {
        return format!("Nothing is shown of {copies} copied {what}: no source was drawn in each.");
    }
    let first = match (repeats, not_renewable) {
        (0, 0) => format!("No source repeats in {copies} copied {what}"),
        (0, _) => format!("No source that can be renewed repeats in {copies} copied {what}"),
        _ => format!(
            "{repeats} of {drawn} sources repeat in {copies} copied {what}, and can be renewed"
        ),
    };
    format!(
        "{first}; {not_renewable} cannot be renewed; {differs} differ; {not_shown} were not shown."
    )
}

/// Returns how a verdict is called in a report.
fn named(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Repeats => "repeats",
        Verdict::NotRenewable => "repeats, cannot be renewed",
        Verdict::NotShown => "not shown",
        Verdict::Differs => "differs",
    }
}

/// Returns how much of a source repeats: `8/8 in 3` for all values in three copies.
fn counted(row: &Compared) -> String {
    let until =
        row.until_ms.filter(|ms| *ms >= 1_000).map(|ms| format!(", {:.0} s", ms as f64 / 1e3));
    match row.copies {
        0 => String::new(),
        copies => {
            format!("{}/{} in {copies}{}", row.repeated, row.draws, until.unwrap_or_default())
        }
    }
}

/// Returns what a stamp said.
fn stamps(stamps: &Stamps) -> String {
    match (stamps.within_ms, stamps.unknown) {
        (Some(ms), unknown) => {
            let others = match unknown && stamps.stale < stamps.of {
                true => "; in the others it says that it cannot see a copy",
                false => "",
            };
            format!("stale in {} of {}, within {ms} ms{others}", stamps.stale, stamps.of)
        }
        (None, true) => "unknown: it says that it cannot see a copy".to_owned(),
        (None, false) => format!("fresh in {}: it saw no copy", stamps.of),
    }
}

/// Returns what to do about a reseed that was not shown to come in time.
fn late(comparison: &Comparison) -> Option<String> {
    let limit = comparison.reseed_limit_ms.filter(|_| comparison.is_late())?;
    let what = match comparison.reseeded_after_ms {
        Some(_) => format!("That is later than {limit} ms"),
        None => format!("No reseed within {limit} ms is shown"),
    };
    Some(format!(
        "{what}: let programs continue only after the reseed, by headwater clones repair with \
         --gate or --thaw."
    ))
}

/// Returns what a reader should do or know about a source.
fn advice(row: &Compared) -> &str {
    row.why.as_deref().unwrap_or(match row.verdict {
        Verdict::Differs => "",
        _ => &row.advice,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Comparison, Draws, Repair, Response};

    /// `SNAPSHOTS=overwrite cargo test -p headwater-clones` writes the schemas anew.
    #[test]
    fn the_schemas_are_those_that_are_checked_in() {
        for (name, schema) in [
            ("headwater.clones.1.json", schemars::schema_for!(Comparison)),
            ("headwater.clones-draw.1.json", schemars::schema_for!(Draws)),
            ("headwater.clones-repair.1.json", schemars::schema_for!(Repair)),
            ("headwater.clones-watch.1.json", schemars::schema_for!(Response)),
        ] {
            let path = format!("{}/schema/{name}", env!("CARGO_MANIFEST_DIR"));
            let schema = serde_json::to_string_pretty(&schema).unwrap() + "\n";
            if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
                std::fs::write(&path, &schema).unwrap();
            }
            let recorded = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(schema == recorded, "the documents have another schema than {path}");
        }
    }
}
