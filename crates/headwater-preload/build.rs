//! Link options of libheadwater_preload.so, beyond those of rustc.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    for argument in [
        "-soname,libheadwater_preload.so.0",
        // A program may hold pointers to these functions beyond a dlclose().
        "-z,nodelete",
        // Lazy binding would run the dynamic linker inside a signal handler or a sandbox.
        "-z,now",
        // A missing symbol is reported when this is linked, and not when a program starts.
        "-z,defs",
    ] {
        println!("cargo::rustc-cdylib-link-arg=-Wl,{argument}");
    }
}
