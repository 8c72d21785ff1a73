//! The part that the tests of vanishing pages share.

// Each test binary compiles this directory for itself and uses part of it.
#![allow(dead_code)]

pub(crate) mod settings;
pub(crate) mod storm;
