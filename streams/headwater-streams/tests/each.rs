//! Elements with parameters of their own, against a draw of each element alone.

use headwater_streams::kinds::{
    Dtype, Elements, Form, Kind, Out, Parameter, Value, draw, draw_each,
};
use headwater_streams::{Engine, Error, Key, Stream};
use std::f64::consts::PI;

/// Two chunks and a half.
const MANY: usize = 1300;

/// Returns numbers from `low` to `high` in even steps of their logarithm, in a mixed order.
fn spread(low: f64, high: f64, step: usize) -> Vec<f64> {
    let part = |i: usize| (i * step % MANY) as f64 / (MANY - 1) as f64;
    (0..MANY).map(|i| low * (high / low).powf(part(i))).collect()
}

/// Returns these numbers again and again.
fn turns(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().copied().cycle().take(MANY).collect()
}

/// Returns numbers of an even grid from `low` to `high`, in a mixed order.
fn even(low: f64, high: f64, step: usize) -> Vec<f64> {
    (0..MANY).map(|i| low + (high - low) * ((i * step % MANY) as f64 / (MANY - 1) as f64)).collect()
}

/// Returns whole numbers up to `high`, small ones as often as large ones.
fn counts(high: f64, step: usize) -> Vec<f64> {
    spread(0.5, high, step).into_iter().map(f64::floor).collect()
}

/// Returns lists of parameters for each kind that has a loop: ranges that cross every change of
/// method, and the ends of what each distribution takes.
fn cases() -> Vec<(Kind, Vec<Vec<f64>>)> {
    let tiny = f64::MIN_POSITIVE;
    let shapes = || {
        vec![
            spread(0.01, 90.0, 7),
            even(1.0, 5.0, 311),
            spread(1e-3, 0.999, 11),
            turns(&[1.0, 0.5, tiny, 1e300, 5e-324, f64::MAX, 3.0, 0.999_999_999_999]),
        ]
    };
    let mut all = Vec::new();
    for kind in [
        Kind::Gamma,
        Kind::ChiSquare,
        Kind::LogGamma,
        Kind::Weibull,
        Kind::Pareto,
        Kind::Power,
        Kind::StudentT,
    ] {
        all.extend(shapes().into_iter().map(|list| (kind, vec![list])));
    }
    for kind in [Kind::Beta, Kind::FisherF, Kind::Wald, Kind::ScaledGamma] {
        for (i, first) in shapes().into_iter().enumerate() {
            for second in [spread(0.02, 50.0, 311), spread(0.003, 0.9, 17), shapes().remove(3 - i)]
            {
                all.push((kind, vec![first.clone(), second]));
            }
        }
    }
    let around = || vec![even(0.0, 60.0, 13), turns(&[0.0, 1e-300, 19.99, 20.0, 1e6, 1e12])];
    for degrees in shapes() {
        for around in around() {
            all.push((Kind::NoncentralChiSquare, vec![degrees.clone(), around.clone()]));
            for second in [spread(0.02, 50.0, 311), even(2.0, 9.0, 3)] {
                let lists = vec![degrees.clone(), second, around.clone()];
                all.push((Kind::NoncentralF, lists));
            }
        }
    }
    let (a, b) = (spread(0.01, 90.0, 7), spread(0.02, 50.0, 311));
    let above: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    all.push((Kind::Triangular, vec![vec![0.0; MANY], a.clone(), above.clone()]));
    all.push((Kind::Triangular, vec![turns(&[-1e300, 0.0, -5.0]), vec![0.0; MANY], b.clone()]));
    all.push((Kind::ScaledUniform, vec![a.clone(), above]));
    all.push((Kind::ScaledUniform, vec![turns(&[-1e308, 0.0, 7.0]), turns(&[7.0])]));
    all.push((Kind::LogNormal, vec![even(-800.0, 800.0, 7), spread(1e-9, 300.0, 3)]));
    all.push((Kind::LogNormal, vec![even(-2.0, 2.0, 7), turns(&[0.0, 1.0, 0.25])]));
    for kappas in [
        spread(1e-9, 1e6, 7),
        even(0.3, 0.45, 3),
        even(0.0, 0.3, 3),
        turns(&[0.0, 0.375, 0.374_999_999, 1e300]),
    ] {
        all.push((Kind::VonMises, vec![even(-PI, PI, 311), kappas]));
    }
    let chances = || {
        vec![
            even(0.001, 1.0, 7),
            turns(&[1.0, 0.5, 0.25, 0.250_000_001, 1e-300, 1e-9, 0.999_999_999]),
        ]
    };
    all.extend(chances().into_iter().map(|list| (Kind::Geometric, vec![list])));
    all.push((Kind::LogSeries, vec![turns(&[0.0, 5e-324, 0.25, 0.5, 0.999_999_999_999_999_9])]));
    all.push((Kind::LogSeries, vec![even(0.0, 0.999, 7)]));
    all.push((Kind::Zipf, vec![even(1.01, 70.0, 7)]));
    all.push((Kind::Zipf, vec![turns(&[1.000_000_000_1, 2.0, 1.999_999, 63.9, 64.0, 1e300])]));
    all.push((Kind::Poisson, vec![spread(0.01, 90.0, 7)]));
    all.push((Kind::Poisson, vec![turns(&[0.0, 5e-324, 9.999_999_999, 10.0, 1e6, 1e15, 9e18])]));
    for successes in shapes() {
        let few: Vec<f64> = successes.iter().map(|&n| n.min(1e9)).collect();
        all.push((Kind::NegativeBinomial, vec![few, even(0.001, 1.0, 7)]));
    }
    for trials in [
        counts(1e3, 7),
        counts(1e15, 7),
        even(0.0, 40.0, 7).into_iter().map(f64::floor).collect(),
        turns(&[0.0, 1.0, 2.0, 9.0, 10.0, 11.0, 19.0, 20.0, 21.0, 9_007_199_254_740_992.0]),
    ] {
        for p in [
            even(0.0, 1.0, 311),
            spread(1e-12, 1.0, 13),
            turns(&[0.0, 1.0, 0.5, 0.500_000_000_000_1, 1e-300, 0.25]),
        ] {
            all.push((Kind::Binomial, vec![trials.clone(), p]));
        }
    }
    for (good, bad) in [
        (counts(50.0, 7), counts(50.0, 311)),
        (counts(1e5, 7), counts(1e5, 311)),
        (counts(4e15, 7), counts(4e15, 311)),
        (turns(&[0.0, 1.0, 7.0, 4_503_599_627_370_496.0]), turns(&[0.0, 1.0, 30.0])),
    ] {
        for share in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let population = good.iter().zip(&bad).map(|(good, bad)| good + bad);
            let sample = population.map(|all| (all * share).floor()).collect();
            all.push((Kind::Hypergeometric, vec![good.clone(), bad.clone(), sample]));
        }
    }
    all
}

