//! The checked-in schema of `--json` against the types that it describes.
//!
//! `SNAPSHOTS=overwrite cargo test -p headwater-storage schema` writes the file again.

use crate::document::{Document, SCHEMA, WRITE_SCHEMA, Written};
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

/// Compares a schema's file with the types.
fn check<T: schemars::JsonSchema>(name: &str) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = serde_json::to_value(generator.into_root_schema_for::<T>()).unwrap();
    schema["title"] = name.into();
    schema["properties"]["schema"]["const"] = name.into();
    closed(&mut schema);
    let file = format!("schema/{}.json", name.replace('/', "."));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
        fs::write(&file, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn the_schemas_are_those_of_the_types() {
    check::<Document>(SCHEMA);
    check::<Written>(WRITE_SCHEMA);
}
