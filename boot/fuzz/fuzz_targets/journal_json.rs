//! journalctl's json.
#![no_main]

mod outputs;

use headwater_doctor::{Case, journal};
use libfuzzer_sys::fuzz_target;
use std::io::Read;

fuzz_target!(|data: &[u8]| {
    let first = b"{\"MESSAGE\":\"m\",\"_BOOT_ID\":\"b\",\"__MONOTONIC_TIMESTAMP\":\"1\"}\n";
    if let Ok(boots) = journal::read(first.chain(data), "log") {
        outputs::check(Case { boots, ..Case::default() });
    }
});
