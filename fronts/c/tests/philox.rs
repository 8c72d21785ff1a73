//! headwater_philox.h computes the numbers of the vectors, of the library and, where rare words are
//! concerned, of the reference, in every C and C++ that this machine compiles.
//!
//! On graphics cards fronts/outside/gpu.py compares the same program, which no test can run here.

mod support;

use headwater_streams_std::{Engine, Key};
use reference::streams::floats::{exponential_f64, normal_pair_f32, normal_pair_f64};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::{outcome, package, run, source};

/// A line of the program's input, and the bits of its values.
type Case = (String, Vec<u64>);

/// Compilers and options: the standards, and options that make operations fuse where they may.
const BUILDS: &[(&str, &[&str])] = &[
    ("gcc", &["-std=c99", "-O0"]),
    ("gcc", &["-std=gnu11", "-O3", "-march=native", "-ffp-contract=fast"]),
    ("g++", &["-std=c++11", "-O2", "-x", "c++"]),
    ("clang", &["-std=c99", "-O2"]),
    ("clang", &["-std=gnu11", "-O3", "-march=native", "-ffp-contract=fast"]),
];

fn compile(compiler: &str, options: &[&str], directory: &Path) -> PathBuf {
    let program = directory.join("philox");
    run(Command::new(compiler)
        .args(options)
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(package().join("include"))
        .arg(source("philox.c"))
        .arg("-o")
        .arg(&program)
        .arg("-lm"));
    program
}

fn values_of(program: &Path, cases: &[Case]) -> Vec<Vec<u64>> {
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let text: String = cases.iter().map(|(line, _)| format!("{line}\n")).collect();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let number = |digits: &str| u64::from_str_radix(digits, 16).unwrap();
    let values = |line: &str| line.split(' ').filter(|d| *d != "none").map(number).collect();
    String::from_utf8(output.stdout).unwrap().lines().map(values).collect()
}

/// Returns a key's words as the program takes them, the upper one first.
fn words(raw: &[u8; 16]) -> String {
    let word = |at: usize| u64::from_le_bytes(raw[at..at + 8].try_into().unwrap());
    format!("{:x} {:x}", word(8), word(0))
}

fn document(name: &str) -> Vec<Value> {
    let path = package().join("../../streams/vectors").join(name);
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = document["cases"].as_array().unwrap().iter();
    cases.filter(|case| case["engine"] == "philox4x32").cloned().collect()
}

fn of_vectors() -> Vec<Case> {
    let mut cases = Vec::new();
    let text = |case: &Value, field: &str| case[field].as_str().unwrap_or("0").to_owned();
    for case in document("numbers.json") {
        let kind = text(&case, "kind");
        if ["shuffle", "sample"].contains(&&*kind) {
            continue;
        }
        let digits = text(&case, "key");
        let byte = |i: usize| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap();
        let key = words(&std::array::from_fn(byte));
        let bound = text(&case, if kind == "permutation" { "n" } else { "bound" });
        let radix = if kind.contains("_f") || kind.starts_with('f') { 16 } else { 10 };
        let value = |value: &Value| u64::from_str_radix(value.as_str().unwrap(), radix).unwrap();
        let mut values: Vec<u64> = case["values"].as_array().unwrap().iter().map(value).collect();
        let (stream, start, n) = (&case["stream"], text(&case, "start"), values.len());
        // Short permutations are lists, which the header refuses.
        if kind == "permutation" && bound.parse::<u64>().unwrap() <= 256 {
            values.clear();
        }
        cases.push((format!("{kind} {key} {stream} {start} {bound} {n}"), values));
    }
    for case in document("engines.json") {
        let number = |field: &str| u128::from_str_radix(case[field].as_str().unwrap(), 16).unwrap();
        let (counter, block) = (number("counter"), number("block"));
        let key = words(&number("key").to_le_bytes());
        let (upper, lower) = ((counter >> 64) as u64, counter as u64);
        cases.push((
            format!("block {key} {upper} {lower} 0 2"),
            vec![block as u64, (block >> 64) as u64],
        ));
    }
    assert!(cases.len() > 50);
    cases
}

