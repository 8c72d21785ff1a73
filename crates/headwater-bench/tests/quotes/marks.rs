//! The markup: an HTML comment behind a figure, or above a table.

/// What stands in front of a figure's value where the comment is taken out.
const MARKED: char = '\u{1}';

/// What makes a number a speed.
const UNITS: [&str; 9] = [
    "ns",
    "µs",
    "us",
    "ms",
    "nanoseconds",
    "microseconds",
    "GB/s",
    "times as fast",
    "times faster",
];

/// Where a figure stands.
pub(crate) enum Place {
    Line(usize),
    Cell(usize, usize),
}

/// A figure that says where it is from.
pub(crate) struct Mark {
    pub(crate) place: Place,
    /// As it stands in the text: `7.4`, `4.2 ms`, `1.35 (1.35 to 1.36)`.
    pub(crate) figure: String,
    pub(crate) query: Query,
}

/// Which value of which record.
pub(crate) struct Query {
    pub(crate) record: String,
    pub(crate) case: String,
    pub(crate) len: usize,
    pub(crate) implementation: String,
    pub(crate) against: Option<String>,
    pub(crate) note: Option<String>,
    /// Nanoseconds in the unit of the figure; 0 where it is GB/s.
    pub(crate) unit: f64,
}

#[derive(Default)]
pub(crate) struct Document {
    pub(crate) marks: Vec<Mark>,
    /// Speeds that do not say where they are from.
    pub(crate) unmarked: Vec<String>,
    /// Marks that cannot be read.
    pub(crate) faults: Vec<String>,
}

pub(crate) fn read(text: &str) -> Document {
    let mut document = Document::default();
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    let mut code = false; // which shows markup and output, and quotes nothing
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        code ^= line.starts_with("```");
        if code {
            continue;
        }
        match line.strip_prefix("<!-- record ").and_then(|rest| rest.strip_suffix(" -->")) {
            Some(head) => {
                // Blank lines between the comment and its table are allowed.
                let start = at + lines[at..].iter().take_while(|line| line.is_empty()).count();
                let rows = lines[start..].iter().take_while(|line| line.starts_with('|')).count();
                if let Err(fault) = table(head, &lines[start..start + rows], start, &mut document) {
                    document.faults.push(format!("line {at}: {fault}"));
                }
                at = start + rows;
            }
            None => inline(line, at, &mut document),
        }
    }
    document
}

/// `FOLDER: CASE; IMPL, IMPL, ...` above a table whose columns are lengths and whose rows are those.
fn table(head: &str, rows: &[&str], first: usize, document: &mut Document) -> Result<(), String> {
    let (record, rest) = head.split_once(": ").ok_or("no colon behind the record's folder")?;
    let (case, names) = rest.split_once("; ").ok_or("no semicolon behind the case")?;
    let names: Vec<&str> = names.split(", ").collect();
    let [header, _, body @ ..] = rows else { return Err("no table below the mark".to_owned()) };
    if names.len() != body.len() {
        return Err(format!("{} rows are named and {} there", names.len(), body.len()));
    }
    let lengths: Vec<usize> =
        cells(header).skip(1).map(length).collect::<Option<_>>().ok_or("a column has no length")?;
    for (row, (line, name)) in body.iter().zip(names).enumerate() {
        for (column, figure) in cells(line).skip(1).enumerate() {
            if figure.is_empty() || figure == "-" {
                continue;
            }
            let len = *lengths.get(column).ok_or("a row is longer than the header")?;
            document.marks.push(Mark {
                place: Place::Cell(first + row + 3, column + 1),
                figure: figure.to_owned(),
                query: Query {
                    record: record.to_owned(),
                    case: case.to_owned(),
                    len,
                    implementation: name.to_owned(),
                    against: None,
                    note: None,
                    unit: unit(figure.split(' ').nth(1).unwrap_or("ns")).ok_or("unknown unit")?,
                },
            });
        }
    }
    Ok(())
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.trim().trim_matches('|').split('|').map(str::trim)
}

