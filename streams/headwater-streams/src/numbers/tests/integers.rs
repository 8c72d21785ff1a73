//! Bounded integers: against Lemire's method in plain words, and none likelier than another.

use super::{Awkward, stream};
use crate::numbers::bounded::{Bounded32, Bounded64};
use crate::numbers::fill;
use crate::numbers::path::Path;
use reference::streams::numbers::bounded;

/// Bounds that keep all words, that reject half of them, and what lies between.
const BOUNDS: [u64; 13] = [
    1,
    2,
    3,
    6,
    1000,
    (1 << 31) + 1,
    u32::MAX as u64 - 1,
    u32::MAX as u64,
    1 << 32,
    (1 << 32) + 1,
    3 << 62,
    (1 << 63) + 1,
    u64::MAX,
];

#[test]
fn integers_of_64_bits_are_what_the_method_says() {
    for bound in BOUNDS {
        let mut out = vec![0u64; 1500];
        fill::fill(Path::best(), &Awkward, &Bounded64::<u64>::new(0, bound), 0, &mut out);
        for (place, &x) in (0..).zip(&out) {
            let right = bounded(64, bound, |draw| Awkward::word(draw, place));
            assert_eq!(x, right, "number {place} below {bound}");
        }
    }
}

#[test]
fn integers_of_32_bits_are_what_the_method_says() {
    for bound in BOUNDS.into_iter().filter_map(|bound| u32::try_from(bound).ok()) {
        let mut out = vec![0u32; 1500];
        fill::fill(Path::best(), &Awkward, &Bounded32::<u32>::new(0, bound), 0, &mut out);
        for (place, &x) in (0..).zip(&out) {
            let half = |draw| Awkward::word(draw, place / 2) >> (32 * (place % 2)) & 0xFFFF_FFFF;
            let right = bounded(32, bound.into(), half);
            assert_eq!(u64::from(x), right, "number {place} below {bound}");
        }
    }
}

/// Bounds of three quarters of 2^64, and of 2^32: without rejection, numbers of the form 3k would
/// be twice as frequent as the others.
#[test]
fn no_rest_of_the_division_is_likelier_than_another() {
    const N: usize = 300_000;
    // Five standard deviations of a count, and a third of what the bias would be.
    let fair = |count: usize| count.abs_diff(N / 3) < 1_300;
    let mut words = vec![0; N];
    stream(10).fill_bounded_u64(3 << 62, 0, &mut words).unwrap();
    let mut halves = vec![0; N];
    stream(11).fill_bounded_u32(3 << 30, 0, &mut halves).unwrap();
    for rest in 0..3 {
        let count = words.iter().filter(|&&x| x % 3 == rest).count();
        assert!(fair(count), "{count} of {N} words leave {rest}");
        let count = halves.iter().filter(|&&x| u64::from(x % 3) == rest).count();
        assert!(fair(count), "{count} of {N} halves leave {rest}");
    }
}

#[test]
fn ranges_have_both_their_ends_and_nothing_else() {
    let mut dice = [0i32; 3000];
    stream(12).fill_range(-2..=3, 0, &mut dice).unwrap();
    for side in -2..=3 {
        // 500 each, give or take six standard deviations.
        let count = dice.iter().filter(|&&x| x == side).count();
        assert!((380..620).contains(&count), "{count} times {side}");
    }
    assert!(dice.iter().all(|x| (-2..=3).contains(x)));
    let mut one = [0i64; 3];
    stream(12).fill_range(i64::MIN..=i64::MIN, 0, &mut one).unwrap();
    assert_eq!(one, [i64::MIN; 3]);
    // All integers of a type are its words.
    let (mut all, mut words) = ([0i64; 9], [0; 9]);
    stream(12).fill_range(i64::MIN..=i64::MAX, 0, &mut all).unwrap();
    stream(12).fill_u64(0, &mut words).unwrap();
    assert_eq!(all.map(|x| (x as u64).wrapping_sub(1 << 63)), words);
    let (mut all, mut halves) = ([0u32; 9], [0; 9]);
    stream(12).fill_range(0..=u32::MAX, 0, &mut all).unwrap();
    stream(12).fill_u32(0, &mut halves).unwrap();
    assert_eq!(all, halves);
}

/// A range has the values of the 32-bit type in every narrower type that holds it, up to the ranges
/// of all the values of a type.
#[test]
fn narrow_integers_are_those_of_32_bits() {
    macro_rules! same {
        ($narrow:ty, $wide:ty, $($low:expr => $high:expr),*) => {$(
            let (mut narrow, mut wide) = ([<$narrow>::default(); 701], [<$wide>::default(); 701]);
            stream(13).fill_range::<$narrow>($low..=$high, 3, &mut narrow).unwrap();
            stream(13).fill_range(<$wide>::from($low)..=<$wide>::from($high), 3, &mut wide).unwrap();
            assert_eq!(narrow.map(<$wide>::from), wide);
            let indices: [u64; 701] = core::array::from_fn(|i| 3 + i as u64);
            let mut listed = [<$narrow>::default(); 701];
            stream(13).range_at($low..=$high, &indices, &mut listed).unwrap();
            assert_eq!(listed, narrow);
        )*};
    }
    same!(u8, u32, 0_u8 => u8::MAX, 1_u8 => 6_u8, 255_u8 => 255_u8);
    same!(u16, u32, 0_u16 => u16::MAX, 1_u16 => 60_000_u16);
    same!(i8, i32, i8::MIN => i8::MAX, -3_i8 => 2_i8, -128_i8 => -128_i8);
    same!(i16, i32, i16::MIN => i16::MAX, -30_000_i16 => 1_i16);
    let (low, high) = (3_u8, 2);
    let empty = stream(13).fill_range(low..=high, 0, &mut [0; 2]);
    assert_eq!(empty, Err(crate::Error::EmptyRange));
}
