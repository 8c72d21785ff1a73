//! Values row by row, of every type of ids and every kind, against the streams' own functions.

use crate::built::{Built, rows};
use headwater_arrow::{Error, Ids, Nulls, draw, format_of};
use headwater_streams::kinds::{Dtype, Elements, Form, Kind, Made, Out, Value};
use headwater_streams::{Key, Stream};

const FORMATS: [&str; 8] = ["c", "C", "s", "S", "i", "I", "l", "L"];

pub(crate) fn stream() -> Stream {
    Key::from_seed(42).child("kernel").stream(0).unwrap()
}

/// Draws each row by itself, with the streams' function for a list of one index.
fn expected(
    made: &Made<'_>,
    dtype: Dtype,
    ids: &[Option<i128>],
    width: usize,
) -> Vec<Option<Vec<u8>>> {
    let one = |id: i128| {
        let mut room = vec![0_u64; width.div_ceil(8)];
        let bytes: Vec<u8> = {
            // A slice of words is aligned for every type.
            // SAFETY: the bytes of the words, borrowed alone.
            let room =
                unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast::<u8>(), width) };
            let out = Out::bytes(dtype, room).unwrap();
            made.draw(&stream(), Elements::At(&[id as u64]), out).unwrap();
            room.to_vec()
        };
        bytes
    };
    ids.iter().map(|id| id.map(one)).collect()
}

