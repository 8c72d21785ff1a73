//! Samples, splits and orders against their definitions, word by word.

use crate::built::{Built, rows};
use crate::values::stream;
use headwater_arrow::{
    Error, Nulls, Output, Parts, draw, draw_to, order, order_to, sample, sample_to, split, split_to,
};
use headwater_streams::kinds::{Dtype, Kind, Value};

fn words(ids: &[Option<i128>]) -> Vec<Option<u64>> {
    let word = |id: i128| {
        let mut word = [0];
        stream().u64_at(&[id as u64], &mut word).unwrap();
        word[0]
    };
    ids.iter().map(|id| id.map(word)).collect()
}

fn ids() -> Vec<Option<i128>> {
    let many = if cfg!(miri) { 60 } else { 5000 };
    let id = |i: i128| (i % 11 != 5).then_some(if i % 300 < 200 { i } else { i * i });
    (0..many).map(id).collect()
}

fn booleans(output: &Output) -> Vec<Option<bool>> {
    let (validity, values) = output.buffers();
    // SAFETY: the result has a bit for each row in both buffers.
    let bit = |at: std::ptr::NonNull<u8>, row: usize| unsafe { *at.as_ptr().add(row / 8) } >> (row % 8) & 1 == 1;
    let row = |row| validity.is_none_or(|bits| bit(bits, row)).then(|| bit(values, row));
    (0..output.len()).map(row).collect()
}

#[test]
fn a_sample_has_the_rows_whose_word_is_below_the_share() {
    let ids = ids();
    let built = Built::integers("l", &ids, 2);
    let column = built.column().unwrap();
    for p in [0.0, 1e-300, 0.01, 0.1, 0.5, 0.9999999999999999, 1.0] {
        let out = booleans(&sample(&column, &stream(), p, Nulls::Kept).unwrap());
        // p * 2^64 rounded up, in whole numbers: p is m * 2^e.
        let bits = f64::to_bits(p);
        let (m, e) = ((bits & ((1 << 52) - 1)) | 1 << 52, (bits >> 52) as i32 - 1075 + 64);
        let most = match e {
            _ if p == 0.0 => 0,
            0.. => u128::from(m) << e,
            -127..0 => u128::from(m).div_ceil(1 << -e),
            _ => 1,
        };
        let expected: Vec<_> =
            words(&ids).into_iter().map(|word| word.map(|word| u128::from(word) < most)).collect();
        assert_eq!(out, expected, "{p}");
    }
    for p in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let error = sample(&column, &stream(), p, Nulls::Kept).unwrap_err();
        assert_eq!(error.to_string(), "p must be a number from 0 to 1");
    }
}

#[test]
fn a_part_is_where_the_word_lies_between_the_borders() {
    let ids = ids();
    let built = Built::integers("l", &ids, 0);
    let column = built.column().unwrap();
    let parts = |parts: Parts<'_>| {
        let out = split(&column, &stream(), parts, Nulls::Kept).unwrap();
        rows(&out, 1).into_iter().map(|row| row.map(|row| row[0])).collect::<Vec<_>>()
    };
    for n in [1, 2, 10, 256] {
        let of = |word: u64| ((u128::from(word) * u128::from(n)) >> 64) as u8;
        let expected: Vec<_> = words(&ids).into_iter().map(|word| word.map(of)).collect();
        assert_eq!(parts(Parts::Equal(n)), expected);
    }
    let of = |word: u64| {
        u8::from(word >= 0xcccc_cccc_cccc_d000) + u8::from(word >= 0xe666_6666_6666_6800)
    };
    let expected: Vec<_> = words(&ids).into_iter().map(|word| word.map(of)).collect();
    assert_eq!(parts(Parts::Shares(&[0.8, 0.1, 0.1])), expected);
    // Ten tenths are ten equal parts but for words at a border, of which there are none here.
    assert_eq!(parts(Parts::Shares(&[0.1; 10])), parts(Parts::Equal(10)));
    for wrong in [
        Parts::Equal(0),
        Parts::Equal(257),
        Parts::Shares(&[]),
        Parts::Shares(&[0.5, 0.4]),
        Parts::Shares(&[1.5, -0.5]),
        Parts::Shares(&[f64::NAN]),
        Parts::Shares(&[1.0 / 257.0; 257]),
    ] {
        let error = split(&column, &stream(), wrong, Nulls::Kept).unwrap_err();
        assert!(matches!(error, Error::Parameter { name: "parts", .. }), "{wrong:?}");
    }
}

