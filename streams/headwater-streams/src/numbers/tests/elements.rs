//! An element is the same whatever range, list, path or number of threads it was asked for by.

use super::{Awkward, stream};
use crate::numbers::Number;
use crate::numbers::bounded::{Bounded32, Bounded64};
use crate::numbers::exponential::ExponentialF64;
use crate::numbers::fill;
use crate::numbers::normal::{NormalF32, NormalF64};
use crate::numbers::path::Path;
use crate::numbers::uniform::{UniformF32, UniformF64};
use crate::words::Words;
use crate::{Error, Par, Stream};
use core::fmt::Debug;

/// Does `test` for one of each kind; the bounds reject often.
fn each_kind(test: &impl Kinds) {
    test.kind(&UniformF64);
    test.kind(&UniformF32);
    test.kind(&NormalF64);
    test.kind(&NormalF32);
    test.kind(&ExponentialF64);
    test.kind(&Bounded64::<u64>::new(0, 1000));
    test.kind(&Bounded64::<i64>::new(1 << 63, (1 << 63) + 1));
    test.kind(&Bounded64::<i64>::new(5, 0));
    test.kind(&Bounded32::<u32>::new(0, 6));
    test.kind(&Bounded32::<i32>::new(1 << 31, (1 << 31) + 1));
    test.kind(&Bounded32::<u32>::new(5, 0));
}

trait Kinds {
    fn kind<N: Number<Value: PartialEq + Debug>>(&self, number: &N);
}

/// First elements of ranges: at both halves of a group, beyond 32 bits, beyond any array.
const STARTS: [u64; 7] = [0, 1, 2, 1023, (1 << 32) - 3, (1 << 32) + 1, u64::MAX / 4 - 2000];

#[test]
fn every_path_makes_the_same_bits() {
    struct Paths<W>(W);
    impl<W: Words> Kinds for Paths<W> {
        fn kind<N: Number<Value: PartialEq + Debug>>(&self, number: &N) {
            let make = |path| {
                let mut out = vec![N::Value::default(); 5000];
                fill::fill(path, &self.0, number, 1, &mut out);
                out
            };
            let plain = make(Path::all()[0]);
            for path in Path::all() {
                assert!(make(path) == plain, "{path:?}");
            }
        }
    }
    each_kind(&Paths(Awkward));
    each_kind(&Paths(stream(2)));
}

#[test]
fn any_partition_gives_the_same_elements() {
    struct Partitions;
    impl Kinds for Partitions {
        fn kind<N: Number<Value: PartialEq + Debug>>(&self, number: &N) {
            let all = |start| {
                let mut out = vec![N::Value::default(); 2600];
                fill::fill(Path::best(), &Awkward, number, start, &mut out);
                out
            };
            let mut cut = 1;
            for start in STARTS {
                let whole = all(start);
                let mut parts = vec![N::Value::default(); whole.len()];
                // From the back, in pieces of all lengths from none to more than a buffer.
                let mut end = parts.len();
                while end > 0 {
                    cut = (cut * 7 + 3) % 1409;
                    let from = end.saturating_sub(cut % 5 * cut / 4);
                    let piece = &mut parts[from..end];
                    fill::fill(Path::best(), &Awkward, number, start + from as u64, piece);
                    end = from;
                }
                assert_eq!(parts, whole, "from {start}");
            }
        }
    }
    each_kind(&Partitions);
}

#[test]
fn a_list_of_indices_gives_the_same_elements() {
    struct Lists;
    impl Kinds for Lists {
        fn kind<N: Number<Value: PartialEq + Debug>>(&self, number: &N) {
            for start in STARTS {
                let mut whole = vec![N::Value::default(); 700];
                fill::fill(Path::best(), &Awkward, number, start, &mut whole);
                // The places are in order, backwards, with gaps, and one place many times.
                let steps = [0..700usize, 0..0].into_iter().flatten();
                let places: Vec<usize> = steps
                    .chain((0..700).rev())
                    .chain((0..700).map(|i| i * 611 % 700))
                    .chain([3; 70])
                    .collect();
                let indices: Vec<u64> = places.iter().map(|&i| start + i as u64).collect();
                let right: Vec<N::Value> = places.iter().map(|&i| whole[i]).collect();
                let mut out = vec![N::Value::default(); indices.len()];
                fill::at(Path::best(), &Awkward, number, &indices, &mut out);
                assert_eq!(out, right, "from {start}");
                // A stream has a way of its own to groups that lie apart.
                stream(6).fill(number, start, &mut whole).unwrap();
                let right: Vec<N::Value> = places.iter().map(|&i| whole[i]).collect();
                fill::at(Path::best(), &stream(6), number, &indices, &mut out);
                assert_eq!(out, right, "from {start}");
            }
        }
    }
    each_kind(&Lists);
}

