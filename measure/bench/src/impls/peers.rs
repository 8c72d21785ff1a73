//! Generators that are compiled in: the crates that a Rust program would pick instead.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::{Absent, Implementation};
#[cfg(target_os = "linux")]
use std::sync::LazyLock;

pub(crate) const AWS_LC: Implementation = Implementation {
    name: "aws-lc",
    version: &|| {
        option_env!("HEADWATER_BENCH_AWS_LC_RS").map(|version| format!("aws-lc-rs {version}"))
    },
    has_modes: false,
    open: &|| Ok(Box::new(AwsLc)),
};

#[cfg(feature = "peers-all")]
pub(crate) const BORING: Implementation = Implementation {
    name: "boring",
    version: &|| option_env!("HEADWATER_BENCH_BORING").map(|version| format!("boring {version}")),
    has_modes: false,
    open: &|| Ok(Box::new(Boring)),
};

/// A state for each thread, as [`super::VDSO`] has, but reached by a crate's interface.
#[cfg(target_os = "linux")]
pub(crate) const VDSO_RNG: Implementation = Implementation {
    name: "vdso-rng",
    version: &|| {
        option_env!("HEADWATER_BENCH_VDSO_RNG").map(|version| format!("vdso-rng {version}"))
    },
    has_modes: false,
    open: &|| match vdso_rng_pool().and_then(vdso_rng::LocalState::new) {
        Ok(state) => Ok(Box::new(VdsoRng(state))),
        Err(error) => Err(Absent(error.to_string())),
    },
};

/// The cost of a generator without a promise, for comparison.
pub(crate) const FASTRAND: Implementation = Implementation {
    name: "fastrand",
    version: &|| {
        option_env!("HEADWATER_BENCH_FASTRAND").map(|version| format!("fastrand {version}"))
    },
    has_modes: false,
    open: &|| Ok(Box::new(Fastrand)),
};

struct AwsLc;

impl Generator for AwsLc {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        aws_lc_rs::rand::fill(buf).map_err(|_| Refused)
    }
}

#[cfg(feature = "peers-all")]
struct Boring;

#[cfg(feature = "peers-all")]
impl Generator for Boring {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        boring::rand::rand_bytes(buf).map_err(|_| Refused)
    }
}

#[cfg(target_os = "linux")]
fn vdso_rng_pool() -> Result<&'static vdso_rng::Pool, vdso_rng::Error> {
    static POOL: LazyLock<Result<vdso_rng::Pool, vdso_rng::Error>> =
        LazyLock::new(vdso_rng::Pool::new);
    POOL.as_ref().map_err(|error| *error)
}

#[cfg(target_os = "linux")]
struct VdsoRng(vdso_rng::LocalState<'static>);

#[cfg(target_os = "linux")]
impl Generator for VdsoRng {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        self.0.fill(buf, 0).map_err(|_| Refused)
    }
}

struct Fastrand;

impl Generator for Fastrand {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        fastrand::fill(buf);
        Ok(())
    }

    #[inline]
    fn u32(&mut self) -> Result<u32, Refused> {
        Ok(fastrand::u32(..))
    }

    #[inline]
    fn u64(&mut self) -> Result<u64, Refused> {
        Ok(fastrand::u64(..))
    }

    fn note(&self) -> Option<&'static str> {
        Some("not secure") // from some of its output the rest can be computed
    }
}
