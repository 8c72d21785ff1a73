//! headwater's numbers for everything that is no secret.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::{Implementation, ready};

pub(super) const BYTES: Implementation = Implementation {
    name: "headwater-pseudo",
    version: &|| Some(env!("CARGO_PKG_VERSION").to_owned()),
    has_modes: false,
    open: &|| ready(Pseudo),
};

struct Pseudo;

impl Generator for Pseudo {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        headwater_streams::random_pseudo_bytes(buf).map_err(|_| Refused)
    }

    #[inline]
    fn u64(&mut self) -> Result<u64, Refused> {
        headwater_streams::random_pseudo_u64().map_err(|_| Refused)
    }

    fn note(&self) -> Option<&'static str> {
        Some("not secure")
    }
}
