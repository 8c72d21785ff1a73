//! A stream as a generator produces the stream's bytes, whatever is requested in between.

use headwater_streams::{Engine, Key};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    U32,
    U64,
    Fill(usize),
    Seek(u64),
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::U32),
        8 => Just(Step::U64),
        // Fills are shorter and longer than the buffer, and than the rest of it.
        4 => (0..3500_usize).prop_map(Step::Fill),
        1 => (0..5000_u64).prop_map(Step::Seek),
        1 => any::<u64>().prop_map(Step::Seek),
        // These places are so near the end of the stream that the next steps pass it.
        1 => (0..3000_u64).prop_map(|before| Step::Seek(before.wrapping_neg())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn each_step_gives_the_bytes_from_its_position(
        engine in prop::sample::select(Engine::ALL), steps in prop::collection::vec(steps(), 1..60),
    ) {
        let stream = Key::with_engine(engine, "sequential").stream(9).unwrap();
        let mut generator = stream.sequential();
        let mut position = 0_u64;
        for step in steps {
            prop_assert_eq!(generator.position(), position);
            let got = match step {
                Step::U32 => generator.next_u32().to_le_bytes().to_vec(),
                Step::U64 => generator.next_u64().to_le_bytes().to_vec(),
                Step::Fill(len) => {
                    let mut bytes = vec![0; len];
                    generator.fill(&mut bytes);
                    bytes
                }
                Step::Seek(to) => {
                    generator.seek(to);
                    position = to;
                    Vec::new()
                }
            };
            let key = stream.key();
            let bytes = |start: u64, len| {
                reference::streams::stream_bytes(engine.name(), key.to_raw(), 9, 0, start.into(), len)
            };
            // Byte 0 comes after byte 2^64 - 1.
            let to_the_end = (u64::MAX - position).saturating_add(1).min(got.len() as u64) as usize;
            let mut expected = bytes(position, to_the_end);
            expected.extend(bytes(0, got.len() - to_the_end));
            prop_assert!(got == expected);
            position = position.wrapping_add(got.len() as u64);
        }
    }
}

#[test]
fn its_words_are_the_streams_elements() {
    let stream = Key::from_seed(3).stream(4).unwrap();
    let mut elements = [0; 1000];
    stream.fill_u64(0, &mut elements).unwrap();
    let mut generator = stream.sequential();
    assert!(elements.iter().all(|&element| generator.next_u64() == element));
}

#[test]
fn a_copy_goes_on_alike_and_shows_where_it_is() {
    let mut one = Key::from_seed(3).stream(4).unwrap().sequential();
    one.next_u32();
    let mut other = one.clone();
    assert_eq!(one.next_u64(), other.next_u64());
    assert!(format!("{one:?}").contains("position: 12"), "{one:?}");
    assert_eq!(one.stream(), other.stream());
}

#[cfg(feature = "rand_core")]
#[test]
fn through_rand_core_it_gives_the_same() {
    let stream = Key::from_seed(3).stream(4).unwrap();
    let (mut ours, mut theirs) = (stream.sequential(), stream.sequential());
    let theirs: &mut dyn rand_core::Rng = &mut theirs;
    for _ in 0..500 {
        assert_eq!(ours.next_u32(), theirs.next_u32());
        assert_eq!(ours.next_u64(), theirs.next_u64());
        let (mut a, mut b) = ([0; 9], [0; 9]);
        ours.fill(&mut a);
        theirs.fill_bytes(&mut b);
        assert_eq!(a, b);
    }
}
