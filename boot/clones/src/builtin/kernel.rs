//! The kernel's generator by each of its doors, and the generation that says whether it reseeded.

use super::{Sources, hex};
use anyhow::{Context, Result};
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::{self, File};
use std::io::Read;

/// Formats 16 bytes as the digits of a random UUID, whose version and variant are six fixed bits.
///
/// All sources of the kernel are formatted so, because its generator is one sequence with three
/// doors: if another process of a copy drew once before, the value that one copy takes by the first
/// door is what another takes by the second. Equal values have to look equal for that to be seen.
fn digits(mut bytes: [u8; 16]) -> String {
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    hex(&bytes)
}

pub(super) fn sources() -> Sources {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut sources = Sources::new(format!("Linux {}", release.trim()));
    sources.draw("kernel/getrandom", || {
        let mut bytes = [0; 16];
        // Never waits: a machine without entropy would hold up the whole check.
        getrandom(&mut bytes[..], GetRandomFlags::NONBLOCK)?;
        Ok(digits(bytes))
    });
    sources.draw("kernel/dev-urandom", || read("/dev/urandom"));
    sources.draw("kernel/proc-uuid", || {
        let path = "/proc/sys/kernel/random/uuid";
        Ok(fs::read_to_string(path).context(path)?.trim().replace('-', ""))
    });
    sources
}

fn read(path: &'static str) -> Result<String> {
    let mut bytes = [0; 16];
    File::open(path).and_then(|mut file| file.read_exact(&mut bytes)).context(path)?;
    Ok(digits(bytes))
}

/// Returns the kernel's reseed generation, if this process can read it (Linux 6.11).
pub(crate) fn reseeds() -> Option<u64> {
    match headwater::status().reseed_generation {
        headwater::ReseedGeneration::Live { value, .. } => Some(value),
        _ => None,
    }
}
