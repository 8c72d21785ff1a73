//! Distributions against SciPy's: counts in bins whose probabilities `distributions/bins.py` wrote.
//!
//! Seeds are fixed, so a limit is crossed always or never. `cargo test --release -p
//! headwater-streams --test distributions -- --ignored` draws 10^8 numbers of each case, of which
//! ten are expected in the outermost bins.

mod table;

use headwater_streams::kinds::{Dtype, Elements, Kind, Made, Out};
use headwater_streams::{Key, Stream};
use serde_json::Value;
use std::num::NonZero;
use std::path::Path;

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Counts sums of the components in `mask` of a kind's elements in bins: bin i ends with edge i,
/// which belongs to it. A number is an element of one component.
fn counted_sums(
    stream: &Stream,
    made: &Made<'_>,
    mask: u32,
    numbers: u64,
    edges: &[f64],
) -> Vec<u64> {
    let dimension = made.dimension().map_or(1, NonZero::get);
    let is_float = made.fits(Dtype::F64).is_ok();
    let mut counts = vec![0; edges.len() + 1];
    let (mut floats, mut whole) = (vec![0.0; dimension << 12], vec![0; dimension << 12]);
    let mut start = 0;
    while start < numbers {
        let part = (numbers - start).min(1 << 12);
        let room = part as usize * dimension;
        let floats = &mut floats[..room];
        if is_float {
            made.draw(stream, Elements::From(start), Out::new(floats)).unwrap();
        } else {
            made.draw(stream, Elements::From(start), Out::new(&mut whole[..room])).unwrap();
            floats.iter_mut().zip(&whole).for_each(|(float, &count): (_, &u64)| {
                *float = count as f64;
            });
        }
        for vector in floats.chunks(dimension) {
            let among = vector.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
            let x: f64 = among.map(|(_, x)| x).sum();
            counts[edges.partition_point(|&edge| edge < x)] += 1;
        }
        start += part;
    }
    counts
}

/// Counts numbers that a function writes from an element on, as [`counted`] does.
fn counted_by(numbers: u64, edges: &[f64], fill: impl Fn(u64, &mut [f64])) -> Vec<u64> {
    let mut counts = vec![0; edges.len() + 1];
    let mut out = [0.0; 1 << 12];
    let mut start = 0;
    while start < numbers {
        let part = out.len().min((numbers - start) as usize);
        fill(start, &mut out[..part]);
        for &x in &out[..part] {
            counts[edges.partition_point(|&edge| edge < x)] += 1;
        }
        start += part as u64;
    }
    counts
}

