//! The generators against their authors' outputs, against the reference, and their jumps against
//! matrices that take the same steps.

use headwater_streams::generators::{Pcg64Dxsm, SeedSequence, Sfc64, Xorshift128p, Xoshiro256pp};
use headwater_streams::{Error, Key, Seed};
use reference::streams::generators as reference;
use serde_json::Value;

/// From the authors' C program with the state 1, 2, 3, 4: the values that rand_xoshiro tests.
const XOSHIRO256PP: [u64; 10] = [
    41943041,
    58720359,
    3588806011781223,
    3591011842654386,
    9228616714210784205,
    9973669472204895162,
    14011001112246962877,
    12406186145184390807,
    15849039046786891736,
    10450023813501588000,
];

const STATES: [[u64; 4]; 4] = [
    [1, 2, 3, 4],
    [1, 0, 0, 0],
    [0, 0, 0, 1 << 63],
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, u64::MAX, 0xa409_3822_299f_31d0],
];

fn xoshiro(state: [u64; 4]) -> Xoshiro256pp {
    Xoshiro256pp::from_state(state).unwrap()
}

fn xorshift([a, b, ..]: [u64; 4]) -> Xorshift128p {
    Xorshift128p::from_state([a | 1, b]).unwrap()
}

#[test]
fn xoshiro256pp_gives_its_authors_words() {
    let mut engine = xoshiro([1, 2, 3, 4]);
    assert_eq!(XOSHIRO256PP, std::array::from_fn(|_| engine.next_u64()));
}

#[test]
fn every_engine_follows_the_reference() {
    for state in STATES {
        let (mut engine, mut slow) = (xoshiro(state), state);
        for _ in 0..1000 {
            assert_eq!(engine.next_u64(), reference::xoshiro256pp(&mut slow));
        }
        assert_eq!(engine.state(), slow);

        let (mut engine, mut slow) = (xorshift(state), [state[0] | 1, state[1]]);
        for _ in 0..1000 {
            assert_eq!(engine.next_u64(), reference::xorshift128p(&mut slow));
        }
        assert_eq!(engine.state(), slow);

        let (mut engine, mut slow) = (Sfc64::from_state(state), state);
        for _ in 0..1000 {
            assert_eq!(engine.next_u64(), reference::sfc64(&mut slow));
        }
        assert_eq!(engine.state(), slow);

        let wide = |high, low| u128::from(high) << 64 | u128::from(low);
        let mut slow = wide(state[0], state[1]);
        let increment = wide(state[2], state[3]) | 1;
        let mut engine = Pcg64Dxsm::from_state(slow, increment).unwrap();
        for _ in 0..1000 {
            assert_eq!(engine.next_u64(), reference::pcg64dxsm(&mut slow, increment));
        }
        assert_eq!(engine.state(), (slow, increment));
    }
}

#[test]
fn states_that_cannot_work_are_refused() {
    assert_eq!(Xoshiro256pp::from_state([0; 4]), None);
    assert_eq!(Xorshift128p::from_state([0; 2]), None);
    assert_eq!(Pcg64Dxsm::from_state(1, 2), None);
}

#[test]
fn the_authors_jumps_are_what_they_say() {
    let jump = reference::jump(reference::xoshiro256pp, 128);
    let long_jump = reference::jump(reference::xoshiro256pp, 192);
    let old_jump = reference::jump(reference::xorshift128p, 64);
    for state in STATES {
        let mut engine = xoshiro(state);
        engine.jump();
        assert_eq!(engine.state(), reference::times(&jump, state));
        let mut engine = xoshiro(state);
        engine.long_jump();
        assert_eq!(engine.state(), reference::times(&long_jump, state));
        let mut engine = xorshift(state);
        let before = engine.state();
        engine.jump();
        assert_eq!(engine.state(), reference::times(&old_jump, before));
    }
}

