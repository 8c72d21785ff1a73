//! Threads of other processes, run one instruction at a time by ptrace(2), and what each instruction touches.
//!
//! `cargo xtask machine-code` looks at the order of accesses with it, `headwater bench --count` counts what a call
//! does. What a stepper sees: every instruction of user space, the vDSO's included. A system call is one step, and
//! what the kernel does in it is not seen. Of an instruction with a `rep` prefix each round is a step.
//!
//! For x86-64 Linux; empty elsewhere.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod cpus;
mod crew;
mod sections;
mod tracee;

pub use cpus::{Pinned, allowed_cpus};
pub use crew::{Crew, Place};
pub use iced_x86 as decoder;
pub use sections::{Breakpoint, Section};
pub use tracee::{Registers, Step, Touch, Tracee};
