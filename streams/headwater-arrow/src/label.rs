//! Child keys, one for each column and each purpose.
//!
//! All functions of one stream are views of the same words. If a program draws a column of normal
//! numbers and one of uniform numbers from one key, the two are related (the correlation of
//! |normal| and uniform is -0.67), and a sample of one per cent of the rows lies wholly in the
//! first of ten folds. So a key is never drawn from by itself here: a caller's name makes a child,
//! and without a name the function's own name does.
//!
//! A caller's name is a text, and a function's is bytes, which are never the same label. Otherwise
//! a column called "sample" would share its words with [`sample`](crate::sample()).

use headwater_streams::Key;
use headwater_streams::kinds::Kind;

/// Returns the name by which every front calls a kind: NumPy's. Kinds without parameters that have
/// a scaled sister leave her the plain name, so `normal` always has a mean and a deviation, and
/// `standard_normal` none. One name then means one kind in Python, in SQL and as a label.
pub fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Uniform => "random",
        Kind::Normal => "standard_normal",
        Kind::Exponential => "standard_exponential",
        kind => kind.facts().fronts.numpy.unwrap_or(kind.name()),
    }
}

/// Returns the key of a column of this name: the child with the text as its label.
pub fn named(key: &Key, name: &str) -> Key {
    key.child(name)
}

/// Returns the key of a column that a kind draws: of the column's name, or without one, of
/// [`name_of`] the kind, as bytes.
pub fn drawn(key: &Key, kind: Kind, name: Option<&str>) -> Key {
    match name {
        Some(name) => named(key, name),
        None => key.child(name_of(kind).as_bytes()),
    }
}

/// Returns the key of a purpose of its own (`sample`, `split` or `order`): the child of that name
/// as bytes, and of that key the child of the column's name, if there is one.
pub fn purpose(key: &Key, purpose: &str, name: Option<&str>) -> Key {
    let own = key.child(purpose.as_bytes());
    match name {
        Some(name) => named(&own, name),
        None => own,
    }
}
