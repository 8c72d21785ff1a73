//! The sources that are known: what each is, and what renews it.
//!
//! The catalogue is a file of its own, because witnesses in a dozen languages print its names and a
//! reader should see them in one table. A name that is in no line of it is still compared, so a
//! witness of the user's own works; but then no advice is known.

use serde::Serialize;
use std::sync::LazyLock;

const TEXT: &str = include_str!("../witnesses/catalogue.tsv");

/// Where the state of a source lives.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Class {
    /// In the kernel: each call asks it.
    Kernel,
    /// In a library that the program links.
    Library,
    /// In an interpreter or a language's runtime.
    Interpreter,
    /// A name or a salt that is made once and kept.
    Identity,
    /// In a clock or a counter beside randomness, so that two values differ even if the random part
    /// repeats.
    Time,
    /// The catalogue does not have the source.
    Unknown,
}

/// The one that can renew a source that repeats.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Renewer {
    /// The kernel of the copy, once it is reseeded.
    Kernel,
    /// A step outside the program.
    Outside,
    /// The program itself.
    Program,
    /// Not even the program, once it runs.
    None,
}

/// A line of the catalogue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) id: &'static str,
    pub(crate) class: Class,
    pub(crate) renewed_by: Renewer,
    /// The way to renew it, or the reason why there is none, in a sentence.
    pub(crate) advice: &'static str,
    /// The number of consecutive values that cannot be equal by chance.
    pub(crate) window: usize,
}

/// The line that is assumed for a source without one. The source can be renewed, so that it fails
/// the check: a user adds a witness to hear of its repeats.
pub(crate) const UNKNOWN: Source = Source {
    id: "",
    class: Class::Unknown,
    renewed_by: Renewer::Program,
    advice: "Seed it anew in each copy; the catalogue does not know it.",
    window: 1,
};

/// All lines, sorted by name.
pub(crate) static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let mut sources: Vec<Source> = TEXT.lines().skip(1).map(read).collect();
    sources.sort_by_key(|source| source.id);
    sources
});

/// Returns the line of this name, or what is assumed without one.
pub(crate) fn find(id: &str) -> Source {
    match SOURCES.binary_search_by_key(&id, |source| source.id) {
        Ok(at) => SOURCES[at],
        Err(_) => UNKNOWN,
    }
}

/// Reads a line. The file is compiled in and a test reads all of it, so a fault of a line is a
/// fault of this crate: it stops that test.
fn read(line: &'static str) -> Source {
    let fields: Vec<&str> = line.split('\t').collect();
    let [id, class, renewed_by, window, advice] = fields[..] else {
        panic!("the catalogue has a line of {} fields: {line}", fields.len());
    };
    let class = match class {
        "kernel" => Class::Kernel,
        "library" => Class::Library,
        "interpreter" => Class::Interpreter,
        "identity" => Class::Identity,
        "time" => Class::Time,
        _ => panic!("the catalogue has a line of class {class}: {line}"),
    };
    let renewed_by = match renewed_by {
        "kernel" => Renewer::Kernel,
        "outside" => Renewer::Outside,
        "program" => Renewer::Program,
        "none" => Renewer::None,
        _ => panic!("the catalogue has a line with the renewed_by {renewed_by}: {line}"),
    };
    let window = window.parse().unwrap_or_else(|_| panic!("the window is no number: {line}"));
    Source { id, class, renewed_by, advice, window }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_and_named_once() {
        assert!(SOURCES.len() >= 100, "{} sources", SOURCES.len());
        for pair in SOURCES.windows(2) {
            assert_ne!(pair[0].id, pair[1].id);
        }
        for source in SOURCES.iter() {
            assert!(source.id.contains('/') && source.advice.ends_with('.'), "{source:?}");
            assert!((1..=8).contains(&source.window), "{source:?}");
            // A source of the kernel is renewed with the kernel, and no other source is.
            assert_eq!(
                source.class == Class::Kernel,
                source.renewed_by == Renewer::Kernel,
                "{source:?}"
            );
        }
    }

    #[test]
    fn an_unlisted_source_can_be_cured_so_that_it_fails_the_check() {
        assert_eq!(find("ours/rng").class, Class::Unknown);
        assert_ne!(find("ours/rng").renewed_by, Renewer::None);
    }
}
