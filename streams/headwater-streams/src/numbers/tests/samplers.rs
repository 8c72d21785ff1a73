//! Elements that own blocks: against the reference, and the same however they are asked for.

use super::{Awkward, stream};
use crate::numbers::distributions::{
    Beta, Binomial, ChiSquare, Distribution, Gamma, Geometric, LogNormal, Poisson, Sampler,
    StudentT, private_at, private_fill,
};
use crate::numbers::path::Path;
use crate::words::Words;
use crate::{Error, Stream};
use core::fmt::Debug;
use reference::streams::distributions::Element;

/// Does something with one sampler, and with its element in the reference.
trait Samplers {
    fn sampler<T: Copy + Default + PartialEq + Debug + Bits>(
        &self,
        sampler: &impl Sampler<T>,
        right: impl Fn(&Element<'_>) -> T,
    );
}

/// A number whose bits can be compared: a NaN, which none may be, differs from all.
trait Bits {
    fn bits(self) -> u64;
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        assert!(!self.is_nan());
        self.to_bits()
    }
}

impl Bits for f32 {
    fn bits(self) -> u64 {
        f64::from(self).bits()
    }
}

impl Bits for u64 {
    fn bits(self) -> u64 {
        self
    }
}

const TINY: f64 = f64::from_bits(1);

/// Shapes around every change of a method, and the ends of what floats can hold.
const SHAPES: [f64; 14] =
    [TINY, 1e-310, 1e-300, 1e-30, 0.01, 0.5, 0.999_999, 1.0, 2.5, 30.0, 1e4, 1e10, 1e17, f64::MAX];

fn each_sampler(test: &impl Samplers) {
    for shape in SHAPES {
        let gamma = Gamma::new(shape).unwrap();
        test.sampler::<f64>(&gamma, |e| e.gamma(shape));
        test.sampler::<f32>(&gamma, |e| e.gamma(shape) as f32);
        test.sampler::<f64>(&ChiSquare::new(shape).unwrap(), |e| e.chi_square(shape));
        test.sampler::<f64>(&StudentT::new(shape).unwrap(), |e| e.student_t(shape));
        for other in SHAPES.iter().step_by(2) {
            let beta = Beta::new(shape, *other).unwrap();
            test.sampler::<f64>(&beta, |e| e.beta(shape, *other));
        }
    }
    for mean in [0.0, TINY, 1e-9, 0.3, 4.0, 9.99, 10.0, 11.0, 70.0, 3e3, 1e9, 1e16, 2f64.powi(63)] {
        test.sampler::<u64>(&Poisson::new(mean).unwrap(), |e| e.poisson(mean));
    }
    for n in [0, 1, 7, 19, 20, 64, 1000, 1 << 40, (1 << 53) + 1, u64::MAX] {
        for p in [0.0, TINY, 1e-300, 1e-19, 1e-9, 0.01, 0.25, 0.3, 0.5, 0.500_001, 0.99, 1.0] {
            test.sampler::<u64>(&Binomial::new(n, p).unwrap(), |e| e.binomial(n, p));
        }
    }
}

/// First elements of ranges, the last ones among them.
const STARTS: [u64; 3] = [0, (1 << 32) - 3, u64::MAX - 200];
const LEN: usize = 200;

