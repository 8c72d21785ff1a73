//! Clocks, processes, CPUs and barriers: what a measurement needs of the operating system.

pub(crate) mod barrier;
#[expect(unsafe_code)]
pub(crate) mod clock;
pub(crate) mod facts;
pub(crate) mod pin;
#[expect(unsafe_code)]
pub(crate) mod process;
pub(crate) mod procs;
pub(crate) mod restart;
