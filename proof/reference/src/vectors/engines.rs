//! `engines.json`: blocks, as the engines' authors have them.

use super::json::{Object, document, number, string};
use crate::streams::block;

/// Inputs of the authors' `kat_vectors`: zeros, ones, and the digits of pi.
const AUTHORS: [[u128; 2]; 3] = [
    [0, 0],
    [u128::MAX, u128::MAX],
    [0xec4e6c89_082efa98_299f31d0_a4093822, 0x03707344_13198a2e_85a308d3_243f6a88],
];

pub(super) fn file() -> String {
    let mut cases: Vec<Object> = Vec::new();
    for engine in ["ars7", "ars5", "philox4x32"] {
        for [key, counter] in AUTHORS {
            // Philox's own key has 64 bits.
            let key = if engine == "philox4x32" { key & u128::from(u64::MAX) } else { key };
            cases.push(case(engine, key, counter, "the authors' input"));
        }
        for i in 1..=8 {
            let (key, counter) = (spread(2 * i), spread(2 * i + 1));
            cases.push(case(engine, key, counter, "a key of 128 bits"));
        }
    }
    let about = "block = what the engine makes of counter under key. The authors' inputs give what Random123 1.14 does.";
    document("headwater.vectors.engines/1", about, &cases)
}

fn case(engine: &str, key: u128, counter: u128, what: &str) -> Object {
    vec![
        ("engine", string(engine)),
        ("what", string(what)),
        ("key", number(key)),
        ("counter", number(counter)),
        ("block", number(block(engine, key.to_le_bytes(), counter))),
    ]
}

/// Returns numbers with no pattern in them: multiples of an odd number.
fn spread(i: u128) -> u128 {
    i.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
}
