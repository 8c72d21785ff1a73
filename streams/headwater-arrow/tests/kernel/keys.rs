//! `key_of` against hashes that Spark made.

use crate::built::{Built, rows};
use headwater_arrow::{Error, Nulls, key_of, xxh64};

/// Returns the keys of the columns.
fn keys(columns: &[Built]) -> Vec<Option<u64>> {
    let columns: Vec<_> = columns.iter().map(|built| built.column().unwrap()).collect();
    let key = |row: Vec<u8>| u64::from_le_bytes(row.try_into().unwrap());
    rows(&key_of(&columns, Nulls::Kept).unwrap(), 8).into_iter().map(|row| row.map(key)).collect()
}

#[test]
fn keys_are_half_of_sparks_hashes() {
    let file = include_str!("../../../vectors/keys_of.json");
    let file: serde_json::Value = serde_json::from_str(file).unwrap();
    let cases = file["cases"].as_array().unwrap();
    for case in cases {
        let columns: Vec<Built> = case["columns"].as_array().unwrap().iter().map(column).collect();
        let hash = case["xxhash64"].as_str().unwrap().parse::<i64>().unwrap() as u64;
        assert_eq!(keys(&columns), [Some(hash >> 1)], "{case}");
    }
    assert!(cases.len() >= 40);
}

/// Makes a column of one row of a case.
fn column(value: &serde_json::Value) -> Built {
    let (kind, value) = (value["type"].as_str().unwrap(), &value["value"]);
    let integer = || value.as_str().map(|text| text.parse::<i128>().unwrap());
    match kind {
        "text" => Built::texts("u", &[value.as_str().map(str::as_bytes)]),
        "binary" => {
            let digits = value.as_str().unwrap().as_bytes().chunks(2);
            let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16);
            let bytes: Vec<u8> = digits.map(|two| byte(two).unwrap()).collect();
            Built::texts("z", &[Some(&bytes)])
        }
        "bigint" => Built::integers("l", &[integer()], 0),
        "date" => Built::integers("tdD", &[integer()], 0),
        "timestamp" => Built::integers("tsu:UTC", &[integer()], 0),
        "boolean" => {
            let bit = value.as_bool().unwrap();
            Built::new("b", 1, 0, vec![vec![], vec![u8::from(bit)]])
        }
        other => panic!("{other}"),
    }
}

#[test]
fn one_value_has_one_key_in_every_form() {
    let texts: [&[u8]; 4] = [b"", b"user 12", b"more than twelve bytes", &[b'x'; 100]];
    let some = texts.map(Some);
    let expected: Vec<_> = texts.iter().map(|text| Some(xxh64(text, 42) >> 1)).collect();
    for format in ["u", "z", "U", "Z"] {
        assert_eq!(keys(&[Built::texts(format, &some)]), expected, "{format}");
    }
    for format in ["vu", "vz"] {
        assert_eq!(keys(&[Built::views(format, &texts)]), expected, "{format}");
    }
    let places = [Some(3), Some(0), None, Some(1)];
    let dictionary = Built::integers("i", &places, 0).with_values(Built::texts("u", &some));
    assert_eq!(keys(&[dictionary]), [expected[3], expected[0], None, expected[1]]);
    let fixed = Built::new("w:7", 1, 1, vec![vec![], b"garbageuser 12".to_vec()]);
    assert_eq!(keys(&[fixed]), [expected[1]]);

    let numbers = [Some(-5), Some(0), Some(100)];
    let expected = keys(&[Built::integers("l", &numbers, 0)]);
    for format in ["c", "s", "i", "d:38,0"] {
        assert_eq!(keys(&[Built::integers(format, &numbers, 2)]), expected, "{format}");
    }
    let times = [Some(-1_500_000_000), Some(0), Some(3_000_000_000)];
    let scaled = |by: i128| times.map(|time| time.map(|time| time / by));
    let expected = keys(&[Built::integers("tsn:", &times, 0)]);
    assert_eq!(keys(&[Built::integers("tsu:", &scaled(1000), 0)]), expected);
    assert_eq!(keys(&[Built::integers("tsm:", &scaled(1_000_000), 0)]), expected);
    let days = keys(&[Built::integers("tdD", &[Some(-3)], 0)]);
    assert_eq!(keys(&[Built::integers("tdm", &[Some(-3 * 86_400_000)], 0)]), days);
}

#[test]
fn a_null_is_skipped_and_a_row_of_nulls_is_null() {
    let texts: [Option<&[u8]>; 3] = [Some(b"a"), None, None];
    let columns = [Built::texts("u", &texts), Built::integers("l", &[None, Some(7), None], 0)];
    let alone = keys(&[Built::integers("l", &[Some(7)], 0)]);
    assert_eq!(keys(&columns), [Some(xxh64(b"a", 42) >> 1), alone[0], None]);
    let columns: Vec<_> = columns.iter().map(|built| built.column().unwrap()).collect();
    assert_eq!(key_of(&columns, Nulls::Refused).unwrap_err(), Error::Null { row: 2 });
}

#[test]
fn values_without_one_form_are_refused() {
    let refused = |columns: &[Built]| {
        let columns: Vec<_> = columns.iter().map(|built| built.column().unwrap()).collect();
        key_of(&columns, Nulls::Kept).unwrap_err()
    };
    for format in ["g", "d:9,2", "ttu", "+l"] {
        let built = Built::new(format, 1, 0, vec![vec![], vec![0; 16]]);
        assert!(matches!(refused(&[built]), Error::NoKey(_)), "{format}");
    }
    for (format, value) in
        [("tsn:", 1001), ("tss:", i128::from(i64::MAX)), ("tdm", 1), ("d:38,0", 1 << 65)]
    {
        let error = refused(&[Built::integers(format, &[Some(0), Some(value)], 0)]);
        assert!(matches!(error, Error::Inexact { row: 1, .. }), "{format}: {error:?}");
    }
    let pair = [Built::integers("l", &[Some(1)], 0), Built::integers("l", &[], 0)];
    assert_eq!(refused(&pair), Error::Rows { first: 1, other: 0 });
    assert!(matches!(refused(&[]), Error::Parameter { .. }));
}

#[test]
fn hashes_are_the_authors() {
    // xxHash's own test program: the bytes of its generator, with seed 0 and with its prime.
    let mut state = 0x9E37_79B1_u64;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        let byte = (state >> 56) as u8;
        state = state.wrapping_mul(0x9E37_79B1_85EB_CA8D);
        byte
    })
    .take(222)
    .collect();
    let prime = 0x9E37_79B1;
    for (len, seed, hash) in [
        (0, 0, 0xEF46_DB37_51D8_E999_u64),
        (0, prime, 0xAC75_FDA2_929B_17EF),
        (1, 0, 0xE934_A84A_DB05_2768),
        (1, prime, 0x5014_6076_43A9_B4C3),
        (4, 0, 0x9136_A0DC_A574_57EE),
        (14, 0, 0x8282_DCC4_994E_35C8),
        (14, prime, 0xC3BD_6BF6_3DEB_6DF0),
        (222, 0, 0xB641_AE8C_B691_C174),
        (222, prime, 0x20CB_8AB7_AE10_C14A),
    ] {
        assert_eq!(xxh64(&bytes[..len], seed), hash, "{len} {seed}");
    }
}
