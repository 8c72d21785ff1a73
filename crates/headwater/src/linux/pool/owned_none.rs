//! Handles of a build without pools: every request is keyed afresh, so a handle holds nothing.

use crate::Error;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

pub(crate) struct Handle {
    /// Makes the handle not `Sync`, as in a build with pools.
    not_sync: PhantomData<core::cell::Cell<()>>,
}

impl Handle {
    pub(crate) fn new() -> Result<Handle, Error> {
        crate::linux::process(true)?;
        Ok(Handle { not_sync: PhantomData })
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Error> {
        crate::u64()
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Error> {
        crate::u32()
    }

    pub(crate) fn fill(&mut self, buf: &mut [MaybeUninit<u8>]) -> Result<(), Error> {
        crate::linux::fill(buf, true)
    }
}
