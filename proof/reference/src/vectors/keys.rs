//! `keys.json`: keys of seeds, of children, and bytes for other generators.

use super::json::{Object, document, hex, string};
use crate::streams::{Seed, child_key, expand, root_key};

pub(super) fn file() -> String {
    let mut cases = Vec::new();
    for engine in ["ars7", "ars5", "philox4x32"] {
        for seed in seeds() {
            let key = root_key(engine, &seed);
            let mut case = vec![("engine", string(engine))];
            case.extend(named("seed", &seed));
            case.push(("key", hex(&key)));
            // The key's child by the same name, and that child's bytes for another generator of the
            // same name.
            let child = child_key(engine, key, &seed);
            case.push(("child", hex(&child)));
            case.push(("expanded", hex(&expand(engine, child, &seed, 70))));
            cases.push(case);
        }
    }
    let about = "key is the key of seed; child is the key of key's child labelled seed; expanded are 70 bytes from child for label seed. \
                 A seed is an integer, as text, or a text, or bytes.";
    document("headwater.vectors.keys/1", about, &cases)
}

/// Returns seeds around each length that fills a message of BLAKE2s, and of each kind of number.
fn seeds() -> Vec<Seed> {
    let mut seeds: Vec<Seed> = [0, 1, 42, 1 << 64, u128::MAX].map(Seed::Natural).into();
    seeds.extend([0, 1, u128::MAX >> 1].map(Seed::Negative));
    seeds.extend(
        ["", "0", "noise", "h\u{e9}\u{20ac}\u{1f3b2}", "a\"b\\c\n"]
            .map(|text| Seed::Text(text.into())),
    );
    for len in [0, 1, 16, 34, 35, 63, 64, 65, 81, 82, 97, 98, 99, 128, 1000] {
        seeds.push(Seed::Bytes((0..len).map(|i| (i % 251) as u8).collect()));
    }
    seeds
}

/// Returns one field, whose name states the kind.
fn named(name: &'static str, seed: &Seed) -> Object {
    let (kind, value) = match seed {
        Seed::Natural(n) => ("integer", string(&n.to_string())),
        // All of these are above -2^127.
        Seed::Negative(n) => ("integer", string(&(-1 - *n as i128).to_string())),
        Seed::Bytes(bytes) => ("bytes", hex(bytes)),
        Seed::Text(text) => ("text", string(text)),
    };
    vec![(name, format!("{{\"{kind}\": {value}}}"))]
}
