//! A record of `headwater doctor observe`, on a machine that has it.
#![no_main]

mod outputs;

use headwater_doctor::observe::Record;
use headwater_doctor::{Case, Root};
use headwater_hostfile::{Archive, Entry};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some(record) = Record::parse(text) {
        for line in record.lines() {
            outputs::clean("lines", &line);
        }
        let again = record.json().ok().and_then(|json| Record::parse(&json));
        assert!(again.is_some(), "a record is read back");
    }
    let mut archive = Archive::default();
    let file = |text: &[u8]| Entry::File(text.to_vec());
    let record = "/run/headwater/boots/00000000-0000-0000-0000-000000000000.json";
    archive.insert(record, file(data)).expect("a plain path");
    let boot = "/proc/sys/kernel/random/boot_id";
    archive.insert(boot, file(b"00000000-0000-0000-0000-000000000000\n")).expect("a plain path");
    archive.insert("/proc/sys/kernel/osrelease", file(b"5.10.0-8-amd64\n")).expect("a plain path");
    if let Ok(case) = Case::of_machine(Root::archive("fuzz".to_owned(), archive)) {
        outputs::check(case);
    }
});