fn length(text: &str) -> Option<usize> {
    let (count, unit) = text.split_once(' ')?;
    let unit =
        [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20)].into_iter().find(|it| it.0 == unit)?;
    Some(count.parse::<usize>().ok()? * unit.1)
}

fn unit(name: &str) -> Option<f64> {
    match name {
        "ns" => Some(1.0),
        "us" | "µs" => Some(1e3),
        "ms" => Some(1e6),
        "GB/s" => Some(0.0),
        _ => None,
    }
}

/// A line of text. Comments in it are marks if they say so.
fn inline(line: &str, number: usize, document: &mut Document) {
    let mut bare = String::new();
    let mut rest = line;
    while let Some((before, comment)) = rest.split_once("<!-- ") {
        let Some((comment, after)) = comment.split_once(" -->") else { break };
        bare += before;
        if let Some(query) = comment.strip_prefix("record ") {
            let figure = last_figure(&bare);
            match (figure, parse(query)) {
                (None, _) => {
                    document.faults.push(format!("line {number}: no figure before the mark"));
                }
                (_, Err(fault)) => document.faults.push(format!("line {number}: {fault}")),
                (Some(figure), Ok(query)) => {
                    document.marks.push(Mark { place: Place::Line(number), figure, query });
                }
            }
        }
        if comment.starts_with("record ") || comment.starts_with("elsewhere: ") {
            bare.push(MARKED);
        }
        rest = after;
    }
    bare += rest;
    for unit in UNITS {
        for (at, _) in bare.match_indices(unit) {
            let whole = !bare[at + unit.len()..].starts_with(char::is_alphanumeric);
            let before = bare[..at].trim_end_matches([' ', '\u{a0}', '-']);
            if whole && before.ends_with(|c: char| c.is_ascii_digit()) {
                let figure = last_figure(before).unwrap_or_default();
                document.unmarked.push(format!("line {number}: {figure} {unit} has no mark"));
            }
        }
    }
}

/// `FOLDER: CASE LEN IMPL[ vs IMPL][, NOTE][, in UNIT]`
fn parse(text: &str) -> Result<Query, String> {
    let bad = || format!("the mark '{text}' is not FOLDER: CASE LEN IMPL");
    let (record, rest) = text.split_once(": ").ok_or_else(bad)?;
    let mut parts = rest.split(", ");
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
        unit: 1.0,
    };
    for part in parts {
        match part.strip_prefix("in ") {
            Some(name) => query.unit = unit(name).ok_or_else(bad)?,
            None => query.note = Some(part.to_owned()),
        }
    }
    Ok(query)
}

/// `7.4` at the end of a text, or `1.35 (1.35 to 1.36)`.
fn last_figure(text: &str) -> Option<String> {
    let start_of = |text: &str| {
        let number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
        let start = text.trim_end_matches(number).len();
        // A full stop or comma of the sentence before is none of the number's.
        let skip = text[start..].find(|c: char| c.is_ascii_digit())?;
        Some(start + skip)
    };
    let start = match text.strip_suffix(')') {
        Some(inside) => {
            let open = inside.rfind(" (")?;
            start_of(&text[..open])?
        }
        None => start_of(text)?,
    };
    Some(text[start..].to_owned())
}

/// The numbers in a figure.
pub(crate) fn numbers(figure: &str) -> Vec<String> {
    let parts = figure.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','));
    parts.filter(|part| part.contains(|c: char| c.is_ascii_digit())).map(str::to_owned).collect()
}

/// Numbers with a decimal point, outside brackets and without a mark.
pub(crate) fn unmarked_decimals(sentence: &str) -> Vec<String> {
    let mut text = String::new();
    let mut depth = 0;
    for c in sentence.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        text.push(if depth > 0 { ' ' } else { c });
    }
    let words = text.split_whitespace().filter(|word| !word.contains("<!--"));
    let words = words.map(|word| word.trim_end_matches([',', '.', ';']).to_owned());
    words.filter(|word| word.contains('.') && word.parse::<f64>().is_ok()).collect()
}