#[test]
fn a_word_at_a_border_is_above_it() {
    // A share is a double, so only a word whose last 11 bits are 0 can be a border.
    let all: Vec<Option<i128>> = (0..if cfg!(miri) { 0 } else { 20_000 }).map(Some).collect();
    let mut tried = 0;
    for (id, word) in all.iter().zip(words(&all)) {
        let word = word.unwrap();
        if word % 2048 != 0 {
            continue;
        }
        let share = word as f64 / 2_f64.powi(64);
        let built = Built::integers("l", &[*id], 0);
        let column = built.column().unwrap();
        for (share, is_in) in [(share, false), (share.next_up(), true)] {
            let chosen = sample(&column, &stream(), share, Nulls::Kept).unwrap();
            assert_eq!(booleans(&chosen), [Some(is_in)], "{id:?} {share}");
            let parts = Parts::Shares(&[share, 1.0 - share]);
            let part = split(&column, &stream(), parts, Nulls::Kept).unwrap();
            assert_eq!(rows(&part, 1), [Some(vec![u8::from(!is_in)])], "{id:?} {share}");
        }
        tried += 1;
    }
    assert!(tried > 3 || cfg!(miri), "{tried}");
}

#[test]
fn an_order_is_the_words() {
    let ids = ids();
    let built = Built::integers("l", &ids, 7);
    let out = order(&built.column().unwrap(), &stream(), Nulls::Kept).unwrap();
    let expected: Vec<_> =
        words(&ids).into_iter().map(|word| word.map(|word| word.to_le_bytes().to_vec())).collect();
    assert_eq!(rows(&out, 8), expected);
}

/// Returns the rows that are written to memory of a caller's, aligned for all types.
fn given(
    width: usize,
    len: usize,
    write: impl FnOnce(&mut [u8], &mut dyn FnMut(usize, &[bool])) -> Result<(), Error>,
) -> Result<Vec<Option<Vec<u8>>>, Error> {
    let mut room = vec![u64::MAX; (width * len).div_ceil(8)];
    let bytes: &mut [u8] = {
        // SAFETY: these are the bytes of the words, which stay borrowed.
        unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), width * len) }
    };
    let mut is_null = vec![false; len];
    write(bytes, &mut |start, rows| is_null[start..start + rows.len()].copy_from_slice(rows))?;
    let row = |(row, null): (&[u8], &bool)| {
        assert!(!null || row.iter().all(|byte| *byte == 0));
        (!null).then(|| row.to_vec())
    };
    Ok(bytes.chunks(width).zip(&is_null).map(row).collect())
}

#[test]
fn memory_of_the_caller_gets_the_same_columns() {
    let ids = ids();
    let built = Built::integers("l", &ids, 2);
    let column = built.column().unwrap();
    let (stream, len, kept) = (stream(), ids.len(), Nulls::Kept);

    let of = |output: &Output, width| rows(output, width);
    let words = given(8, len, |out, null| order_to(&column, &stream, kept, out, null)).unwrap();
    assert_eq!(words, of(&order(&column, &stream, kept).unwrap(), 8));
    for parts in [Parts::Equal(10), Parts::Shares(&[0.5, 0.25, 0.25])] {
        let made = given(1, len, |out, null| split_to(&column, &stream, parts, kept, out, null));
        assert_eq!(made.unwrap(), of(&split(&column, &stream, parts, kept).unwrap(), 1));
    }
    for p in [0.0, 0.3, 1.0] {
        let made = given(1, len, |out, null| sample_to(&column, &stream, p, kept, out, null));
        let right = booleans(&sample(&column, &stream, p, kept).unwrap());
        let right: Vec<_> = right.iter().map(|bit| bit.map(|bit| vec![u8::from(bit)])).collect();
        assert_eq!(made.unwrap(), right);
    }
    let normal = Kind::Normal.make(&[]).unwrap();
    for (dtype, width) in [(Dtype::F64, 8), (Dtype::F32, 4)] {
        let how = (&normal, dtype);
        let made = given(width, len, |out, null| draw_to(&column, &stream, how, kept, out, null));
        assert_eq!(
            made.unwrap(),
            of(&draw(&column, &stream, &normal, dtype, kept).unwrap(), width)
        );
    }

    let short = given(8, len - 1, |out, null| order_to(&column, &stream, kept, out, null));
    assert_eq!(short.unwrap_err(), Error::Rows { first: len, other: len - 1 });
    let vectors = Kind::Dirichlet.make(&[Value::Reals(&[1.0, 2.0])]).unwrap();
    let how = (&vectors, Dtype::F64);
    let refused = given(8, len, |out, null| draw_to(&column, &stream, how, kept, out, null));
    assert!(matches!(refused.unwrap_err(), Error::NoType(_)));
    let refused = given(1, len, |out, null| sample_to(&column, &stream, 1.5, kept, out, null));
    assert!(matches!(refused.unwrap_err(), Error::Parameter { name: "p", .. }));
}
