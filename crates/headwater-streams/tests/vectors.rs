//! The files of `vectors/`: that they are what `reference` makes, and that this crate agrees with them.

use headwater_streams::{Engine, Key, Label};
use serde_json::Value;
use std::path::Path;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn cases(name: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(&read(name)).unwrap();
    let cases = document["cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    cases.clone()
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_else(|| panic!("no {field} in {case}"))
}

fn bytes(digits: &str) -> Vec<u8> {
    let pair = |i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

fn number(digits: &str) -> u128 {
    u128::from_str_radix(digits, 16).unwrap()
}

fn engine(case: &Value) -> Engine {
    text(case, "engine").parse().unwrap()
}

#[test]
fn the_files_are_what_the_reference_makes() {
    for (name, expected) in reference::vectors::files() {
        assert!(
            read(name) == expected,
            "vectors/{name} is stale: cargo run -p reference --bin vectors"
        );
    }
}

#[test]
fn engines_make_the_blocks() {
    for case in cases("engines.json") {
        let key = Key::from_raw(engine(&case), number(text(&case, "key")).to_le_bytes());
        assert_eq!(
            key.block(number(text(&case, "counter"))),
            number(text(&case, "block")),
            "{case}"
        );
    }
}

#[test]
fn seeds_make_the_keys() {
    for case in cases("keys.json") {
        let seed = &case["seed"];
        let (kind, value) = seed.as_object().unwrap().iter().next().unwrap();
        let value = value.as_str().unwrap();
        let seed: Label<'_> = match kind.as_str() {
            "integer" => match value.parse::<u128>() {
                Ok(n) => n.into(),
                Err(_) => value.parse::<i128>().unwrap().into(),
            },
            "bytes" => bytes(value).into(),
            _ => value.into(),
        };
        let key = Key::with_engine(engine(&case), seed.clone());
        assert_eq!(key.to_raw()[..], bytes(text(&case, "key")), "{case}");
        let child = key.child(seed.clone());
        assert_eq!(child.to_raw()[..], bytes(text(&case, "child")), "{case}");
        let expected = bytes(text(&case, "expanded"));
        for len in [0, 1, 31, 32, 33, expected.len()] {
            let mut expanded = vec![0; len];
            child.expand(seed.clone(), &mut expanded);
            assert_eq!(expanded, expected[..len], "{case}");
        }
    }
}

#[test]
fn streams_have_the_bytes() {
    for case in cases("streams.json") {
        let key = Key::with_engine(engine(&case), text(&case, "seed").parse::<u64>().unwrap());
        assert_eq!(key.to_raw()[..], bytes(text(&case, "key")), "{case}");
        let stream = key.stream(case["stream"].as_u64().unwrap()).unwrap();
        let expected = bytes(text(&case, "bytes"));
        let mut out = vec![0; expected.len()];
        stream.fill_u8(text(&case, "start").parse().unwrap(), &mut out).unwrap();
        assert_eq!(out, expected, "{case}");
    }
}
