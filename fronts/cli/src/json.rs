//! `headwater status --json`: the document of the C library, with the speed table if measured.

use crate::facts::{Facts, SIZES, Speed};
use serde_json::{Value, json};

pub(crate) fn document(facts: &Facts) -> Value {
    let mut text = Vec::new();
    headwater_status::write(&facts.shared(), &mut |piece| text.extend_from_slice(piece));
    let mut document: Value =
        serde_json::from_slice(&text).expect("the status library writes JSON");
    document["speed"] = json!(facts.speed.as_deref().map(speed));
    document
}

/// Returns one row an implementation and length, as in `headwater bench --json`.
fn speed(table: &[Speed]) -> Vec<Value> {
    let rows = table.iter().flat_map(|speed| {
        SIZES.iter().zip(&speed.ns).map(|(len, ns)| {
            json!({
                "impl": speed.implementation,
                "version": speed.version,
                "len": len,
                "ns_per_call": ns,
            })
        })
    });
    rows.collect()
}
