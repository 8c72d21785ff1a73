//! How libheadwater.so is linked, beyond what rustc does.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
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
}
