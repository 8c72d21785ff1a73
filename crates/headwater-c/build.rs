//! How libheadwater.so is linked, beyond what rustc does.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SCRIPT}");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    for argument in [
        // A program that was linked with version 0 runs with each later library of this name.
        "-soname,libheadwater.so.0",
        // After dlclose() others may still hold pointers to functions here: handlers, destructors of
        // thread-specific data.
        "-z,nodelete",
        // What is missing is told when this is linked, and not when a program starts.
        "-z,defs",
    ] {
        println!("cargo::rustc-cdylib-link-arg=-Wl,{argument}");
    }
    give_versions();
}

const SCRIPT: &str = "versioned-link.sh";

/// Has each function exported as `headwater_fill@@HEADWATER_0`, so that a program says which of a library's promises it
/// was built for. See the script. A linker driver other than gcc cannot do it, and the library works without.
fn give_versions() {
    // What cargo is configured to link with; where it is not, what rustc calls for most targets.
    let driver = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let asked = Command::new(&driver).args(["-wrapper", "env", "-print-prog-name=ld"]).output();
    if !asked.is_ok_and(|answer| answer.status.success()) {
        println!(
            "cargo::warning=libheadwater.so has no symbol versions: {driver} has no -wrapper, as gcc has"
        );
        return;
    }
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo::rustc-cdylib-link-arg=-wrapper");
    println!("cargo::rustc-cdylib-link-arg=sh,{folder}/{SCRIPT}");
}
