//! A mark of Docker's that an image keeps, on a machine that shows no processes.

use headwater_doctor::{Platform, Root};
use std::fs;

#[test]
fn without_proc_the_mark_of_an_image_is_no_container() {
    let top = std::env::temp_dir().join(format!("headwater-pasted-{}-proc", std::process::id()));
    fs::create_dir_all(top.join("proc")).unwrap();
    fs::write(top.join(".dockerenv"), "").unwrap();
    let platform = || Platform::detect(&Root::open(&top).unwrap(), None);
    let (found, by) = platform();
    assert_ne!(
        found,
        Platform::Container,
        "a virtual machine made of an image has the mark: {by:?}"
    );
    fs::create_dir_all(top.join("proc/1")).unwrap();
    fs::write(top.join("proc/1/comm"), "sleep\n").unwrap();
    assert_eq!(platform().0, Platform::Container, "no kernel thread among the processes");
    fs::create_dir_all(top.join("proc/2")).unwrap();
    fs::write(top.join("proc/2/comm"), "kthreadd\n").unwrap();
    assert_ne!(platform().0, Platform::Container);
    fs::remove_dir_all(&top).unwrap();
}
