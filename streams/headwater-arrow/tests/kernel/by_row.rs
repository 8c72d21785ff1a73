//! Parameters that are columns, against a draw of each row by itself with its own constants.

use crate::built::{Built, rows};
use crate::values::stream;
use headwater_arrow::{By, Error, Ids, Nulls, draw, draw_by_row, draw_by_row_to};
use headwater_streams::kinds::{Dtype, Form, Kind, Made, Value};

/// Makes a column of floats of 8 bytes, or of 4, with the bits of validity where a row is null.
fn reals(rows: &[Option<f64>], bytes: usize) -> Built {
    let valid: Vec<bool> = rows.iter().map(Option::is_some).collect();
    let value = |row: &Option<f64>| match (row.unwrap_or(f64::NAN), bytes) {
        (value, 4) => (value as f32).to_le_bytes().to_vec(),
        (value, _) => value.to_le_bytes().to_vec(),
    };
    let validity = if rows.contains(&None) { crate::built::bits(&valid) } else { Vec::new() };
    let format = if bytes == 4 { "f" } else { "g" };
    Built::new(format, rows.len(), 0, vec![validity, rows.iter().flat_map(value).collect()])
}

/// Returns a value for a parameter of a kind in a row, the same for several rows in a row, which
/// every kind of numbers takes. Halves are exact in both types of floats.
fn value(kind: Kind, parameter: usize, row: usize) -> f64 {
    let step = (row / 3 % 5) as f64;
    let name = kind.parameters()[parameter].numpy;
    match (kind, name) {
        (Kind::TruncatedNormal, "low") => -1.5 - step,
        (Kind::TruncatedNormal, "high") => 2.0 + step,
        (Kind::VonMises, "mu") => step / 2.0 - 1.0,
        (Kind::Triangular, "mode") => 1.0,
        (_, "low" | "left") => -step,
        (_, "high" | "right") => 4.0 + step,
        (_, "p") => 0.25 + step / 8.0,
        (Kind::Zipf, _) => 2.5 + step,
        (Kind::Hypergeometric, "nsample") => 3.0,
        _ => 4.0 + step,
    }
}

fn constant(form: Form, value: f64) -> Value<'static> {
    if form == Form::Count { Value::Count(value as u64) } else { Value::Real(value) }
}

/// Draws one row by itself.
fn one(kind: Kind, dtype: Dtype, id: u64, values: &[Value<'static>]) -> Vec<u8> {
    let mut ids = Ids::from_u64(std::slice::from_ref(&id));
    let made: Made<'_> = kind.make(values).unwrap();
    let out = draw(&ids.column().unwrap(), &stream(), &made, dtype, Nulls::Kept).unwrap();
    rows(&out, dtype.size()).remove(0).unwrap()
}

/// Draws to memory of the caller's, and returns its rows, `None` for those that are null.
fn to_memory(
    ids: &headwater_arrow::Column<'_>,
    (kind, dtype): (Kind, Dtype),
    by: &[By<'_>],
) -> Vec<Option<Vec<u8>>> {
    let width = dtype.size();
    // As aligned as a caller's memory is.
    let mut words = vec![u64::MAX; (ids.len() * width).div_ceil(8)];
    // SAFETY: the words have so many bytes, of any bits, and are borrowed.
    let out = unsafe {
        core::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), ids.len() * width)
    };
    let mut null = vec![false; ids.len()];
    let mut mark = |start: usize, rows: &[bool]| {
        assert!(rows.contains(&true));
        null[start..start + rows.len()].copy_from_slice(rows);
    };
    let to = (kind, dtype);
    draw_by_row_to(ids, &stream(), to, by, Nulls::Kept, out, &mut mark).unwrap();
    let rows = out.chunks(width).zip(&null);
    rows.map(|(row, null)| {
        assert!(!null || row.iter().all(|byte| *byte == 0));
        (!null).then(|| row.to_vec())
    })
    .collect()
}

