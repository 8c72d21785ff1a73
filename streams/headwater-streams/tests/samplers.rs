//! The file `streams/vectors/samplers.json`, which STREAMS.md in plain Python writes, and the
//! tables of weighted choice.

mod table;

use headwater_streams::distributions::{
    Alias, Categorical, Dirichlet, Multinomial, MultivariateNormal, TruncatedNormal,
    VectorDistribution, VonMises,
};
use headwater_streams::kinds::{Dtype, Elements, Kind};
use headwater_streams::{Engine, Error, Key, Stream};
use serde_json::Value;
use std::path::Path;

type FillBits = fn(&Stream, u64, &mut [u16]) -> Result<(), Error>;
type AtBits = fn(&Stream, &[u64], &mut [u16]) -> Result<(), Error>;

fn cases(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let document: Value = serde_json::from_str(&text).unwrap();
    document["cases"].as_array().unwrap().clone()
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_else(|| panic!("no {field} in {case}"))
}

fn list<'a>(case: &'a Value, field: &str) -> Vec<&'a str> {
    case[field].as_array().unwrap().iter().map(|value| value.as_str().unwrap()).collect()
}

fn parameters(case: &Value) -> Vec<f64> {
    let float = |digits| f64::from_bits(u64::from_str_radix(digits, 16).unwrap());
    list(case, "parameters").into_iter().map(float).collect()
}

/// Returns the numbers of a kind without parameters from a range, after comparing a list with it.
fn plain<T: Copy + Default + PartialEq + std::fmt::Debug>(
    case: &Value,
    fill: impl Fn(u64, &mut [T]) -> Result<(), Error>,
    at: impl Fn(&[u64], &mut [T]) -> Result<(), Error>,
) -> Vec<T> {
    let start = text(case, "start").parse::<u64>().unwrap();
    let many = case["vectors"].as_u64().unwrap_or(list(case, "values").len() as u64);
    let mut filled = vec![T::default(); many as usize];
    fill(start, &mut filled).unwrap();
    let indices: Vec<u64> = (start..start + many).collect();
    let mut listed = vec![T::default(); filled.len()];
    at(&indices, &mut listed).unwrap();
    assert_eq!(listed, filled, "{case}");
    filled
}

/// Returns the values of a case from a range, after comparing a list with it.
fn from_the_table(case: &Value, stream: &Stream, parameters: &[f64]) -> Vec<String> {
    let kind = Kind::by_name(text(case, "kind")).unwrap_or_else(|| panic!("no kind: {case}"));
    let trials = case["n"].as_str().map(|n| n.parse().unwrap());
    let made = kind.make(&table::values(kind, trials, parameters));
    let made = made.unwrap_or_else(|error| panic!("{error}: {case}"));
    let dtype = if text(case, "value") == "f64" { Dtype::F64 } else { Dtype::U64 };
    let start = text(case, "start").parse::<u64>().unwrap();
    let many = case["vectors"].as_u64().unwrap_or(list(case, "values").len() as u64);
    let indices: Vec<u64> = (start..start + many).rev().collect();
    let texts = |elements| table::texts(&made, stream, dtype, elements, many as usize);
    let filled = texts(Elements::From(start));
    let listed = texts(Elements::At(&indices));
    let backwards = listed.chunks(filled.len() / many as usize).rev().flatten();
    assert!(backwards.eq(&filled), "{case}");
    if kind == Kind::Categorical {
        let narrow = table::texts(&made, stream, Dtype::U32, Elements::From(start), many as usize);
        assert_eq!(narrow, filled, "{case}");
    }
    filled
}

