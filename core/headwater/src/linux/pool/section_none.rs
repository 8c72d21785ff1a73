//! No restartable sequences: other CPUs, and builds that an interpreter or a sanitizer looks into.

#![allow(unsafe_code, dead_code)]

use crate::linux::pool::refused::Refused;
use crate::linux::process::Process;
use core::ptr::NonNull;

pub(crate) const AVAILABLE: bool = false;

/// A line that is never used; as large as a real one.
#[repr(C, align(128))]
pub(crate) struct CpuLine([u8; 128]);

impl CpuLine {
    pub(crate) fn has_hedge_key(&self) -> bool {
        false
    }

    pub(crate) fn left(&self) -> u32 {
        0
    }

    pub(crate) fn page(&self) -> Option<NonNull<u8>> {
        None
    }

    pub(crate) fn void_bytes(&self, _: &Process) -> u32 {
        0
    }

    pub(crate) fn puts(&self) -> u64 {
        0
    }

    pub(crate) fn is_used(&self) -> bool {
        false
    }
}

pub(crate) struct Put {
    pub(crate) stamp: u64,
    pub(crate) number: u64,
    pub(crate) need: u32,
    pub(crate) hedge_key: u32,
    pub(crate) cpu: u32,
}

pub(crate) struct Exchanged {
    pub(crate) page: *mut u8,
    pub(crate) outcome: Outcome,
}

#[derive(PartialEq, Eq)]
pub(crate) enum Outcome {
    Put,
    Superfluous,
    Elsewhere,
    GivenUp,
}

pub(crate) unsafe fn put(_: &Process, page: *mut u8, _: &Put) -> Exchanged {
    Exchanged { page, outcome: Outcome::GivenUp }
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