#[test]
fn every_kind_of_numbers_has_the_rows_own_parameters() {
    let len = if cfg!(miri) { 12 } else { 1030 };
    let mut kinds = 0;
    for kind in Kind::ALL {
        let parameters = kind.parameters();
        let plain = |form| matches!(form, Form::Real | Form::Count);
        if kind == Kind::Permutation
            || parameters.is_empty()
            || !parameters.iter().all(|one| plain(one.form))
        {
            continue;
        }
        let dtype = kind.types()[0].dtype;
        let values = |row: usize| -> Vec<Value<'static>> {
            let of = |(i, one): (usize, &headwater_streams::kinds::Parameter)| {
                constant(one.form, value(kind, i, row))
            };
            parameters.iter().enumerate().map(of).collect()
        };
        let Ok(made) = kind.make(&values(0)) else { panic!("{} refuses", kind.name()) };
        if made.dimension().is_some() {
            continue;
        }
        // Ids in no order with repeats, and in order, each with and without nulls in three places.
        for (nulls, in_order) in [(false, true), (true, true), (true, false)] {
            let id = |row: usize| if in_order { 5 + row } else { row * row * 31 % 127 };
            let is_null = |row: usize, every: usize| nulls && row % every == 4;
            let ids: Vec<_> =
                (0..len).map(|row| (!is_null(row, 7)).then(|| id(row) as i128)).collect();
            let ids = Built::integers("l", &ids, 0);
            let columns: Vec<Built> = parameters
                .iter()
                .enumerate()
                .map(|(i, one)| {
                    let of = |row: usize| (!is_null(row, 5 + i)).then(|| value(kind, i, row));
                    let values: Vec<Option<f64>> = (0..len).map(of).collect();
                    match (one.form, i % 2) {
                        (Form::Count, _) => {
                            let whole: Vec<_> =
                                values.iter().map(|v| v.map(|v| v as i128)).collect();
                            Built::integers(if i % 2 == 0 { "i" } else { "L" }, &whole, 0)
                        }
                        (_, 0) => reals(&values, 8),
                        _ => reals(&values, 4),
                    }
                })
                .collect();
            let checked: Vec<_> = columns.iter().map(|one| one.column().unwrap()).collect();
            let by: Vec<By<'_>> = checked.iter().map(By::Column).collect();
            let ids = ids.column().unwrap();
            let made = draw_by_row(&ids, &stream(), (kind, dtype), &by, Nulls::Kept).unwrap();
            let expected = (0..len).map(|row| {
                let some = !is_null(row, 7) && (0..by.len()).all(|i| !is_null(row, 5 + i));
                some.then(|| one(kind, dtype, id(row) as u64, &values(row)))
            });
            let expected: Vec<_> = expected.collect();
            let got = rows(&made, dtype.size());
            let differs = got.iter().zip(&expected).position(|(a, b)| a != b);
            assert_eq!(differs, None, "{} {nulls} {in_order}", kind.name());
            let to = to_memory(&ids, (kind, dtype), &by);
            assert_eq!(to, expected, "{} {nulls} {in_order}", kind.name());
            // A constant beside columns.
            let first = constant(parameters[0].form, value(kind, 0, 0));
            let mixed: Vec<By<'_>> =
                std::iter::once(By::Value(first)).chain(by[1..].iter().copied()).collect();
            let made = draw_by_row(&ids, &stream(), (kind, dtype), &mixed, Nulls::Kept).unwrap();
            let got = rows(&made, dtype.size());
            let row = 2;
            let mut own = values(row);
            own[0] = first;
            assert_eq!(got[row], Some(one(kind, dtype, id(row) as u64, &own)), "{}", kind.name());
        }
        kinds += 1;
    }
    assert!(kinds > 15, "{kinds} kinds");
}