#[test]
fn samplers_are_the_values() {
    let mut kinds = std::collections::BTreeSet::new();
    for case in cases("samplers.json") {
        let engine: Engine = text(&case, "engine").parse().unwrap();
        let key = Key::with_engine(engine, text(&case, "seed").parse::<u64>().unwrap());
        let stream = key.stream(case["stream"].as_u64().unwrap()).unwrap();
        let p = parameters(&case);
        let double = |x: f64| format!("{:016x}", x.to_bits());
        let doubles = |values: Vec<f64>| values.into_iter().map(double).collect::<Vec<_>>();
        let kind = text(&case, "kind");
        kinds.insert(kind.to_owned());
        let values = match kind {
            "f16" | "bf16" | "normal_f16" | "normal_bf16" => {
                let (fill, at): (FillBits, AtBits) = match kind {
                    "f16" => (Stream::fill_f16_bits, Stream::f16_bits_at),
                    "bf16" => (Stream::fill_bf16_bits, Stream::bf16_bits_at),
                    "normal_f16" => (Stream::fill_normal_f16_bits, Stream::normal_f16_bits_at),
                    _ => (Stream::fill_normal_bf16_bits, Stream::normal_bf16_bits_at),
                };
                let made =
                    plain(&case, |e, out| fill(&stream, e, out), |i, out| at(&stream, i, out));
                made.iter().map(|bits| format!("{bits:04x}")).collect()
            }
            "complex_normal_f64" => {
                let fill = |e, out: &mut [_]| stream.fill_complex_normal_f64(e, out);
                let at = |i: &[u64], out: &mut [_]| stream.complex_normal_f64_at(i, out);
                doubles(plain(&case, fill, at).concat())
            }
            "complex_normal_f32" => {
                let fill = |e, out: &mut [_]| stream.fill_complex_normal_f32(e, out);
                let at = |i: &[u64], out: &mut [_]| stream.complex_normal_f32_at(i, out);
                let parts = plain(&case, fill, at).concat();
                parts.iter().map(|x| format!("{:08x}", x.to_bits())).collect()
            }
            _ => from_the_table(&case, &stream, &p),
        };
        assert_eq!(values, list(&case, "values"), "{case}");
    }
    assert!(kinds.len() >= 13, "{kinds:?}");
}

/// Returns the share of each outcome in a table of at most 2^32 buckets, times 2^64 n.
fn shares(table: &[Alias]) -> Vec<u128> {
    let mut shares = vec![0; table.len()];
    for (own, bucket) in table.iter().enumerate() {
        shares[own] += u128::from(bucket.threshold);
        shares[bucket.other as usize] += (1 << 64) - u128::from(bucket.threshold);
    }
    shares
}

/// The shares of a table are the weights to 2^-63 of the sum, and outcomes of weight 0 have none.
#[test]
fn a_table_has_the_weights() {
    let mut x = 1_u64;
    let mut random = || {
        x = x.wrapping_mul(0xDA94_2042_E4DD_58B5).wrapping_add(0x9E37_79B9_7F4A_7C15);
        x >> 11
    };
    for n in [1, 2, 3, 7, 64, 1000] {
        for kind in 0..5 {
            let weights: Vec<f64> = (0..n)
                .map(|i| match kind {
                    0 => 1.0,
                    1 => (random() % 4) as f64 + f64::from(u8::from(i == 0)),
                    2 => random() as f64,
                    3 => 2f64.powi((random() % 2000) as i32 - 1000),
                    _ => f64::from_bits(random() % 4096 + 1), // subnormal
                })
                .collect();
            let table = Categorical::new(&weights).unwrap();
            let most = weights.iter().copied().fold(0.0, f64::max);
            let scaled: Vec<f64> = weights.iter().map(|w| w / most).collect();
            let sum: f64 = scaled.iter().sum();
            for ((share, &weight), relative) in
                shares(table.table()).into_iter().zip(&weights).zip(scaled)
            {
                let share = share as f64 / 2f64.powi(64) / n as f64;
                assert!((share - relative / sum).abs() < 1e-15, "{n} {kind}: {share} {relative}");
                assert!(weight > 0.0 || share == 0.0);
            }
            let mut borrowed = vec![Alias::default(); n];
            assert_eq!(Categorical::build(&weights, &mut borrowed).unwrap().table(), table.table());
        }
    }
}

#[test]
fn weights_that_are_none_are_refused() {
    let refused = |weights: &[f64]| match Categorical::new(weights) {
        Err(Error::Parameter { name: "weights", .. }) => {}
        other => panic!("{weights:?}: {other:?}"),
    };
    for weights in [
        &[][..],
        &[0.0],
        &[0.0, -0.0],
        &[f64::NAN],
        &[1.0, f64::NAN],
        &[-1.0, 2.0],
        &[-f64::from_bits(1), 1.0],
        &[f64::INFINITY, 1.0],
        &[f64::NEG_INFINITY],
    ] {
        refused(weights);
    }
    let mut table = [Alias { threshold: 7, other: 8 }; 2];
    let lengths = Err(Error::Lengths { indices: 1, out: 2 });
    assert_eq!(Categorical::build(&[1.0], &mut table).map(|_| ()), lengths);
    assert!(Categorical::build(&[1.0, f64::NAN], &mut table).is_err());
    assert_eq!(table, [Alias { threshold: 7, other: 8 }; 2]);
    assert!(Categorical::from_table(&[]).is_err());
}

