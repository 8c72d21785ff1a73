//! Reproducible streams: functions of a key, a stream's number and an element's, and a state for each CPU beside them.

pub mod key;
pub mod numbers;
pub mod pseudo;
