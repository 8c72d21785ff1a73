//! Any bytes as a log: the format is recognised, and compressed files are unpacked.
#![no_main]

mod outputs;

use headwater_doctor::{Case, journal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(boots) = journal::read(data, "log") {
        outputs::check(Case { boots, ..Case::default() });
    }
});
