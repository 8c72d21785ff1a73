//! Structs that contradict the specification: an error each, and never a read outside.

use crate::built::Built;
use crate::values::stream;
use headwater_arrow::{Error, Nulls, key_of, sample};
use std::ptr;

fn fault(change: impl FnOnce(&mut Built)) -> &'static str {
    let mut built = Built::integers("l", &[Some(1), Some(2)], 0);
    change(&mut built);
    match built.column().err() {
        Some(Error::Malformed(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn wrong_structs_are_errors() {
    assert!(fault(|b| b.array.release = None).contains("released"));
    assert!(fault(|b| b.schema.release = None).contains("released"));
    assert!(fault(|b| b.schema.format = ptr::null()).contains("no format"));
    assert!(fault(|b| b.array.length = -1).contains("negative"));
    assert!(fault(|b| b.array.offset = -1).contains("negative"));
    assert!(fault(|b| b.array.length = i64::MAX).contains("more rows"));
    assert!(fault(|b| b.array.offset = i64::MAX).contains("more rows"));
    assert!(fault(|b| b.array.length = 1 << 60).contains("more rows"));
    assert!(fault(|b| b.array.n_buffers = 1).contains("number of buffers"));
    assert!(fault(|b| b.array.n_buffers = 3).contains("number of buffers"));
    assert!(fault(|b| b.array.n_buffers = -1).contains("number of buffers"));
    assert!(fault(|b| b.array.buffers = ptr::null_mut()).contains("no list"));
    assert!(fault(|b| b.array.null_count = 3).contains("more nulls"));
    assert!(fault(|b| b.array.null_count = -2).contains("fewer"));
    assert!(fault(|b| b.array.null_count = 1).contains("no buffer that says which"));
    assert!(fault(|b| b.array.n_children = 1).contains("children"));
    // SAFETY: the list of buffers has two places.
    let without_data = |b: &mut Built| unsafe { *b.array.buffers.add(1) = ptr::null() };
    assert!(fault(without_data).contains("no buffer of their values"));
}

#[test]
fn rows_without_memory_are_fine_if_there_are_none() {
    let built = Built::integers("l", &[], 0);
    // SAFETY: the list of buffers has two places.
    unsafe { *built.array.buffers.add(1) = ptr::null() };
    let out = sample(&built.column().unwrap(), &stream(), 0.5, Nulls::Kept).unwrap();
    assert!(out.is_empty());
}

#[test]
fn wrong_dictionaries_are_errors() {
    let values = || Built::integers("l", &[Some(3)], 0);
    let mut half = Built::integers("C", &[Some(0)], 0).with_values(values());
    half.array.dictionary = ptr::null_mut();
    assert!(half.column().is_err());
    let twice = values().with_values(values());
    let nested = Built::integers("C", &[Some(0)], 0).with_values(twice);
    assert!(nested.column().is_err());
    let floats = Built::new("g", 1, 0, vec![vec![], vec![0; 8]]).with_values(values());
    assert!(floats.column().is_err());
    for place in [-1, 1] {
        let outside = Built::integers("c", &[Some(place)], 0).with_values(values());
        let column = outside.column().unwrap();
        let error = sample(&column, &stream(), 0.5, Nulls::Kept).unwrap_err();
        assert_eq!(error, Error::Malformed("a place outside of its dictionary"));
    }
}

#[test]
fn texts_whose_ends_are_wrong_are_errors() {
    let ends = |ends: [i32; 3]| ends.iter().flat_map(|end| end.to_le_bytes()).collect();
    for list in [[0, 3, 2], [-1, 0, 1], [0, -1, 0], [i32::MIN, i32::MAX, 0]] {
        let built = Built::new("u", 2, 0, vec![vec![], ends(list), b"abc".to_vec()]);
        let error = key_of(&[built.column().unwrap()], Nulls::Kept).unwrap_err();
        assert!(matches!(error, Error::Malformed(_)), "{list:?}: {error:?}");
    }
    let built = Built::new("u", 2, 0, vec![vec![], ends([0, 1, 3]), b"abc".to_vec()]);
    // SAFETY: the list of buffers has three places.
    unsafe { *built.array.buffers.add(2) = ptr::null() };
    assert!(key_of(&[built.column().unwrap()], Nulls::Kept).is_err());
}

#[test]
fn views_outside_of_their_buffers_are_errors() {
    let view = |len: i32, buffer: i32, start: i32| {
        [len, 0x6162_6364, buffer, start].iter().flat_map(|word| word.to_le_bytes()).collect()
    };
    let bytes = b"abcd567890123".to_vec();
    for (len, buffer, start, fits) in [
        (13, 0, 0, true),
        (14, 0, 0, false),
        (13, 0, 1, false),
        (13, 1, 0, false),
        (13, -1, 0, false),
        (13, 0, -1, false),
        (-1, 0, 0, false),
        (i32::MAX, 0, i32::MAX, false),
        (3, 9, 9, true),
    ] {
        let sizes = 13_i64.to_le_bytes().to_vec();
        let buffers = vec![vec![], view(len, buffer, start), bytes.clone(), sizes];
        let built = Built::new("vu", 1, 0, buffers);
        let made = key_of(&[built.column().unwrap()], Nulls::Kept);
        assert_eq!(made.is_ok(), fits, "{len} {buffer} {start}: {made:?}");
    }
}
