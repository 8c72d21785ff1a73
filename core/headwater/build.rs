//! Sets `cfg(reference)` in the repository, where the reference implementation is. The unit tests
//! that compare with it are left out of the packed crate, as this script is.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if Path::new("../../proof/reference/Cargo.toml").exists() {
        println!("cargo::rustc-cfg=reference");
    }
}
