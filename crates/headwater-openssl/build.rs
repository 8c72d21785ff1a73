//! How the module is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // OpenSSL unloads its providers at exit, while threads may still be drawing; and what headwater has set up
    // for the process is never torn down, so a module loaded a second time would have to find it again.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
