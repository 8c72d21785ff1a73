//! The Linux half: how a request is served, and what is in use.

mod atomic;
mod cipher;
mod control;
mod cpu;
mod failpoint;
#[cfg_attr(not(feature = "pools"), allow(dead_code))]
mod guards;
mod per_request;
// Without pools these give the process its shape, and most of what they can do is not asked for.
#[cfg_attr(not(feature = "pools"), allow(dead_code, unused_variables, unused_mut))]
mod pool;
mod process;
mod serve;
mod setup;
mod source;
mod status;
#[cfg_attr(not(feature = "pools"), allow(dead_code))]
mod sync;
#[cfg_attr(miri, path = "sys/miri.rs")]
mod sys;
#[cfg(feature = "testing")]
pub mod testing;

pub(crate) use control::{discard, init, quiesce};
pub(crate) use pool::owned::Handle;
pub(crate) use serve::{fill, fill_fresh, u32, u64};
pub(crate) use setup::mode_from_environment;
pub(crate) use status::{generation, status};
#[cfg(feature = "uuid")]
pub(crate) use sys::since_1970;

use crate::Error;
use process::Process;

/// Returns the place of `cpu_id` for other crates' sections, where this process uses sections.
pub(crate) fn rseq_of_sections() -> Option<isize> {
    let process = setup::published()?;
    process.sections.missing().is_none().then(|| process.rseq.offset())
}

/// The process, set up if need be.
#[inline(always)]
fn process(wait: bool) -> Result<&'static Process, Error> {
    match setup::published() {
        Some(process) => Ok(process),
        None => setup::process(wait),
    }
}
