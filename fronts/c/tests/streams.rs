//! Streams in C have the bytes of the vectors, and their numbers equal those of the Rust library
//! bit for bit.

mod support;

use headwater_streams_std::distributions::{
    Beta, Binomial, Categorical, ChiSquare, Dirichlet, Gamma, Geometric, Laplace, LogNormal,
    Multinomial, MultivariateNormal, Poisson, Sobol, StudentT, TruncatedNormal, VonMises,
};
use headwater_streams_std::{Key, Stream};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use support::{CLANG, GCC, Link, outcome, package, run, source};

/// Compiles tests/c/streams.c into a temporary directory; `None` without a compiler.
fn program() -> Option<(tempfile::TempDir, PathBuf)> {
    let compiler = [GCC, CLANG].into_iter().find(|compiler| compiler.is_there())?;
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program");
    compiler.build(&source("streams.c"), &program, Link::Shared, &[]);
    Some((directory, program))
}

fn cases(name: &str) -> Vec<Value> {
    let path = package().join("../../streams/vectors").join(name);
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = document["cases"].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

/// Returns the engine's number in headwater.h.
fn engine(case: &Value) -> &'static str {
    match case["engine"].as_str().unwrap() {
        "ars7" => "0",
        "ars5" => "1",
        "philox4x32" => "2",
        other => panic!("what is {other}?"),
    }
}

#[test]
fn seeds_make_the_keys_of_the_vectors() {
    let Some((_directory, program)) = program() else { return };
    for case in cases("keys.json") {
        let (kind, value) = case["seed"].as_object().unwrap().iter().next().unwrap();
        let value = value.as_str().unwrap();
        // C takes integers of 64 bits.
        if kind == "integer" && value.parse::<u64>().is_err() {
            continue;
        }
        let [key, child] = ["key", "child"].map(|field| case[field].as_str().unwrap());
        run(Command::new(&program).args(["seed", kind, value, engine(&case), key, child]));
    }
}

#[test]
fn streams_have_the_bytes_of_the_vectors() {
    let Some((_directory, program)) = program() else { return };
    for case in cases("streams.json") {
        let [seed, start, bytes] = ["seed", "start", "bytes"].map(|f| case[f].as_str().unwrap());
        let stream = case["stream"].to_string();
        run(Command::new(&program).args(["stream", engine(&case), seed, &stream, start, bytes]));
    }
}

