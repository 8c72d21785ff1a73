//! The result of a run: as data, as text, and as a page.

pub(crate) mod change;
pub(crate) mod document;
pub(crate) mod html;
pub(crate) mod parse;
pub(crate) mod ratio;
#[cfg(test)]
mod schema;
pub(crate) mod text;
pub(crate) mod warnings;
