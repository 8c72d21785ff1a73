//! `docs/quotes.toml`: which sentence or table of which document quotes which record.

use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entries {
    #[serde(default)]
    pub(crate) sentence: Vec<Sentence>,
    #[serde(default)]
    pub(crate) table: Vec<Table>,
}

/// Text with figures in braces. It has either a record and a query for each figure, or the place
/// outside the records that the figures come from.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sentence {
    pub(crate) file: String,
    pub(crate) text: Spanned<String>,
    record: Option<String>,
    #[serde(default)]
    queries: Vec<String>,
    elsewhere: Option<String>,
}

/// A table whose columns are lengths and whose rows are implementations, all of one case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub(crate) file: String,
    pub(crate) heading: Spanned<String>,
    pub(crate) record: String,
    pub(crate) case: String,
    pub(crate) implementations: Vec<String>,
}

/// One value of one record.
#[derive(Clone)]
pub(crate) struct Query {
    pub(crate) record: String,
    pub(crate) case: String,
    pub(crate) len: usize,
    pub(crate) implementation: String,
    pub(crate) against: Option<String>,
    pub(crate) note: Option<String>,
    /// The unit of the figure: `ns`, `us`, `ms` or `GB/s`.
    pub(crate) unit: &'static str,
}

impl Entries {
    pub(crate) fn parse(text: &str) -> Result<Entries, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }
}

impl Sentence {
    /// Splits the text at its braces: the bare text, and where each figure lies in it.
    pub(crate) fn figures(&self) -> Result<(String, Vec<std::ops::Range<usize>>), String> {
        let mut bare = String::new();
        let mut figures = Vec::new();
        let text: Vec<&str> = self.text.get_ref().split_whitespace().collect();
        let text = text.join(" ");
        let mut rest = text.as_str();
        while let Some((before, behind)) = rest.split_once('{') {
            let (figure, after) = behind.split_once('}').ok_or("a brace is not closed")?;
            let digit = |c: char| c.is_ascii_digit();
            let point = after.strip_prefix(['.', ',']).is_some_and(|text| text.starts_with(digit));
            if before.ends_with(|c: char| digit(c) || c == '.')
                || after.starts_with(digit)
                || point
                || !figure.starts_with(digit)
            {
                return Err(format!("the braces around '{figure}' do not hold one whole number"));
            }
            bare.push_str(before);
            figures.push(bare.len()..bare.len() + figure.len());
            bare.push_str(figure);
            rest = after;
        }
        if figures.is_empty() {
            return Err("no figure of the text is in braces".to_owned());
        }
        bare.push_str(rest);
        Ok((bare, figures))
    }

    /// Returns a query for each figure, or none where the figures come from elsewhere.
    pub(crate) fn queries(&self, figures: usize) -> Result<Vec<Query>, String> {
        match (&self.record, &self.elsewhere) {
            (None, Some(source)) if self.queries.is_empty() && !source.is_empty() => Ok(Vec::new()),
            (_, None) if self.queries.len() == figures => {
                let record = self.record.as_deref();
                self.queries.iter().map(|query| parse(record, query)).collect()
            }
            (_, None) => Err(format!(
                "{figures} figures are in braces, and {} queries listed",
                self.queries.len()
            )),
            _ => Err("it needs either `queries` and their `record`, or `elsewhere`".to_owned()),
        }
    }
}

/// Parses `[RECORD: ]CASE LEN IMPL[ vs IMPL][, NOTE][, in UNIT]`.
fn parse(record: Option<&str>, text: &str) -> Result<Query, String> {
    let bad = || format!("the query '{text}' is not CASE LEN IMPL");
    let (record, query) = match text.split_once(": ") {
        Some((record, query)) => (record, query),
        None => (record.ok_or_else(|| format!("the query '{text}' names no record"))?, text),
    };
    let mut parts = query.split(", ");
    let words: Vec<&str> = parts.next().unwrap_or_default().split(' ').collect();
    let (case, len, implementation, against) = match *words {
        [case, len, implementation] => (case, len, implementation, None),
        [case, len, implementation, "vs", against] => (case, len, implementation, Some(against)),
        _ => return Err(bad()),
    };
    let mut query = Query {
        record: record.to_owned(),
        case: case.to_owned(),
        len: len.parse().map_err(|_| bad())?,
        implementation: implementation.to_owned(),
        against: against.map(str::to_owned),
        note: None,
        unit: "ns",
    };
    for part in parts {
        match part.strip_prefix("in ") {
            Some(name) => query.unit = unit(name).ok_or_else(bad)?,
            None => query.note = Some(part.to_owned()),
        }
    }
    Ok(query)
}

/// Returns the name of a unit as queries have it.
pub(crate) fn unit(name: &str) -> Option<&'static str> {
    match name {
        "ns" => Some("ns"),
        "us" | "µs" => Some("us"),
        "ms" => Some("ms"),
        "GB/s" => Some("GB/s"),
        _ => None,
    }
}
