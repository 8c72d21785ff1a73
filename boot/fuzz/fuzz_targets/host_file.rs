//! A host file of any bytes: the reader refuses it, or the archive survives the way to text and
//! back and every check of the doctor ends.
#![no_main]

mod outputs;

use headwater_doctor::{Case, Root};
use headwater_hostfile::Archive;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(archive) = Archive::parse(bytes) else { return };
    assert_eq!(Archive::parse(archive.to_text().as_bytes()).as_ref(), Ok(&archive));
    if let Ok(case) = Case::of_machine(Root::archive("fuzz".to_owned(), archive)) {
        outputs::check(case);
    }
});
