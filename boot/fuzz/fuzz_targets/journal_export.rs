//! journalctl's export format, with its binary fields.
#![no_main]

mod outputs;

use headwater_doctor::{Case, journal};
use libfuzzer_sys::fuzz_target;
use std::io::Read;

fuzz_target!(|data: &[u8]| {
    let first = b"__CURSOR=1\n__MONOTONIC_TIMESTAMP=1\nMESSAGE=m\n\n";
    if let Ok(boots) = journal::read(first.chain(data), "log") {
        outputs::check(Case { boots, ..Case::default() });
    }
});
