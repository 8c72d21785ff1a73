//! The CPU: its features, the number of the current one, its random instruction.

#[cfg_attr(not(feature = "pools"), allow(dead_code))]
pub(crate) mod current;
pub(crate) mod features;
pub(crate) mod random;
