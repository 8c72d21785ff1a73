//! The machine's sources: the kernel's generator, its hardware source, and the CPU's instruction.

use super::{Named, Open, Source, SourceKind, rdrand, words_from};
use crate::Error;
use std::fs::File;
use std::io::Read;

pub(super) const ALL: &[Named] = &[
    Named {
        name: "/dev/urandom",
        kind: SourceKind::System,
        about: "the kernel's generator",
        open: Open::Live(|| device("/dev/urandom")),
    },
    Named {
        name: "/dev/hwrng",
        kind: SourceKind::Noise,
        about: "the hardware source that the kernel has chosen; root may read it",
        open: Open::Live(|| device("/dev/hwrng")),
    },
    Named {
        name: "rdrand",
        kind: SourceKind::Noise,
        about: "the CPU's random instruction, which is a generator that a noise source seeds",
        open: Open::Live(rdrand::open),
    },
];

struct Device {
    path: &'static str,
    file: File,
}

fn device(path: &'static str) -> Result<Box<dyn Source>, Error> {
    let file = File::open(path).map_err(|error| failed(path, &error))?;
    Ok(Box::new(Device { path, file }))
}

impl Source for Device {
    fn fill(&mut self, out: &mut [u64]) -> Result<usize, Error> {
        words_from(out, |bytes| {
            self.file.read_exact(bytes).map_err(|error| failed(self.path, &error))
        })
    }
}

fn failed(path: &str, error: &std::io::Error) -> Error {
    Error::Source { source: path.to_owned(), reason: error.to_string() }
}
