//! /dev/urandom, opened once and read without a buffer.

use super::{Absent, Implementation};
use crate::work::{Drawn, Generator, Refused};
use std::fs::File;
use std::io::Read;

pub(crate) const IMPLEMENTATION: Implementation = Implementation {
    name: "urandom-read",
    version: crate::machine::kernel_release,
    has_modes: false,
    open: || {
        let file =
            File::open("/dev/urandom").map_err(|error| Absent(format!("/dev/urandom: {error}")))?;
        Ok(Box::new(Urandom(file)))
    },
};

struct Urandom(File);

impl Generator for Urandom {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        self.0.read_exact(buf).map_err(|_| Refused)
    }
}
