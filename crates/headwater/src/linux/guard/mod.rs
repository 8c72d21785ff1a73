//! The guards: what tells that something happened which buffered bytes must not survive.
//!
//! | event | told by |
//! | --- | --- |
//! | the kernel reseeded, a VM clone that the kernel noticed | [`generation`]: the kernel's reseed generation |
//! | snapshot load, live migration | [`vmclock`]: the hypervisor's marker |
//! | fork, clone | [`epoch`]: a canary that the kernel clears in the child |
//!
//! [`vmgenid`] and [`hardware`] are not looked at while drawing: they are the evidence from which the
//! mode is chosen, once (`crate::mode`). [`kernel`] says whether the word's address may be loaded at all.

pub(crate) mod age;
pub(crate) mod epoch;
pub(crate) mod generation;
pub(crate) mod hardware;
pub(crate) mod kernel;
pub(crate) mod vmclock;
pub(crate) mod vmgenid;

use super::raw::Fd;
use core::ffi::CStr;

/// The first bytes of a small file of /sys, as far as they fit: such files answer in one read.
pub(crate) fn read_file<'a>(path: &CStr, buf: &'a mut [u8]) -> Option<&'a [u8]> {
    let len = Fd::open_read(path).ok()?.read(buf).ok()?;
    buf.get(..len)
}