/// The C library has no standard library under it, so it computes square roots and detects CPU
/// features with code of its own.
#[test]
fn numbers_are_those_of_the_rust_library() {
    let Some((_directory, program)) = program() else { return };
    let answer = outcome(Command::new(program).arg("numbers"));
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let stream = Key::from_seed("numbers").stream(7).unwrap();
    let mut expected = Vec::new();
    macro_rules! kinds {
        ($($type:ty: $fill:expr;)*) => {$({
            let mut out = vec![<$type>::default(); 3000];
            let fill: fn(&Stream, &mut [$type]) = $fill;
            fill(&stream, &mut out);
            expected.extend(out.iter().flat_map(|value| value.to_ne_bytes()));
        })*};
    }
    kinds! {
        u8: |stream, out| stream.fill_u8(5, out).unwrap();
        u32: |stream, out| stream.fill_u32(5, out).unwrap();
        u64: |stream, out| stream.fill_u64(5, out).unwrap();
        f32: |stream, out| stream.fill_f32(5, out).unwrap();
        f64: |stream, out| stream.fill_f64(5, out).unwrap();
        f32: |stream, out| stream.fill_normal_f32(5, out).unwrap();
        f64: |stream, out| stream.fill_normal_f64(5, out).unwrap();
        f64: |stream, out| stream.fill_exponential_f64(5, out).unwrap();
        u64: |stream, out| stream.fill_bounded_u64(0xB000_0000_0000_0001, 5, out).unwrap();
        u32: |stream, out| stream.fill_bounded_u32(0xB000_0001, 5, out).unwrap();
        u64: |stream, out| stream.permutation(u64::MAX).fill(5, out).unwrap();
        f64: |stream, out| stream.fill_distribution(&LogNormal::new(0.5, 0.25).unwrap(), 5, out).unwrap();
        f64: |stream, out| stream.fill_distribution(&Gamma::new(0.75).unwrap(), 5, out).unwrap();
        f64: |stream, out| stream.fill_distribution(&ChiSquare::new(5.0).unwrap(), 5, out).unwrap();
        f64: |stream, out| stream.fill_distribution(&Beta::new(2.0, 0.5).unwrap(), 5, out).unwrap();
        f64: |stream, out| stream.fill_distribution(&StudentT::new(3.0).unwrap(), 5, out).unwrap();
        u64: |stream, out| stream.fill_distribution(&Geometric::new(0.01).unwrap(), 5, out).unwrap();
        u64: |stream, out| stream.fill_distribution(&Poisson::new(20.0).unwrap(), 5, out).unwrap();
        u64: |stream, out| stream.fill_distribution(&Binomial::new(100, 0.75).unwrap(), 5, out).unwrap();
        f64: |stream, out| stream.fill_distribution(&Gamma::new(2.5).unwrap(), 5, out).unwrap();
        f64: |stream, out| stream.fill_distribution(&Beta::new(0.5, 0.5).unwrap(), 5, out).unwrap();
        u64: |stream, out| stream.fill_distribution(&Poisson::new(3.0).unwrap(), 5, out).unwrap();
        u64: |stream, out| stream.fill_distribution(&Binomial::new(10, 0.25).unwrap(), 5, out).unwrap();
        f64: |stream, out| stream.fill_distribution(&Beta::new(2.0, 3.0).unwrap(), 5, out).unwrap();
        f64: |stream, out| stream.fill_distribution(&TruncatedNormal::new(1.0, 2.0, -3.0, 4.0).unwrap(), 5, out).unwrap();
        f64: |stream, out| stream.fill_distribution(&TruncatedNormal::new(0.0, 1.0, 0.0, 0.5).unwrap(), 5, out).unwrap();
        f64: |stream, out| {
            let tail = TruncatedNormal::new(0.0, 1.0, f64::NEG_INFINITY, -5.0).unwrap();
            stream.fill_distribution(&tail, 5, out).unwrap();
        };
        f64: |stream, out| stream.fill_distribution(&VonMises::new(1.0, 4.0).unwrap(), 5, out).unwrap();
        f64: |stream, out| stream.fill_distribution(&VonMises::new(-2.0, 0.25).unwrap(), 5, out).unwrap();
        f64: |stream, out| stream.fill_distribution(&Laplace::new(1.0, 4.0).unwrap(), 5, out).unwrap();
        u64: |stream, out| {
            let choice = Categorical::new(&[3.0, 0.0, 0.5, 1e-9, 2.0]).unwrap();
            stream.fill_distribution(&choice, 5, out).unwrap();
        };
    }
    kinds! {
        u16: |stream, out| stream.fill_f16_bits(5, out).unwrap();
        u16: |stream, out| stream.fill_bf16_bits(5, out).unwrap();
        u16: |stream, out| stream.fill_normal_f16_bits(5, out).unwrap();
        u16: |stream, out| stream.fill_normal_bf16_bits(5, out).unwrap();
    }
    let (mut doubles, mut singles) = (vec![[0.0; 2]; 3000], vec![[0.0; 2]; 3000]);
    stream.fill_complex_normal_f64(5, &mut doubles).unwrap();
    stream.fill_complex_normal_f32(5, &mut singles).unwrap();
    expected.extend(doubles.as_flattened().iter().flat_map(|part| part.to_ne_bytes()));
    expected.extend(singles.as_flattened().iter().flat_map(|part| part.to_ne_bytes()));
    macro_rules! vectors {
        ($($type:ty, $dimension:literal: $distribution:expr;)*) => {$({
            let mut out = vec![<$type>::default(); $dimension * 3000];
            stream.fill_vectors(&$distribution.unwrap(), 5, &mut out).unwrap();
            expected.extend(out.iter().flat_map(|value| value.to_ne_bytes()));
        })*};
    }
    let covariance = [2.0, 0.5, -1.0, 0.5, 3.0, 0.25, -1.0, 0.25, 1.0];
    let mut factor = [0.0; 9];
    MultivariateNormal::cholesky(&covariance, 3, &mut factor).unwrap();
    vectors! {
        u64, 5: Multinomial::new(100, &[3.0, 0.0, 0.5, 1e-9, 2.0]);
        f64, 3: Dirichlet::new(&[0.5, 2.0, 7.0]);
        f64, 3: MultivariateNormal::new(&[0.5, 2.0, 7.0], &factor);
        f64, 4: Sobol::new(4);
        f64, 4: Sobol::plain(4);
    }
    for n in [1000, 100] {
        let permutation = stream.permutation(n);
        expected.extend((0..n).flat_map(|i| permutation.at(i).unwrap().to_ne_bytes()));
    }
    assert_eq!(answer.stdout.len(), expected.len());
    let differs = answer.stdout.iter().zip(&expected).position(|(ours, theirs)| ours != theirs);
    assert_eq!(differs, None, "the first byte that differs");
}
