//! Elements are the same for any request: any pieces, any order and any number of threads.

use headwater_streams::distributions::{
    Beta, Binomial, ChiSquare, Distribution, Gamma, Geometric, LogNormal, Poisson, StudentT,
};
use headwater_streams::{Engine, Error, Key, Stream};
use proptest::prelude::*;

fn streams() -> impl Strategy<Value = Stream> {
    (prop::sample::select(Engine::ALL), any::<u64>(), 0..1_u64 << 48)
        .prop_map(|(engine, seed, id)| Key::with_engine(engine, seed).stream(id).unwrap())
}

/// Returns starts of ranges: the first element, beyond 2^32 elements and bytes, and so that the
/// last of `len` elements is the last one.
fn starts(len: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        0..100_u64,
        (1 << 32) - 100..(1_u64 << 32) + 100,
        (1 << 36) - 100..(1_u64 << 36) + 100,
        any::<u64>().prop_map(move |start| start.min(u64::MAX - len)),
        Just(u64::MAX - len),
    ]
}

/// Returns the stream's bytes, computed by the reference.
fn reference(stream: Stream, start: u128, len: usize) -> Vec<u8> {
    let key = stream.key();
    reference::streams::stream_bytes(key.engine().name(), key.to_raw(), stream.id(), 0, start, len)
}

/// The longest range: more than two batches of the widest kernel, and not a multiple of anything.
const LONGEST: usize = 2300;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn bytes_are_the_references_at_any_place_and_alignment(
        stream in streams(), start in starts(LONGEST as u64), len in 0..300_usize, shift in 0..64_usize,
    ) {
        let mut out = vec![0xA5; shift + len + 1];
        stream.fill_u8(start, &mut out[shift..][..len]).unwrap();
        prop_assert_eq!(&out[shift..][..len], reference(stream, u128::from(start), len));
        prop_assert!(out[..shift].iter().all(|&byte| byte == 0xA5));
        prop_assert_eq!(out[shift + len], 0xA5);
    }

    #[test]
    fn words_are_little_endian_views_of_the_bytes(
        stream in streams(), start in starts(LONGEST as u64), len in 0..80_usize, shift in 0..4_usize,
    ) {
        let mut out = vec![0; shift + len];
        stream.fill_u64(start, &mut out[shift..]).unwrap();
        let bytes = reference(stream, u128::from(start) * 8, 8 * len);
        let words: Vec<u64> =
            bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        prop_assert_eq!(&out[shift..], words);

        let mut out = vec![0; shift + len];
        stream.fill_u32(start, &mut out[shift..]).unwrap();
        let bytes = reference(stream, u128::from(start) * 4, 4 * len);
        let words: Vec<u32> =
            bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        prop_assert_eq!(&out[shift..], words);
    }

    #[test]
    fn pieces_in_any_order_make_the_whole(
        stream in streams(),
        start in starts(LONGEST as u64),
        mut cuts in prop::collection::vec(0..LONGEST, 0..20),
        order in any::<u64>(),
    ) {
        let mut whole = vec![0; LONGEST];
        stream.fill_u64(start, &mut whole).unwrap();
        cuts.extend([0, LONGEST]);
        cuts.sort_unstable();
        let mut pieces: Vec<(usize, usize)> = cuts.windows(2).map(|cut| (cut[0], cut[1])).collect();
        pieces.sort_by_key(|&(begin, _)| (begin as u64 ^ order).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut pieced = vec![0; LONGEST];
        for (begin, end) in pieces {
            stream.fill_u64(start + begin as u64, &mut pieced[begin..end]).unwrap();
        }
        prop_assert!(pieced == whole);
    }

    #[test]
    fn elements_by_number_are_those_of_a_range(
        stream in streams(), start in starts(LONGEST as u64), stride in 1..50_u64, count in 0..150_usize,
    ) {
        // Backwards, with every third one twice.
        let last = LONGEST as u64 / stride;
        let within: Vec<u64> =
            (0..count as u64).map(|i| (last.saturating_sub(i - i % 3 / 2)) * stride).collect();
        let indices: Vec<u64> = within.iter().map(|i| start + i.min(&(LONGEST as u64 - 1))).collect();
        let place = |index: &u64| (index - start) as usize;

        let mut whole = vec![0; LONGEST];
        stream.fill_u64(start, &mut whole).unwrap();
        let mut out = vec![0; count];
        stream.u64_at(&indices, &mut out).unwrap();
        prop_assert_eq!(&out, &indices.iter().map(|i| whole[place(i)]).collect::<Vec<_>>());

        let mut whole = vec![0; LONGEST];
        stream.fill_u32(start, &mut whole).unwrap();
        let mut out = vec![0; count];
        stream.u32_at(&indices, &mut out).unwrap();
        prop_assert_eq!(&out, &indices.iter().map(|i| whole[place(i)]).collect::<Vec<_>>());

        let mut whole = vec![0; LONGEST];
        stream.fill_u8(start, &mut whole).unwrap();
        let mut out = vec![0; count];
        stream.u8_at(&indices, &mut out).unwrap();
        prop_assert_eq!(&out, &indices.iter().map(|i| whole[place(i)]).collect::<Vec<_>>());
    }
}

