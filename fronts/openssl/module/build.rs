//! Linker arguments of the module.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for argument in [
        // OpenSSL unloads its providers at exit, while other threads may still draw. A module that
        // is loaded again must also find the process state that its first copy published.
        "-z,nodelete",
        // An unresolved symbol fails this build. Otherwise it fails when a server starts.
        "-z,defs",
    ] {
        println!("cargo::rustc-cdylib-link-arg=-Wl,{argument}");
    }
}
