//! Floats against their definitions, computed with 120 bits.

use super::{edges, stream};
use crate::numbers::Number;
use crate::numbers::exponential::ExponentialF64;
use crate::numbers::fill;
use crate::numbers::normal::{NormalF32, NormalF64};
use crate::numbers::path::Path;
use crate::numbers::uniform::{UniformF32, UniformF64, halves};
use crate::words::Words;

/// A list of words as a stream.
struct List(Vec<u64>);

impl Words for List {
    fn words(&self, _draw: u16, start: u64, out: &mut [u64]) {
        out.copy_from_slice(&self.0[start as usize..][..out.len()]);
    }

    fn blocks(&self, draw: u16, start: u64, out: &mut [[u64; 2]]) {
        self.words(draw, 2 * start, out.as_flattened_mut());
    }

    fn blocks_at(&self, draw: u16, blocks: &[u64], out: &mut [[u64; 2]]) {
        for (out, &block) in out.iter_mut().zip(blocks) {
            self.blocks(draw, block, core::slice::from_mut(out));
        }
    }
}

/// Returns edges, each beside each other's neighbour, and as many ordinary words.
fn words() -> Vec<u64> {
    let edges = edges();
    let mut words = edges.clone();
    words.extend(edges.iter().rev());
    words.push(0);
    words.extend(&edges);
    let mut ordinary = vec![0; 20_001 + words.len() % 2];
    stream(1).fill_u64(0, &mut ordinary).unwrap();
    words.extend(ordinary);
    words
}

fn made<N: Number>(number: &N, words: &[u64]) -> Vec<N::Value> {
    let mut out = vec![N::Value::default(); words.len() / N::WORDS * N::VALUES];
    fill::fill(Path::best(), &List(words.to_vec()), number, 0, &mut out);
    out
}

/// Returns the error of a value, in units of its last place.
fn ulps(value: f64, right: f64) -> u64 {
    assert!(value.is_sign_negative() == right.is_sign_negative(), "{value:e} for {right:e}");
    value.to_bits().abs_diff(right.to_bits())
}

fn ulps_f32(value: f32, right: f64) -> u32 {
    let right = right as f32;
    assert!(value.is_sign_negative() == right.is_sign_negative(), "{value:e} for {right:e}");
    value.to_bits().abs_diff(right.to_bits())
}

#[test]
fn uniform_floats_are_the_upper_bits() {
    let words = words();
    let right: Vec<f64> =
        words.iter().map(|&word| reference::streams::numbers::uniform_f64(word)).collect();
    assert_eq!(made(&UniformF64, &words), right);
    let halves = words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]);
    let right: Vec<f32> = halves.map(reference::streams::numbers::uniform_f32).collect();
    assert_eq!(made(&UniformF32, &words), right);
}

#[test]
fn exponentials_are_logarithms_within_three_units_of_the_last_place() {
    let words = words();
    let errors = made(&ExponentialF64, &words).into_iter().zip(&words);
    let worst =
        errors.map(|(x, &word)| ulps(x, reference::streams::numbers::exponential(word))).max();
    assert!(worst <= Some(3), "{worst:?}");
}

#[test]
fn normals_are_what_box_and_muller_say_within_four_units_of_the_last_place() {
    let words = words();
    let mut worst = 0;
    for (x, words) in made(&NormalF64, &words).chunks(2).zip(words.chunks(2)) {
        let right = reference::streams::numbers::normal_pair(64, words[0], words[1]);
        worst = worst.max(ulps(x[0], right[0])).max(ulps(x[1], right[1]));
    }
    assert!(worst <= 4, "{worst}");
}

#[test]
fn single_normals_are_within_four_units_of_the_last_place() {
    let words = words();
    let mut worst = 0;
    for (x, word) in made(&NormalF32, &words).chunks(2).zip(&words) {
        let (distance, direction) = (word & 0xFFFF_FFFF, word >> 32);
        let right = reference::streams::numbers::normal_pair(32, distance, direction);
        worst = worst.max(ulps_f32(x[0], right[0])).max(ulps_f32(x[1], right[1]));
    }
    assert!(worst <= 4, "{worst}");
}