/// Compares ranges from awkward words, many of which are rejected, with the reference.
#[test]
fn samplers_have_the_bits_of_the_reference() {
    struct Right;
    impl Samplers for Right {
        fn sampler<T: Copy + Default + PartialEq + Debug + Bits>(
            &self,
            sampler: &impl Sampler<T>,
            right: impl Fn(&Element<'_>) -> T,
        ) {
            for start in STARTS {
                let mut out = [T::default(); LEN];
                private_fill(Path::best(), &Awkward, sampler, start, &mut out);
                for (&out, e) in out.iter().zip(start..) {
                    let block = |draw: u16| {
                        let mut block = [[0; 2]];
                        Awkward.blocks(draw, e, &mut block);
                        block[0]
                    };
                    let right = right(&Element { block: &block });
                    assert_eq!(out.bits(), right.bits(), "element {e}: {out:?}, not {right:?}");
                }
            }
        }
    }
    each_sampler(&Right);
}

#[test]
fn samplers_are_the_same_on_every_path_in_any_parts_and_lists() {
    struct Same;
    impl Samplers for Same {
        fn sampler<T: Copy + Default + PartialEq + Debug + Bits>(
            &self,
            sampler: &impl Sampler<T>,
            _: impl Fn(&Element<'_>) -> T,
        ) {
            for start in STARTS {
                let bits = |out: &[T]| out.iter().map(|x| x.bits()).collect::<Vec<_>>();
                let made = |path, from: u64, len: usize| {
                    let mut out = vec![T::default(); len];
                    private_fill(path, &Awkward, sampler, from, &mut out);
                    bits(&out)
                };
                let whole = made(Path::all()[0], start, LEN);
                for path in Path::all() {
                    assert_eq!(made(path, start, LEN), whole, "{path:?}");
                    for cut in [1, 5, 127, 128, 129, 199] {
                        let mut parts = made(path, start, cut);
                        parts.extend(made(path, start + cut as u64, LEN - cut));
                        assert_eq!(parts, whole, "{path:?}, cut at {cut}");
                    }
                    let places: Vec<usize> = (0..LEN).map(|i| i * 67 % LEN).chain([3; 9]).collect();
                    let indices: Vec<u64> = places.iter().map(|&i| start + i as u64).collect();
                    let mut listed = vec![T::default(); indices.len()];
                    private_at(path, &Awkward, sampler, &indices, &mut listed);
                    let right: Vec<u64> = places.iter().map(|&i| whole[i]).collect();
                    assert_eq!(bits(&listed), right, "{path:?}");
                }
            }
        }
    }
    each_sampler(&Same);
}

/// An engine's blocks of a list are those of a range, and lie where the specification says.
#[test]
fn blocks_of_a_stream_lie_at_their_counters() {
    let s = stream(40);
    let counter = |draw: u16, block: u64| u128::from(draw) << 64 | u128::from(block);
    for (draw, start) in [(0x8000, 0), (0x83FF, 1 << 33), (0xFFFF, u64::MAX - 9)] {
        let (mut filled, mut listed) = ([[0; 2]; 9], [[0; 2]; 9]);
        let indices: [u64; 9] = core::array::from_fn(|i| start + i as u64);
        s.blocks(draw, start, &mut filled);
        s.blocks_at(draw, &indices, &mut listed);
        let right = indices.map(|block| s.key().block(counter(draw, block)));
        assert_eq!(filled, right.map(|block| [block as u64, (block >> 64) as u64]));
        assert_eq!(listed, filled);
    }
}

#[test]
fn several_threads_fill_distributions_as_one_does() {
    fn check<T: Copy + Default + PartialEq + Send>(distribution: &impl Distribution<T>) {
        let mut right = vec![T::default(); 150_001];
        let mut out = right.clone();
        stream(41).fill_distribution(distribution, 7, &mut right).unwrap();
        stream(41).par(3).fill_distribution(distribution, 7, &mut out).unwrap();
        assert!(out == right);
    }
    check::<f64>(&Gamma::new(0.7).unwrap());
    check::<f64>(&LogNormal::new(0.0, 1.0).unwrap());
    check::<u64>(&Poisson::new(50.0).unwrap());
    check::<u64>(&Geometric::new(0.1).unwrap());
}

#[test]
fn parameters_for_which_there_is_no_distribution_are_errors_that_name_them() {
    fn name<T>(made: Result<T, Error>) -> &'static str {
        match made {
            Ok(_) => "",
            Err(Error::Parameter { name, need }) => {
                let message = Error::Parameter { name, need }.to_string();
                assert!(message.starts_with(name) && message.lines().count() == 1, "{message}");
                name
            }
            Err(error) => panic!("{error}"),
        }
    }
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    for wrong in [nan, inf, -inf, -1.0, -TINY, 0.0, -0.0] {
        assert_eq!(name(Gamma::new(wrong)), "shape");
        assert_eq!(name(ChiSquare::new(wrong)), "k");
        assert_eq!(name(StudentT::new(wrong)), "nu");
        assert_eq!(name(Beta::new(wrong, 1.0)), "a");
        assert_eq!(name(Beta::new(1.0, wrong)), "b");
        assert_eq!(name(Geometric::new(wrong)), "p");
    }
    for wrong in [nan, inf, -inf, -1.0, -TINY] {
        assert_eq!(name(LogNormal::new(0.0, wrong)), "sigma");
        assert_eq!(name(Poisson::new(wrong)), "mean");
        assert_eq!(name(Binomial::new(1, wrong)), "p");
    }
    for wrong in [nan, inf, -inf] {
        assert_eq!(name(LogNormal::new(wrong, 1.0)), "mu");
    }
    assert_eq!(name(Poisson::new(9.3e18)), "mean");
    for p in [1.0 + f64::EPSILON, 2.0] {
        assert_eq!(name(Binomial::new(1, p)), "p");
        assert_eq!(name(Geometric::new(p)), "p");
    }
    let all =
        [name(LogNormal::new(-1e308, 0.0)), name(Poisson::new(0.0)), name(Geometric::new(TINY))];
    assert_eq!(all, [""; 3]);
}

/// The ends of a stream are those of its words: blocks end one element later than pairs of words.
#[test]
fn distributions_end_where_their_words_do() {
    fn ends<T: Copy + Default>(s: &Stream, distribution: &impl Distribution<T>, end: u64) {
        let mut one = [T::default()];
        s.fill_distribution(distribution, end - 1, &mut one).unwrap();
        s.distribution_at(distribution, &[end - 1], &mut one).unwrap();
        let error = Err(Error::RangeTooLong { start: end, len: 1 });
        assert_eq!(s.fill_distribution(distribution, end, &mut one), error);
        assert_eq!(s.distribution_at(distribution, &[end], &mut one), error);
        assert_eq!(s.fill_distribution::<T>(distribution, end, &mut []), Ok(()));
    }
    let s = stream(42);
    ends::<f64>(&s, &Gamma::new(2.0).unwrap(), u64::MAX);
    ends::<u64>(&s, &Poisson::new(2.0).unwrap(), u64::MAX);
    ends::<u64>(&s, &Geometric::new(0.5).unwrap(), u64::MAX);
    ends::<f64>(&s, &LogNormal::new(0.0, 1.0).unwrap(), u64::MAX - 1);
    let gamma = Gamma::new(2.0).unwrap();
    let lengths = Err(Error::Lengths { indices: 2, out: 1 });
    assert_eq!(s.distribution_at(&gamma, &[1, 2], &mut [0.0f64]), lengths);
}

/// Methods that always reject come to their fallbacks, and end.
#[test]
fn words_that_are_always_rejected_end_in_the_fallback() {
    struct Rejected;
    impl Words for Rejected {
        fn words(&self, _: u16, _: u64, out: &mut [u64]) {
            out.fill(0);
        }
        // The largest uniform number, and the normal number farthest to the left.
        fn blocks(&self, _: u16, _: u64, out: &mut [[u64; 2]]) {
            out.fill([0, u64::MAX]);
        }
        fn blocks_at(&self, _: u16, _: &[u64], out: &mut [[u64; 2]]) {
            out.fill([0, u64::MAX]);
        }
    }
    struct Ends;
    impl Samplers for Ends {
        fn sampler<T: Copy + Default + PartialEq + Debug + Bits>(
            &self,
            sampler: &impl Sampler<T>,
            right: impl Fn(&Element<'_>) -> T,
        ) {
            let mut out = [T::default(); 3];
            private_fill(Path::best(), &Rejected, sampler, 0, &mut out);
            let right = right(&Element { block: &|_| [0, u64::MAX] });
            assert_eq!(out.map(Bits::bits), [right.bits(); 3]);
        }
    }
    each_sampler(&Ends);
}
