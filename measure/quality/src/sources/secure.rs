//! headwater's secure bytes, in the mode of this machine and in each mode by name.

use super::{Named, Open, Source, SourceKind, words_from};
use crate::Error;
use headwater::{Config, Mode};

pub(super) const ALL: &[Named] = &[
    named("headwater", "secure bytes in the mode of this machine", || open(None)),
    named("headwater-buffered", "secure bytes, mode buffered", || open(Some(Mode::Buffered))),
    named("headwater-hedged", "secure bytes, mode hedged", || open(Some(Mode::Hedged))),
    named("headwater-strict", "secure bytes, mode strict", || open(Some(Mode::Strict))),
    named("headwater-kernel", "secure bytes, mode kernel", || open(Some(Mode::Kernel))),
];

const fn named(
    name: &'static str,
    about: &'static str,
    open: fn() -> Result<Box<dyn Source>, Error>,
) -> Named {
    Named { name, kind: SourceKind::Secure, about, open: Open::Live(open) }
}

struct Secure;

/// Opens the source. The mode belongs to the process, so a process can test one mode only.
fn open(mode: Option<Mode>) -> Result<Box<dyn Source>, Error> {
    if let Some(mode) = mode {
        headwater::init_with(Config::new().mode(mode)).map_err(|error| failed(&error))?;
        let active = headwater::status().mode;
        if active != mode {
            // The report would show bytes of another mode under this one's name.
            return Err(Error::Source {
                source: format!("headwater-{mode}"),
                reason: format!("this machine does not support the mode ({active} instead)"),
            });
        }
    }
    Ok(Box::new(Secure))
}

impl Source for Secure {
    fn fill(&mut self, out: &mut [u64]) -> Result<usize, Error> {
        words_from(out, |bytes| headwater::fill(bytes).map_err(|error| failed(&error)))
    }
}

fn failed(error: &headwater::Error) -> Error {
    Error::Source { source: "headwater".to_owned(), reason: error.to_string() }
}