fn refusal(by: &[By<'_>], nulls: Nulls) -> Error {
    let mut ids = Ids::from_u64(&[0, 1, 2]);
    let ids = ids.column().unwrap();
    draw_by_row(&ids, &stream(), (Kind::Beta, Dtype::F64), by, nulls).map(|_| ()).unwrap_err()
}

#[test]
fn wrong_parameters_are_errors_that_name_row_and_parameter() {
    let shapes = reals(&[Some(1.0), Some(-1.0), Some(2.0)], 8);
    let shapes = shapes.column().unwrap();
    let scale = By::Value(Value::Real(1.0));
    let error = refusal(&[By::Column(&shapes), scale], Nulls::Kept);
    assert!(matches!(error, Error::InRow { row: 1, name: "a", .. }), "{error}");
    let text = "a in row 1 of the batch must be a finite number above 0, not -1.0";
    assert_eq!(error.to_string(), text);

    let missing = reals(&[Some(1.0), None, Some(2.0)], 8);
    let missing = missing.column().unwrap();
    let error = refusal(&[By::Column(&missing), scale], Nulls::Refused);
    assert!(
        error.to_string().starts_with("a in row 1 of the batch must be a number, and not null")
    );

    let short = reals(&[Some(1.0)], 8);
    let short = short.column().unwrap();
    let error = refusal(&[By::Column(&short), scale], Nulls::Kept);
    assert_eq!(error, Error::Rows { first: 3, other: 1 });

    let texts = Built::texts("u", &[Some(b"a"), Some(b"b"), Some(b"c")]);
    let texts = texts.column().unwrap();
    let error = refusal(&[By::Column(&texts), scale], Nulls::Kept);
    assert_eq!(error, Error::Parameter { name: "a", need: "a column of numbers" });

    let error = refusal(&[scale], Nulls::Kept);
    assert_eq!(error, Error::Parameter { name: "by", need: "a value for each parameter" });

    let mut ids = Ids::from_u64(&[0, 1, 2]);
    let counts = Built::integers("l", &[Some(3), Some(4), Some(5)], 0);
    let by = [By::Column(&counts.column().unwrap())];
    let kind = (Kind::Permutation, Dtype::U64);
    let made = draw_by_row(&ids.column().unwrap(), &stream(), kind, &by, Nulls::Kept);
    let need = "one value for all rows";
    assert_eq!(made.map(|_| ()).unwrap_err(), Error::Parameter { name: "n", need });
}

/// A first batch without rows, or with nulls alone, must not pass what the next one would refuse.
#[test]
fn what_no_row_shows_is_refused() {
    let normal = |scale: f64| [By::Value(Value::Real(0.0)), By::Value(Value::Real(scale))];
    let refused = |rows: &[u64], dtype, by: &[By<'_>]| {
        let mut ids = Ids::from_u64(rows);
        let ids = ids.column().unwrap();
        let made = draw_by_row(&ids, &stream(), (Kind::ScaledNormal, dtype), by, Nulls::Kept);
        made.map(|_| ()).unwrap_err().to_string()
    };
    for rows in [&[][..], &[1, 2]] {
        let said = refused(rows, Dtype::F64, &normal(-1.0));
        assert_eq!(said, "deviation must be a finite number from 0");
        let said = refused(rows, Dtype::I64, &normal(1.0));
        assert!(said.contains("int64"), "{said}");
    }
    let nulls = Built::new("n", 2, 0, vec![]);
    let nulls = nulls.column().unwrap();
    let said = refused(&[1, 2], Dtype::I64, &[By::Column(&nulls), By::Value(Value::Real(1.0))]);
    assert!(said.contains("int64"), "{said}");
    // No row is to blame for a constant.
    let places = reals(&[Some(1.0), Some(2.0)], 8);
    let places = places.column().unwrap();
    let said = refused(&[1, 2], Dtype::F64, &[By::Column(&places), By::Value(Value::Real(-1.0))]);
    assert_eq!(said, "scale must be a finite number from 0");
}

/// The order of a kind's parameters does not show in which rows are null.
#[test]
fn a_row_with_a_null_is_null_whatever_else_it_has() {
    let mut ids = Ids::from_u64(&[0, 1, 2, 3]);
    let ids = ids.column().unwrap();
    let dtype = Kind::Binomial.types()[0].dtype;
    let counts = Built::integers("l", &[Some(-3), Some(4), None, Some(5)], 0);
    let counts = counts.column().unwrap();
    let chances = reals(&[None, Some(0.5), Some(7.0), Some(0.25)], 8);
    let chances = chances.column().unwrap();
    let by = [By::Column(&counts), By::Column(&chances)];
    let draw = |nulls| draw_by_row(&ids, &stream(), (Kind::Binomial, dtype), &by, nulls);
    let made = rows(&draw(Nulls::Kept).unwrap(), 8);
    assert_eq!(made.iter().map(Option::is_none).collect::<Vec<_>>(), [true, false, true, false]);
    let error = draw(Nulls::Refused).map(|_| ()).unwrap_err();
    assert!(
        error.to_string().starts_with("p in row 0 of the batch must be a number, and not null")
    );
}

#[test]
fn an_id_past_the_end_of_a_permutation_is_named() {
    let mut ids = Ids::from_u64(&[7, 1, 0, 8]);
    let by = [By::Value(Value::Count(8))];
    let kind = (Kind::Permutation, Dtype::U64);
    let made = draw_by_row(&ids.column().unwrap(), &stream(), kind, &by, Nulls::Kept);
    let error = made.map(|_| ()).unwrap_err();
    assert_eq!(error, Error::TooLarge { row: 3, value: 8, last: 7 });
}

#[test]
fn booleans_and_decimals_are_numbers() {
    let ids: Vec<u64> = (0..3000).collect();
    let mut ids = Ids::from_u64(&ids);
    let ids = ids.column().unwrap();
    let flags: Vec<Option<bool>> =
        (0..3000).map(|i| (i % 11 != 3).then_some(i * 7 % 5 < 2)).collect();
    let numbers: Vec<_> = flags.iter().map(|flag| flag.map(i128::from)).collect();
    // Bits that begin in the middle of a byte.
    let shifted = |bits: Vec<bool>| crate::built::bits(&[&[true; 5], bits.as_slice()].concat());
    let valid = shifted(flags.iter().map(Option::is_some).collect());
    let set = shifted(flags.iter().map(|flag| flag.unwrap_or(true)).collect());
    let flags = Built::new("b", 3000, 5, vec![valid, set]);
    let integers = Built::integers("l", &numbers, 0);
    let decimals = Built::integers("d:38,0", &numbers, 0);
    for kind in [Kind::ScaledNormal, Kind::Binomial] {
        let dtype = kind.types()[0].dtype;
        let made = |built: &Built| {
            let column = built.column().unwrap();
            let by = [By::Column(&column), By::Value(Value::Real(0.5))];
            rows(&draw_by_row(&ids, &stream(), (kind, dtype), &by, Nulls::Kept).unwrap(), 8)
        };
        let expected = made(&integers);
        assert_eq!(made(&flags), expected);
        assert_eq!(made(&decimals), expected);
        assert_eq!(expected.iter().filter(|row| row.is_none()).count(), 273);
    }
}

#[test]
fn an_error_after_other_batches_counts_their_rows() {
    let shapes = reals(&[Some(1.0), Some(-1.0), Some(2.0)], 8);
    let shapes = shapes.column().unwrap();
    let by = [By::Column(&shapes), By::Value(Value::Real(1.0))];
    let error = refusal(&by, Nulls::Kept).after(1000);
    assert!(error.to_string().starts_with("a in row 1001 of the batch must be"), "{error}");
    assert_eq!(Error::NoType("x").after(5), Error::NoType("x"));
    assert_eq!(Error::Null { row: 2 }.after(5), Error::Null { row: 7 });
    assert_eq!(Error::Null { row: 2 }.after(usize::MAX), Error::Null { row: usize::MAX });
}

#[test]
fn counts_are_whole_and_not_negative() {
    let mut ids = Ids::from_u64(&[0, 1]);
    let ids = ids.column().unwrap();
    let p = By::Value(Value::Real(0.5));
    let refused = |column: &Built| {
        let column = column.column().unwrap();
        let by = [By::Column(&column), p];
        let dtype = Kind::Binomial.types()[0].dtype;
        draw_by_row(&ids, &stream(), (Kind::Binomial, dtype), &by, Nulls::Kept)
            .map(|_| ())
            .unwrap_err()
    };
    let error = refused(&Built::integers("l", &[Some(3), Some(-2)], 0));
    let text = "n in row 1 of the batch must be a whole number from 0 to 2^64 - 1, not -2";
    assert_eq!(error.to_string(), text);
    let error = refused(&Built::integers("d:38,0", &[Some(i128::MIN), Some(3)], 0));
    let text = "n in row 0 of the batch must be a whole number from 0 to 2^64 - 1, not -1701411834\
                60469231731687303715884105728";
    assert_eq!(error.to_string(), text);
    let error = refused(&reals(&[Some(3.0), Some(2.0)], 8));
    assert_eq!(error, Error::Parameter { name: "n", need: "a column of integers" });
}

/// A loop has counts as floats, so those that no float has go the other way, with the same numbers.
#[test]
fn counts_beyond_floats_are_the_rows_own() {
    let (kind, dtype) = (Kind::Binomial, Kind::Binomial.types()[0].dtype);
    let many = 1_u64 << 53;
    let mut ids = Ids::from_u64(&[3, 4, 5, 6]);
    let ids = ids.column().unwrap();
    let chances = reals(&[Some(0.25), Some(0.5), Some(0.75), Some(0.125)], 8);
    let chances = chances.column().unwrap();
    let p = [0.25, 0.5, 0.75, 0.125];
    for counts in [[many, 2, 3, 4], [many, many + 1, 1 << 60, 3], [many + 1; 4], [many; 4]] {
        let column: Vec<_> = counts.iter().map(|&n| Some(i128::from(n))).collect();
        let column = Built::integers("L", &column, 0);
        let column = column.column().unwrap();
        let mut all = vec![By::Column(&column)];
        if counts == [counts[0]; 4] {
            all.push(By::Value(Value::Count(counts[0])));
        }
        for n in all {
            let by = [n, By::Column(&chances)];
            let made = draw_by_row(&ids, &stream(), (kind, dtype), &by, Nulls::Kept).unwrap();
            for (row, got) in rows(&made, dtype.size()).into_iter().enumerate() {
                let values = [Value::Count(counts[row]), Value::Real(p[row])];
                assert_eq!(got, Some(one(kind, dtype, 3 + row as u64, &values)), "{counts:?}");
            }
        }
    }
}

#[test]
fn memory_of_another_length_is_an_error() {
    let mut ids = Ids::from_u64(&[0, 1]);
    let ids = ids.column().unwrap();
    let means = reals(&[Some(1.0), Some(2.0)], 8);
    let by = [By::Column(&means.column().unwrap())];
    let kind = (Kind::ScaledExponential, Dtype::F64);
    for bytes in [0, 8, 15, 24] {
        let mut out = vec![0; bytes];
        let done =
            draw_by_row_to(&ids, &stream(), kind, &by, Nulls::Kept, &mut out, &mut |_, _| ());
        assert_eq!(done, Err(Error::Rows { first: 2, other: bytes / 8 }));
    }
}

/// Both ways of a block: with ids that count up, and with ids in no order.
#[test]
fn values_under_nulls_are_zero_and_scales_have_a_sign() {
    let scales = [Some(1.0), None, Some(3.0), None, Some(5.0)];
    let dtypes = [(Kind::ScaledNormal, 1.0), (Kind::Weibull, 1.0), (Kind::StudentT, 2.0)];
    for ids in [[0, 1, 2, 3, 4], [9, 1, 7, 3, 3]] {
        for (kind, factor) in dtypes {
            let values: Vec<_> = scales.map(|scale| scale.map(|scale| scale * factor)).to_vec();
            let column = reals(&values, 8);
            let column = column.column().unwrap();
            let place = (kind.parameters().len() == 2).then_some(By::Value(Value::Real(0.0)));
            let by: Vec<By<'_>> = place.into_iter().chain([By::Column(&column)]).collect();
            let mut ids = Ids::from_u64(&ids);
            let ids = ids.column().unwrap();
            let made = draw_by_row(&ids, &stream(), (kind, Dtype::F64), &by, Nulls::Kept).unwrap();
            assert_eq!(made.null_count(), 2);
            for row in 0..5 {
                // SAFETY: the result has 8 bytes for each row.
                let bits = unsafe { made.buffers().1.cast::<u64>().add(row).read() };
                assert_eq!(bits == 0, row % 2 == 1, "{} in row {row}", kind.name());
            }
            let wrong = reals(&[Some(1.0), Some(2.0), Some(-3.0), Some(-0.0), None], 8);
            let wrong = wrong.column().unwrap();
            let by: Vec<By<'_>> = place.into_iter().chain([By::Column(&wrong)]).collect();
            let made = draw_by_row(&ids, &stream(), (kind, Dtype::F64), &by, Nulls::Kept);
            let error = made.map(|_| ()).unwrap_err();
            assert!(matches!(error, Error::InRow { row: 2, .. }), "{}: {error}", kind.name());
        }
    }
}

/// Values at the ends of each parameter's range and outside of it, of each type of elements, in a
/// run of ids and in no order: the loops over blocks take and refuse what a draw alone does.
#[test]
fn ends_of_ranges_are_those_of_a_draw_alone() {
    let tiny = f64::from_bits(1);
    let edges = [0.0, -0.0, 1.0, -1.0, tiny, 1e308, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let (mut taken, mut refused) = (0, 0);
    for kind in Kind::ALL {
        let parameters = kind.parameters();
        let is_real = parameters.iter().all(|one| one.form == Form::Real);
        if parameters.is_empty() || !is_real {
            continue;
        }
        let base: Vec<f64> = (0..parameters.len()).map(|i| value(kind, i, 0)).collect();
        for one_type in kind.types() {
            let dtype = one_type.dtype;
            if headwater_arrow::format_of(dtype).is_err() {
                continue;
            }
            for (parameter, edge) in (0..parameters.len()).flat_map(|i| edges.map(|edge| (i, edge)))
            {
                let mut row = base.clone();
                row[parameter] = edge;
                let values: Vec<_> = row.iter().map(|x| Value::Real(*x)).collect();
                let alone = kind.make(&values).and_then(|made| made.fits(dtype)).is_ok();
                let columns: Vec<Built> = (0..parameters.len())
                    .map(|i| reals(&[Some(base[i]), Some(row[i]), Some(base[i])], 8))
                    .collect();
                let columns: Vec<_> = columns.iter().map(|one| one.column().unwrap()).collect();
                let by: Vec<By<'_>> = columns.iter().map(By::Column).collect();
                for ids in [[4, 5, 6], [9, 5, 1]] {
                    let mut ids = Ids::from_u64(&ids);
                    let ids = ids.column().unwrap();
                    let made = draw_by_row(&ids, &stream(), (kind, dtype), &by, Nulls::Kept);
                    let what = format!("{} {dtype:?} {parameter} {edge}", kind.name());
                    assert_eq!(made.is_ok(), alone, "{what}");
                    match made {
                        Ok(made) => {
                            let got = rows(&made, dtype.size()).swap_remove(1).unwrap();
                            assert_eq!(got, one(kind, dtype, 5, &values), "{what}");
                            taken += 1;
                        }
                        Err(_) => refused += 1,
                    }
                }
                if cfg!(miri) {
                    break;
                }
            }
        }
    }
    assert!(taken > 30 && refused > 10, "{taken} taken, {refused} refused");
}

/// A constant of another form than its parameter's is refused, and not taken for 0.
#[test]
fn a_constant_of_another_form_is_an_error() {
    let mut ids = Ids::from_u64(&[0, 1, 2]);
    let places = reals(&[Some(1.0), Some(2.0), Some(3.0)], 4);
    let by = [By::Column(&places.column().unwrap()), By::Value(Value::Count(2))];
    let kind = (Kind::ScaledNormal, Dtype::F64);
    let made = draw_by_row(&ids.column().unwrap(), &stream(), kind, &by, Nulls::Kept);
    assert!(made.is_err());
}
