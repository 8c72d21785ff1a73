//! The streams as WebAssembly, for the JavaScript around it.
//!
//! A tool could write the glue between both, but it would bring an allocator, and objects that
//! JavaScript has to free by hand. So the functions here take no pointer and allocate nothing: a
//! call reads its arguments from the memory past the library's own, in an order that `memory`
//! describes, and writes its result after them.

#![no_std]
#![cfg(target_family = "wasm")]

mod calls;
mod memory;
mod outcome;
mod values;

/// Ends the call. JavaScript gets a `WebAssembly.RuntimeError`.
#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