/// Elements of a range of a distribution: more than two of the chunks that are made at a time.
const DISTRIBUTED: usize = 600;

/// Fills a range in pieces and lists it backwards with gaps, and compares both with the whole.
fn any_request_is_the_same<T: Copy + Default>(
    stream: Stream,
    distribution: Result<impl Distribution<T>, Error>,
    start: u64,
    cuts: &[usize],
    bits: impl Fn(T) -> u64,
) -> Result<(), TestCaseError> {
    let distribution = distribution.unwrap();
    let bits = |values: &[T]| values.iter().map(|&x| bits(x)).collect::<Vec<_>>();
    let mut whole = vec![T::default(); DISTRIBUTED];
    stream.fill_distribution(&distribution, start, &mut whole).unwrap();
    let mut pieced = vec![T::default(); DISTRIBUTED];
    for ends in cuts.windows(2).rev() {
        let piece = &mut pieced[ends[0]..ends[1]];
        stream.fill_distribution(&distribution, start + ends[0] as u64, piece).unwrap();
    }
    prop_assert_eq!(bits(&pieced), bits(&whole));
    let places: Vec<usize> = cuts.iter().rev().map(|&cut| cut.min(DISTRIBUTED - 1)).collect();
    let indices: Vec<u64> = places.iter().map(|&place| start + place as u64).collect();
    let mut listed = vec![T::default(); places.len()];
    stream.distribution_at(&distribution, &indices, &mut listed).unwrap();
    let right: Vec<T> = places.iter().map(|&place| whole[place]).collect();
    prop_assert_eq!(bits(&listed), bits(&right));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn elements_of_distributions_are_the_same_for_any_request(
        stream in streams(),
        start in starts(DISTRIBUTED as u64 + 1),
        mut cuts in prop::collection::vec(0..DISTRIBUTED, 0..12),
        exponent in -12.0..12.0_f64,
        other in 0.001..20.0_f64,
        p in 1e-6..1.0_f64,
        n in any::<u64>(),
        shift in 0..64,
    ) {
        cuts.extend([0, DISTRIBUTED]);
        cuts.sort_unstable();
        let x = exponent.exp();
        macro_rules! same {
            ($distribution:expr, $type:ty, $bits:expr) => {
                any_request_is_the_same::<$type>(stream, $distribution, start, &cuts, $bits)?
            };
        }
        same!(LogNormal::new(exponent, other), f64, f64::to_bits);
        same!(Gamma::new(x), f64, f64::to_bits);
        same!(Gamma::new(x), f32, |x| x.to_bits().into());
        same!(ChiSquare::new(x), f64, f64::to_bits);
        same!(Beta::new(x, other), f64, f64::to_bits);
        same!(Beta::new(p, other / 20.0), f32, |x| x.to_bits().into());
        same!(StudentT::new(x), f64, f64::to_bits);
        same!(Geometric::new(p), u64, |n| n);
        same!(Poisson::new(x), u64, |n| n);
        same!(Binomial::new(n >> shift, p), u64, |n| n);
    }
}

