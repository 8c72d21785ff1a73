//! Linker arguments of libheadwater.so.

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
        // A program that was linked with version 0 runs with every later library of this name.
        "-soname,libheadwater.so.0",
        // After dlclose() signal handlers and destructors of thread-specific data may still point
        // here.
        "-z,nodelete",
        // An unresolved symbol fails this link. Otherwise it fails when a program starts.
        "-z,defs",
    ] {
        println!("cargo::rustc-cdylib-link-arg=-Wl,{argument}");
    }
    finish_by_script();
}

const SCRIPT: &str = "link.sh";

/// Makes gcc run the script in place of the linker. The script adds a version to each exported
/// function, such as `headwater_fill@@HEADWATER_0`, and hides all other symbols of libheadwater.a.
/// Only gcc can run the script as its linker. Both libraries work without versions.
fn finish_by_script() {
    // The linker that cargo is configured with, else the one that rustc calls for most targets.
    let driver = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let asked = Command::new(&driver).args(["-wrapper", "env", "-print-prog-name=ld"]).output();
    if !asked.is_ok_and(|answer| answer.status.success()) {
        println!(
            "cargo::warning=libheadwater.so has no symbol versions, and libheadwater.a does not \
             hide its symbols: {driver} lacks gcc's -wrapper"
        );
        return;
    }
    // Development builds contain the standard library, whose start-up code relies on its symbols.
    let is_shipped = env::var("PROFILE").as_deref() == Ok("release");
    let hide = if is_shipped { "hide" } else { "keep" };
    let package = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo::rustc-cdylib-link-arg=-wrapper");
    println!("cargo::rustc-cdylib-link-arg=sh,{package}/{SCRIPT},{driver},{hide}");
}
