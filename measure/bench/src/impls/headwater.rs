//! headwater itself: the free functions, and an owned handle.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::{Absent, Implementation, Opened};
use ::headwater::{Error, Rng};
use uuid::Uuid;

pub(crate) const SHARED: Implementation = Implementation {
    name: "headwater",
    version: &version,
    has_modes: true,
    open: &|| {
        ::headwater::init()?;
        Ok(Box::new(Shared))
    },
};

pub(crate) const OWNED: Implementation = Implementation {
    name: "headwater-rng",
    version: &version,
    has_modes: true,
    open: &|| -> Opened { Ok(Box::new(Owned(Rng::new()?))) },
};

/// Returns the version of the workspace, which has one version for all of its crates.
fn version() -> Option<String> {
    Some(env!("CARGO_PKG_VERSION").to_owned())
}

impl From<Error> for Absent {
    fn from(error: Error) -> Absent {
        Absent(error.to_string())
    }
}

/// The free functions, over the pools that all threads share.
struct Shared;

impl Generator for Shared {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        ::headwater::fill(buf).map_err(|_| Refused)
    }

    #[inline]
    fn u32(&mut self) -> Result<u32, Refused> {
        ::headwater::u32().map_err(|_| Refused)
    }

    #[inline]
    fn u64(&mut self) -> Result<u64, Refused> {
        ::headwater::u64().map_err(|_| Refused)
    }

    #[inline]
    fn uuid_v4(&mut self) -> Result<Uuid, Refused> {
        ::headwater::uuid::v4().map_err(|_| Refused)
    }

    #[inline]
    fn uuid_v7(&mut self) -> Result<Uuid, Refused> {
        ::headwater::uuid::v7().map_err(|_| Refused)
    }

    fn discarded_bytes(&self) -> Option<u64> {
        Some(::headwater::status().counters.discarded_bytes)
    }
}

/// A handle with a page of its own.
struct Owned(Rng);

impl Generator for Owned {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        self.0.fill(buf).map_err(|_| Refused)
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
