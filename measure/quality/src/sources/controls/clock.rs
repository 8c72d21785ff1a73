//! The clock modulo 3: a server that asks it which of three disks to read from.
//!
//! Remainders of 0 and 1 become bits and those of 2 are left out, so that fair and independent
//! remainders would make perfect words: what fails is the clock, not the packing.

use super::{Source, endless};
use std::time::Instant;

pub(super) fn open() -> Box<dyn Source> {
    let begun = Instant::now();
    endless(move || {
        let mut word = 0;
        let mut bits = 0;
        while bits < 64 {
            let remainder = begun.elapsed().as_nanos() % 3;
            if remainder < 2 {
                word = word << 1 | remainder as u64;
                bits += 1;
            }
        }
        word
    })
}
