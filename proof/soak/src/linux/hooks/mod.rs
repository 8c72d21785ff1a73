//! Failpoints of the library, if the feature `hooks` builds them in.

#[cfg(not(feature = "hooks"))]
mod none;
#[cfg(feature = "hooks")]
mod real;

#[cfg(not(feature = "hooks"))]
pub(crate) use none::{closed, force, install, open};
#[cfg(feature = "hooks")]
pub(crate) use real::{closed, force, install, open};
