//! The table of kinds: its entries against the typed functions, and what it says against what the
//! makers do.

use headwater_streams::distributions::{
    Alias, Beta, Binomial, Categorical, Cauchy, ChiSquare, Dirichlet, Distribution, FisherF, Gamma,
    Geometric, Gumbel, Hypergeometric, Laplace, LogGamma, LogNormal, LogSeries, Logistic, Maxwell,
    Multinomial, MultivariateHypergeometric, MultivariateNormal, NegativeBinomial,
    NoncentralChiSquare, NoncentralF, Pareto, Poisson, Power, Rayleigh, ScaledExponential,
    ScaledNormal, ScaledUniform, Sobol, StudentT, Triangular, TruncatedNormal, VectorDistribution,
    VonMises, Wald, Weibull, Zipf,
};
use headwater_streams::kinds::{Dtype, Elements, Form, Kind, Out, Parameter, Room, Value, draw};
use headwater_streams::{Error, Key, Stream};
use std::num::NonZero;

fn stream() -> Stream {
    Key::from_seed(42).child("kinds").stream(7).unwrap()
}

/// Returns numbers inside and outside of a range. A range without numbers here is an error, so that
/// no entry of the table goes untested.
fn numbers(need: &str) -> (&'static [f64], &'static [f64]) {
    const HUGE: f64 = f64::INFINITY;
    match need {
        "a finite number" => (&[0.5, -3.0, 1e300], &[HUGE, -HUGE]),
        "a finite number above 0" => (&[2.5, 1e-300], &[0.0, -1.0, HUGE]),
        "a finite number from 0" => (&[0.5, 0.0], &[-1e-9, HUGE]),
        "a number from 0 to 1" => (&[0.3, 0.0, 1.0], &[-1e-9, 1.0 + 1e-9]),
        "a number above 0 and at most 1" => (&[0.3, 1e-9, 1.0], &[0.0, -0.5, 1.0 + 1e-9]),
        "a number from 0 to 2^63" => (&[3.5, 0.0, 9_223_372_036_854_775_808.0], &[-1.0, 1e19]),
        "a number from -pi to pi" => (&[0.5, -3.1], &[3.2, -3.2]),
        "a number below high" => (&[-2.0, f64::NEG_INFINITY], &[7.0, 8.0]),
        "a finite number up to high" => (&[0.5, -3.0], &[8.0, HUGE, -HUGE]),
        "a finite number at a finite distance" => (&[7.0, 1e300], &[HUGE]),
        "a finite number up to mode" => (&[0.5, -3.0], &[8.0, HUGE, -HUGE]),
        "a finite number up to right" => (&[3.0, 7.0], &[8.0, HUGE]),
        "a finite number above left, at a finite distance" => (&[7.0, 1e300], &[HUGE]),
        "a finite number above 1" => (&[2.5, 1.0000001], &[1.0, 0.5, HUGE]),
        "a number from 0 to below 1" => (&[0.75, 0.0], &[1.0, -1e-9]),
        "a finite number above 0, with counts below 2^63" => {
            (&[2.5, 1e-300], &[0.0, -1.0, HUGE, 1e300])
        }
        // The upper end of an interval whose lower end is checked.
        "" => (&[7.0, HUGE], &[]),
        other => panic!("no test knows numbers that are {other}"),
    }
}

fn value(parameter: &Parameter) -> Value<'static> {
    match parameter.form {
        Form::Real => Value::Real(numbers(parameter.range.need).0[0]),
        Form::Count => Value::Count(20),
        Form::Reals if parameter.name == "colors" => Value::Reals(&[10.0, 25.0, 5.0]),
        Form::Integer if parameter.name == "high" => Value::Integer(100),
        Form::Integer => Value::Integer(3),
        Form::Flag => Value::Flag(true),
        Form::Reals | Form::Buckets | Form::Shares => Value::Reals(&[1.0, 2.5, 0.5]),
        Form::Factor => Value::Reals(&[2.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.25, -0.5, 3.0]),
        other => panic!("no test knows {other:?}"),
    }
}

fn values(kind: Kind) -> Vec<Value<'static>> {
    kind.parameters().iter().map(value).collect()
}

/// Returns the bytes of `many` elements of the kind, made of the values of [`values`].
fn bytes(kind: Kind, dtype: Dtype, elements: Elements<'_>, many: usize) -> Result<Vec<u8>, Error> {
    bytes_of(kind, &values(kind), dtype, elements, many)
}

