//! The CPU: its features, the number of the current one, its random instruction.

pub(crate) mod current;
pub(crate) mod features;
pub(crate) mod random;
