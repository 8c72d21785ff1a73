//! `headwater -V` and `headwater --version`.

use crate::failure::Failure;
use crate::output;
use headwater::{Hardware, ReseedGeneration, Status, Vmclock, Vmgenid};

const NAME: &str = concat!("headwater ", env!("CARGO_PKG_VERSION"));

/// One line, for scripts.
pub(crate) fn short() -> Result<(), Failure> {
    output::text(&format!("{NAME}\n"))?;
    Ok(())
}

/// What a bug report needs.
pub(crate) fn long() -> Result<(), Failure> {
    // One draw sets everything up. Whether it succeeds does not matter: a version can always
    // be told, and a machine without random bytes is one that somebody reports a bug of.
    let _ = headwater::try_fill(&mut [0]);
    let status = headwater::status();
    output::text(&format!(
        "{NAME}\ntarget: {}\ncipher: {}\nguard: {}\nmode: {}\n",
        env!("HEADWATER_TARGET"),
        status.cipher,
        guard(&status),
        status.mode,
    ))?;
    Ok(())
}

/// Returns the names of the detectors in use, separated by commas.
fn guard(status: &Status) -> String {
    let detectors = [
        (matches!(status.reseed_generation, ReseedGeneration::Live { .. }), "reseed generation"),
        (status.vmgenid == Vmgenid::Bound, "vmgenid"),
        (matches!(status.vmclock, Vmclock::Mapped { .. }), "VMClock"),
        (status.hardware == Hardware::BareMetal, "bare metal"),
        (status.fork_detection, "fork"),
    ];
    let names: Vec<&str> =
        detectors.into_iter().filter_map(|(in_use, name)| in_use.then_some(name)).collect();
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}
