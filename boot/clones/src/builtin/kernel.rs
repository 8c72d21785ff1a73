//! The kernel's generator by each of its doors, and the generation that says whether it reseeded.

use super::{Sources, hex};
use anyhow::{Context, Result};
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::{self, File};
use std::io::Read;

pub(super) fn sources() -> Sources {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut sources = Sources::new(format!("Linux {}", release.trim()));
    sources.draw("kernel/getrandom", || {
        let mut bytes = [0; 16];
        // Never waits: a machine without entropy would hold up the whole check.
        getrandom(&mut bytes[..], GetRandomFlags::NONBLOCK)?;
        Ok(hex(&bytes))
    });
    sources.draw("kernel/dev-urandom", || read("/dev/urandom"));
    sources.draw("kernel/proc-uuid", || {
        let path = "/proc/sys/kernel/random/uuid";
        Ok(fs::read_to_string(path).context(path)?.trim().to_owned())
    });
    sources
}

fn read(path: &'static str) -> Result<String> {
    let mut bytes = [0; 16];
    File::open(path).and_then(|mut file| file.read_exact(&mut bytes)).context(path)?;
    Ok(hex(&bytes))
}

/// Returns the kernel's reseed generation, if this process can read it (Linux 6.11).
pub(crate) fn reseeds() -> Option<u64> {
    match headwater::status().reseed_generation {
        headwater::ReseedGeneration::Live { value, .. } => Some(value),
        _ => None,
    }
}
