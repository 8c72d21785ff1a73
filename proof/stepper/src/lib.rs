//! Runs threads of other processes one instruction at a time by ptrace(2), and reports the memory
//! that each instruction touches.
//!
//! `cargo xtask machine-code` checks the order of accesses with it, and `headwater bench --count`
//! counts the work of a call. A stepper sees every instruction of user space, the vDSO's included.
//! A system call is one step, and the kernel's part of it is invisible. Each round of an
//! instruction with a `rep` prefix is a step.
//!
//! For x86-64 Linux; empty elsewhere.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod cpus;
mod crew;
mod sections;
mod tracee;

pub use cpus::{Pinned, allowed_cpus};
pub use crew::{Crew, CrewPlace};
pub use iced_x86 as decoder;
pub use sections::{Breakpoint, Section};
pub use tracee::{Registers, Step, Touch, Tracee};
