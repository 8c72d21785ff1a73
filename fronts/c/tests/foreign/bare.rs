//! A Rust static library of another project. It has no standard library, and so a panic handler of
//! its own. tests/archives.rs compiles it, once with `--cfg second`.
#![no_std]

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

#[cfg_attr(not(second), unsafe(export_name = "foreign_first"))]
#[cfg_attr(second, unsafe(export_name = "foreign_second"))]
pub extern "C" fn sum(n: u64) -> u64 {
    let mut numbers = [0; 64];
    // The compiler cannot exclude a panic here, so core's machinery of panics is linked.
    for number in 1..=n as usize {
        numbers[number] = number as u64;
    }
    numbers.iter().sum()
}
