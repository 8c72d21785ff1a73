//! Links the distribution's static libcrypto as a witness, if one is installed (Debian:
//! libssl-dev).

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Variable that names the directory of a libcrypto that is unpacked but not installed.
const VARIABLE: &str = "HEADWATER_LIBCRYPTO";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rustc-check-cfg=cfg(openssl)");
    let triple = env::var("TARGET").expect("Cargo sets TARGET for build scripts");
    // Debian's name of the cross compiler.
    let compiler = match triple.split('-').next() {
        Some("aarch64") if env::consts::ARCH != "aarch64" => "aarch64-linux-gnu-gcc",
        _ => "cc",
    };
    let given = env::var_os(VARIABLE).map(PathBuf::from);
    let Some(directory) = given.or_else(|| directory_of(compiler)) else { return };
    // Debian 13's libcrypto supports compression and needs the libraries for it.
    for libraries in [["crypto"].as_slice(), &["crypto", "z", "zstd"]] {
        if links(compiler, &directory, libraries) {
            println!("cargo::rustc-link-search=native={}", directory.display());
            for library in libraries {
                println!("cargo::rustc-link-lib=static:-bundle={library}");
            }
            println!("cargo::rustc-cfg=openssl");
            return;
        }
    }
    println!(
        "cargo::warning=skipped: OpenSSL: {} does not link, perhaps because zlib1g-dev or libzstd-dev is \
         missing; repeats of its bytes are not shown",
        directory.join("libcrypto.a").display()
    );
}

/// Returns the directory in which the compiler finds a static libcrypto.
fn directory_of(compiler: &str) -> Option<PathBuf> {
    let answer = Command::new(compiler).arg("-print-file-name=libcrypto.a").output().ok()?;
    let answer = String::from_utf8_lossy(&answer.stdout);
    // A compiler that does not find the file prints its bare name.
    let file = Path::new(answer.trim());
    if file.is_absolute() && file.is_file() { Some(file.parent()?.to_path_buf()) } else { None }
}

fn links(compiler: &str, directory: &Path, libraries: &[&str]) -> bool {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR for build scripts"));
    let source = out.join("probe.c");
    let text = "int RAND_bytes(unsigned char *, int);\nint main(void) { unsigned char b; return !RAND_bytes(&b, 1); }\n";
    if fs::write(&source, text).is_err() {
        return false;
    }
    let mut link = Command::new(compiler);
    link.arg(&source).arg("-o").arg(out.join("probe")).arg("-L").arg(directory);
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if features.split(',').any(|feature| feature == "crt-static") {
        link.arg("-static");
    }
    link.args(libraries.iter().map(|library| format!("-l:lib{library}.a")));
    link.stdout(Stdio::null()).stderr(Stdio::null());
    link.status().is_ok_and(|status| status.success())
}
