//! Conditions that meet: slices, nulls, dictionaries, and columns of more than one block.

use crate::built::{Built, bits, rows};
use crate::values::stream;
use headwater_arrow::{Ids, Nulls, Parts, draw, key_of, sample, split, xxh64};
use headwater_streams::kinds::{Dtype, Kind};

/// Rows that are not part of a column, before its first.
const BEFORE: usize = 3;

fn many() -> usize {
    if cfg!(miri) { 20 } else { 1500 }
}

/// Cuts off the first rows of a column, as a slice of another program's does.
fn sliced(mut built: Built) -> Built {
    built.array.offset = BEFORE as i64;
    built.array.length -= BEFORE as i64;
    built
}

fn keys(built: &Built) -> Vec<Option<u64>> {
    let keys = key_of(&[built.column().unwrap()], Nulls::Kept).unwrap();
    let key = |row: Vec<u8>| u64::from_le_bytes(row.try_into().unwrap());
    rows(&keys, 8).into_iter().map(|row| row.map(key)).collect()
}

#[test]
fn keys_of_slices_with_nulls_are_those_of_their_values() {
    let all = many() + BEFORE;
    let text =
        |i: usize| format!("{}{i}", "a text of a view's buffer, ".repeat(i % 2)).into_bytes();
    let is_null = |i: usize| i % 7 == 4;
    let texts: Vec<Vec<u8>> = (0..all).map(text).collect();
    let slices: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let some: Vec<_> = (0..all).map(|i| (!is_null(i)).then_some(slices[i])).collect();
    let key = |bytes: &[u8]| Some(xxh64(bytes, 42) >> 1);
    let expected: Vec<_> = some[BEFORE..].iter().map(|text| text.and_then(key)).collect();
    for format in ["u", "U"] {
        assert_eq!(keys(&sliced(Built::texts(format, &some))), expected, "{format}");
    }
    let places: Vec<_> = (0..all).map(|i| (!is_null(i)).then_some(i as i128)).collect();
    let plain: Vec<_> = slices.iter().map(|text| Some(*text)).collect();
    let dictionary = Built::integers("i", &places, 0).with_values(Built::texts("u", &plain));
    assert_eq!(keys(&sliced(dictionary)), expected);

    let views: Vec<_> = slices[BEFORE..].iter().map(|text| key(text)).collect();
    assert_eq!(keys(&sliced(Built::views("vu", &slices))), views);

    let flags: Vec<bool> = (0..all).map(|i| i * 7 % 11 < 4).collect();
    let valid: Vec<bool> = (0..all).map(|i| !is_null(i)).collect();
    let flag = |i: usize| key(&u32::from(flags[i]).to_le_bytes()).filter(|_| valid[i]);
    let expected: Vec<_> = (BEFORE..all).map(flag).collect();
    let booleans = Built::new("b", all, 0, vec![bits(&valid), bits(&flags)]);
    assert_eq!(keys(&sliced(booleans)), expected);
}

#[test]
fn values_under_nulls_are_zero() {
    let ids: Vec<_> = (0..many() as i128).map(|i| (i % 5 != 2).then_some(i + 1)).collect();
    let built = Built::integers("l", &ids, 1);
    let column = built.column().unwrap();
    let normal = Kind::Normal.make(&[]).unwrap();
    let drawn = draw(&column, &stream(), &normal, Dtype::F64, Nulls::Kept).unwrap();
    let parts = split(&column, &stream(), Parts::Equal(256), Nulls::Kept).unwrap();
    let chosen = sample(&column, &stream(), 1.0, Nulls::Kept).unwrap();
    let made = key_of(&[built.column().unwrap()], Nulls::Kept).unwrap();
    for (row, id) in ids.iter().enumerate() {
        // SAFETY: two results have 8 bytes for each row, one has a byte, and one a bit.
        let (value, key, part, bit) = unsafe {
            (
                drawn.buffers().1.cast::<f64>().add(row).read(),
                made.buffers().1.cast::<u64>().add(row).read(),
                parts.buffers().1.add(row).read(),
                chosen.buffers().1.add(row / 8).read() >> (row % 8) & 1,
            )
        };
        assert_eq!(bit == 1, id.is_some(), "{row}");
        assert_eq!(value.to_bits() == 0, id.is_none(), "{row}");
        assert_eq!(key == 0, id.is_none(), "{row}");
        assert!(part == 0 || id.is_some(), "{row}");
    }
}

#[test]
fn a_count_of_nulls_decides_whether_their_bits_are_read() {
    let ids = [Some(4), None, Some(6)];
    let normal = Kind::Normal.make(&[]).unwrap();
    let draws = |built: &Built| {
        let column = built.column().unwrap();
        rows(&draw(&column, &stream(), &normal, Dtype::F64, Nulls::Kept).unwrap(), 8)
    };
    let mut counted = Built::integers("l", &ids, 2);
    let unknown = draws(&counted);
    assert!(unknown[1].is_none());
    counted.array.null_count = 1;
    assert_eq!(draws(&counted), unknown);
    // A producer that counted none may leave anything in the bits.
    let mut none = Built::new("l", 2, 0, vec![vec![0], [4_i64, 6].map(i64::to_le_bytes).concat()]);
    none.array.null_count = 0;
    assert_eq!(draws(&none), [unknown[0].clone(), unknown[2].clone()]);
}