#[test]
fn several_threads_fill_in_what_one_does() {
    fn check<T: Default + Copy + PartialEq + Debug>(
        one: impl Fn(&Stream, &mut [T]) -> Result<(), Error>,
        several: impl Fn(&Par, &mut [T]) -> Result<(), Error>,
    ) {
        let mut right = vec![T::default(); 300_001];
        one(&stream(3), &mut right).unwrap();
        for threads in [1, 2, 5] {
            let mut out = vec![T::default(); right.len()];
            several(&stream(3).par(threads), &mut out).unwrap();
            assert!(out == right, "{threads} threads");
        }
    }
    check(|s, out| s.fill_f64(7, out), |p, out| p.fill_f64(7, out));
    check(|s, out| s.fill_f32(7, out), |p, out| p.fill_f32(7, out));
    check(|s, out| s.fill_normal_f64(7, out), |p, out| p.fill_normal_f64(7, out));
    check(|s, out| s.fill_normal_f32(7, out), |p, out| p.fill_normal_f32(7, out));
    check(|s, out| s.fill_exponential_f64(7, out), |p, out| p.fill_exponential_f64(7, out));
    check(|s, out| s.fill_bounded_u64(6, 7, out), |p, out| p.fill_bounded_u64(6, 7, out));
    check(|s, out| s.fill_bounded_u32(6, 7, out), |p, out| p.fill_bounded_u32(6, 7, out));
    check(|s, out| s.fill_range(-3..=3, 7, out), |p, out| p.fill_range(-3i64..=3, 7, out));
}

#[test]
fn what_lies_past_the_end_is_an_error_and_writes_nothing() {
    let s = stream(4);
    let mut out = [0.5; 3];
    let too_long = |start, len| Err(Error::RangeTooLong { start, len });
    assert_eq!(s.fill_f64(u64::MAX - 3, &mut out), Ok(()));
    out = [0.5; 3];
    assert_eq!(s.fill_f64(u64::MAX - 2, &mut out), too_long(u64::MAX - 2, 3));
    // The last pair of words ends at 2^64 - 1.
    assert_eq!(s.fill_normal_f64(u64::MAX - 3, &mut out), too_long(u64::MAX - 3, 3));
    assert_eq!(s.normal_f64_at(&[0, 1, u64::MAX - 1], &mut out), too_long(u64::MAX - 1, 1));
    assert_eq!(s.f64_at(&[0, u64::MAX, 1], &mut out), too_long(u64::MAX, 1));
    assert_eq!(s.f64_at(&[0], &mut out), Err(Error::Lengths { indices: 1, out: 3 }));
    assert_eq!(out, [0.5; 3]);
    let mut large = vec![0.5; 100_000];
    let start = u64::MAX - 100_000;
    assert_eq!(s.par(2).fill_normal_f64(start, &mut large), too_long(start, 100_000));
    assert!(large.iter().all(|&x| x == 0.5));
    assert_eq!(s.fill_bounded_u64(0, 0, &mut [0]), Err(Error::ZeroBound));
    assert_eq!(s.fill_bounded_u32(0, 0, &mut [0]), Err(Error::ZeroBound));
    #[expect(clippy::reversed_empty_ranges)]
    let backwards = 3..=2;
    assert_eq!(s.fill_range(backwards, 0, &mut [0i32]), Err(Error::EmptyRange));
}

/// The end of the last range is a place, though no element is there.
#[test]
fn nothing_from_the_last_place_on_is_nothing() {
    struct Empty;
    impl Kinds for Empty {
        fn kind<N: Number<Value: PartialEq + Debug>>(&self, number: &N) {
            let s = stream(5);
            let end = u64::MAX - u64::from(N::WORDS == 2);
            assert_eq!(s.fill(number, end, &mut []), Ok(()));
            let fill = |s: &Stream, start, out: &mut [_]| s.fill(number, start, out);
            assert_eq!(s.par(2).fill(end, &mut [], fill), Ok(()));
        }
    }
    each_kind(&Empty);
}

/// The last elements of a stream, where each sum of numbers is closest to wrapping around; many are
/// rejected.
#[test]
fn the_last_elements_are_the_same_however_they_are_asked_for() {
    struct Last;
    impl Kinds for Last {
        fn kind<N: Number<Value: PartialEq + Debug>>(&self, number: &N) {
            let end = u64::MAX - u64::from(N::WORDS == 2);
            for len in (1..140).chain([1023, 1024, 1025, 2048, 2049]) {
                let start = end - len;
                let indices: Vec<u64> = (start..end).collect();
                let mut filled = vec![N::Value::default(); len as usize];
                let mut listed = filled.clone();
                fill::fill(Path::best(), &Awkward, number, start, &mut filled);
                fill::at(Path::best(), &Awkward, number, &indices, &mut listed);
                assert_eq!(filled, listed, "the last {len}");
            }
        }
    }
    each_kind(&Last);
}
