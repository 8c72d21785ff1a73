//! What one warm call does, counted instead of timed: what it costs where the CPU's own counters are out of reach,
//! and what keeps it from scaling, on a machine with few CPUs.
//!
//! Two threads of a forked child, each on a CPU and with a generator of its own, make calls in turns, one
//! instruction at a time.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod stepped;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod stepped {
    //! Nothing here can step through a call.

    use super::Count;
    use crate::contender::Contender;
    use crate::plan::Cell;

    pub(super) fn count(_: &Cell, _: &Contender) -> Result<Count, String> {
        Err("single steps are read on x86-64 Linux only".to_owned())
    }
}

use crate::Error;
use crate::plan::Cell;
use serde::Serialize;

/// The longest fill that is counted. A call of more bytes is about the bytes, and takes long in single steps.
pub(crate) const MAX_LEN: usize = 4096;

/// What one warm call does in user space: that one of many which has the median number of instructions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Count {
    /// Instructions, those of the vDSO and of the loop around the call included.
    pub instructions: u64,
    /// Read-modify-writes that lock: with a `lock` prefix, or an exchange with memory.
    pub locked: u64,
    /// Calls of the kernel.
    pub syscalls: u64,
    /// `rdrand` and `rdseed`: the generator is one for many CPUs.
    pub rdrand: u64,
    /// Cache lines that it writes and that calls on another CPU write too; unknown on one CPU.
    pub shared_lines: Option<u64>,
    /// The same, on average over all calls looked at: with the share that refills have.
    pub mean: Mean,
    /// Calls that were looked at.
    pub calls: usize,
}

/// See [`Count`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Mean {
    /// As in [`Count`].
    pub instructions: f64,
    /// As in [`Count`].
    pub locked: f64,
    /// As in [`Count`].
    pub syscalls: f64,
    /// As in [`Count`].
    pub rdrand: f64,
    /// As in [`Count`].
    pub shared_lines: Option<f64>,
}

const SECTIONED: &str = "the kernel aborts a restartable sequence at each step, so that another path would be \
                         counted (HEADWATER_NO_RSEQ=1 counts the one with locks)";

/// Whether the contender, as it is armed now, draws in restartable sequences. The library for C does what this one
/// does.
fn is_sectioned(contender: &crate::contender::Contender) -> bool {
    let name = contender.name();
    let name = name.split('[').next().unwrap_or_default();
    ["headwater", "headwater-c"].contains(&name)
        && headwater::status().path == headwater::Path::Sections
}

/// The counts of all contenders, if the cell asks for them. Why one has none goes to `notices`, once for all that
/// share the reason.
pub(crate) fn count_all(
    cell: &Cell,
    notices: &mut Vec<String>,
) -> Result<Vec<Option<Count>>, Error> {
    let mut counts = Vec::new();
    for contender in cell.contenders.iter().filter(|_| cell.counts) {
        if cell.switches_modes() {
            contender.arm().map_err(|error| Error::Refused {
                implementation: contender.name(),
                reason: error.to_string(),
            })?;
        }
        let elsewhere = contender.open().is_ok_and(|worker| worker.is_elsewhere());
        let counted = match elsewhere {
            true => Err("its calls are made by another process".to_owned()),
            false if is_sectioned(contender) => Err(SECTIONED.to_owned()),
            false => stepped::count(cell, contender),
        };
        counts.push(match counted {
            Ok(count) => Some(count),
            Err(reason) => {
                let notice = format!("{} is not counted: {reason}", contender.name());
                if !notices.iter().any(|notice| notice.ends_with(&reason)) {
                    notices.push(notice);
                }
                None
            }
        });
    }
    Ok(counts)
}
