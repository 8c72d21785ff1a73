//! Implementations that are left out, with the reason.

use crate::impls::implementation::Absent;
use crate::impls::variant::Variant;
use serde::Serialize;
use std::fmt;

/// An implementation that was asked for and not measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Skipped {
    /// The name of the implementation.
    #[serde(rename = "impl")]
    pub implementation: String,
    /// Why, as one clause.
    pub reason: String,
}

impl Skipped {
    pub(crate) fn new(variant: &Variant, Absent(reason): Absent) -> Skipped {
        Skipped { implementation: variant.name(), reason }
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.implementation, self.reason)
    }
}
