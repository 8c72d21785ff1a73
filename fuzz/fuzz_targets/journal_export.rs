//! journalctl's export format, with its binary fields.
#![no_main]

use headwater_doctor::{Case, diagnose, journal};
use libfuzzer_sys::fuzz_target;
use std::io::Read;

fuzz_target!(|data: &[u8]| {
    let first = b"__CURSOR=1\n__MONOTONIC_TIMESTAMP=1\nMESSAGE=m\n\n";
    if let Ok(boots) = journal::read(first.chain(data), "log") {
        diagnose(Case { boots, ..Case::default() });
    }
});