#[test]
fn ends_and_angles_that_make_no_sense_are_refused() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    for (mean, deviation, low, high) in [
        (nan, 1.0, 0.0, 1.0),
        (inf, 1.0, 0.0, 1.0),
        (0.0, 0.0, 0.0, 1.0),
        (0.0, -1.0, 0.0, 1.0),
        (0.0, nan, 0.0, 1.0),
        (0.0, inf, 0.0, 1.0),
        (0.0, 1.0, nan, 1.0),
        (0.0, 1.0, 0.0, nan),
        (0.0, 1.0, 1.0, 1.0),
        (0.0, 1.0, 2.0, 1.0),
        (0.0, 1.0, inf, inf),
        (0.0, 1.0, -inf, -inf),
        (0.0, 1.0, inf, -inf),
    ] {
        let made = TruncatedNormal::new(mean, deviation, low, high);
        assert!(matches!(made, Err(Error::Parameter { .. })), "{made:?}");
    }
    for (mu, kappa) in
        [(nan, 1.0), (inf, 1.0), (3.2, 1.0), (-3.2, 1.0), (0.0, -1.0), (0.0, nan), (0.0, inf)]
    {
        assert!(matches!(VonMises::new(mu, kappa), Err(Error::Parameter { .. })), "{mu} {kappa}");
    }
}

/// Vectors are the same by any partition, list and number of threads, also beyond one chunk.
#[test]
fn vectors_are_the_same_however_they_are_asked_for() {
    fn check<D: VectorDistribution>(distribution: &D, dimension: usize)
    where
        D::Value: Copy + Default + PartialEq + std::fmt::Debug + Send,
    {
        let stream = Key::from_seed("vectors").stream(0).unwrap();
        let many = 300_000 / dimension;
        let empty = vec![D::Value::default(); many * dimension];
        let (mut whole, mut parts, mut threads) = (empty.clone(), empty.clone(), empty);
        stream.fill_vectors(distribution, 7, &mut whole).unwrap();
        stream.par(3).fill_vectors(distribution, 7, &mut threads).unwrap();
        assert!(threads == whole);
        for (part, i) in parts.chunks_mut(77 * dimension).zip(0..) {
            stream.fill_vectors(distribution, 7 + 77 * i, part).unwrap();
        }
        assert!(parts == whole);
        let places: Vec<usize> = (0..1000).map(|i| i * 67 % many).collect();
        let indices: Vec<u64> = places.iter().map(|&i| 7 + i as u64).collect();
        let mut listed = vec![D::Value::default(); 1000 * dimension];
        stream.vectors_at(distribution, &indices, &mut listed).unwrap();
        for (listed, &i) in listed.chunks(dimension).zip(&places) {
            assert_eq!(listed, &whole[i * dimension..][..dimension]);
        }
        let room = Err(Error::Room { dimension, out: dimension + 1 });
        let mut odd = vec![D::Value::default(); dimension + 1];
        assert_eq!(stream.fill_vectors(distribution, 0, &mut odd), room);
        assert_eq!(stream.par(3).fill_vectors(distribution, 0, &mut odd), room);
        assert_eq!(stream.vectors_at(distribution, &[5], &mut odd), room);
        let last = u64::MAX / dimension as u64;
        let past = Err(Error::RangeTooLong { start: last, len: 1 });
        assert_eq!(stream.fill_vectors(distribution, last, &mut odd[1..]), past);
        assert_eq!(stream.vectors_at(distribution, &[last], &mut odd[1..]), past);
        stream.fill_vectors(distribution, last - 1, &mut odd[1..]).unwrap();
        stream.fill_vectors(distribution, u64::MAX, &mut []).unwrap();
    }
    check(&Dirichlet::new(&[0.5, 2.0, 7.0]).unwrap(), 3);
    check(&Multinomial::new(1000, &[0.5, 2.0, 7.0, 1e-3]).unwrap(), 4);
    // More components than a chunk has elements: the identity, with another last row.
    for dimension in [2, 300] {
        let mut covariance = vec![0.0; dimension * dimension];
        for i in 0..dimension {
            covariance[i * dimension + i] = 1.0;
        }
        covariance[dimension * dimension - dimension] = 0.5;
        let mut factor = covariance.clone();
        MultivariateNormal::cholesky(&covariance, dimension, &mut factor).unwrap();
        let mean = vec![1.0; dimension];
        check(&MultivariateNormal::new(&mean, &factor).unwrap(), dimension);
        let stream = Key::from_seed(1).stream(0).unwrap();
        let (mut normals, mut vector) = (vec![0.0; dimension], vec![0.0; dimension]);
        stream.fill_normal_f64(0, &mut normals).unwrap();
        let distribution = MultivariateNormal::new(&mean, &factor).unwrap();
        stream.fill_vectors(&distribution, 0, &mut vector).unwrap();
        let last = dimension - 1;
        assert!(vector[..last].iter().zip(&normals).all(|(x, z)| *x == 1.0 + z));
        let expected = 1.0 + (0.5 * normals[0] + 0.75f64.sqrt() * normals[last]);
        assert!((vector[last] - expected).abs() < 1e-15);
    }
}