#[test]
fn jumps_of_any_length_are_so_many_steps() {
    for words in (0..300).chain([1000, 4095, 4096, 65_537]) {
        for state in STATES {
            let (mut steps, mut jumped) = (xoshiro(state), xoshiro(state));
            (0..words).for_each(|_| _ = steps.next_u64());
            jumped.advance(words);
            assert_eq!(jumped, steps, "{words} words of xoshiro256pp");
            jumped.rewind(words);
            assert_eq!(jumped.state(), state, "back by {words}");

            let (mut steps, mut jumped) = (xorshift(state), xorshift(state));
            (0..words).for_each(|_| _ = steps.next_u64());
            jumped.advance(words);
            assert_eq!(jumped, steps, "{words} words of xorshift128p");
            jumped.rewind(words);
            assert_eq!(jumped, xorshift(state), "back by {words}");

            let mut steps = Pcg64Dxsm::from_seed_sequence(&SeedSequence::from(state[0]));
            let (first, mut jumped) = (steps.clone(), steps.clone());
            (0..words).for_each(|_| _ = steps.next_u64());
            jumped.advance(words);
            assert_eq!(jumped, steps, "{words} words of pcg64dxsm");
            jumped.advance(words.wrapping_neg());
            assert_eq!(jumped, first, "back by {words}");
        }
    }
}

/// Every bit of an exponent counts: powers of two against matrices, sums against jumps in a row.
#[test]
fn long_jumps_agree_with_matrices() {
    let start = xoshiro(STATES[3]);
    for power in [10, 64, 127] {
        let mut jumped = start.clone();
        jumped.advance(1 << power);
        let matrix = reference::jump(reference::xoshiro256pp, power);
        assert_eq!(jumped.state(), reference::times(&matrix, start.state()), "2^{power}");
        let mut jumped = xorshift(STATES[3]);
        let matrix = reference::jump(reference::xorshift128p, power);
        let expected = reference::times(&matrix, jumped.state());
        jumped.advance(1 << power);
        assert_eq!(jumped.state(), expected, "2^{power}");
    }
    let (mut once, mut twice) = (start.clone(), start.clone());
    once.advance(0x0123_4567_89ab_cdef_0fed_cba9_8765_4321);
    twice.advance(0x0123_4567_89ab_cdef << 64);
    twice.advance(0x0fed_cba9_8765_4321);
    assert_eq!(once, twice);
    once.rewind(u128::MAX);
    once.advance(u128::MAX);
    assert_eq!(once, twice);
}

#[test]
fn streams_and_nodes_are_jumps_in_a_row() {
    let start = xoshiro(STATES[3]);
    let (mut jumps, mut long_jumps) = (start.clone(), start.clone());
    for index in 0..20 {
        assert_eq!(start.stream(index), jumps, "stream {index}");
        assert_eq!(start.node(index), long_jumps, "node {index}");
        jumps.jump();
        long_jumps.long_jump();
    }
    // The last stream of a node ends where the next node begins, and the last node ends where the
    // first begins again.
    let mut last = start.stream(u64::MAX);
    last.jump();
    assert_eq!(last, start.node(1));
    let mut last = start.node(u64::MAX);
    last.long_jump();
    last.rewind(1); // 2^256 words are one more than the period
    assert_eq!(last, start);
    let old = xorshift(STATES[3]);
    let mut jumps = old.clone();
    for index in 0..20 {
        assert_eq!(old.stream(index), jumps, "stream {index} of xorshift128p");
        jumps.jump();
    }
}

