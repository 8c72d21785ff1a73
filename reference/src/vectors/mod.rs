//! The files of `vectors/`, by which every language's implementation is checked.
//!
//! A number of 128 bits is written in hexadecimal digits, the highest first; bytes are too, in their order.

mod engines;
mod generators;
mod json;
mod keys;
mod numbers;
mod seeds;
mod streams;

/// The name of each file, and what is in it.
pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("engines.json", engines::file()),
        ("generators.json", generators::file()),
        ("keys.json", keys::file()),
        ("numbers.json", numbers::file()),
        ("seeds.json", seeds::file()),
        ("streams.json", streams::file()),
    ]
}
