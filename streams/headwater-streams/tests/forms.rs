//! Keys, streams and generators in JSON: the form is frozen, the way back exact, and anything else
//! is refused.

#![cfg(feature = "serde")]

use headwater_streams::generators::{Pcg64Dxsm, SeedSequence, Sfc64, Xorshift128p, Xoshiro256pp};
use headwater_streams::{Engine, Key, Stream};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// Checks the form, and the way back from it: also from a sequence without names, as formats write
/// that are not self-describing.
#[track_caller]
fn frozen<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, form: &str) {
    assert_eq!(serde_json::to_string(value).unwrap(), form);
    assert_eq!(serde_json::from_str::<T>(form).unwrap(), *value);
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(form).unwrap();
    let unnamed: Vec<_> = fields.into_iter().map(|(_, value)| value).collect();
    // serde_json sorts names, and all structs here have their fields in that order.
    assert_eq!(serde_json::from_value::<T>(unnamed.into()).unwrap(), *value);
}

#[test]
fn the_forms_are_frozen() {
    let bytes = core::array::from_fn(|i| (i * 17) as u8);
    let key = Key::from_raw(Engine::Philox4x32, bytes);
    let digits = "00112233445566778899aabbccddeeff";
    frozen(&key, &format!(r#"{{"engine":"philox4x32","key":"{digits}"}}"#));
    let stream = key.stream(7).unwrap();
    frozen(&stream, &format!(r#"{{"engine":"philox4x32","key":"{digits}","stream":7}}"#));
    frozen(
        &Xoshiro256pp::from_state([1, 2, 3, u64::MAX]).unwrap(),
        r#"{"generator":"xoshiro256pp","state":["0000000000000001","0000000000000002","0000000000000003","ffffffffffffffff"]}"#,
    );
    frozen(
        &Xorshift128p::from_state([1, 2]).unwrap(),
        r#"{"generator":"xorshift128p","state":["0000000000000001","0000000000000002"]}"#,
    );
    frozen(
        &Sfc64::from_state([1, 2, 3, 4]),
        r#"{"generator":"sfc64","state":["0000000000000001","0000000000000002","0000000000000003","0000000000000004"]}"#,
    );
    frozen(
        &Pcg64Dxsm::from_state(2, 3).unwrap(),
        r#"{"generator":"pcg64dxsm","state":["00000000000000000000000000000002","00000000000000000000000000000003"]}"#,
    );
}

#[test]
fn generators_go_on_where_they_were() {
    let mut before = Pcg64Dxsm::from_seed_sequence(&SeedSequence::from_words(&[42]));
    for _ in 0..1000 {
        before.next_u64();
    }
    let text = serde_json::to_string(&before).unwrap();
    let mut after: Pcg64Dxsm = serde_json::from_str(&text).unwrap();
    for _ in 0..1000 {
        assert_eq!(after.next_u64(), before.next_u64());
    }
}

#[test]
fn other_texts_are_refused_with_the_reason() {
    let key = "00112233445566778899aabbccddeeff";
    let stream = |text: String| serde_json::from_str::<Stream>(&text).unwrap_err().to_string();
    for (text, reason) in [
        (format!(r#"{{"engine":"ars9","key":"{key}","stream":0}}"#), "ars9"),
        (format!(r#"{{"engine":"ars7","key":"{key}","stream":281474976710656}}"#), "2^48"),
        (format!(r#"{{"engine":"ars7","key":"{key}","stream":-1}}"#), "-1"),
        (format!(r#"{{"engine":"ars7","key":"{key}"}}"#), "stream"),
        (format!(r#"{{"engine":"ars7","key":"{key}","stream":0,"version":2}}"#), "version"),
        (r#"{"engine":"ars7","key":"00","stream":0}"#.into(), "32 hexadecimal digits"),
        (format!(r#"{{"engine":"ars7","key":"+{}","stream":0}}"#, &key[1..]), "32 hexadecimal"),
        (format!(r#"{{"engine":"ars7","key":"{}é","stream":0}}"#, &key[2..]), "32 hexadecimal"),
    ] {
        assert!(stream(text.clone()).contains(reason), "{text}");
    }
    let zeros = ["0".repeat(16), "0".repeat(16)];
    for (state, reason) in [
        (format!(r#"{{"generator":"xorshift128p","state":{zeros:?}}}"#), "no such state"),
        (format!(r#"{{"generator":"sfc64","state":{zeros:?}}}"#), "not of 'xorshift128p'"),
        (r#"{"generator":"xorshift128p","state":[]}"#.into(), "0 words in place of 2"),
    ] {
        let refused = serde_json::from_str::<Xorshift128p>(&state).unwrap_err().to_string();
        assert!(refused.contains(reason), "{state}: {refused}");
    }
}
