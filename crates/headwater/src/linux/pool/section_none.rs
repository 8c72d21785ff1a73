//! No restartable sequences: other CPUs, and builds that an interpreter or a sanitizer looks into.

#![allow(unsafe_code, dead_code)]

use crate::linux::pool::refused::Refused;
use crate::linux::process::Process;

pub(crate) const AVAILABLE: bool = false;

/// A line that is never used; as large as a real one.
#[repr(C, align(128))]
pub(crate) struct CpuLine([u8; 128]);

impl CpuLine {
    pub(crate) fn has_hedge_key(&self) -> bool {
        false
    }

    pub(crate) fn void_bytes(&self, _: &Process, _: u64) -> u32 {
        0
    }

    pub(crate) fn is_used(&self) -> bool {
        false
    }
}

pub(crate) struct Put {
    pub(crate) stamp: u64,
    pub(crate) generation: u64,
    pub(crate) marker: u64,
    pub(crate) work_number: u64,
    pub(crate) need: u32,
    pub(crate) hedge_key: u32,
}

pub(crate) unsafe fn put(_: &Process, _: *mut u8, _: &Put) -> bool {
    false
}

pub(crate) fn take_word(_: &Process) -> Result<u64, Refused> {
    Err(Refused::Empty)
}

pub(crate) unsafe fn take_block(_: &Process, _: *mut u8) -> Result<(), Refused> {
    Err(Refused::Empty)
}

pub(crate) unsafe fn take_blocks(_: &Process, _: *mut u8, _: usize) -> Result<(), Refused> {
    Err(Refused::Empty)
}
