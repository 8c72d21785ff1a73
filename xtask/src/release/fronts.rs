//! The packages of other languages.

use super::epoch;
use crate::{java, npm as package, python};
use anyhow::Result;
use std::path::Path;

/// Builds the wheels: glibc 2.17 and later, musl, and arm64.
pub(super) fn python(dist: &Path) -> Result<()> {
    python::release(dist, epoch()?)
}

/// Builds the jar, by the newest JDK of this machine, without its tests.
pub(super) fn java(dist: &Path) -> Result<()> {
    java::release(dist, epoch()?)
}

/// Builds the npm package, and packs it without asking a registry.
pub(super) fn npm(dist: &Path) -> Result<()> {
    package::release(dist)
}
