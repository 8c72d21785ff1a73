//! Link options of libheadwater_clones.so, beyond those of rustc.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    for argument in [
        "-soname,libheadwater_clones.so.0",
        // A program may hold pointers to these functions beyond a dlclose().
        "-z,nodelete",
        // Lazy binding would run the dynamic linker inside a signal handler or a sandbox.
        "-z,now",
        // A missing symbol is reported when this is linked, and not when a program starts.
        "-z,defs",
        // Two segments in place of four: every process pays for each at its start and its exit.
        "-z,noseparate-code",
    ] {
        println!("cargo::rustc-cdylib-link-arg=-Wl,{argument}");
    }
    // Without gcc's code for constructors of C++: a page fault and a call at each start and exit of
    // a process. `.init_array` needs none of it.
    println!("cargo::rustc-cdylib-link-arg=-nostartfiles");
    if has_gnu_ld() {
        // rustc's own linker makes four segments whatever it is asked for: 15 us more a start.
        println!("cargo::rustc-cdylib-link-arg=-fuse-ld=bfd");
    }
}

/// Returns whether the compiler that links can run GNU ld.
fn has_gnu_ld() -> bool {
    // The linker that cargo is configured with, else the one that rustc calls for most targets.
    let driver = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let asked = Command::new(driver).args(["-fuse-ld=bfd", "-Wl,--version"]).output();
    asked.is_ok_and(|answer| answer.status.success())
}
