//! Arguments that are lists.

use crate::error::Error;

/// Parses each item; of equal ones the first is kept.
pub(crate) fn parse_list<T: PartialEq>(
    items: &[String],
    parse: impl Fn(&str) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut list = Vec::new();
    for item in items {
        let value = parse(item)?;
        if !list.contains(&value) {
            list.push(value);
        }
    }
    Ok(list)
}

pub(crate) fn or_default<T>(list: Vec<T>, default: impl IntoIterator<Item = T>) -> Vec<T> {
    if list.is_empty() { default.into_iter().collect() } else { list }
}
