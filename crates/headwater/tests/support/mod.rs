//! What the tests of sources, guards and handles share.

// Each test binary compiles this folder for itself and uses part of it.
#![allow(dead_code, unused_imports)]

#[cfg(feature = "testing")]
pub(crate) mod answers;
pub(crate) mod children;
pub(crate) mod draws;
pub(crate) mod jump;
#[cfg(feature = "testing")]
pub(crate) mod looks;
pub(crate) mod machine;
pub(crate) mod memory;
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