/// Returns the number of binary16 with these bits, all of which are finite here.
fn of_f16(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Returns the number of bfloat16 with these bits.
fn of_bf16(bits: u16) -> f64 {
    f32::from_bits(u32::from(bits) << 16).into()
}

/// Counts floats of 16 bits.
fn counted_bits(
    numbers: u64,
    edges: &[f64],
    fill: impl Fn(u64, &mut [u16]),
    float: fn(u16) -> f64,
) -> Vec<u64> {
    counted_by(numbers, edges, |start, out| {
        let mut bits = [0; 1 << 12];
        let bits = &mut bits[..out.len()];
        fill(start, bits);
        out.iter_mut().zip(bits).for_each(|(out, bits)| *out = float(*bits));
    })
}

/// Counts the parts of complex numbers, their squared sizes or their angles, as `which` says.
fn counted_complex<T: Copy + Default>(
    numbers: u64,
    edges: &[f64],
    which: usize,
    fill: impl Fn(u64, &mut [[T; 2]]),
    float: fn(T) -> f64,
) -> Vec<u64> {
    counted_by(numbers, edges, |start, out| {
        let mut points = [[T::default(); 2]; 1 << 12];
        let points = &mut points[..out.len()];
        fill(start, points);
        for (out, point) in out.iter_mut().zip(points) {
            let [x, y] = point.map(float);
            *out = [x, y, x * x + y * y, y.atan2(x) / std::f64::consts::PI][which];
        }
    })
}

/// Joins neighbouring bins until each has enough expected numbers.
fn joined(counts: &[u64], expected: &[f64]) -> Vec<(f64, f64)> {
    const ENOUGH: f64 = 8.0;
    let mut bins: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (&count, &expected) in counts.iter().zip(expected) {
        open = (open.0 + count as f64, open.1 + expected);
        if open.1 >= ENOUGH {
            bins.push(std::mem::take(&mut open));
        }
    }
    let last = bins.last_mut().unwrap();
    *last = (last.0 + open.0, last.1 + open.1);
    bins
}

fn check(numbers: u64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/distributions/bins.json");
    let cases: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut worst = [0f64; 3];
    let mut faults = Vec::new();
    for (case, id) in cases.as_array().unwrap().iter().zip(0..) {
        let stream = Key::from_seed("distributions").stream(id).unwrap();
        let parameters = floats(&case["parameters"]);
        let a = parameters[0];
        let edges = floats(&case["edges"]);
        let kind = case["kind"].as_str().unwrap();
        let s = &stream;
        let counts = match kind {
            "f16" => {
                counted_bits(numbers, &edges, |e, out| s.fill_f16_bits(e, out).unwrap(), of_f16)
            }
            "bf16" => {
                counted_bits(numbers, &edges, |e, out| s.fill_bf16_bits(e, out).unwrap(), of_bf16)
            }
            "normal_f16" => {
                let fill = |e, out: &mut [u16]| s.fill_normal_f16_bits(e, out).unwrap();
                counted_bits(numbers, &edges, fill, of_f16)
            }
            "normal_bf16" => {
                let fill = |e, out: &mut [u16]| s.fill_normal_bf16_bits(e, out).unwrap();
                counted_bits(numbers, &edges, fill, of_bf16)
            }
            "complex_normal_f64" => {
                let fill = |e, out: &mut [[f64; 2]]| s.fill_complex_normal_f64(e, out).unwrap();
                counted_complex(numbers, &edges, a as usize, fill, |x| x)
            }
            "complex_normal_f32" => {
                let fill = |e, out: &mut [[f32; 2]]| s.fill_complex_normal_f32(e, out).unwrap();
                counted_complex(numbers, &edges, a as usize, fill, f64::from)
            }
            _ => {
                let kind = Kind::by_name(kind).unwrap_or_else(|| panic!("no test knows {kind}"));
                // Cases of vectors begin with a mask: their sums take the components in it.
                let (mask, p) = match kind.facts().vectors {
                    true => (a as u32, &parameters[1..]),
                    false => (1, &parameters[..]),
                };
                let made = kind.make(&table::values(kind, None, p)).unwrap();
                counted_sums(&stream, &made, mask, numbers, &edges)
            }
        };
        let all = numbers as f64;
        let expected: Vec<f64> = floats(&case["probabilities"]).iter().map(|p| p * all).collect();
        let bins = joined(&counts, &expected);
        // Pearson's statistic, the largest deviation of a bin, and Kolmogorov's statistic at the
        // edges, each by its standard deviation.
        let chi: f64 = bins.iter().map(|(n, e)| (n - e).powi(2) / e).sum();
        let degrees = (bins.len() - 1) as f64;
        let chi = (chi - degrees) / (2.0 * degrees.max(1.0)).sqrt();
        let deviation = |&(n, e): &(f64, f64)| (n - e).abs() / (e * (1.0 - e / all)).sqrt();
        let largest = bins.iter().map(deviation).fold(0.0, f64::max);
        let (mut sum, mut kolmogorov) = (0.0, 0f64);
        for (n, e) in &bins {
            sum += n - e;
            kolmogorov = kolmogorov.max(sum.abs() / all.sqrt());
        }
        println!(
            "{kind:10} {parameters:?}: {} bins, chi-square {chi:.2}, largest {largest:.2}, \
             Kolmogorov {kolmogorov:.2}",
            bins.len()
        );
        for (worst, now) in worst.iter_mut().zip([chi, largest, kolmogorov]) {
            *worst = worst.max(now);
        }
        // Correct numbers reach these once in 10,000 cases, or more rarely.
        if chi > 5.0 || largest > 5.0 || kolmogorov > 2.2 {
            faults.push(case["kind"].to_string() + &case["parameters"].to_string());
        }
    }
    println!("{numbers} numbers each; worst: {worst:.2?}");
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn distributions_have_scipys_counts() {
    check(1 << 17);
}

#[test]
#[ignore = "takes minutes: 10^8 numbers of each case"]
fn distributions_have_scipys_counts_of_1e8_numbers() {
    check(100_000_000);
}