#[test]
fn any_number_of_threads_fills_the_same() {
    // Enough for four threads to have pieces, and no multiple of one.
    let len = (1 << 20) / 8 + 12_345;
    for &engine in Engine::ALL {
        let stream = Key::with_engine(engine, "threads").stream(5).unwrap();
        let start = (1 << 33) + 3;
        let mut expected = vec![0; len];
        stream.fill_u64(start, &mut expected).unwrap();
        for threads in [0, 1, 2, 3, 4, 7, 100] {
            let mut out = vec![0; len];
            stream.par(threads).fill_u64(start, &mut out).unwrap();
            assert!(out == expected, "{engine}, {threads} threads");
        }
        let mut bytes = vec![0; 8 * len];
        stream.par(3).fill_u8(8 * start, &mut bytes).unwrap();
        assert!(
            bytes.as_chunks().0.iter().zip(&expected).all(|(a, b)| u64::from_le_bytes(*a) == *b)
        );
        let mut halves = vec![0; 2 * len];
        stream.par(3).fill_u32(2 * start, &mut halves).unwrap();
        let joined = halves.chunks_exact(2).map(|h| u64::from(h[1]) << 32 | u64::from(h[0]));
        assert!(joined.eq(expected.iter().copied()));
    }
}

#[test]
fn streams_differ_in_seed_label_number_and_engine() {
    let key = Key::from_seed(1);
    let keys = [
        key,
        Key::from_seed(2),
        Key::from_seed("1"),
        Key::from_seed(&[1]),
        Key::with_engine(Engine::Ars5, 1),
        Key::with_engine(Engine::Philox4x32, 1),
        key.child(1),
        key.child("1"),
        key.child(1).child(1),
        key.child("").child(""),
        Key::from_seed(&key.to_raw()),
    ];
    let mut seen = std::collections::HashSet::new();
    for key in keys {
        for id in [0, 1, 2, 1 << 16, (1 << 48) - 1] {
            let mut first = [0; 2];
            key.stream(id).unwrap().fill_u64(0, &mut first).unwrap();
            assert!(seen.insert(first), "{key:?}, stream {id}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_told_in_one_line_and_writes_nothing() {
    let key = Key::from_seed(0);
    let stream = key.stream(0).unwrap();
    let start = u64::MAX - 9;
    let too_long = Error::RangeTooLong { start, len: 10 };
    let lengths = Error::Lengths { indices: 2, out: 3 };
    let (mut bytes, mut halves, mut words) = ([7; 10], [7; 10], [7; 10]);
    let all = [
        (stream.fill_u8(start, &mut bytes), too_long.clone()),
        (stream.fill_u32(start, &mut halves), too_long.clone()),
        (stream.fill_u64(start, &mut words), too_long.clone()),
        (stream.par(2).fill_u64(start, &mut words), too_long.clone()),
        (stream.u8_at(&[1, 2], &mut bytes[..3]), lengths.clone()),
        (stream.u32_at(&[1, 2], &mut halves[..3]), lengths.clone()),
        (stream.u64_at(&[1, 2], &mut words[..3]), lengths),
        (key.stream(1 << 48).map(drop), Error::StreamId(1 << 48)),
        ("ars6".parse::<Engine>().map(drop), Error::UnknownEngine("ars6".into())),
    ];
    for (result, expected) in all {
        let error = result.unwrap_err();
        assert_eq!(error, expected);
        assert_eq!(error.to_string().lines().count(), 1);
    }
    assert_eq!((bytes, halves, words), ([7; 10], [7; 10], [7; 10]));
    // One less is the whole stream's end, and nothing at its end is nothing.
    stream.fill_u64(start, &mut words[..9]).unwrap();
    stream.fill_u64(u64::MAX, &mut []).unwrap();
    // One end for ranges and for single indices.
    let mut last = [0; 2];
    stream.u8_at(&[0, u64::MAX - 1], &mut last).unwrap();
    let error = stream.u8_at(&[0, u64::MAX], &mut last).unwrap_err();
    assert_eq!(error, Error::RangeTooLong { start: u64::MAX, len: 1 });
    let unknown = "ars6".parse::<Engine>().unwrap_err().to_string();
    for engine in Engine::ALL {
        assert!(unknown.contains(engine.name()), "{unknown}");
        assert_eq!(engine.to_string().parse(), Ok(*engine));
    }
}
