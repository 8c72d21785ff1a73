//! Links the distribution's static libcrypto as a witness, where there is one (Debian: libssl-dev).

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(openssl)");
    let triple = std::env::var("TARGET").expect("Cargo sets TARGET for build scripts");
    // As Debian calls them; only where the guest is built for another architecture does the name matter.
    let compiler = match triple.split('-').next() {
        Some("aarch64") => "aarch64-linux-gnu-gcc",
        _ => "cc",
    };
    let Ok(answer) = Command::new(compiler).arg("-print-file-name=libcrypto.a").output() else {
        return;
    };
    let answer = String::from_utf8_lossy(&answer.stdout);
    // A compiler that does not find the file answers its bare name.
    let file = Path::new(answer.trim());
    if let (true, Some(folder)) = (file.is_absolute() && file.is_file(), file.parent()) {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static:-bundle=crypto");
        println!("cargo::rustc-cfg=openssl");
    }
}