#[test]
fn columns_of_one_key_share_no_words() {
    use headwater_arrow::label::{drawn, named, purpose};
    use headwater_streams::kinds::Kind;
    let key = headwater_streams::Key::from_seed(42);
    let mut words = std::collections::BTreeSet::new();
    // A column may have the name of a function, and its name under a purpose.
    let keys = [
        key,
        named(&key, "sample"),
        named(&key, "normal"),
        named(&key, "noise"),
        drawn(&key, Kind::Normal, None),
        drawn(&key, Kind::Uniform, None),
        purpose(&key, "sample", None),
        purpose(&key, "split", None),
        purpose(&key, "sample", Some("sample")),
        purpose(&key, "sample", Some("noise")),
        purpose(&key, "split", Some("noise")),
    ];
    for key in &keys {
        let mut word = [0; 2];
        key.stream(0).unwrap().fill_u64(0, &mut word).unwrap();
        assert!(words.insert(word));
    }
    let noise = drawn(&key, Kind::Normal, Some("noise")).stream(0).unwrap();
    let mut word = [0; 2];
    noise.fill_u64(0, &mut word).unwrap();
    assert!(!words.insert(word), "a name alone decides, whatever the kind");

    // A sample of a hundredth of one stream lies in the first of its ten parts.
    let (many, share) = if cfg!(miri) { (200, 0.09) } else { (20_000, 0.01) };
    let ids: Vec<i64> = (0..many).collect();
    let parts_of = |sampled: &headwater_streams::Stream, parted: &headwater_streams::Stream| {
        let mut column = Ids::from_i64(&ids);
        let column = column.column().unwrap();
        let chosen = rows_of_bits(&sample(&column, sampled, share, Nulls::Kept).unwrap());
        let parts = split(&column, parted, Parts::Equal(10), Nulls::Kept).unwrap();
        let parts = rows(&parts, 1).into_iter().map(|row| row.unwrap()[0]);
        let parts = parts.zip(chosen).filter(|(_, chosen)| *chosen).map(|(part, _)| part);
        parts.collect::<std::collections::BTreeSet<_>>().len()
    };
    let one = key.stream(0).unwrap();
    let own = |name| purpose(&key, name, None).stream(0).unwrap();
    assert_eq!(parts_of(&one, &one), 1);
    assert!(parts_of(&own("sample"), &own("split")) > if cfg!(miri) { 1 } else { 9 });
}

fn rows_of_bits(output: &headwater_arrow::Output) -> Vec<bool> {
    // SAFETY: the result has a bit for each row.
    let bit = |row: usize| unsafe { output.buffers().1.add(row / 8).read() } >> (row % 8) & 1 == 1;
    (0..output.len()).map(bit).collect()
}

/// Columns of two huge pages and more lie in a mapping, small ones in malloc's memory, and their
/// ids are read in place or, beside a null, copied. Each has the values of a plain fill.
#[test]
fn columns_in_a_mapping_have_the_streams_values() {
    let len = if cfg!(miri) { 50 } else { 600_001 };
    let mut plain = vec![0.0; len];
    stream().fill_normal_f64(7, &mut plain).unwrap();
    let made = Kind::Normal.make(&[]).unwrap();
    // A null in the last block, and rows shifted by one within their buffer.
    for (null, offset) in [(None, 0), (None, 1), (Some(len - 3), 0), (Some(len - 3), 1)] {
        let is_null = |i: usize| Some(i) == null;
        let ids: Vec<_> = (0..len).map(|i| (!is_null(i)).then_some(7 + i as i128)).collect();
        let built = Built::integers("l", &ids, offset);
        let column = built.column().unwrap();
        let out = draw(&column, &stream(), &made, Dtype::F64, Nulls::Kept).unwrap();
        let value = |(i, x): (usize, &f64)| (!is_null(i)).then(|| x.to_le_bytes().to_vec());
        let expected: Vec<_> = plain.iter().enumerate().map(value).collect();
        assert!(rows(&out, 8) == expected, "{null:?} {offset}");
    }
}

/// A producer may align its buffers to nothing, so ids cannot always be read where they lie.
#[test]
fn ids_at_odd_addresses_have_the_values_of_their_numbers() {
    let made = Kind::Uniform.make(&[]).unwrap();
    let ids: Vec<u64> = (0..40).map(|i| i * i * 31 % 1000).collect();
    let mut expected = vec![0.0; ids.len()];
    stream().f64_at(&ids, &mut expected).unwrap();
    let expected: Vec<_> = expected.iter().map(|x| Some(x.to_le_bytes().to_vec())).collect();
    let values: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    for odd in 0..8 {
        let mut bytes = vec![0xAA; odd];
        bytes.extend(&values);
        let built = Built::new("L", ids.len(), 0, vec![Vec::new(), bytes.clone()]);
        // SAFETY: the column has two buffers. The second one begins `odd` bytes later now, and has
        // so many more.
        unsafe { *built.array.buffers.add(1) = (*built.array.buffers.add(1)).byte_add(odd) };
        let out = draw(&built.column().unwrap(), &stream(), &made, Dtype::F64, Nulls::Kept);
        assert_eq!(rows(&out.unwrap(), 8), expected, "{odd}");
    }
}
