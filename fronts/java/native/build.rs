//! Links the library without a C library and without start-up files, so that one file serves glibc
//! and musl: the JVM that loads it has a C library, and that one resolves every symbol.

use std::env;
use std::fs;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // The crate libc asks for the parts of the C library by name. So empty archives of these names
    // are put where the linker finds them first, and the library needs no other (no DT_NEEDED).
    for name in ["c", "dl", "gcc_s", "m", "pthread", "rt", "util"] {
        fs::write(folder.join(format!("lib{name}.a")), "!<arch>\n").expect("OUT_DIR is writable");
    }
    println!("cargo::rustc-link-search=native={}", folder.display());
    // A bare linker, as for arm64 without a cross compiler, takes the arguments that gcc passes on.
    let is_bare = env::var("RUSTC_LINKER").is_ok_and(|linker| linker.ends_with("lld"));
    if !is_bare {
        println!("cargo::rustc-cdylib-link-arg=-nostartfiles");
        println!("cargo::rustc-cdylib-link-arg=-nodefaultlibs");
    }
    for argument in [
        "-soname,libheadwater_java.so",
        // A class loader that is unloaded closes its libraries, while other threads may draw.
        "-z,nodelete",
        // Lazy binding would run the dynamic linker inside a draw.
        "-z,now",
    ] {
        if is_bare {
            for part in argument.split(',') {
                println!("cargo::rustc-cdylib-link-arg={part}");
            }
        } else {
            println!("cargo::rustc-cdylib-link-arg=-Wl,{argument}");
        }
    }
}
