//! Every unsafe site that the portable paths reach, in small pieces so that miri has time for it:
//! words as bytes, and the lanes' loads and stores, at all alignments and around all lengths.
//!
//! `cargo xtask test` has miri run them: `cargo +nightly miri test -p headwater-streams --test
//! interpreted`.

use headwater_streams::generators::Xoshiro256pp;
use headwater_streams::{Engine, Key, Stream};

/// Returns streams of the engines that miri can run in time. Without AES instructions ars has no
/// unsafe code, and takes miri minutes.
fn streams() -> impl Iterator<Item = Stream> {
    let engines = if cfg!(miri) { &[Engine::Philox4x32] } else { Engine::ALL };
    engines.iter().map(|&engine| Key::with_engine(engine, 1).stream(1).unwrap())
}

#[test]
fn words_of_all_widths_are_the_bytes() {
    for stream in streams() {
        let mut bytes = [0; 160];
        stream.fill_u8(0, &mut bytes).unwrap();
        for (from, to) in [(0, 0), (0, 1), (1, 4), (3, 19)] {
            let (mut narrow, mut wide) = (vec![0; to - from], vec![0; to - from]);
            stream.fill_u32(from as u64, &mut narrow).unwrap();
            stream.fill_u64(from as u64, &mut wide).unwrap();
            let words = bytes.as_chunks().0[from..to].iter();
            assert!(words.map(|word| u32::from_le_bytes(*word)).eq(narrow));
            let words = bytes.as_chunks().0[from..to].iter();
            assert!(words.map(|word| u64::from_le_bytes(*word)).eq(wide));
        }
    }
}

#[test]
fn numbers_in_ranges_and_lists_are_the_same() {
    let indices: Vec<u64> = (3..40).chain([7, 7, 3]).collect();
    for stream in streams() {
        let (mut filled, mut listed) = ([0.0; 37], [0.0; 40]);
        stream.fill_normal_f64(3, &mut filled).unwrap();
        stream.normal_f64_at(&indices, &mut listed).unwrap();
        assert_eq!(filled, listed[..37]);
        let (mut filled, mut listed) = ([0; 37], [0; 40]);
        stream.fill_bounded_u32((1 << 31) + 1, 3, &mut filled).unwrap();
        stream.bounded_u32_at((1 << 31) + 1, &indices, &mut listed).unwrap();
        assert_eq!(filled, listed[..37]);
        let order = stream.permutation(300);
        let mut values = [0; 10];
        order.fill(290, &mut values).unwrap();
        assert!((290..).zip(values).all(|(i, value)| order.position(value) == Some(i)));
    }
}

#[test]
fn lanes_fill_any_piece_of_any_alignment() {
    let start = Xoshiro256pp::from_u64(1).lanes();
    let mut words = [0; 72];
    start.clone().fill_u64(&mut words);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for len in [0, 1, 63, 64, 65, 255, 257, 320, 576] {
        for offset in [0, 1, 7] {
            let mut piece = vec![0xAA; offset + len + 1];
            start.clone().fill_bytes(&mut piece[offset..][..len]);
            assert_eq!(piece[offset..][..len], bytes[..len]);
            assert_eq!(piece[offset + len], 0xAA);
        }
    }
}
