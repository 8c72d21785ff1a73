//! The files of `streams/vectors/`, which check the implementations in every language.
//!
//! A number of 128 bits is written in hexadecimal digits, the highest first; bytes are written in
//! hexadecimal digits too, in their order.

mod distributions;
mod engines;
mod generators;
mod json;
mod keys;
mod numbers;
mod seeds;
mod streams;

/// Returns the name of each file, and its contents.
pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("distributions.json", distributions::file()),
        ("engines.json", engines::file()),
        ("generators.json", generators::file()),
        ("keys.json", keys::file()),
        ("numbers.json", numbers::file()),
        ("seeds.json", seeds::file()),
        ("streams.json", streams::file()),
    ]
}
