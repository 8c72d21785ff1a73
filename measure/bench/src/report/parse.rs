//! Reports read back, of this run or of an earlier one.

use crate::error::Error;
use crate::report::document::SCHEMA;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::Path;

/// Reads the report in `path`, or in the file `bench.json` of a record's directory, by `parse`.
pub(crate) fn read<T>(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, Error> {
    let path = if path.is_dir() { path.join("bench.json") } else { path.to_owned() };
    let bad = |reason: String| Error::BadRecord(format!("{}: {reason}", path.display()));
    let text = fs::read_to_string(&path).map_err(|error| bad(error.to_string()))?;
    parse(&text).map_err(bad)
}

/// Reads the part of a report that `T` needs.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    // The schema first: what is wrong with another document is that it is another document.
    #[derive(Deserialize)]
    struct Schema {
        schema: String,
    }
    let Schema { schema } =
        serde_json::from_str(text).map_err(|_| "not a report in JSON".to_owned())?;
    if schema != SCHEMA {
        return Err(format!("its schema is '{schema}': use a '{}'", SCHEMA));
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}
