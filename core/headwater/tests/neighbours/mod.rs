//! Other users of restartable sequences, as the tests of coexistence need them: the area that the C
//! library registered, an area of a program's own, and a section of its own.

// Each test binary compiles this directory for itself and uses part of it.
#![allow(dead_code)]

pub(crate) mod area;
pub(crate) mod counters;
pub(crate) mod tools;
