//! The parts that are assembly, and so differ from CPU to CPU: the change to another stack, after
//! which all registers are saved, and a copy that leaves nothing of what it copied.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the residue search has this assembly for x86-64 and arm64 only");

#[cfg(target_arch = "aarch64")]
pub use aarch64::{Saved, call_on, copy, stack_pointer, store};
#[cfg(target_arch = "x86_64")]
pub use x86_64::{Saved, call_on, copy, stack_pointer, store};
