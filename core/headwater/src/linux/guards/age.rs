//! The age of pages where no live generation reports reseeds: at most a minute.
//!
//! The kernel reseeds once a minute, and nothing that headwater buffers may outlive that. But
//! before Linux 6.11 no reseed generation is readable, so pages would be served for as long as they
//! last. A coarse clock therefore takes its place: minutes count as generations.
//!
//! The clock is the vDSO's CLOCK_MONOTONIC_COARSE: a few loads, and no system call that a sandbox
//! could forbid. Without a vDSO, or after a restore on another kernel (`guards::kernel`), the cycle
//! counter does: 2^36 cycles are 14 seconds at 5 GHz and 69 at 1 GHz.

#![allow(unsafe_code)]

use crate::linux::cpu::random::cycles;
use crate::linux::failpoint::{Force, forced, passed};
use crate::linux::source::vdso::Vdso;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};

type ClockGettime = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> libc::c_int;

#[cfg(target_arch = "aarch64")]
const NAME: &core::ffi::CStr = c"__kernel_clock_gettime";
#[cfg(not(target_arch = "aarch64"))]
const NAME: &core::ffi::CStr = c"__vdso_clock_gettime";

/// The vDSO's clock, if there is one.
#[derive(Clone, Copy)]
pub(crate) struct CoarseClock(Option<ClockGettime>);

impl CoarseClock {
    pub(crate) const NONE: CoarseClock = CoarseClock(None);

    pub(crate) fn find(vdso: Option<&Vdso>) -> CoarseClock {
        let function = vdso.and_then(|vdso| vdso.function(NAME));
        // SAFETY: the symbol of this name has had this signature since it exists.
        CoarseClock(function.map(|function| unsafe {
            core::mem::transmute::<*mut c_void, ClockGettime>(function.as_ptr())
        }))
    }

    /// Returns a number that changes at least once a minute. `usable` says that the vDSO may be
    /// called.
    fn minute(self, usable: bool) -> u64 {
        if forced(Force::ClockStands) {
            return 1;
        }
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        if let Some(clock) = self.0.filter(|_| usable) {
            // SAFETY: `now` is a place for one, and the function writes there alone.
            if unsafe { clock(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) } == 0 {
                return (now.tv_sec as u64 + passed()) / 60;
            }
        }
        (cycles() >> 36) + passed() / 60
    }

    /// Stores the minute into `generation`, under a mark that no generation of the kernel's has.
    ///
    /// Written only if it changes, because all CPUs read it.
    #[inline]
    pub(crate) fn tick(self, generation: &AtomicU64, usable: bool) {
        let now = self.minute(usable) | 1 << 63;
        if generation.load(Ordering::Relaxed) != now {
            generation.store(now, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel reseeds once a minute, so that its generation is about as large as the minutes
    /// since it started. Without the mark a page of a generation that was retired would be good
    /// again for a minute.
    #[test]
    fn no_minute_is_a_generation() {
        for usable in [false, true] {
            let generation = AtomicU64::new(0);
            CoarseClock::NONE.tick(&generation, usable);
            assert_eq!(generation.into_inner() >> 63, 1);
        }
    }
}
