//! The rows that a run is asked for, and the reasons why one cannot run.

use crate::machine::cache::Cache;
use crate::machine::manifest::Manifest;
use crate::machine::part::ARM_PART;
use crate::machine::series::SERIES;
use crate::machine::{command, program};
use crate::scenario::matrix::{self, BootCase};
use crate::scenario::situations::{SITUATIONS, Situation};
use anyhow::{Error, Result, anyhow};
use std::path::PathBuf;

/// The experiments of a run.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Run the boots.
    pub boots: bool,
    /// Run the clones.
    pub clones: bool,
    /// Only these situations, by name; empty: all.
    pub only: Vec<String>,
    /// Only of these kernels, by part of the set-up; empty: all.
    pub kernels: Vec<String>,
    /// Run one boot of each series and three pairs of clones; 15 s count as endless.
    pub short: bool,
    /// The guest's program; `None`: find or build it.
    pub guest: Option<PathBuf>,
    /// Directory for recordings of the guests, one for each boot.
    pub recordings: Option<PathBuf>,
    /// Directory for tables and JSON. It is written after each part, so that a late failure does
    /// not lose half an hour of results.
    pub out: Option<PathBuf>,
}

impl Scope {
    /// Checks that the tables have a row for the request, before a cache is opened.
    ///
    /// # Errors
    ///
    /// If no row is for all of the kernels, the architecture and the names.
    pub fn check(&self) -> Result<(), String> {
        match self.cases().is_empty() && self.situations().is_empty() {
            true => Err("no row of the table matches --kernel, --arch and --only together".into()),
            false => Ok(()),
        }
    }

    /// Returns the boots that are asked for.
    pub(super) fn cases(&self) -> Vec<BootCase> {
        let mut cases = if self.boots { boots(self) } else { Vec::new() };
        cases.retain(|case| self.is_of(&case.plan.kernel));
        cases
    }

    /// Returns the pairs of clones that are asked for.
    pub(super) fn situations(&self) -> Vec<Situation> {
        let is_wanted = |situation: &Situation| match self.only.as_slice() {
            [] => situation.short || !self.short,
            only => only.iter().any(|name| name == situation.id),
        };
        let is_wanted = |one: &Situation| self.clones && is_wanted(one) && self.is_of(one.series);
        SITUATIONS.into_iter().filter(is_wanted).collect()
    }

    fn is_of(&self, kernel: &str) -> bool {
        self.kernels.is_empty() || self.kernels.iter().any(|name| name == kernel)
    }
}

/// The kernels and programs that the cache has for guests.
pub(super) struct Machines<'a> {
    cache: &'a Cache,
    manifest: Manifest,
    arm: Option<String>,
}

impl Machines<'_> {
    /// Looks into the cache for the rows of a scope.
    pub(super) fn of<'a>(cache: &'a Cache, scope: &Scope) -> Result<Machines<'a>> {
        let manifest = Manifest::read(&cache.manifest())?;
        let has_arm = scope.cases().iter().any(|case| case.plan.kernel == ARM_PART)
            || scope.situations().iter().any(|situation| situation.series == ARM_PART);
        // A look for the program may build it.
        let has_kernel = manifest.kernels.iter().any(|kernel| kernel.series == ARM_PART);
        let arm = (has_arm && has_kernel).then(|| no_program_for_arm(cache, scope)).flatten();
        Ok(Machines { cache, manifest, arm })
    }

    /// Returns the reason why guests of a kernel cannot run.
    pub(super) fn lack(&self, part: &str) -> Option<String> {
        let kernel = self.manifest.kernels.iter().find(|kernel| kernel.series == part);
        let Some(kernel) = kernel else {
            return Some(format!("no kernel of series {part} in the cache"));
        };
        if command::system(self.cache, &kernel.architecture).is_err() {
            return Some(format!("no QEMU for {} in the cache", kernel.architecture));
        }
        self.arm.clone().filter(|_| part == ARM_PART)
    }
}

/// Returns the error of a run of which every row was skipped: nothing is broken then, and nothing
/// is shown either.
pub fn nothing_ran(cache: &Cache, why: &str) -> Error {
    anyhow!("nothing ran: {why} ({}); run `headwater lab setup`", cache.root().display())
}

/// Returns the reason why arm64 guests cannot run. Their program needs a cross compiler, or must be
/// given.
fn no_program_for_arm(cache: &Cache, scope: &Scope) -> Option<String> {
    let given = scope.guest.as_deref();
    if given.is_some() && !scope.kernels.iter().any(|kernel| kernel == ARM_PART) {
        return Some("the program of --guest is for x86-64".to_owned());
    }
    program::find(cache, given, "aarch64").err().map(|error| format!("{error:#}"))
}

fn boots(scope: &Scope) -> Vec<BootCase> {
    let newest = SERIES[SERIES.len() - 1].name;
    if scope.short {
        // The oldest series with its jitter loop, the newest with its stall, the others with a
        // source.
        let pick = |series: &str, title: &str| {
            matrix::plain(series).into_iter().find(|case| case.title == title)
        };
        let titles =
            ["nothing", "virtio-rng, driver early", "RDRAND", "RDRAND, random.trust_cpu=off"];
        let plain =
            SERIES.iter().zip(titles).filter_map(|(series, title)| pick(series.name, title));
        return plain.chain(matrix::stalls(newest, 15).into_iter().take(1)).collect();
    }
    let mut cases: Vec<BootCase> =
        SERIES.iter().flat_map(|series| matrix::plain(series.name)).collect();
    cases.extend(SERIES.iter().flat_map(|series| {
        matrix::stalls(series.name, if series.name == newest { 60 } else { 15 })
    }));
    cases.extend(matrix::slow(newest));
    cases.extend(matrix::firmware(newest));
    cases.extend(matrix::arm());
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_a_row_is_wrong_usage() {
        let of = |only: &[&str], kernel: &str| {
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            let (only, kernels) = (owned(only), owned(&[kernel]));
            Scope { clones: true, only, kernels, ..Scope::default() }.check().is_ok()
        };
        assert!(of(&[], "7"));
        assert!(of(&["none-5.10"], "5.10"));
        assert!(!of(&["none-5.10"], "7"));
        assert!(!of(&["race"], ARM_PART));
        assert!(Scope { boots: true, ..Scope::default() }.check().is_ok());
        assert!(Scope::default().check().is_err());
    }
}
