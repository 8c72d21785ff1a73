//! Options of the linker, on which the memory of memory.rs depends.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // JavaScript has to know where the shared memory begins.
    println!("cargo::rustc-link-arg-cdylib=--export=__heap_base");
    // The stack lies below the data, so one that is too small ends a call and overwrites nothing.
    // The default of 1 MiB would be most of the library's memory.
    println!("cargo::rustc-link-arg-cdylib=-zstack-size=262144");
}
