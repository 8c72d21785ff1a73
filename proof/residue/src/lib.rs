//! The part that both programs share: a process that has just drawn, and the search for what it
//! left.

pub mod case;
pub mod exceptions;
pub mod memory;
pub mod options;
pub mod search;
pub mod subject;