/// Returns the parameters of element i.
fn values(kind: Kind, lists: &[&[f64]], i: usize) -> Vec<Value<'static>> {
    let parameters = kind.parameters().iter().zip(lists);
    let value = |(parameter, list): (&Parameter, &&[f64])| match parameter.form {
        Form::Count => Value::Count(list[i] as u64),
        _ => Value::Real(list[i]),
    };
    parameters.map(value).collect()
}

/// Returns memory for so many elements, from an address on that suits every type.
fn room(memory: &mut [u8], many: usize) -> &mut [u8] {
    let start = memory.as_ptr().align_offset(8);
    &mut memory[start..][..8 * many]
}

/// Returns numbers of elements in no order, among them the first, one of the last that each kind
/// has, and one of them twice.
fn scattered() -> Vec<u64> {
    let place = |i: u64| match i {
        0 | 900 => 0,
        1 => u64::MAX / 2 - 9,
        i => i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (i % 40 + 1),
    };
    (0..MANY as u64).map(place).collect()
}

/// Draws one element alone.
fn alone(
    kind: Kind,
    dtype: Dtype,
    values: &[Value<'_>],
    stream: &Stream,
    at: u64,
) -> Result<u64, Error> {
    let mut memory = [0; 16];
    let bytes = room(&mut memory, 1);
    draw(kind, values, stream, Elements::From(at), Out::bytes(dtype, bytes)?)?;
    Ok(u64::from_ne_bytes(bytes.try_into().expect("an element has 8 bytes")))
}

/// The numbers of arrays are those of single elements: each kind, at lengths around a tile and a
/// chunk, in both types of counts, for odd and even starts and in no order, for both engines.
#[test]
fn arrays_of_parameters_draw_the_numbers_of_each() {
    let mut compared = 0;
    let scattered = scattered();
    for (case, (kind, lists)) in cases().into_iter().enumerate() {
        let engine = [Engine::Ars7, Engine::Philox4x32][case % 2];
        let stream = Key::with_engine(engine, 42).stream(case as u64).unwrap();
        let dtypes: &[Dtype] = match kind.types()[0].dtype {
            Dtype::F64 => &[Dtype::F64],
            _ => &[Dtype::I64, Dtype::U64],
        };
        for &dtype in dtypes {
            for (many, start) in [(1, 5), (7, 4), (16, 1), (17, 0), (64, 3), (512, 9), (MANY, 2)] {
                // Other parameters for each length.
                let from = (many * 37) % (MANY - many + 1);
                let lists: Vec<_> = lists.iter().map(|list| &list[from..from + many]).collect();
                let in_order: Vec<u64> = (start..).take(many).collect();
                for (elements, ids) in [
                    (Elements::From(start), &in_order[..]),
                    (Elements::At(&scattered[..many]), &scattered[..many]),
                ] {
                    let mut memory = vec![0; 8 * many + 8];
                    let all = room(&mut memory, many);
                    let mut place = Out::bytes(dtype, all).unwrap();
                    let done = draw_each(kind, &lists, &stream, elements, &mut place);
                    done.unwrap_or_else(|| panic!("{kind:?} has no loop")).unwrap();
                    for ((i, drawn), &id) in all.as_chunks::<8>().0.iter().enumerate().zip(ids) {
                        let values = values(kind, &lists, i);
                        let one = alone(kind, dtype, &values, &stream, id).unwrap();
                        let [shown, right] = [u64::from_ne_bytes(*drawn), one]
                            .map(|bits| (bits, f64::from_bits(bits)));
                        let what = format!("{kind:?} {values:?} {id}");
                        assert_eq!(shown.0, right.0, "{what}: {shown:?}, not {right:?}");
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 200_000, "{compared}");
}

/// A parameter that the distribution does not have ends the loop, wherever it stands.
#[test]
fn a_parameter_out_of_range_is_no_number() {
    let mut refused = 0;
    let stream = Key::from_seed(1).stream(0).unwrap();
    for (kind, lists) in cases() {
        let dtype = kind.types()[0].dtype;
        for (parameter, wrong) in (0..lists.len()).flat_map(|parameter| {
            [-1.0, f64::NAN, f64::INFINITY, -5e-324, 1e17].map(|wrong| (parameter, wrong))
        }) {
            for place in [0, 63, 511, 512, MANY - 1] {
                let mut lists = lists.clone();
                lists[parameter][place] = wrong;
                let lists: Vec<_> = lists.iter().map(|list| &list[..]).collect();
                // A count that a float has not exactly is drawn alone.
                let is_wrong = kind.parameters()[parameter].form == Form::Count
                    || alone(kind, dtype, &values(kind, &lists, place), &stream, 0).is_err();
                let mut memory = vec![0; 8 * MANY + 8];
                let mut out = Out::bytes(dtype, room(&mut memory, MANY)).unwrap();
                let done = draw_each(kind, &lists, &stream, Elements::From(0), &mut out);
                assert_eq!(done.is_none(), is_wrong, "{kind:?} {parameter} {wrong} {place}");
                refused += u32::from(is_wrong);
            }
        }
    }
    assert!(refused > 2_000, "{refused}");
}

/// Lists of other lengths, other types and kinds without a loop are drawn element by element.
#[test]
fn other_draws_have_no_loop() {
    const FIRST: Elements<'_> = Elements::From(0);
    let stream = Key::from_seed(1).stream(0).unwrap();
    let list = [2.0; 8];
    let mut doubles = [0.0_f64; 8];
    let mut out = Out::new(&mut doubles);
    assert!(draw_each(Kind::Gamma, &[&list[..7]], &stream, FIRST, &mut out).is_none());
    assert!(draw_each(Kind::Gamma, &[&list, &list], &stream, FIRST, &mut out).is_none());
    assert!(draw_each(Kind::Poisson, &[&list], &stream, FIRST, &mut out).is_none());
    assert!(draw_each(Kind::Integers, &[&list, &list], &stream, FIRST, &mut out).is_none());
    let mut floats = [0.0_f32; 8];
    assert!(draw_each(Kind::Gamma, &[&list], &stream, FIRST, &mut Out::new(&mut floats)).is_none());
    // The last elements of a stream are there, and none after them.
    let end = u64::MAX - 8;
    let mut last = |elements| draw_each(Kind::Gamma, &[&list], &stream, elements, &mut out);
    let many: Vec<u64> = (end..end + 8).collect();
    assert!(matches!(last(Elements::From(end)), Some(Ok(()))));
    assert!(matches!(last(Elements::At(&many)), Some(Ok(()))));
    let beyond: Vec<u64> = many[..7].iter().copied().chain([u64::MAX]).collect();
    for beyond in [Elements::From(end + 2), Elements::At(&beyond)] {
        let done = last(beyond);
        assert!(matches!(done, Some(Err(Error::RangeTooLong { .. }))), "{done:?}");
    }
    let done = last(Elements::At(&many[..7]));
    assert!(matches!(done, Some(Err(Error::Lengths { indices: 7, out: 8 }))), "{done:?}");
}