/// A long vector has the elements of several short ones of the same shapes in turns, so the ratios
/// of their shares are the same. Lengths are below and above the number of elements of a chunk.
#[test]
fn dirichlet_vectors_of_all_lengths_are_made_of_the_same_elements() {
    let stream = Key::from_seed("lengths").stream(0).unwrap();
    for shapes in [
        [0.5, 2.0, 7.0, 1.0, 0.25, 0.3, 1.5],
        [2.0, 3.0, 2.5, 9.0, 1e6, 1.0, 1.5],
        [0.5, 0.2, 0.9, 0.1, 0.3, 0.7, 0.05],
    ] {
        let short = Dirichlet::new(&shapes).unwrap();
        let mut shares = vec![0.0; 7 * 2000];
        stream.fill_vectors(&short, 0, &mut shares).unwrap();
        for times in [2, 10, 50, 100, 200] {
            let all = shapes.repeat(times);
            let long = Dirichlet::new(&all).unwrap();
            let mut rows = vec![0.0; shares.len()];
            stream.fill_vectors(&long, 0, &mut rows).unwrap();
            let indices: Vec<u64> = (0..2000 / times as u64).rev().collect();
            let mut listed = vec![0.0; rows.len()];
            stream.vectors_at(&long, &indices, &mut listed).unwrap();
            let backwards = listed.chunks(all.len()).rev().flatten();
            assert!(backwards.eq(&rows), "{times}");
            for (row, short) in rows.chunks(7).zip(shares.chunks(7)) {
                for (x, y) in row.iter().zip(short) {
                    let (x, y) = (x * short[2], y * row[2]);
                    assert!((x - y).abs() <= 1e-12 * y.abs(), "{times}: {x:e} {y:e}");
                }
            }
        }
    }
}

#[test]
fn vectors_that_do_not_exist_are_refused() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let parameter = |error: Result<(), Error>| {
        assert!(matches!(error, Err(Error::Parameter { .. })), "{error:?}");
    };
    for alpha in [&[][..], &[0.0], &[1.0, -1.0], &[nan], &[inf], &[1.0, 1e300]] {
        parameter(Dirichlet::new(alpha).map(|_| ()));
    }
    for weights in [&[][..], &[0.0], &[1.0, -1.0], &[nan], &[inf], &[1e308, 1e308]] {
        parameter(Multinomial::new(1, weights).map(|_| ()));
    }
    for table in [&[][..], &[1.5], &[-0.1], &[nan]] {
        parameter(Multinomial::from_table(1, table).map(|_| ()));
    }
    let mut factor = [0.0; 4];
    for covariance in [
        [1.0, 2.0, 2.0, 1.0],  // correlation 2
        [-1.0, 0.0, 0.0, 1.0], // a negative variance
        [0.0, 0.0, 1.0, 1.0],  // a covariance without a variance
        [1.0, 0.0, nan, 1.0],
        [inf, 0.0, 0.0, 1.0],
    ] {
        parameter(MultivariateNormal::cholesky(&covariance, 2, &mut factor));
    }
    parameter(MultivariateNormal::cholesky(&[1.0], 1, &mut factor));
    parameter(MultivariateNormal::cholesky(&[1.0; 3], 2, &mut factor));
    parameter(MultivariateNormal::cholesky(&[], 0, &mut []));
    parameter(MultivariateNormal::new(&[], &[]).map(|_| ()));
    parameter(MultivariateNormal::new(&[0.0], &factor).map(|_| ()));
    parameter(MultivariateNormal::new(&[nan], &[1.0]).map(|_| ()));
    parameter(MultivariateNormal::new(&[0.0], &[nan]).map(|_| ()));
    // Semidefinite: two components that are one, and one that is constant.
    MultivariateNormal::cholesky(&[0.1, 0.1, 0.1, 0.1], 2, &mut factor).unwrap();
    assert_eq!(factor[2..], [0.0, 0.0]);
    MultivariateNormal::cholesky(&[0.0, 0.0, 0.0, 4.0], 2, &mut factor).unwrap();
    assert_eq!(factor, [0.0, 0.0, 0.0, 2.0]);
}
