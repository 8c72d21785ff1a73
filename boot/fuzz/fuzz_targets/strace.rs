//! Traces and tables of strace's.
#![no_main]

mod outputs;

use headwater_doctor::{Case, strace};
use libfuzzer_sys::fuzz_target;
use std::io::Read;

fuzz_target!(|data: &[u8]| {
    // The table's head makes it a trace whatever comes after.
    let head = b"% time     seconds  usecs/call     calls    errors syscall\n";
    if let Ok(trace) = strace::read(head.chain(data), "trace") {
        outputs::check(Case { traces: vec![trace], ..Case::default() });
    }
});