/// Makes each kind with values that suit it.
pub(crate) fn with_each(then: &mut dyn FnMut(&Made<'_>)) {
    for kind in Kind::ALL {
        let lists = [vec![1.0, 2.0, 3.0], vec![2.0, 0.5, 0.0, 0.5, 3.0, 0.1, 0.0, 0.1, 1.0]];
        let mut place = 0.0;
        let values: Vec<Value<'_>> = kind
            .parameters()
            .iter()
            .map(|parameter| {
                place += 1.0;
                match parameter.form {
                    Form::Count => Value::Count(if kind == Kind::Permutation { 200 } else { 5 }),
                    Form::Integer => Value::Integer(place as i128),
                    Form::Flag => Value::Flag(true),
                    Form::Reals | Form::Buckets | Form::Shares => Value::Reals(&lists[0]),
                    Form::Factor => Value::Reals(&lists[1]),
                    // An exponent is above 1, and a probability below.
                    _ if parameter.range.need.contains("above 1") => Value::Real(1.5),
                    _ if parameter.range.need.contains('1') => Value::Real(0.25),
                    _ => Value::Real(place),
                }
            })
            .collect();
        let made = kind.make(&values).unwrap_or_else(|error| panic!("{}: {error}", kind.name()));
        then(&made);
    }
}

#[test]
fn every_kind_in_every_type_has_the_streams_values() {
    let ids: Vec<Option<i128>> =
        (20..60).chain([7, 7, 3]).map(Some).chain([None, Some(60), Some(62), None]).collect();
    let built = Built::integers("i", &ids, 3);
    let mut kinds = 0;
    with_each(&mut |made| {
        for one in made.kind().types() {
            let Ok((_, parts)) = format_of(one.dtype) else {
                assert_eq!(one.dtype, Dtype::Bf16); // which Arrow lacks
                continue;
            };
            let column = draw(&built.column().unwrap(), &stream(), made, one.dtype, Nulls::Kept);
            let column = column.unwrap_or_else(|error| panic!("{}: {error}", made.kind().name()));
            let width = one.dtype.size() * made.dimension().map_or(1, std::num::NonZero::get);
            assert_eq!(rows(&column, width), expected(made, one.dtype, &ids, width), "{made:?}");
            assert_eq!(column.null_count(), 2);
            let list = made.dimension().map(std::num::NonZero::get).or(parts);
            assert_eq!(column.format().1, list);
        }
        kinds += 1;
    });
    assert_eq!(kinds, Kind::ALL.len());
}

#[test]
fn every_type_of_ids_offset_and_length_has_the_streams_values() {
    let (kinds, lengths): (&[_], &[usize]) = match cfg!(miri) {
        true => (&[Kind::Normal], &[0, 1, 9]),
        false => (&[Kind::Normal, Kind::Uniform, Kind::Words], &[0, 1, 8, 9, 130, 1025]),
    };
    for format in FORMATS {
        for offset in [0, 3, 8] {
            for &len in lengths {
                for nulls in [false, true] {
                    // Runs, repeats, and numbers at random below 128.
                    let id = |i: usize| match i / 40 % 3 {
                        0 => i % 100,
                        1 => i / 3 % 128,
                        _ => i * i * 31 % 127,
                    };
                    let is_null = |i: usize| nulls && i.is_multiple_of(5);
                    let ids: Vec<_> =
                        (0..len).map(|i| (!is_null(i)).then(|| id(i) as i128)).collect();
                    let built = Built::integers(format, &ids, offset);
                    let column = built.column().unwrap();
                    for kind in kinds {
                        let made = kind.make(&[]).unwrap();
                        let dtype = kind.types()[0].dtype;
                        let out = draw(&column, &stream(), &made, dtype, Nulls::Kept).unwrap();
                        let expected = expected(&made, dtype, &ids, 8);
                        assert_eq!(rows(&out, 8), expected, "{format} {offset} {len} {nulls}");
                    }
                }
            }
        }
    }
}

#[test]
fn dictionaries_and_decimals_are_their_values() {
    let ids = [Some(50), Some(3), None, Some(50), Some(4), None];
    let places = [Some(1), Some(0), Some(2), Some(1), Some(3), None];
    let values = Built::integers("l", &[Some(3), Some(50), None, Some(4)], 2);
    let dictionary = Built::integers("C", &places, 1).with_values(values);
    let made = Kind::Normal.make(&[]).unwrap();
    let expected = expected(&made, Dtype::F64, &ids, 8);
    for built in
        [dictionary, Built::integers("d:38,0", &ids, 4), Built::integers("_pli128", &ids, 0)]
    {
        let column = built.column().unwrap();
        let out = draw(&column, &stream(), &made, Dtype::F64, Nulls::Kept).unwrap();
        assert_eq!(rows(&out, 8), expected);
    }
}

fn refusal(format: &str, ids: &[Option<i128>], kind: Kind, nulls: Nulls) -> Error {
    let built = Built::integers(format, ids, 1);
    let made = kind.make(&[]).unwrap();
    let dtype = kind.types()[0].dtype;
    draw(&built.column().unwrap(), &stream(), &made, dtype, nulls).unwrap_err()
}

#[test]
fn ids_without_an_element_are_errors_that_name_row_and_value() {
    let mut ids = vec![Some(1); 1500];
    ids[1200] = Some(-5);
    for format in ["c", "s", "i", "l", "d:38,0"] {
        let error = refusal(format, &ids, Kind::Normal, Nulls::Kept);
        assert_eq!(error, Error::Negative { row: 1200, value: -5 }, "{format}");
        assert!(error.to_string().contains("-5 in row 1200"), "{error}");
    }
    let last = i128::from(u64::MAX);
    // Normal doubles come in pairs, of which the last ends before word 2^64 - 1.
    for (id, kind, exists) in [
        (last, Kind::Words, false),
        (last - 1, Kind::Words, true),
        (last - 1, Kind::Normal, false),
        (last - 2, Kind::Normal, true),
    ] {
        let ids = [Some(4), Some(id)];
        let built = Built::integers("L", &ids, 0);
        let made = kind.make(&[]).unwrap();
        let dtype = kind.types()[0].dtype;
        match draw(&built.column().unwrap(), &stream(), &made, dtype, Nulls::Kept) {
            Ok(out) => {
                assert!(exists, "{id}");
                assert_eq!(rows(&out, 8), expected(&made, dtype, &ids, 8));
            }
            Err(Error::TooLarge { row: 1, value, .. }) => assert!(!exists && value == id, "{id}"),
            Err(other) => panic!("{other:?}"),
        }
    }
    let huge = refusal("d:38,0", &[Some(1 << 70)], Kind::Normal, Nulls::Kept);
    assert!(matches!(huge, Error::TooLarge { row: 0, value, .. } if value == 1 << 70), "{huge:?}");
}

#[test]
fn a_permutation_names_the_row_past_its_end() {
    let made = Kind::Permutation.make(&[Value::Count(10)]).unwrap();
    for ids in [[Some(9), Some(10)], [Some(0), Some(10)]] {
        let built = Built::integers("l", &ids, 0);
        let error =
            draw(&built.column().unwrap(), &stream(), &made, Dtype::U64, Nulls::Kept).unwrap_err();
        assert_eq!(error, Error::TooLarge { row: 1, value: 10, last: 9 });
    }
}

#[test]
fn a_null_beside_the_last_element_is_no_id() {
    let made = Kind::Permutation.make(&[Value::Count(10)]).unwrap();
    for ids in [
        vec![Some(9), None],
        vec![Some(8), Some(9), None, None, Some(0)],
        vec![None, Some(9), None, Some(9)],
        vec![None, None, Some(0), None],
    ] {
        let built = Built::integers("l", &ids, 1);
        let out = draw(&built.column().unwrap(), &stream(), &made, Dtype::U64, Nulls::Kept);
        assert_eq!(rows(&out.unwrap(), 8), expected(&made, Dtype::U64, &ids, 8), "{ids:?}");
    }
}

#[test]
fn a_null_beside_a_wrong_id_is_not_named() {
    for ids in [[None, Some(-5), None], [Some(3), Some(-5), None], [None, Some(-5), Some(-9)]] {
        let error = refusal("l", &ids, Kind::Normal, Nulls::Kept);
        assert_eq!(error, Error::Negative { row: 1, value: -5 }, "{ids:?}");
    }
    let most = i128::from(u64::MAX);
    for ids in [[None, Some(most), None], [Some(3), Some(most), None]] {
        let error = refusal("L", &ids, Kind::Normal, Nulls::Kept);
        assert!(matches!(error, Error::TooLarge { row: 1, value, .. } if value == most), "{error}");
    }
}

#[test]
fn nulls_are_refused_if_asked_for() {
    let ids = [Some(1), Some(2), None];
    assert_eq!(refusal("l", &ids, Kind::Normal, Nulls::Refused), Error::Null { row: 2 });
}

#[test]
fn other_types_are_no_ids() {
    for (format, word) in [
        ("g", "float64"),
        ("u", "text"),
        ("tdD", "dates"),
        ("tsu:", "timestamps"),
        ("b", "booleans"),
        ("d:9,2", "decimals"),
        ("+l", "lists"),
        ("?\n", "'??'"),
    ] {
        let buffers = if format == "u" { 3 } else { 2 };
        let built = Built::new(format, 1, 0, vec![vec![0; 64]; buffers]);
        let made = Kind::Normal.make(&[]).unwrap();
        let error = draw(&built.column().unwrap(), &stream(), &made, Dtype::F64, Nulls::Kept);
        let error = error.unwrap_err();
        assert!(matches!(error, Error::NotIds(_)), "{format}: {error:?}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn a_column_of_nulls_makes_nulls() {
    let built = Built::new("n", 5, 0, vec![]);
    let made = Kind::Normal.make(&[]).unwrap();
    let out = draw(&built.column().unwrap(), &stream(), &made, Dtype::F64, Nulls::Kept).unwrap();
    assert_eq!((out.null_count(), rows(&out, 8)), (5, vec![None; 5]));
}

#[test]
fn slices_of_rust_are_columns() {
    let made = Kind::Normal.make(&[]).unwrap();
    let mut ids = Ids::from_u64(&[5, 6]);
    let out = draw(&ids.column().unwrap(), &stream(), &made, Dtype::F64, Nulls::Kept).unwrap();
    assert_eq!(rows(&out, 8), expected(&made, Dtype::F64, &[Some(5), Some(6)], 8));
    let mut negative = Ids::from_i64(&[-1]);
    let error = draw(&negative.column().unwrap(), &stream(), &made, Dtype::F64, Nulls::Kept);
    assert_eq!(error.unwrap_err(), Error::Negative { row: 0, value: -1 });
}

#[test]
fn bfloat16_is_no_type_of_arrow() {
    let made = Kind::Normal.make(&[]).unwrap();
    let mut ids = Ids::from_u64(&[5]);
    let out = draw(&ids.column().unwrap(), &stream(), &made, Dtype::Bf16, Nulls::Kept);
    assert_eq!(
        out.unwrap_err().to_string(),
        "Arrow has no type for elements of bfloat16: ask for another type"
    );
}
