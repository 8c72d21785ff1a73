//! Hands the target triple, which only Cargo knows, to `headwater --version`.

fn main() {
    let target = std::env::var("TARGET").expect("Cargo sets TARGET for build scripts");
    println!("cargo::rustc-env=HEADWATER_TARGET={target}");
    println!("cargo::rerun-if-changed=build.rs");
}
