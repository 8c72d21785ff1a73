//! /dev/urandom, read without a buffer: opened once, or for each call.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::{Absent, Implementation, ready};
use std::fs::File;
use std::io::Read;

const PATH: &str = "/dev/urandom";

pub(crate) const KEPT: Implementation = Implementation {
    name: "urandom-read",
    version: &crate::system::facts::kernel_release,
    has_modes: false,
    open: &|| ready(Kept(open()?)),
};

/// The calls of programs that must not keep a descriptor.
pub(crate) const REOPENED: Implementation = Implementation {
    name: "urandom-reopened",
    version: &crate::system::facts::kernel_release,
    has_modes: false,
    open: &|| open().and_then(|_| ready(Reopened)),
};

fn open() -> Result<File, Absent> {
    File::open(PATH).map_err(|error| Absent(format!("{PATH}: {error}")))
}

struct Kept(File);

impl Generator for Kept {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        self.0.read_exact(buf).map_err(|_| Refused)
    }
}

struct Reopened;

impl Generator for Reopened {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        File::open(PATH).and_then(|mut file| file.read_exact(buf)).map_err(|_| Refused)
    }
}
