//! The files of `streams/vectors/`: `reference` makes exactly these files, and this crate agrees
//! with them.

mod table;

use headwater_streams::kinds::{Dtype, Elements, Kind};
use headwater_streams::{Engine, Key, Label};
use serde_json::Value;
use std::path::Path;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors").join(name);
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
            "streams/vectors/{name} is stale: cargo run -p reference --bin vectors"
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

/// Each value by itself and all of them at once; floats by their bits.
#[test]
fn numbers_are_the_values() {
    let mut kinds = std::collections::BTreeSet::new();
    for case in cases("numbers.json") {
        let key = Key::with_engine(engine(&case), text(&case, "seed").parse::<u64>().unwrap());
        assert_eq!(key.to_raw()[..], bytes(text(&case, "key")), "{case}");
        let stream = key.stream(case["stream"].as_u64().unwrap()).unwrap();
        let size = |name: &str| text(&case, name).parse::<u64>().unwrap();
        let start = size("start");
        let values: Vec<&str> = case["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_str().unwrap())
            .collect();
        let indices: Vec<u64> = (start..).take(values.len()).collect();
        // The numbers of a kind as they are written in the file, from `fill` and from `at`.
        macro_rules! made {
            ($type:ty, $write:expr, $fill:ident, $at:ident $(, $bound:expr)?) => {{
                let (mut filled, mut listed) = (vec![<$type>::default(); values.len()], vec![<$type>::default(); values.len()]);
                stream.$fill($($bound,)? start, &mut filled).unwrap();
                stream.$at($($bound,)? &indices, &mut listed).unwrap();
                let write = $write;
                let written = |values: Vec<$type>| -> Vec<String> { values.into_iter().map(&write).collect() };
                assert_eq!(written(listed), values, "{case}");
                written(filled)
            }};
        }
        let double = |x: f64| format!("{:016x}", x.to_bits());
        let single = |x: f32| format!("{:08x}", x.to_bits());
        let whole = |values: Vec<u64>| values.iter().map(u64::to_string).collect::<Vec<_>>();
        let kind = text(&case, "kind");
        kinds.insert(kind.to_owned());
        let made = match kind {
            "f64" => made!(f64, double, fill_f64, f64_at),
            "f32" => made!(f32, single, fill_f32, f32_at),
            "exponential_f64" => made!(f64, double, fill_exponential_f64, exponential_f64_at),
            "normal_f64" => made!(f64, double, fill_normal_f64, normal_f64_at),
            "normal_f32" => made!(f32, single, fill_normal_f32, normal_f32_at),
            "bounded_u64" => {
                made!(u64, |n: u64| n.to_string(), fill_bounded_u64, bounded_u64_at, size("bound"))
            }
            "bounded_u32" => {
                let bound = size("bound").try_into().unwrap();
                made!(u32, |n: u32| n.to_string(), fill_bounded_u32, bounded_u32_at, bound)
            }
            "shuffle" => {
                let mut order: Vec<u64> = (0..size("n")).collect();
                stream.shuffle(&mut order);
                whole(order)
            }
            "permutation" => {
                let permutation = stream.permutation(size("n"));
                let at = |&index: &u64| permutation.at(index).unwrap();
                assert_eq!(whole(indices.iter().map(at).collect()), values, "{case}");
                let mut out = vec![0; values.len()];
                permutation.fill(start, &mut out).unwrap();
                whole(out)
            }
            "sample" => {
                let mut out = vec![0; values.len()];
                stream.sample(size("n"), &mut out).unwrap();
                whole(out)
            }
            _ => panic!("no test knows {kind}"),
        };
        assert_eq!(made, values, "{case}");
    }
    assert_eq!(kinds.len(), 10, "{kinds:?}");
}

/// Reads the parameters of a case; the file has the floats by their bits.
fn parameters(case: &Value) -> Vec<f64> {
    let digits = case["parameters"].as_array().unwrap().iter();
    digits.map(|x| f64::from_bits(number(x.as_str().unwrap()) as u64)).collect()
}

#[test]
fn distributions_are_the_values() {
    let mut kinds = std::collections::BTreeSet::new();
    for case in cases("distributions.json") {
        let key = Key::with_engine(engine(&case), text(&case, "seed").parse::<u64>().unwrap());
        let stream = key.stream(case["stream"].as_u64().unwrap()).unwrap();
        let start = text(&case, "start").parse::<u64>().unwrap();
        let values: Vec<&str> = case["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_str().unwrap())
            .collect();
        let indices: Vec<u64> = (start..).take(values.len()).collect();
        let kind = Kind::by_name(text(&case, "kind")).unwrap_or_else(|| panic!("{case}"));
        let parameters = parameters(&case);
        let trials = case["n"].as_str().map(|n| n.parse().unwrap());
        let made = kind.make(&table::values(kind, trials, &parameters)).unwrap();
        let dtype = match text(&case, "value") {
            "f64" => Dtype::F64,
            "f32" => Dtype::F32,
            _ => Dtype::U64,
        };
        for elements in [Elements::From(start), Elements::At(&indices)] {
            assert_eq!(table::texts(&made, &stream, dtype, elements, values.len()), values);
        }
        kinds.insert(kind.name());
    }
    assert!(kinds.len() >= 8, "{kinds:?}");
}

/// A kind that the table alone has would be drawn by every front, and judged by nothing: no other
/// test asks for vectors, for the specification or for SciPy's opinion.
#[test]
fn each_distribution_is_specified_and_judged() {
    let specification = read("../STREAMS.md").to_lowercase();
    let vectors = ["distributions.json", "samplers.json"].map(read).concat();
    let bins = read("../headwater-streams/tests/distributions/bins.json");
    let mut faults = Vec::new();
    // The first seven kinds are no distributions, and have files of vectors of their own. A scaled
    // gamma number is a gamma number times a factor, so it needs none.
    let kinds = Kind::ALL.into_iter().skip(Kind::LogNormal as usize);
    for kind in kinds.filter(|&kind| kind != Kind::ScaledGamma) {
        let name = kind.name();
        let case = format!("{{\"kind\": \"{name}\"");
        if !specification.contains(name) && !specification.contains(&name.replace('_', " ")) {
            faults.push(format!("STREAMS.md does not say how a {name} number is made"));
        }
        if !vectors.contains(&case) {
            faults.push(format!("proof/reference/src/vectors has no cases of {name}"));
        }
        // No single point of Sobol's sequence is random.
        if !bins.contains(&case) && kind != Kind::Sobol {
            faults.push(format!("tests/distributions/bins.py, and so bins.json, lacks {name}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
