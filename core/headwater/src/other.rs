//! Systems other than Linux on 64-bit CPUs: every request goes to the `getrandom` crate. Correct,
//! not fast.

use crate::status::{self, Status};
use crate::{Config, Error, Mode};
use core::mem::MaybeUninit;
use core::num::NonZeroU64;

#[inline]
pub(crate) fn fill(buf: &mut [MaybeUninit<u8>], _wait: bool) -> Result<(), Error> {
    match getrandom::fill_uninit(buf) {
        Ok(_) => Ok(()),
        Err(error) => {
            buf.fill(MaybeUninit::new(0));
            Err(error
                .raw_os_error()
                .map_or(Error::UNSUPPORTED, |errno| Error::from_errno(errno as i32)))
        }
    }
}

pub(crate) fn fill_fresh(buf: &mut [MaybeUninit<u8>]) -> Result<(), Error> {
    fill(buf, true)
}

pub(crate) fn know_cpuid(_: crate::cpuid::CpuidWords) {}

pub(crate) fn expect_no_handles() {}

/// The count of copies, none of which is seen here.
pub(crate) mod copies {
    pub(crate) fn copies() -> u64 {
        0
    }

    pub(crate) fn word() -> *const u64 {
        static ARMED: u64 = 1;
        &raw const ARMED
    }

    pub(crate) fn count() -> *const u64 {
        static NONE: u64 = 0;
        &raw const NONE
    }

    pub(crate) fn before_fork() {}

    pub(crate) fn after_fork() {}

    pub(crate) fn seen() -> (bool, bool) {
        (false, false)
    }
}

pub(crate) fn rseq_of_sections() -> Option<isize> {
    None
}

pub(crate) fn u32() -> Result<u32, Error> {
    Ok(u32::from_ne_bytes(crate::array()?))
}

pub(crate) fn u64() -> Result<u64, Error> {
    Ok(u64::from_ne_bytes(crate::array()?))
}

pub(crate) fn init(_config: Option<Config>) -> Result<(), Error> {
    fill(&mut [MaybeUninit::uninit()], true)
}

pub(crate) fn quiesce() -> Result<(), Error> {
    Ok(())
}

pub(crate) fn discard() -> Result<(), Error> {
    Ok(())
}

pub(crate) fn self_test() -> Result<(), Error> {
    Ok(())
}

pub(crate) fn mode_from_environment() -> (Mode, bool) {
    (Mode::Auto, false)
}

#[cfg(feature = "uuid")]
pub(crate) fn since_1970() -> (u64, u32) {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or((0, 0), |since| (since.as_secs(), since.subsec_nanos()))
}

/// The public change counter, which no other system has.
pub(crate) struct Changes {
    pub(crate) number: NonZeroU64,
    pub(crate) is_complete: bool,
}

pub(crate) fn changes() -> Option<Changes> {
    None
}

pub(crate) fn status() -> Status {
    Status {
        mode: Mode::Kernel,
        requested: Mode::Auto,
        unknown_mode_requested: false,
        reason: "this is not Linux on a 64-bit CPU: every request goes to the getrandom crate",
        source: status::Source::Other,
        reseed_generation: status::ReseedGeneration::Absent("not Linux on a 64-bit CPU"),
        vmclock: status::Vmclock::Absent,
        vmgenid: status::Vmgenid::NotAsked,
        watch_page: status::WatchPage::Off,
        hardware: status::Hardware::NotAsked,
        cpu_rng: status::CpuRng::NotAsked,
        path: crate::Path::Unbuffered,
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
