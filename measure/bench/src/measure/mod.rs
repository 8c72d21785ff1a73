//! The measurement: rounds, and the cases that need processes, threads or registers of their own.

pub(crate) mod crowd;
pub(crate) mod first_byte;
pub(crate) mod helper;
pub(crate) mod latency;
pub(crate) mod rounds;
pub(crate) mod row;
pub(crate) mod speed;
pub(crate) mod thread_state;
pub(crate) mod timing;
pub(crate) mod upper_halves;
