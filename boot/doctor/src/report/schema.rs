//! The checked-in schema of `--json` against the types that it describes, and against reports.
//!
//! schemars derives the schema from the same types as serde derives the documents, so that a field
//! cannot be in one and not in the other. `SNAPSHOTS=overwrite cargo test -p headwater-doctor
//! schema` writes the file again.

use crate::start::StartReport;
use crate::{Args, Report, run};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn file() -> PathBuf {
    named("headwater.doctor.1.json")
}

fn named(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(name)
}

#[test]
fn the_schema_is_the_one_of_the_types() {
    compare::<Report>("headwater.doctor/1", &file());
    compare::<StartReport>("headwater.start/1", &named("headwater.start.1.json"));
}

/// Compares a file with the schema of a type, and writes it first if the environment says so.
fn compare<T: JsonSchema>(title: &str, file: &Path) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = serde_json::to_value(generator.into_root_schema_for::<T>()).unwrap();
    schema["title"] = title.into();
    closed(&mut schema);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
        std::fs::write(file, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
}

/// Forbids unknown fields in every object: a misspelt name in a consumer's test data is found.
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

/// Returns the reports of every host, of one host under another kernel, and of this machine with
/// `--deep`.
fn reports() -> Vec<Value> {
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts");
    let mut all: Vec<Args> = ["recorded", "guest", "by-hand"]
        .into_iter()
        .flat_map(|origin| std::fs::read_dir(hosts.join(origin)).unwrap())
        .map(|entry| Args { root: Some(entry.unwrap().path()), ..Args::default() })
        .collect();
    assert!(all.len() > 10);
    all.push(Args { assume_kernel: crate::Kernel::parse("4.9"), ..all[0].clone() });
    all.push(Args { deep: true, ..Args::default() });
    all.iter().map(|args| serde_json::to_value(run(args).unwrap()).unwrap()).collect()
}

/// Python's jsonschema accepts every report, and refuses five reports with one error each.
#[test]
fn the_schema_is_one_and_another_validator_agrees() {
    let has = Command::new("python3").args(["-c", "import jsonschema"]).output();
    if !has.is_ok_and(|done| done.status.success()) {
        println!(
            "skipped: another validator of the schema: python3 has no jsonschema; only the types \
             show that reports follow it"
        );
        return;
    }
    let documents = reports();
    let found = |report: &&Value| report["findings"].get(0).is_some();
    let mut broken = vec![documents.iter().find(found).unwrap().clone(); 5];
    broken[0]["findings"][0]["id"] = "HW1".into();
    broken[1]["findings"][0]["severity"] = "terrible".into();
    broken[2]["ready_seconds"] = "soon".into();
    broken[3]["stranger"] = 1.into();
    broken[4].as_object_mut().unwrap().remove("passed");
    let list = std::env::temp_dir().join(format!("headwater-schema-{}.json", std::process::id()));
    std::fs::write(&list, serde_json::to_vec(&[documents, broken]).unwrap()).unwrap();
    let program = "import json, sys, jsonschema as j\n\
                   s = json.load(open(sys.argv[1]))\n\
                   j.Draft202012Validator.check_schema(s)\n\
                   v = j.Draft202012Validator(s)\n\
                   good, broken = json.load(open(sys.argv[2]))\n\
                   for d in good: v.validate(d)\n\
                   assert not any(v.is_valid(d) for d in broken)\n";
    let mut python = Command::new("python3");
    let done = python.args(["-W", "ignore", "-c", program]).arg(file()).arg(&list).output();
    std::fs::remove_file(&list).unwrap();
    let done = done.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
