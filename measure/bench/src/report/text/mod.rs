//! The report as text of at most 100 columns.

pub(crate) mod case_tables;
pub(crate) mod changes;
pub(crate) mod crossover;
pub(crate) mod layout;
pub(crate) mod notes;
pub(crate) mod table;
