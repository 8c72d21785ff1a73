//! `headwater -V` and `headwater --version`.

use crate::failure::Failure;
use crate::output;
use headwater::{Hardware, Status, Vmclock, Vmgenid, Word};

const NAME: &str = concat!("headwater ", env!("CARGO_PKG_VERSION"));

/// One line, for scripts.
pub(crate) fn short() -> Result<(), Failure> {
    output::text(&format!("{NAME}\n"))?;
    Ok(())
}

/// What a bug report needs.
pub(crate) fn long() -> Result<(), Failure> {
    // One draw arms what there is to arm. Whether it succeeds does not matter: a version can always
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

/// The detectors that are armed, in a few words.
fn guard(status: &Status) -> String {
    let armed = [
        (matches!(status.word, Word::Live { .. }), "kernel word"),
        (status.vmgenid == Vmgenid::Bound, "vmgenid"),
        (matches!(status.vmclock, Vmclock::Mapped { .. }), "VMClock"),
        (status.hardware == Hardware::BareMetal, "bare metal"),
        (status.fork_detection, "fork"),
    ];
    let names: Vec<&str> =
        armed.into_iter().filter_map(|(is_armed, name)| is_armed.then_some(name)).collect();
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}
