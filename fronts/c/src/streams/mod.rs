//! Reproducible streams, which are functions of a key, a stream number and an element number; and
//! the per-CPU generator for numbers that need not repeat.

pub mod at;
pub mod categorical;
pub mod distributions;
pub mod half;
pub mod key;
pub mod numbers;
pub mod pseudo;
pub mod vectors;
