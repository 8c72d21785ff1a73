//! Checks of the machine code that the compiler made of headwater's draws.
//!
//! * [`reach`] follows every call and reference from a function, and refuses those that panic,
//!   unwind or allocate.
//! * [`arm64`] follows instructions, to find the barriers between the bytes and the guards.
//! * [`trace`] runs a draw of this CPU one instruction at a time, and changes a guard in the
//!   middle.
//! * [`sections`] reads restartable sequences, which the kernel restarts at every single step.
//!
//! The probe (`probe/`) holds each way to draw under a symbol of its own; `cargo xtask
//! machine-code` builds the probe and runs the checks.

#![deny(unsafe_code)]

pub mod arm64;
pub mod object;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod order;
pub mod reach;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub mod sections;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub mod trace;
