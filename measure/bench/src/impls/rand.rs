//! `rand`, the crate by which most Rust programs draw. The command measures it on every host.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::Implementation;
use ::rand::Rng as _;
use ::rand::rngs::ThreadRng;

/// `rand::rng()` looked up for each call, as most programs do.
pub(crate) const THREAD: Implementation = Implementation {
    name: "rand-thread_rng",
    version: &rand_version,
    has_modes: false,
    open: &|| Ok(Box::new(Rand)),
};

/// A `ThreadRng` that the caller keeps.
pub(crate) const HELD: Implementation = Implementation {
    name: "rand-thread_rng-held",
    version: &rand_version,
    has_modes: false,
    open: &|| Ok(Box::new(RandHeld(::rand::rng()))),
};

fn rand_version() -> Option<String> {
    option_env!("HEADWATER_BENCH_RAND").map(|version| format!("rand {version}"))
}

struct Rand;

impl Generator for Rand {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        ::rand::rng().fill_bytes(buf);
        Ok(())
    }

    #[inline]
    fn u32(&mut self) -> Result<u32, Refused> {
        Ok(::rand::rng().next_u32())
    }

    #[inline]
    fn u64(&mut self) -> Result<u64, Refused> {
        Ok(::rand::rng().next_u64())
    }
}

struct RandHeld(ThreadRng);

impl Generator for RandHeld {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        self.0.fill_bytes(buf);
        Ok(())
    }

    #[inline]
    fn u32(&mut self) -> Result<u32, Refused> {
        Ok(self.0.next_u32())
    }

    #[inline]
    fn u64(&mut self) -> Result<u64, Refused> {
        Ok(self.0.next_u64())
    }
}
