//! The verbs, one a file, each with its arguments.

pub(crate) mod bench;
pub(crate) mod bytes;
pub(crate) mod clones;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod lab;
pub(crate) mod quality;
pub(crate) mod run;
pub(crate) mod status;
pub(crate) mod stream;
pub(crate) mod uuid;
pub(crate) mod version;
