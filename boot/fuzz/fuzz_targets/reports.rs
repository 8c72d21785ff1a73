//! Reports of a fleet, as `headwater doctor merge` reads them: any bytes, as one file.
#![no_main]

mod outputs;

use headwater_doctor::{MergeArgs, merge};
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;

fuzz_target!(|data: &[u8]| {
    let file = PathBuf::from(format!("/dev/shm/headwater-fuzz-{}.json", std::process::id()));
    std::fs::write(&file, data).expect("/dev/shm can be written");
    let merged = merge(&MergeArgs { reports: vec![file], ..MergeArgs::default() });
    let merged = merged.expect("the file exists");
    outputs::clean("JSON", &merged.json().expect("a merge can be written"));
    outputs::clean("page", &merged.html(None));
    outputs::clean("text", &outputs::without_colours(&merged.text()));
});