#[test]
fn bytes_words_and_fractions_are_the_same_draws() {
    fn check(mut engine: impl rand_core::Rng + Clone) {
        let mut words = engine.clone();
        for len in (0..40).chain([1023, 1024, 1025]) {
            let mut bytes = vec![0; len];
            engine.fill_bytes(&mut bytes);
            let expected: Vec<u8> =
                (0..len.div_ceil(8)).flat_map(|_| words.next_u64().to_le_bytes()).collect();
            assert_eq!(bytes, expected[..len]);
        }
        assert_eq!(u64::from(engine.next_u32()), words.next_u64() >> 32);
        assert_eq!(engine.next_u64(), words.next_u64());
    }
    let seeds = SeedSequence::from(7u64);
    check(Xoshiro256pp::from_u64(7));
    check(Xorshift128p::from_u64(7));
    check(Pcg64Dxsm::from_seed_sequence(&seeds));
    check(Sfc64::from_seed_sequence(&seeds));
    let (mut engine, mut words) = (Xoshiro256pp::from_u64(7), Xoshiro256pp::from_u64(7));
    let mut filled = [0; 100];
    engine.fill_u64(&mut filled);
    assert!(filled.iter().all(|word| *word == words.next_u64()));
    let (fraction, word) = (engine.next_f64(), words.next_u64());
    assert_eq!(fraction * (1u64 << 53) as f64, (word >> 11) as f64);
    assert!(fraction < 1.0);
}

/// The largest word must not round up to 1.
#[test]
fn a_fraction_is_never_one() {
    // The word is rotl(s0 + s3, 23) + s0, so this state makes a word of ones.
    let mut engine = xoshiro([0, 1, 1, u64::MAX]);
    assert_eq!(engine.clone().next_u64(), u64::MAX);
    assert_eq!(engine.next_f64(), 1.0 - f64::EPSILON / 2.0);
}

#[test]
fn a_key_stands_for_a_state() {
    let key = Key::from_seed("generators");
    for (engine, state) in [
        ("xoshiro256pp", Xoshiro256pp::from_key(&key).state().to_vec()),
        ("xorshift128p", Xorshift128p::from_key(&key).state().to_vec()),
    ] {
        let mut bytes = vec![0; 8 * state.len()];
        key.expand(engine, &mut bytes);
        let words: Vec<u64> =
            bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        assert_eq!(words, state);
    }
}

#[test]
fn the_vectors_are_these_words() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/generators.json");
    let text = std::fs::read_to_string(path).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    for case in document["cases"].as_array().unwrap() {
        let expected = bytes(&case["bytes"]);
        let mut drawn = vec![0; expected.len()];
        let name = case["generator"].as_str().unwrap();
        if let Some(skip) = case["skip"].as_str() {
            let state: Vec<u64> = bytes(&case["state"])
                .as_chunks()
                .0
                .iter()
                .map(|word| u64::from_le_bytes(*word))
                .collect();
            let power: Option<u32> = skip.strip_prefix("2^").map(|power| power.parse().unwrap());
            if name == "xorshift128p" {
                let mut engine = Xorshift128p::from_state(state.try_into().unwrap()).unwrap();
                power.inspect(|power| engine.advance(1 << power));
                engine.fill_bytes(&mut drawn);
            } else {
                let mut engine = xoshiro(state.try_into().unwrap());
                match power {
                    Some(192) => engine = engine.node(1),
                    Some(128) => engine = engine.stream(1),
                    Some(power) => engine.advance(1 << power),
                    None => {}
                }
                match name {
                    "xoshiro256pp" => engine.fill_bytes(&mut drawn),
                    _ => engine.lanes().fill_bytes(&mut drawn),
                }
            }
        } else {
            let numbers = |field: &str| -> Vec<u32> {
                let list = case[field].as_array().unwrap().iter();
                list.map(|word| word.as_u64().unwrap().try_into().unwrap()).collect()
            };
            let root = SeedSequence::from_words(&numbers("entropy"));
            let seeds = numbers("spawn_key").iter().fold(root, |seeds, index| seeds.child(*index));
            match name {
                "pcg64dxsm" => Pcg64Dxsm::from_seed_sequence(&seeds).fill_bytes(&mut drawn),
                _ => Sfc64::from_seed_sequence(&seeds).fill_bytes(&mut drawn),
            }
        }
        assert_eq!(drawn, expected, "{case}");
    }
}

