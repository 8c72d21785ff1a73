//! The part that the tests of sources, guards and handles share.

// Each test binary compiles this directory for itself and uses part of it.
#![allow(dead_code, unused_imports)]

#[cfg(feature = "testing")]
pub(crate) mod answers;
pub(crate) mod draws;
#[cfg(feature = "testing")]
pub(crate) mod looks;
#[cfg(feature = "testing")]
pub(crate) mod model;
pub(crate) mod root;
#[cfg(feature = "testing")]
pub(crate) mod rules;
pub(crate) mod statistics;
pub(crate) mod stepper;
#[cfg(feature = "testing")]
pub(crate) mod tracer;
#[cfg(feature = "testing")]
pub(crate) mod voided;

pub(crate) use headwater_testing::{children, jump, machine, memory};
