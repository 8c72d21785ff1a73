//! Experiments: each boots guests or processes, and hands their messages to the judgements.

pub mod boot;
pub mod clone;
pub mod criu;
mod hibernation;
pub mod job;
pub(crate) mod kernel;
pub(crate) mod matrix;
pub mod nodes;
pub mod record;
pub mod sections;
pub(crate) mod situations;