/// Returns long arrays of the library, from places where an index crosses 2^32 and ends.
fn of_library() -> Vec<Case> {
    const N: usize = 4096;
    let mut cases = Vec::new();
    let key = Key::with_engine(Engine::Philox4x32, "philox.rs");
    let last = u64::MAX - 2 - N as u64;
    for (number, start) in [(0, 0), (5, (1 << 32) - 1001), ((1 << 48) - 1, last)] {
        let stream = key.stream(number).unwrap();
        let mut add = |kind: &str, bound: u64, values: Vec<u64>| {
            let key = words(&key.to_raw());
            cases.push((format!("{kind} {key} {number} {start} {bound} {N}"), values));
        };
        macro_rules! kind {
            ($name:literal, $zero:expr, $fill:ident $(, $bound:expr)?; $bits:expr) => {{
                let mut out = vec![$zero; N];
                stream.$fill($($bound,)? start, &mut out).unwrap();
                let bound = 0 $(+ u64::from($bound))?;
                add($name, bound, out.into_iter().map($bits).collect());
            }};
        }
        kind!("u64", 0_u64, fill_u64; |x| x);
        kind!("u32", 0_u32, fill_u32; u64::from);
        kind!("f64", 0_f64, fill_f64; f64::to_bits);
        kind!("f32", 0_f32, fill_f32; |x: f32| u64::from(x.to_bits()));
        kind!("normal_f64", 0_f64, fill_normal_f64; f64::to_bits);
        kind!("normal_f32", 0_f32, fill_normal_f32; |x: f32| u64::from(x.to_bits()));
        kind!("exponential_f64", 0_f64, fill_exponential_f64; f64::to_bits);
        for bound in [1, 3, (1 << 63) + 1, u64::MAX] {
            kind!("bounded_u64", 0_u64, fill_bounded_u64, bound; |x| x);
        }
        for bound in [1_u32, 3, (1 << 31) + 1, u32::MAX] {
            kind!("bounded_u32", 0_u32, fill_bounded_u32, bound; u64::from);
        }
    }
    // Whole permutations of several keys, since half of the keys exchange two values.
    for number in 0..8 {
        let n = 257 + number * number * 61;
        let mut out = vec![0; n as usize];
        key.stream(number).unwrap().permutation(n).fill(0, &mut out).unwrap();
        let key = words(&key.to_raw());
        cases.push((format!("permutation {key} {number} 0 {n} {n}"), out));
    }
    cases
}

/// Returns numbers of words that no stream meets by chance: the ends of ranges and the borders of
/// steps.
fn of_reference() -> Vec<Case> {
    let root = 0x3FE6_A09E_667F_3BCD_u64;
    let border = (f64::from_bits(root) * 2.0_f64.powi(63)) as u64;
    let mut rare: Vec<u64> = vec![0, 1, 2, 3, u64::MAX, u64::MAX - 1, u64::MAX >> 1, 1 << 63];
    rare.extend((0..64).map(|bit| 1 << bit));
    rare.extend((0..64).map(|bit| u64::MAX << bit));
    rare.extend((0..9).flat_map(|shift| {
        [-2_i64, -1, 0, 1, 2].map(|step| (border >> shift).wrapping_add_signed(step * 1025))
    }));
    rare.extend(rare.clone().iter().map(|word| word.rotate_left(32)));
    let mut cases = Vec::new();
    for (place, &x) in rare.iter().enumerate() {
        let y = rare[(place * 7 + 3) % rare.len()];
        let zero = "0 0 0";
        cases.push((format!("exponential_of {zero} {x} 0 1"), vec![exponential_f64(x).to_bits()]));
        let pair = normal_pair_f64([x, y]).map(f64::to_bits).to_vec();
        cases.push((format!("normals_of_f64 {zero} {x} {y} 2"), pair));
        let halves = [x as u32, (x >> 32) as u32];
        let pair = normal_pair_f32(halves).map(|z| u64::from(z.to_bits())).to_vec();
        cases.push((format!("normals_of_f32 {zero} {x} 0 2"), pair));
    }
    cases
}

#[test]
fn the_header_has_the_numbers_of_every_other_front() {
    let cases = [of_vectors(), of_library(), of_reference()].concat();
    let mut built = 0;
    for (compiler, options) in BUILDS {
        if !support::has(compiler, "that its code of headwater_philox.h has the right numbers") {
            continue;
        }
        let directory = tempfile::tempdir().unwrap();
        let program = compile(compiler, options, directory.path());
        let values = values_of(&program, &cases);
        assert_eq!(values.len(), cases.len(), "{compiler} {options:?}");
        for ((line, expected), values) in cases.iter().zip(&values) {
            assert!(values == expected, "{compiler} {options:?}: {line}");
        }
        built += 1;
    }
    assert!(built > 0, "install gcc or clang: no compiler is here, so the header was not compiled");
}

#[test]
fn options_that_reorder_sums_are_refused() {
    if !support::has("gcc", "that -ffast-math is refused") {
        return;
    }
    let output = outcome(
        Command::new("gcc")
            .args(["-fsyntax-only", "-ffast-math", "-I"])
            .arg(package().join("include"))
            .arg(source("philox.c")),
    );
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("which makes other numbers"));
}