fn bytes_of(
    kind: Kind,
    values: &[Value<'_>],
    dtype: Dtype,
    elements: Elements<'_>,
    many: usize,
) -> Result<Vec<u8>, Error> {
    let made = kind.make(values)?;
    let width = made.dimension().map_or(1, NonZero::get);
    let mut memory = vec![0; many * width * dtype.size() + 16];
    let out = aligned(&mut memory, many * width * dtype.size());
    made.draw(&stream(), elements, Out::bytes(dtype, out)?)?;
    Ok(out.to_vec())
}

/// Returns so many bytes of a longer list, from an address on that suits every type.
fn aligned(memory: &mut [u8], len: usize) -> &mut [u8] {
    let start = memory.as_ptr().align_offset(16);
    &mut memory[start..][..len]
}

/// The numbers are what Java and other callers of the native libraries pass: a change of this list
/// would give an old jar another kind in silence.
#[test]
fn numbers_and_names_stay() {
    const NAMES: [&str; 23] = [
        "words",
        "uniform",
        "normal",
        "exponential",
        "complex_normal",
        "integers",
        "permutation",
        "lognormal",
        "gamma",
        "scaled_gamma",
        "chi_square",
        "beta",
        "student_t",
        "geometric",
        "poisson",
        "binomial",
        "truncated_normal",
        "von_mises",
        "categorical",
        "dirichlet",
        "multinomial",
        "multivariate_normal",
        "sobol",
    ];
    let names = Kind::ALL.map(Kind::name);
    assert!(names.starts_with(&NAMES), "{names:?}");
    for (number, kind) in (0_u8..).zip(Kind::ALL) {
        assert_eq!(kind as u8, number, "{kind:?}");
        assert_eq!(Kind::by_number(number), Some(kind));
        assert_eq!(Kind::by_name(kind.name()), Some(kind), "two kinds have one name");
        assert!(!kind.types().is_empty() && !kind.facts().about.is_empty(), "{kind:?}");
    }
    assert_eq!(Kind::by_number(Kind::ALL.len() as u8), None);
    assert_eq!(Kind::by_name("gauss"), None);
    for (number, dtype) in (0_u8..).zip(Dtype::ALL) {
        assert_eq!((dtype as u8, Dtype::by_number(number)), (number, Some(dtype)));
        assert_eq!(Dtype::by_name(dtype.name()), Some(dtype));
    }
}

/// Names of the fronts are unique as well: a front has one function for each.
#[test]
fn names_of_fronts_are_unique() {
    for name in [
        |kind: Kind| kind.facts().fronts.numpy,
        |kind: Kind| kind.facts().fronts.java,
        |kind: Kind| kind.facts().fronts.c.then(|| kind.name()),
    ] {
        let mut names: Vec<_> = Kind::ALL.into_iter().filter_map(name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{names:?}");
    }
}

/// A range, its parts, a list and several threads have the same elements, in every type.
#[test]
fn elements_do_not_depend_on_the_request() {
    const MANY: usize = 40;
    for kind in Kind::ALL {
        // A permutation of 20 has no more places.
        let many = if kind == Kind::Permutation { 20 } else { MANY };
        for one in kind.types() {
            let whole = bytes(kind, one.dtype, Elements::From(0), many).unwrap();
            let size = whole.len() / many;
            let shared = Elements::Shared { start: 0, threads: 3 };
            assert_eq!(bytes(kind, one.dtype, shared, many).unwrap(), whole, "{kind:?}");
            let part = bytes(kind, one.dtype, Elements::From(7), 9).unwrap();
            assert_eq!(part, whole[7 * size..16 * size], "{kind:?} {one:?}");
            let list = [19, 3, 3, 0, 7];
            let listed = bytes(kind, one.dtype, Elements::At(&list), 5).unwrap();
            for (i, listed) in list.into_iter().zip(listed.chunks(size)) {
                let at = i as usize * size;
                assert_eq!(listed, &whole[at..at + size], "{kind:?} {one:?} {i}");
            }
        }
    }
}

/// More bytes than one thread takes.
#[test]
fn threads_change_no_value() {
    let kind = Kind::Gamma;
    let many = 200_000;
    let one = bytes(kind, Dtype::F64, Elements::From(5), many).unwrap();
    let shared = Elements::Shared { start: 5, threads: 4 };
    assert_eq!(bytes(kind, Dtype::F64, shared, many).unwrap(), one);
}

/// The words and values of a group say where a stream ends. Vectors end earlier, by their
/// dimension, and a permutation at its last place.
#[test]
fn the_last_element_is_where_the_table_says() {
    for kind in Kind::ALL {
        if kind.facts().vectors || kind == Kind::Permutation {
            continue;
        }
        for one in kind.types() {
            let last = one.last();
            for elements in [Elements::From(last), Elements::At(&[last])] {
                bytes(kind, one.dtype, elements, 1).unwrap();
            }
            for elements in [Elements::From(last + 1), Elements::At(&[last + 1])] {
                let error = bytes(kind, one.dtype, elements, 1).unwrap_err();
                assert!(matches!(error, Error::RangeTooLong { .. }), "{kind:?} {one:?} {error}");
            }
        }
    }
}

#[test]
fn wrong_numbers_are_refused_by_name_and_range() {
    for kind in Kind::ALL {
        for (place, parameter) in kind.parameters().iter().enumerate() {
            if parameter.form != Form::Real {
                continue;
            }
            let (inside, outside) = numbers(parameter.range.need);
            let mut values = values(kind);
            for &x in inside {
                values[place] = Value::Real(x);
                kind.make(&values).unwrap_or_else(|e| panic!("{kind:?} {values:?}: {e}"));
            }
            for &x in outside.iter().chain(&[f64::NAN]) {
                values[place] = Value::Real(x);
                let Err(Error::Parameter { name, need }) = kind.make(&values) else {
                    panic!("{kind:?} takes {values:?}");
                };
                // The end of an interval is refused by the range of the other end.
                let by = match parameter.range.need {
                    "" => kind.parameters().iter().find(|other| other.name == name).unwrap(),
                    _ => parameter,
                };
                assert_eq!((name, need), (by.name, by.range.need), "{kind:?} {values:?}");
            }
        }
    }
}

#[test]
fn wrong_lists_are_refused_by_name() {
    for kind in Kind::ALL {
        for (place, parameter) in kind.parameters().iter().enumerate() {
            let mut values = values(kind);
            if !matches!(values[place], Value::Reals(_)) {
                continue;
            }
            for wrong in [&[][..], &[f64::NAN; 9], &[-1.0; 9]] {
                if wrong == [-1.0; 9] && kind == Kind::MultivariateNormal && place == 0 {
                    continue; // means may be negative
                }
                values[place] = Value::Reals(wrong);
                match kind.make(&values) {
                    Err(Error::Parameter { name, .. }) => {
                        let is_other = kind == Kind::MultivariateNormal && place == 0;
                        assert!(name == parameter.name || is_other, "{kind:?} {wrong:?} {name}");
                    }
                    other => panic!("{kind:?} {wrong:?}: {other:?}"),
                }
            }
        }
    }
}

/// Values of another form, or too few or too many of them, would otherwise be read as something
/// else.
#[test]
fn wrong_forms_are_refused() {
    for kind in Kind::ALL {
        let right = values(kind);
        for place in 0..right.len() {
            let mut wrong = right.clone();
            wrong[place] = match wrong[place] {
                Value::Flag(_) => Value::Count(1),
                Value::Count(_) => Value::Real(1.0),
                _ => Value::Flag(true),
            };
            let error = kind.make(&wrong).unwrap_err();
            assert_eq!(error, Error::Value { kind, place });
            let text = error.to_string();
            assert!(text.contains(kind.parameters()[place].name), "{text}");
            let few = kind.make(&right[..place]).unwrap_err();
            assert_eq!(few, Error::Value { kind, place });
        }
        let many = [&right[..], &[Value::Count(1)]].concat();
        assert_eq!(kind.make(&many).unwrap_err(), Error::Value { kind, place: right.len() });
    }
    // A table is no list of weights, and the reverse.
    let shares = [Value::Count(3), Value::Reals(&[0.5, 1.0])];
    let made = Kind::Multinomial.make(&shares).unwrap();
    let table = Kind::Multinomial.make(&[Value::Count(3), Value::Shares(&[0.5, 1.0])]).unwrap();
    let mut out = [[0_u64; 20]; 2];
    for (made, out) in [made, table].iter().zip(&mut out) {
        made.draw(&stream(), Elements::From(0), Out::new(out)).unwrap();
    }
    assert_ne!(out[0], out[1]);
}

#[test]
fn types_that_a_kind_lacks_are_refused() {
    for kind in Kind::ALL {
        for dtype in Dtype::ALL {
            let has = kind.types().iter().any(|one| one.dtype == dtype);
            match bytes(kind, dtype, Elements::From(0), 1) {
                Ok(_) => assert!(has, "{kind:?} has {dtype:?}, and the table does not say so"),
                Err(error) => {
                    assert!(!has, "{kind:?} {dtype:?}: {error}");
                    assert_eq!(error, Error::ElementType { kind, dtype });
                    let text = error.to_string();
                    assert!(text.contains(kind.types()[0].dtype.name()), "{text}");
                }
            }
        }
    }
}

#[test]
fn bytes_have_to_fit_the_type() {
    let mut memory = [0; 80];
    let bytes = aligned(&mut memory, 64);
    let wrong = Error::Bytes { dtype: Dtype::F64 };
    assert_eq!(Out::bytes(Dtype::F64, &mut bytes[1..9]).unwrap_err(), wrong);
    assert_eq!(Out::bytes(Dtype::F64, &mut bytes[..12]).unwrap_err(), wrong);
    assert!(Out::bytes(Dtype::C128, &mut bytes[8..40]).is_ok());
}

/// Counts that `i64` lacks are errors, which name the parameter, or end at its largest number.
#[test]
fn counts_of_i64_never_change_their_sign() {
    let large = u64::MAX - 5;
    for (kind, values, name) in [
        (Kind::Binomial, vec![Value::Count(large), Value::Real(1.0)], "trials"),
        (Kind::Multinomial, vec![Value::Count(large), Value::Reals(&[1.0])], "trials"),
        (Kind::Poisson, vec![Value::Real(9.223_372_036e18)], "mean"),
        (Kind::Permutation, vec![Value::Count(large)], "n"),
    ] {
        let made = kind.make(&values).unwrap();
        let refused = made.draw(&stream(), Elements::From(0), Out::new(&mut [0_i64])).unwrap_err();
        assert!(matches!(refused, Error::Parameter { name: n, .. } if n == name), "{refused}");
        made.draw(&stream(), Elements::From(0), Out::new(&mut [0_u64])).unwrap();
    }
    let geometric = Kind::Geometric.make(&[Value::Real(1e-300)]).unwrap();
    let (mut unsigned, mut signed) = ([0_u64; 4], [0_i64; 4]);
    geometric.draw(&stream(), Elements::From(0), Out::new(&mut unsigned)).unwrap();
    geometric.draw(&stream(), Elements::From(0), Out::new(&mut signed)).unwrap();
    assert_eq!((unsigned, signed), ([u64::MAX; 4], [i64::MAX; 4]));
    let integers = Kind::Integers.make(&[Value::Integer(-1), Value::Integer(300)]).unwrap();
    for (dtype, name) in [(Dtype::U64, "low"), (Dtype::U8, "low"), (Dtype::I8, "high")] {
        assert!(matches!(integers.fits(dtype), Err(Error::Parameter { name: n, .. }) if n == name));
    }
    assert_eq!(integers.fits(Dtype::I16), Ok(()));
}

/// Tables that a caller made, as one without memory to spare does, draw the same numbers.
#[test]
fn prepared_tables_draw_the_same_numbers() {
    for kind in Kind::ALL {
        let mut values = values(kind);
        let dtype = kind.types()[0].dtype;
        let size = match values.last() {
            Some(Value::Reals(list)) => list.len(),
            _ => 0,
        };
        let (mut buckets, mut reals) = (vec![Alias::default(); size], vec![0.0; size]);
        let room = match kind {
            Kind::Categorical => Room::Buckets(&mut buckets),
            _ => Room::Reals(&mut reals),
        };
        let Some((place, value)) = kind.prepare(&values, room).unwrap() else { continue };
        values[place] = value;
        let drawn = bytes_of(kind, &values, dtype, Elements::From(0), 20).unwrap();
        assert_eq!(drawn, bytes(kind, dtype, Elements::From(0), 20).unwrap(), "{kind:?}");
    }
}

/// The table's draws against the typed functions, with the parameters of [`values`].
#[test]
fn draws_are_those_of_the_typed_functions() {
    let s = stream();
    // Compared below, in a way of their own.
    let mut compared = vec![Kind::ScaledGamma, Kind::Permutation];
    macro_rules! same {
        ($kind:ident, $type:ty, $width:expr, $fill:expr) => {{
            compared.push(Kind::$kind);
            let mut typed = [<$type>::default(); 30 * $width];
            $fill(&mut typed[..]).unwrap();
            let mut drawn = [<$type>::default(); 30 * $width];
            let kind = Kind::$kind;
            draw(kind, &values(kind), &s, Elements::From(11), Out::new(&mut drawn)).unwrap();
            assert_eq!(typed, drawn, "{kind:?}");
        }};
    }
    fn fill<T>(d: Result<impl Distribution<T>, Error>) -> impl Fn(&mut [T]) -> Result<(), Error> {
        move |out| stream().fill_distribution(d.as_ref().unwrap(), 11, out)
    }
    fn rows<D: VectorDistribution>(
        d: Result<D, Error>,
    ) -> impl Fn(&mut [D::Value]) -> Result<(), Error> {
        move |out| stream().fill_vectors(d.as_ref().unwrap(), 11, out)
    }
    same!(Words, u8, 1, |out: &mut [u8]| s.fill_u8(11, out));
    same!(Words, u32, 1, |out: &mut [u32]| s.fill_u32(11, out));
    same!(Words, u64, 1, |out: &mut [u64]| s.fill_u64(11, out));
    same!(Uniform, f64, 1, |out: &mut [f64]| s.fill_f64(11, out));
    same!(Uniform, f32, 1, |out: &mut [f32]| s.fill_f32(11, out));
    same!(Normal, f64, 1, |out: &mut [f64]| s.fill_normal_f64(11, out));
    same!(Normal, f32, 1, |out: &mut [f32]| s.fill_normal_f32(11, out));
    same!(Exponential, f64, 1, |out: &mut [f64]| s.fill_exponential_f64(11, out));
    same!(ComplexNormal, [f64; 2], 1, |out: &mut [_]| s.fill_complex_normal_f64(11, out));
    same!(ComplexNormal, [f32; 2], 1, |out: &mut [_]| s.fill_complex_normal_f32(11, out));
    same!(Integers, i8, 1, |out: &mut [i8]| s.fill_range(3..=100, 11, out));
    same!(Integers, u16, 1, |out: &mut [u16]| s.fill_range(3..=100, 11, out));
    same!(Integers, u32, 1, |out: &mut [u32]| s.fill_range(3..=100, 11, out));
    same!(Integers, i64, 1, |out: &mut [i64]| s.fill_range(3..=100, 11, out));
    macro_rules! reals {
        ($($kind:ident: $made:expr;)*) => {$(
            same!($kind, f64, 1, fill($made));
            same!($kind, f32, 1, fill($made));
        )*};
    }
    reals! {
        Laplace: Laplace::new(0.5, 0.5);
        LogNormal: LogNormal::new(0.5, 0.5);
        Gamma: Gamma::new(2.5);
        ChiSquare: ChiSquare::new(2.5);
        Beta: Beta::new(2.5, 2.5);
        StudentT: StudentT::new(2.5);
        TruncatedNormal: TruncatedNormal::new(0.5, 2.5, -2.0, 7.0);
        VonMises: VonMises::new(0.5, 0.5);
        ScaledUniform: ScaledUniform::new(0.5, 7.0);
        ScaledNormal: ScaledNormal::new(0.5, 0.5);
        ScaledExponential: ScaledExponential::new(0.5);
        Rayleigh: Rayleigh::new(0.5);
        Weibull: Weibull::new(2.5);
        Pareto: Pareto::new(2.5);
        Power: Power::new(2.5);
        Gumbel: Gumbel::new(0.5, 0.5);
        Logistic: Logistic::new(0.5, 0.5);
        Cauchy: Cauchy::new(0.5, 0.5);
        Triangular: Triangular::new(0.5, 3.0, 7.0);
        Wald: Wald::new(2.5, 2.5);
        FisherF: FisherF::new(2.5, 2.5);
        NoncentralChiSquare: NoncentralChiSquare::new(2.5, 0.5);
        NoncentralF: NoncentralF::new(2.5, 2.5, 0.5);
        LogGamma: LogGamma::new(2.5);
        Maxwell: Maxwell::new(0.5);
    }
    same!(Geometric, u64, 1, fill(Geometric::new(0.3)));
    same!(Poisson, u64, 1, fill(Poisson::new(3.5)));
    same!(Binomial, u64, 1, fill(Binomial::new(20, 0.3)));
    same!(Zipf, u64, 1, fill(Zipf::new(2.5)));
    same!(LogSeries, u64, 1, fill(LogSeries::new(0.75)));
    same!(NegativeBinomial, u64, 1, fill(NegativeBinomial::new(2.5, 0.3)));
    same!(Hypergeometric, u64, 1, fill(Hypergeometric::new(20, 20, 20)));
    let colors = [10.0, 25.0, 5.0];
    same!(MultivariateHypergeometric, u64, 3, rows(MultivariateHypergeometric::new(&colors, 20)));
    let weights = [1.0, 2.5, 0.5];
    same!(Categorical, u64, 1, fill(Categorical::new(&weights)));
    same!(Categorical, u32, 1, fill(Categorical::new(&weights)));
    same!(Dirichlet, f64, 3, rows(Dirichlet::new(&weights)));
    same!(Multinomial, u64, 3, rows(Multinomial::new(20, &weights)));
    let mut factor = [0.0; 9];
    let covariance = [2.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.25, -0.5, 3.0];
    MultivariateNormal::cholesky(&covariance, 3, &mut factor).unwrap();
    same!(MultivariateNormal, f64, 3, rows(MultivariateNormal::new(&weights, &factor)));
    same!(Sobol, f64, 20, rows(Sobol::new(20)));
    for kind in Kind::ALL {
        assert!(
            compared.contains(&kind),
            "{kind:?} is compared with no typed function: add it here"
        );
    }
    // Bits of 16, which no type of Rust's names, and the numbers that a scale multiplies.
    let mut typed = [0_u16; 30];
    for (kind, dtype, fill) in [
        (Kind::Uniform, Dtype::F16, Stream::fill_f16_bits as fn(&Stream, u64, &mut [u16]) -> _),
        (Kind::Uniform, Dtype::Bf16, Stream::fill_bf16_bits),
        (Kind::Normal, Dtype::F16, Stream::fill_normal_f16_bits),
        (Kind::Normal, Dtype::Bf16, Stream::fill_normal_bf16_bits),
    ] {
        fill(&s, 11, &mut typed).unwrap();
        let drawn = bytes(kind, dtype, Elements::From(11), 30).unwrap();
        let typed: Vec<u8> = typed.iter().flat_map(|bits| bits.to_ne_bytes()).collect();
        assert_eq!(typed, drawn, "{kind:?} {dtype:?}");
    }
    let (mut gamma, mut scaled) = ([0.0_f32; 30], [0.0_f32; 30]);
    s.fill_distribution(&Gamma::new(2.5).unwrap(), 11, &mut gamma).unwrap();
    let values = [Value::Real(2.5), Value::Real(0.3)];
    draw(Kind::ScaledGamma, &values, &s, Elements::From(11), Out::new(&mut scaled)).unwrap();
    assert_eq!(gamma.map(|x| x * 0.3_f64 as f32), scaled);
    let (mut order, mut drawn) = ([0; 9], [0; 9]);
    s.permutation(20).fill(11, &mut order).unwrap();
    let values = [Value::Count(20)];
    draw(Kind::Permutation, &values, &s, Elements::From(11), Out::new(&mut drawn)).unwrap();
    assert_eq!(order, drawn);
}

/// Laplace's numbers are a monotone function of the word, symmetric about the mean, as the inverse
/// of the distribution function is.
#[test]
fn laplaces_numbers_rise_with_their_words() {
    let made = Laplace::new(0.0, 1.0).unwrap();
    let (mut words, mut numbers) = (vec![0_u64; 4096], vec![0.0_f64; 4096]);
    stream().fill_u64(0, &mut words).unwrap();
    stream().fill_distribution(&made, 0, &mut numbers).unwrap();
    let mut pairs: Vec<_> = words.into_iter().zip(numbers).collect();
    pairs.sort_by_key(|&(word, _)| word);
    assert!(pairs.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    for (word, x) in pairs {
        let u = (word >> 11) as f64 / (1_u64 << 53) as f64;
        let exact = if u < 0.5 { (2.0 * u).ln() } else { -(2.0 * (1.0 - u)).ln() };
        assert!((x - exact).abs() < 1e-9 * exact.abs().max(1.0), "{word:x}: {x} {exact}");
    }
}
