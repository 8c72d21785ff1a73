//! journalctl's json.
#![no_main]

use headwater_doctor::{Case, diagnose, journal};
use libfuzzer_sys::fuzz_target;
use std::io::Read;

fuzz_target!(|data: &[u8]| {
    let first = b"{\"MESSAGE\":\"m\",\"_BOOT_ID\":\"b\",\"__MONOTONIC_TIMESTAMP\":\"1\"}\n";
    if let Ok(boots) = journal::read(first.chain(data), "log") {
        diagnose(Case { boots, ..Case::default() });
    }
});
