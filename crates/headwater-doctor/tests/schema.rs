//! The reports of all recorded hosts and logs against the checked-in schema of `--json`.
//!
//! By a validator of the few keywords that the schema uses, which fails at any other; and by Python's jsonschema where that is
//! installed, which knows them all.

use headwater_doctor::{Args, run};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/headwater.doctor.1.json")
}

fn schema() -> Value {
    serde_json::from_str(&std::fs::read_to_string(file()).unwrap()).unwrap()
}

/// Every recorded host, one of them under another kernel; and this machine, with --deep's measurements of it.
fn reports() -> Vec<(String, Value)> {
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts");
    let mut all: Vec<Args> = ["recorded", "guest", "by-hand"]
        .into_iter()
        .flat_map(|origin| std::fs::read_dir(hosts.join(origin)).unwrap())
        .map(|entry| Args { root: Some(entry.unwrap().path()), ..Args::default() })
        .collect();
    assert!(all.len() > 10);
    all.push(Args { assume_kernel: headwater_doctor::Kernel::parse("4.9"), ..all[0].clone() });
    all.push(Args { deep: true, ..Args::default() });
    let report = |args: Args| {
        let report = run(&args).unwrap();
        (report.of.clone(), serde_json::to_value(report).unwrap())
    };
    all.into_iter().map(report).collect()
}

/// What is wrong with `value`, if anything.
fn wrong(schema: &Value, value: &Value, all: &Value, at: &str) -> Option<String> {
    let no = |what: &str| Some(format!("{at}: {what}: {value}"));
    for (keyword, want) in schema.as_object().unwrap() {
        let found = match keyword.as_str() {
            "description" | "title" | "$schema" | "$defs" => None,
            "type" => {
                let names: Vec<&str> = match want {
                    Value::Array(names) => {
                        names.iter().map(|name| name.as_str().unwrap()).collect()
                    }
                    name => vec![name.as_str().unwrap()],
                };
                let is = |name: &&str| match *name {
                    "null" => value.is_null(),
                    "string" => value.is_string(),
                    "number" => value.is_number(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "boolean" => value.is_boolean(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("the type {other} is not known to this test"),
                };
                if names.iter().any(is) { None } else { no(&format!("is none of {names:?}")) }
            }
            "const" if want != value => no("is another"),
            "enum" if !want.as_array().unwrap().contains(value) => no("is not in the list"),
            "const" | "enum" => None,
            "minimum" if value.as_f64() < want.as_f64() => no("is too small"),
            "minimum" => None,
            // The only pattern there is.
            "pattern" => {
                assert_eq!(want, "^HW[0-9]{3}$");
                let text = value.as_str().unwrap();
                let digits = text.strip_prefix("HW").unwrap_or_default();
                let fits = digits.len() == 3 && digits.bytes().all(|it| it.is_ascii_digit());
                if fits { None } else { no("is no id") }
            }
            "$ref" => {
                let name = want.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                wrong(&all["$defs"][name], value, all, at)
            }
            "anyOf" => {
                let all_wrong: Option<Vec<String>> =
                    want.as_array().unwrap().iter().map(|one| wrong(one, value, all, at)).collect();
                all_wrong.map(|reasons| reasons.join(", and "))
            }
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                items.into_iter().find_map(|(i, item)| wrong(want, item, all, &format!("{at}/{i}")))
            }
            "required" => {
                let missing = |name: &&Value| value.get(name.as_str().unwrap()).is_none();
                let missing = want.as_array().unwrap().iter().find(missing);
                missing.filter(|_| value.is_object()).and_then(|name| no(&format!("lacks {name}")))
            }
            "additionalProperties" => {
                assert_eq!(want, false);
                let known = schema["properties"].as_object().unwrap();
                let stranger = value
                    .as_object()
                    .and_then(|it| it.keys().find(|key| !known.contains_key(*key)));
                stranger
                    .and_then(|name| no(&format!("has {name}, of which the schema knows nothing")))
            }
            "properties" => {
                let fields = value.as_object().into_iter().flatten();
                fields.into_iter().find_map(|(name, field)| {
                    wrong(want.get(name)?, field, all, &format!("{at}/{name}"))
                })
            }
            other => panic!("the keyword {other} is not known to this test"),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

#[test]
fn reports_are_what_the_schema_says() {
    let schema = schema();
    for (of, report) in reports() {
        assert_eq!(wrong(&schema, &report, &schema, &of), None);
    }
}

/// A schema that allows everything would pass as well.
#[test]
fn the_schema_refuses_what_is_no_report() {
    let schema = schema();
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/guest/lab-7-stall.host");
    let report = run(&Args { root: Some(hosts), ..Args::default() }).unwrap();
    let report = serde_json::to_value(report).unwrap();
    let mut broken = vec![report.clone(); 5];
    broken[0]["findings"][0]["id"] = "HW1".into();
    broken[1]["findings"][0]["severity"] = "terrible".into();
    broken[2]["ready_seconds"] = "soon".into();
    broken[3]["stranger"] = 1.into();
    broken[4].as_object_mut().unwrap().remove("passed");
    for broken in &broken {
        assert!(wrong(&schema, broken, &schema, "").is_some());
    }
}

/// The same by somebody else's validator.
#[test]
fn the_schema_is_one_and_another_validator_agrees() {
    let has = Command::new("python3").args(["-c", "import jsonschema"]).output();
    if !has.is_ok_and(|done| done.status.success()) {
        println!(
            "skipped: another validator of the schema: python3 has no jsonschema; the schema itself is not checked to be one"
        );
        return;
    }
    let folder =
        std::env::temp_dir().join(format!("headwater-doctor-schema-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let documents: Vec<Value> = reports().into_iter().map(|(_, report)| report).collect();
    let list = folder.join("reports.json");
    std::fs::write(&list, serde_json::to_vec(&documents).unwrap()).unwrap();
    let program = "import json, sys, jsonschema as j\n\
                   s = json.load(open(sys.argv[1]))\n\
                   j.Draft202012Validator.check_schema(s)\n\
                   v = j.Draft202012Validator(s)\n\
                   for d in json.load(open(sys.argv[2])): v.validate(d)\n";
    let done = Command::new("python3")
        .args(["-W", "ignore", "-c", program])
        .arg(file())
        .arg(&list)
        .output();
    std::fs::remove_dir_all(&folder).unwrap();
    let done = done.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
