//! Judgements on what guests sent. Nothing in this directory starts a machine, so every rule has a
//! test.

pub(crate) mod boot;
pub(crate) mod cause;
pub(crate) mod compare;
pub(crate) mod doctor;
pub(crate) mod finding;
pub(crate) mod image;
pub(crate) mod nodes;
pub(crate) mod pair;
pub(crate) mod sections;
