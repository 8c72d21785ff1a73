//! Temporary while the core is written.
#![allow(missing_docs, unsafe_code, clippy::undocumented_unsafe_blocks)]
use crate::status::{self, Status};
use crate::{Config, Error, Mode};
use core::mem::MaybeUninit;
use core::num::NonZeroU64;
#[cfg(feature = "testing")]
pub mod testing {}

pub(crate) fn fill(buf: &mut [MaybeUninit<u8>], _wait: bool) -> Result<(), Error> {
    let n = unsafe { libc::getrandom(buf.as_mut_ptr().cast(), buf.len(), 0) };
    if n == buf.len() as isize {
        Ok(())
    } else {
        Err(Error::from_errno(5))
    }
}
pub(crate) fn init(_config: Option<Config>) -> Result<(), Error> {
    fill(&mut [MaybeUninit::uninit()], true)
}
pub(crate) fn quiesce() -> Result<(), Error> {
    Ok(())
}
pub(crate) fn mode_from_environment() -> (Mode, bool) {
    (Mode::Auto, false)
}
pub(crate) fn generation() -> Option<NonZeroU64> {
    None
}
pub(crate) fn status() -> Status {
    Status {
        mode: Mode::Kernel,
        requested: Mode::Auto,
        unknown_mode_requested: false,
        reason: "not written yet",
        source: status::Source::Other,
        word: status::Word::Absent("not written yet"),
        vmclock: status::Vmclock::Absent,
        vmgenid: status::Vmgenid::Unknown,
        hardware: status::Hardware::NotAsked,
        cpu_rng: status::CpuRng::Absent,
        cipher: "none",
        page: status::Page::None,
        fork_detection: false,
        generation: None,
        pools: status::Pools::default(),
        counters: status::Counters::default(),
    }
}
pub(crate) struct Handle(());
impl Handle {
    pub(crate) fn new() -> Result<Handle, Error> {
        init(None).map(Handle)
    }
    pub(crate) fn fill(&mut self, buf: &mut [MaybeUninit<u8>]) -> Result<(), Error> {
        fill(buf, true)
    }
    pub(crate) fn u32(&mut self) -> Result<u32, Error> {
        crate::u32()
    }
    pub(crate) fn u64(&mut self) -> Result<u64, Error> {
        crate::u64()
    }
}
