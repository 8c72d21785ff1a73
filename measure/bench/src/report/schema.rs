//! The checked-in schema of `--json` against the types that it describes.
//!
//! schemars derives the schema from the same types as serde derives the document, so that a field
//! cannot be in one and not in the other. `SNAPSHOTS=overwrite cargo test -p headwater-bench
//! schema` writes the file again.

use crate::measure::row::Row;
use crate::report::document::{Report, SCHEMA};
use schemars::generate::SchemaSettings;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Forbids unknown fields in every object, so that a misspelt name in a consumer's data is found.
fn closed(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
            fields.values_mut().for_each(closed);
        }
        Value::Array(items) => items.iter_mut().for_each(closed),
        _ => {}
    }
}

fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = serde_json::to_value(generator.into_root_schema_for::<Report>()).unwrap();
    schema["title"] = SCHEMA.into();
    schema["properties"]["schema"]["const"] = SCHEMA.into();
    closed(&mut schema);
    schema
}

#[test]
fn the_schema_is_the_one_of_the_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/headwater.bench.1.json");
    let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
        fs::write(&file, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn the_schema_has_every_field_of_a_report() {
    let row = Row::new("fill", "headwater", 16, 1000, vec![4.0; 9]);
    let report = serde_json::to_value(Report::of(vec![row])).unwrap();
    let schema = schema();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&report), names(&schema["properties"]));
    assert_eq!(names(&report["rows"][0]), names(&schema["$defs"]["Row"]["properties"]));
    assert_eq!(names(&report["machine"]), names(&schema["$defs"]["Machine"]["properties"]));
}
