//! The work of one warm call, counted instead of timed. Counts show the costs where the CPU's own
//! counters are out of reach, and show on few CPUs what keeps a call from scaling.
//!
//! Two threads of a forked child, each on a CPU and with a generator of its own, make calls in
//! turns, one instruction at a time.

pub(crate) mod counted;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod stepped;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod stepped {
    //! Nothing here can step through a call.

    use crate::count::counted::Count;
    use crate::impls::variant::Variant;
    use crate::plan::comparison::Comparison;

    pub(super) fn count(_: &Comparison, _: &Variant) -> Result<Count, String> {
        Err("single steps are read on x86-64 Linux only".to_owned())
    }
}

use crate::count::counted::Count;
use crate::error::Error;
use crate::impls::variant::Variant;
use crate::plan::comparison::Comparison;

const SECTIONED: &str = "the kernel aborts a restartable sequence at each step, so that another path would be \
                         counted (HEADWATER_NO_RSEQ=1 counts the one with locks)";

/// Reports whether the variant, in its present mode, draws in restartable sequences. The library
/// for C draws as this crate does.
fn is_sectioned(variant: &Variant) -> bool {
    let name = variant.name();
    let name = name.split('[').next().unwrap_or_default();
    ["headwater", "headwater-c"].contains(&name)
        && headwater::status().path == headwater::Path::Sections
}

/// Returns the counts of all variants, if the comparison asks for counts. The reason why a variant
/// has no count goes to `notices`, once for all variants that share the reason.
pub(crate) fn count_all(
    comparison: &Comparison,
    notices: &mut Vec<String>,
) -> Result<Vec<Option<Count>>, Error> {
    let mut counts = Vec::new();
    for variant in comparison.variants.iter().filter(|_| comparison.counts) {
        if comparison.switches_modes() {
            variant.set_mode().map_err(|error| Error::Refused {
                implementation: variant.name(),
                reason: error.to_string(),
            })?;
        }
        let elsewhere = variant.open().is_ok_and(|worker| worker.is_elsewhere());
        let counted = match elsewhere {
            true => Err("its calls are made by another process".to_owned()),
            false if is_sectioned(variant) => Err(SECTIONED.to_owned()),
            false => stepped::count(comparison, variant),
        };
        counts.push(match counted {
            Ok(count) => Some(count),
            Err(reason) => {
                let notice = format!("{} is not counted: {reason}", variant.name());
                if !notices.iter().any(|notice| notice.ends_with(&reason)) {
                    notices.push(notice);
                }
                None
            }
        });
    }
    Ok(counts)
}