/// Makes the output of `headwater stream` from the library's parts.
#[test]
fn seeds_as_typed_lead_to_the_vectors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/seeds.json");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for case in document["cases"].as_array().unwrap() {
        let seed: Seed<'_> = case["seed"].as_str().unwrap().parse().unwrap();
        let offset: u64 = case["offset"].as_str().unwrap().parse().unwrap();
        let substream = case["substream"].as_u64();
        let (index, words) = (substream.unwrap_or(0), u128::from(offset / 8));
        let key = Key::from_seed(seed.clone());
        let numpys = || {
            let root = SeedSequence::try_from(&seed).unwrap();
            substream.map_or(root.clone(), |index| root.child(index as u32))
        };
        let expected = bytes(&case["bytes"]);
        let within = (offset % 8) as usize;
        let mut drawn = vec![0; within + expected.len()];
        match case["generator"].as_str().unwrap() {
            "xoshiro256pp" => {
                let mut engine = Xoshiro256pp::from_key(&key).stream(index);
                engine.advance(words);
                engine.fill_bytes(&mut drawn);
            }
            "xoshiro256pp-x8" => {
                let mut engine = Xoshiro256pp::from_key(&key).lanes().stream(index);
                engine.advance(words);
                engine.fill_bytes(&mut drawn);
            }
            "xorshift128p" => {
                let mut engine = Xorshift128p::from_key(&key).stream(index);
                engine.advance(words);
                engine.fill_bytes(&mut drawn);
            }
            "pcg64dxsm" => {
                let mut engine = Pcg64Dxsm::from_seed_sequence(&numpys());
                engine.advance(words);
                engine.fill_bytes(&mut drawn);
            }
            "sfc64" => Sfc64::from_seed_sequence(&numpys()).fill_bytes(&mut drawn),
            other => panic!("what is {other}?"),
        }
        assert_eq!(drawn[within..], expected, "{case}");
    }
}

#[test]
fn numpy_takes_no_seeds_but_whole_numbers_from_0_on() {
    let words = |seed: Seed<'_>| SeedSequence::try_from(&seed).map(|seeds| seeds.generate_u64());
    assert_eq!(words(42.into()), Ok(SeedSequence::from(42u64).generate_u64::<4>()));
    for seed in [Seed::from(-1), "42".into(), (&[42]).into()] {
        assert_eq!(words(seed), Err(Error::NotNumpys));
    }
    assert_eq!(Error::NotNumpys.to_string().lines().count(), 1);
}

fn bytes(digits: &Value) -> Vec<u8> {
    let digits = digits.as_str().unwrap();
    let pair = |i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// The words as NumPy 2.4 prints them: the first and last of
/// `PCG64DXSM(0xdeadbeaf).random_raw(1000)`, and the same of `SFC64`.
#[test]
fn numpys_words_without_numpy() {
    let seeds = SeedSequence::from(0xdead_beaf_u64);
    let [mut pcg, mut sfc] = [[0; 1000]; 2];
    Pcg64Dxsm::from_seed_sequence(&seeds).fill_u64(&mut pcg);
    Sfc64::from_seed_sequence(&seeds).fill_u64(&mut sfc);
    assert_eq!(
        [pcg[0], pcg[1], pcg[999]],
        [0xdf1ddcf1e22521fe, 0xc71b2f9c706cf151, 0x4955c92aaa231578]
    );
    assert_eq!(
        [sfc[0], sfc[1], sfc[999]],
        [0xa475f55fbb6bc638, 0xb2d594b6c29d971c, 0x0f5433336eadef6e]
    );
    let child: [u64; 2] = seeds.child(2).generate_u64();
    assert_eq!(child, [0x5754c2fc96155d91, 0x82d708bde7949889]);
}
