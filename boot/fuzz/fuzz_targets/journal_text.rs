//! Journals and kernel logs as text.
#![no_main]

mod outputs;

use headwater_doctor::{Case, journal};
use libfuzzer_sys::fuzz_target;
use std::io::Read;

fuzz_target!(|data: &[u8]| {
    // A first line that decides the format; the rest is anything.
    let log = b"[    0.000000] Linux version 6.1.0 (x)\n".chain(data);
    if let Ok(boots) = journal::read(log, "log") {
        outputs::check(Case { boots, ..Case::default() });
    }
});
