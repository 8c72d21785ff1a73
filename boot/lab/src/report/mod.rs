//! Reports for people: text for a terminal, and a page of HTML.

pub mod html;
pub mod text;
