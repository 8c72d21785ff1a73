//! `headwater -V` and `headwater --version`.

use crate::failure::Failure;
use crate::output;
use headwater::{Hardware, ReseedGeneration, Status, Vmclock, Vmgenid};

const NAME: &str = concat!("headwater ", env!("CARGO_PKG_VERSION"));

/// Prints the name and the version on one line, for scripts.
pub(crate) fn short() -> Result<(), Failure> {
    output::text(&format!("{NAME}\n"))?;
    Ok(())
}

/// Prints the version and facts about the build and the generator on several lines, for bug
/// reports.
pub(crate) fn long() -> Result<(), Failure> {
    // One draw sets everything up. Its error is ignored: a machine without random bytes is a likely
    // subject of a bug report, and its version must still be printed.
    let _ = headwater::try_fill(&mut [0]);
    let status = headwater::status();
    output::text(&format!(
        "{NAME}\ncommit: {}\ntarget: {}\nfeatures: {}\ncipher: {}\nguard: {}\nmode: {}\n",
        env!("HEADWATER_COMMIT"),
        env!("HEADWATER_TARGET"),
        features(),
        status.cipher,
        guard(&status),
        status.mode,
    ))?;
    Ok(())
}

/// Names the cargo features of the core. Test hooks in a shipped program would show here.
fn features() -> String {
    let names =
        headwater::internal::FEATURES.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| *name);
    names.collect::<Vec<_>>().join(", ")
}

/// Names the detectors in use.
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