/// Returns the error of a value against a sum of two floats, in fractions of a unit of its last
/// place. A unit is that of `digits` binary digits.
fn off(value: f64, [high, low]: [f64; 2], digits: i32) -> f64 {
    let exponent = (high.to_bits() >> 52) as i32 - 1023;
    ((value - high) - low) / 2f64.powi(exponent + 1 - digits)
}

/// Checks the documented errors of `minus_ln` and `direction` against 120 bits.
#[test]
fn logarithms_are_off_by_less_than_three_and_a_half_units_and_directions_by_less_than_three() {
    use crate::numbers::polynomials::{direction, direction_f32, minus_ln, minus_ln_f32};
    use reference::streams::numbers::{direction_wide, exponential_wide};
    let (mut logarithm, mut point) = ([0.0_f64; 2], [0.0_f64; 2]);
    for word in words() {
        let right = exponential_wide(64, word);
        logarithm[0] = logarithm[0].max(off(minus_ln(word), right, 53).abs());
        let (x, y) = direction(word);
        let mut sizes = [x.abs(), y.abs()];
        sizes.sort_by(f64::total_cmp);
        for (size, right) in sizes.into_iter().zip(direction_wide(64, word)) {
            point[0] = point[0].max(off(size, right, 53).abs());
        }
        for half in halves(word) {
            let right = exponential_wide(32, half.into());
            let value = f64::from(minus_ln_f32(half));
            logarithm[1] = logarithm[1].max(off(value, right, 24).abs());
            let (x, y) = direction_f32(half);
            let mut sizes = [x.abs(), y.abs()].map(f64::from);
            sizes.sort_by(f64::total_cmp);
            for (size, right) in sizes.into_iter().zip(direction_wide(32, half.into())) {
                point[1] = point[1].max(off(size, right, 24).abs());
            }
        }
    }
    println!("off by up to {logarithm:.2?} and {point:.2?} units (f64, f32)");
    assert!(logarithm.iter().all(|&worst| worst < 3.5), "{logarithm:?}");
    assert!(point.iter().all(|&worst| worst < 3.0), "{point:?}");
}

/// Takes the ends of every range from the words that produce them.
#[test]
fn nothing_is_infinite_and_no_uniform_number_is_one() {
    let all = vec![u64::MAX; 2];
    assert_eq!(made(&UniformF64, &all)[0], 1.0 - 2f64.powi(-53));
    assert_eq!(made(&UniformF32, &all)[0], 1.0 - 2f32.powi(-24));
    let exponentials = made(&ExponentialF64, &[0, u64::MAX]);
    assert!(44.3 < exponentials[0] && exponentials[0] < 44.4, "{exponentials:?}");
    assert!(5.4e-20 < exponentials[1] && exponentials[1] < 5.5e-20, "{exponentials:?}");
    assert!((9.41..9.42).contains(&made(&NormalF64, &[0, 0])[0]));
    assert!((6.66..6.67).contains(&made(&NormalF32, &[0])[0]));
    let words = words();
    assert!(made(&NormalF64, &words).iter().all(|x| x.abs() < 9.42 && *x != 0.0));
    assert!(made(&NormalF32, &words).iter().all(|x| x.abs() < 6.67 && *x != 0.0));
}

/// A change of any bit of these needs a new version of the specification. Spec version: 1.
#[test]
fn a_million_normals_are_the_ones_of_this_version() {
    let mut normals = vec![0.0; 1_000_000];
    stream(0).fill_normal_f64(0, &mut normals).unwrap();
    // FNV-1a, a word at a time.
    let hash = |hash: u64, x: &f64| (hash ^ x.to_bits()).wrapping_mul(0x0000_0100_0000_01B3);
    let hash = normals.iter().fold(0xCBF2_9CE4_8422_2325, hash);
    assert_eq!(hash, 0xA4D0_6B4F_4FF8_BEEB, "{hash:#018x}");
}

/// Returns the pair that these words make.
pub(super) fn normal_pair(distance: u64, direction: u64) -> [f64; 2] {
    made(&NormalF64, &[distance, direction])[..].try_into().unwrap()
}
