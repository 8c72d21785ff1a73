//! The values of version 1, which must never change: hashes of long arrays, in a file that no
//! command writes.

use headwater_streams::{Engine, Error, Key, Stream};
use std::path::Path;

/// Elements of each array.
const LEN: usize = 100_000;
/// Where they begin: in the middle of a pair, of a block and of a vector.
const START: u64 = 12_345;

/// BLAKE2s-256 of the array's little-endian bytes, in hexadecimal digits.
fn hash<T: Copy + Default, const N: usize>(
    fill: impl Fn(&mut [T]) -> Result<(), Error>,
    bytes: impl Fn(T) -> [u8; N],
) -> String {
    let mut array = vec![T::default(); LEN];
    fill(&mut array).unwrap();
    let bytes: Vec<u8> = array.into_iter().flat_map(bytes).collect();
    reference::streams::blake2s::<32>(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Each kind of array of a stream.
fn arrays(s: &Stream) -> Vec<(&'static str, String)> {
    let n = LEN as u64;
    let shuffled = |out: &mut [u64]| {
        (0..).zip(&mut *out).for_each(|(i, out)| *out = i);
        s.shuffle(out);
        Ok(())
    };
    vec![
        ("u64", hash(|out| s.fill_u64(START, out), u64::to_le_bytes)),
        ("f64", hash(|out| s.fill_f64(START, out), f64::to_le_bytes)),
        ("f32", hash(|out| s.fill_f32(START, out), f32::to_le_bytes)),
        ("normal_f64", hash(|out| s.fill_normal_f64(START, out), f64::to_le_bytes)),
        ("normal_f32", hash(|out| s.fill_normal_f32(START, out), f32::to_le_bytes)),
        ("exponential_f64", hash(|out| s.fill_exponential_f64(START, out), f64::to_le_bytes)),
        (
            "bounded_u64",
            hash(|out| s.fill_bounded_u64((1 << 63) + 1, START, out), u64::to_le_bytes),
        ),
        (
            "bounded_u32",
            hash(|out| s.fill_bounded_u32(1_000_000_007, START, out), u32::to_le_bytes),
        ),
        ("shuffle", hash(shuffled, u64::to_le_bytes)),
        ("permutation", hash(|out| s.permutation(n * n).fill(START, out), u64::to_le_bytes)),
    ]
}

#[test]
fn the_values_of_version_1_are_the_ones_that_were_frozen() {
    let mut now = String::new();
    for &engine in Engine::ALL {
        let stream = Key::with_engine(engine, 42).child("golden").stream(7).unwrap();
        for (kind, hash) in arrays(&stream) {
            now += &format!("{engine} {kind} {hash}\n");
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/golden/v1.txt");
    let frozen = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        now == frozen,
        "values of version 1 have changed. Programs depend on them: put the code right, or give the new values a new version and a new name \
         (STREAMS.md). Now they are:\n{now}"
    );
}
