//! Reproducible streams as STREAMS.md specifies them: keys, counters, bytes.

mod ars;
mod blake2s;
pub mod distributions;
pub mod floats;
pub mod generators;
pub mod numbers;
mod philox;

pub use ars::ars;
pub use blake2s::blake2s;
pub use philox::philox4x32;

/// The version of the specification, on which all values depend: the first 16 bytes of everything
/// that is hashed.
pub const SPEC: &str = "hw-streams-v1";

/// The material of a key, or the name of a child.
#[derive(Clone, Debug)]
pub enum Seed {
    /// A whole number from 0 on.
    Natural(u128),
    /// The number `-1 - n`.
    Negative(u128),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A text, in UTF-8.
    Text(String),
}

impl Seed {
    fn encoded(&self) -> Vec<u8> {
        match self {
            Seed::Natural(n) => [vec![0], n.to_le_bytes().to_vec()].concat(),
            Seed::Negative(n) => [vec![1], n.to_le_bytes().to_vec()].concat(),
            Seed::Bytes(bytes) => [vec![2], bytes.clone()].concat(),
            Seed::Text(text) => [vec![3], text.clone().into_bytes()].concat(),
        }
    }
}

/// Returns the key that a seed stands for with the engine of this name.
pub fn root_key(engine: &str, seed: &Seed) -> [u8; 16] {
    let message = [head(engine, 0), seed.encoded()].concat();
    first_half(blake2s(&message))
}

/// Returns the key of a key's child.
pub fn child_key(engine: &str, key: [u8; 16], label: &Seed) -> [u8; 16] {
    let message = [head(engine, 1), key.to_vec(), label.encoded()].concat();
    first_half(blake2s(&message))
}

/// Returns `len` bytes for another generator.
pub fn expand(engine: &str, key: [u8; 16], label: &Seed, len: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0..len.div_ceil(32) as u64 {
        let number = number.to_le_bytes().to_vec();
        let message = [head(engine, 2), key.to_vec(), number, label.encoded()].concat();
        bytes.extend(blake2s::<32>(&message));
    }
    bytes.truncate(len);
    bytes
}

/// Returns the specification's name in 16 bytes, the engine's in 12, and the purpose of the hash.
fn head(engine: &str, purpose: u8) -> Vec<u8> {
    let mut head = SPEC.as_bytes().to_vec();
    head.resize(16, 0);
    head.extend(engine.as_bytes());
    head.resize(16 + 12, 0);
    head.push(purpose);
    head
}

fn first_half(hash: [u8; 32]) -> [u8; 16] {
    core::array::from_fn(|i| hash[i])
}

/// Returns the block that an engine makes of a counter.
///
/// # Panics
///
/// If no counter engine has this name.
pub fn block(engine: &str, key: [u8; 16], counter: u128) -> u128 {
    let key = u128::from_le_bytes(key);
    match engine {
        "ars7" => ars(7, key, counter),
        "ars5" => ars(5, key, counter),
        // Its key has 64 bits; the others go into the upper half of the counter.
        "philox4x32" => philox4x32(key as u64, counter ^ (key >> 64) << 64),
        _ => panic!("no engine is called {engine}"),
    }
}

/// Returns `len` bytes of a draw of a stream, from byte `start` on.
pub fn stream_bytes(
    engine: &str,
    key: [u8; 16],
    stream: u64,
    draw: u16,
    start: u128,
    len: usize,
) -> Vec<u8> {
    let byte = |i: u128| {
        let counter = u128::from(stream) << 80 | u128::from(draw) << 64 | (i / 16);
        block(engine, key, counter).to_le_bytes()[(i % 16) as usize]
    };
    (start..).take(len).map(byte).collect()
}
