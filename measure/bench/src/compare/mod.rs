//! The comparison with an earlier run.

pub(crate) mod baseline;
mod record;
pub(crate) mod rule;
