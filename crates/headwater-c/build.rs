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
    add_versions();
}

const SCRIPT: &str = "versioned-link.sh";

/// Exports each function with a version, such as `headwater_fill@@HEADWATER_0`, which programs
/// record. The script explains how. Only gcc as linker driver can do it; the library works without
/// versions.
fn add_versions() {
    // The linker that cargo is configured with, else the one that rustc calls for most targets.
    let driver = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let asked = Command::new(&driver).args(["-wrapper", "env", "-print-prog-name=ld"]).output();
    if !asked.is_ok_and(|answer| answer.status.success()) {
        println!(
            "cargo::warning=libheadwater.so has no symbol versions: {driver} lacks gcc's -wrapper"
        );
        return;
    }
    let package = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo::rustc-cdylib-link-arg=-wrapper");
    println!("cargo::rustc-cdylib-link-arg=sh,{package}/{SCRIPT}");
}
