//! Holds every speed that the documents quote to a record. `docs/quotes.toml` names the record of
//! each figure; `docs/bench.md`, "Quoting", describes that file.

#[path = "quotes/document.rs"]
mod document;
#[path = "quotes/entries.rs"]
mod entries;
#[path = "quotes/record.rs"]
mod record;

use document::{Block, blocks, first_number, length, numbers, speeds, unit_behind};
use entries::{Entries, Query, Sentence, Table, unit};
use record::{Records, is_rounded};
use std::fs::read_to_string;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Documents in which every speed needs an entry.
const STRICT: [&str; 3] = ["README.md", "COMPARE.md", "CHANGELOG.md"];
/// Documents that also quote speeds of single parts, which no record has: only their entries are
/// checked.
const LENIENT: [&str; 3] = ["core/DESIGN.md", "docs/bench.md", "streams/README.md"];
/// Where the entries are.
const QUOTES: &str = "docs/quotes.toml";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One document beside its entries, and the parts of it that an entry covers.
struct Check<'a> {
    name: &'a str,
    blocks: Vec<Block>,
    /// The text of `docs/quotes.toml`, for line numbers.
    quotes: &'a str,
    covered: Vec<(usize, Range<usize>)>,
    figures: usize,
    faults: Vec<String>,
}

impl Check<'_> {
    /// Adds a fault of an entry. The span is the entry's text or heading.
    fn entry_fault(&mut self, span: Range<usize>, fault: &str) {
        let line = self.quotes[..span.start].lines().count().max(1);
        self.faults.push(format!("{QUOTES}:{line} ({}): {fault}", self.name));
    }

    /// Compares one figure of the document with its record.
    fn figure(&mut self, block: usize, range: Range<usize>, query: &Query, records: &Records) {
        self.figures += 1;
        let text = &self.blocks[block].text;
        let figure = &text[range.clone()];
        let at = format!("{}:{}", self.name, self.blocks[block].line(range.start));
        let found = match records.find(query) {
            Err(reason) => Err(format!("{at}: {figure}: {reason}")),
            Ok(values) => {
                let figures = numbers(figure);
                let right = figures.len() <= values.len()
                    && !figures.is_empty()
                    && figures
                        .iter()
                        .zip(&values)
                        .all(|(figure, value)| is_rounded(figure, *value));
                let fault = || format!("{at}: {figure} is quoted, the record says {values:?}");
                if right { Ok(()) } else { Err(fault()) }
            }
        };
        let behind = unit_behind(&text[range.end..]);
        if let (None, Some(unit)) = (&query.against, behind)
            && unit != query.unit
        {
            let queried = query.unit;
            self.faults
                .push(format!("{at}: {figure} is quoted in {unit}, its query says {queried}"));
        }
        self.faults.extend(found.err());
        self.covered.push((block, range));
    }

    fn sentence(&mut self, sentence: &Sentence, records: &Records) {
        let span = sentence.text.span();
        let (text, figures) = match sentence.figures() {
            Ok(parts) => parts,
            Err(fault) => return self.entry_fault(span, &fault),
        };
        let places: Vec<(usize, usize)> = self
            .blocks
            .iter()
            .enumerate()
            .flat_map(|(block, Block { text: all, .. })| {
                all.match_indices(&text).map(move |(at, _)| (block, at)).collect::<Vec<_>>()
            })
            .collect();
        let [(block, at)] = places[..] else {
            let fault = match places.len() {
                0 => format!("the document has no such text: '{text}'{}", self.closest(&text)),
                more => {
                    format!("the document has this text {more} times, quote more of it: '{text}'")
                }
            };
            return self.entry_fault(span, &fault);
        };
        match sentence.queries(figures.len()) {
            Err(fault) => self.entry_fault(span, &format!("'{text}': {fault}")),
            Ok(queries) => {
                let moved = figures.into_iter().map(|range| range.start + at..range.end + at);
                let moved: Vec<_> = moved.collect();
                if queries.is_empty() {
                    self.figures += moved.len();
                    self.covered.extend(moved.iter().map(|range| (block, range.clone())));
                }
                for (range, query) in moved.into_iter().zip(&queries) {
                    self.figure(block, range, query, records);
                }
            }
        }
    }

    /// Describes the block that shares most words with a text that is gone.
    fn closest(&self, text: &str) -> String {
        let shared = |block: &&Block| {
            let words: Vec<&str> = block.text.split(' ').collect();
            text.split(' ').filter(|word| words.contains(word)).count()
        };
        let best = self.blocks.iter().max_by_key(shared);
        best.filter(|block| shared(block) * 2 > text.split(' ').count())
            .map_or_else(String::new, |block| {
                format!("; the closest is in line {}: '{}'", block.line(0), block.text)
            })
    }

    fn table(&mut self, table: &Table, records: &Records) {
        let span = table.heading.span();
        let heading: Vec<&str> = table.heading.get_ref().split_whitespace().collect();
        let heading = heading.join(" ");
        let of_heading =
            |(_, block): &(usize, &Block)| block.row.is_none() && block.text == heading;
        let places: Vec<usize> =
            self.blocks.iter().enumerate().filter(of_heading).map(|(index, _)| index).collect();
        let [first] = places[..] else {
            let count = places.len();
            let fault = format!("the document has {count} tables with this heading: '{heading}'");
            return self.entry_fault(span, &fault);
        };
        let lengths: Option<Vec<usize>> = self.blocks[first]
            .cells()
            .into_iter()
            .skip(1)
            .map(|cell| length(&heading[cell]))
            .collect();
        let Some(lengths) = lengths else {
            return self.entry_fault(span, &format!("a column is not a length: '{heading}'"));
        };
        let rows: Vec<usize> = (first + 2..self.blocks.len())
            .take_while(|row| self.blocks[*row].row == Some((first, row - first)))
            .collect();
        let (named, there) = (table.implementations.len(), rows.len());
        if named != there {
            let fault = format!("{named} implementations are listed, the table has {there} rows");
            return self.entry_fault(span, &format!("{fault}: '{heading}'"));
        }
        for (row, implementation) in rows.into_iter().zip(&table.implementations) {
            let cells = self.blocks[row].cells();
            if cells.len() != lengths.len() + 1 {
                let line = self.blocks[row].line(0);
                let fault =
                    format!("line {line} has {} cells, not those of '{heading}'", cells.len());
                return self.entry_fault(span, &fault);
            }
            for (cell, len) in cells.into_iter().skip(1).zip(&lengths) {
                let text = &self.blocks[row].text[cell.clone()];
                if text.is_empty() || text == "-" {
                    continue;
                }
                let Some(unit) = unit(text.split(' ').nth(1).unwrap_or("ns")) else {
                    let fault = format!("the cell '{text}' has an unknown unit");
                    self.entry_fault(span.clone(), &fault);
                    continue;
                };
                let query = Query {
                    record: table.record.clone(),
                    case: table.case.clone(),
                    len: *len,
                    implementation: implementation.clone(),
                    against: None,
                    note: None,
                    unit,
                };
                let number = first_number(text).map_or(text.len(), str::len);
                self.figure(row, cell.start..cell.start + number, &query, records);
            }
        }
    }

    /// Finds the speeds that no entry covers. In a column whose heading is a length, every number
    /// is a speed.
    fn uncovered(&mut self) {
        let mut faults = Vec::new();
        for (index, block) in self.blocks.iter().enumerate() {
            if block.text.contains("<!-- record ") || block.text.contains("<!-- elsewhere") {
                let line = block.line(0);
                faults.push(format!("{}:{line}: entries belong in {QUOTES}, not here", self.name));
            }
            let mut found = speeds(&block.text);
            if let Some((heading, rows)) = block.row
                && rows > 1
            {
                let heading = &self.blocks[heading];
                for (title, cell) in heading.cells().into_iter().zip(block.cells()) {
                    if let (Some(_), Some(number)) =
                        (length(&heading.text[title]), first_number(&block.text[cell.clone()]))
                    {
                        found.push(cell.start..cell.start + number.len());
                    }
                }
            }
            for range in found {
                let covers = |(block, figure): &(usize, Range<usize>)| {
                    *block == index && figure.start <= range.start && range.end <= figure.end
                };
                if !self.covered.iter().any(covers) {
                    let (line, figure) = (block.line(range.start), &block.text[range.clone()]);
                    let around = excerpt(&block.text, &range);
                    faults.push(format!(
                        "{}:{line}: no entry of {QUOTES} covers {figure} in '{around}'",
                        self.name
                    ));
                }
            }
        }
        faults.dedup();
        self.faults.extend(faults);
    }
}

/// Returns the figure with the words around it, which an entry may quote.
fn excerpt<'a>(text: &'a str, range: &Range<usize>) -> &'a str {
    let start = text[..range.start].char_indices().rev().take(40).last().map_or(0, |(at, _)| at);
    let end = text[range.end..].char_indices().nth(40).map_or(text.len(), |(at, _)| range.end + at);
    text[start..end].trim()
}

/// Returns the number of figures that entries cover in a document, and its faults, one line each.
fn check(
    name: &str,
    text: &str,
    strict: bool,
    quotes: &str,
    records: &Records,
) -> (usize, Vec<String>) {
    let entries = match Entries::parse(quotes) {
        Ok(entries) => entries,
        Err(fault) => return (0, vec![format!("{QUOTES}: {fault}")]),
    };
    let mut check = Check {
        name,
        blocks: blocks(text),
        quotes,
        covered: Vec::new(),
        figures: 0,
        faults: Vec::new(),
    };
    for sentence in entries.sentence.iter().filter(|sentence| sentence.file == name) {
        check.sentence(sentence, records);
    }
    for table in entries.table.iter().filter(|table| table.file == name) {
        check.table(table, records);
    }
    if strict {
        check.uncovered();
    }
    (check.figures, check.faults)
}

#[test]
fn every_figure_of_the_documents_is_in_a_record() {
    let Some(records) = Records::read(&root().join("records/bench")) else {
        return println!("skipped: quotes: the documents are not part of this package");
    };
    let quotes = read_to_string(root().join(QUOTES)).unwrap();
    let entries = Entries::parse(&quotes).unwrap();
    let mut faults = Vec::new();
    let mut quoted = 0;
    for name in STRICT.into_iter().chain(LENIENT) {
        let text = read_to_string(root().join(name)).unwrap();
        let (figures, found) = check(name, &text, STRICT.contains(&name), &quotes, &records);
        quoted += figures;
        faults.extend(found);
    }
    let files = entries.sentence.iter().map(|sentence| &sentence.file);
    for file in files.chain(entries.table.iter().map(|table| &table.file)) {
        if !STRICT.contains(&&**file) && !LENIENT.contains(&&**file) {
            faults.push(format!("{QUOTES}: the check does not read {file}: add it to LENIENT"));
        }
    }
    assert!(
        faults.is_empty(),
        "Edit the document, or its entry in {QUOTES}:\n{}",
        faults.join("\n")
    );
    assert!(quoted > 40, "only {quoted} figures have an entry: are the tables still read?");
}

/// DESIGN.md says "in the first record" of some figures, which have no entries. They must at least
/// be among the record's figures.
#[test]
fn what_design_says_of_the_first_record_is_in_it() {
    let Some(records) = Records::read(&root().join("records/bench")) else { return };
    let text = read_to_string(root().join("core/DESIGN.md")).unwrap().replace('\n', " ");
    for sentence in text.split(". ").filter(|sentence| sentence.contains("in the first record")) {
        for figure in document::decimals(sentence) {
            assert!(records.first_has(&figure), "{figure} is not in the first record: {sentence}");
        }
    }
}

/// Returns the faults of a strict document with one entry for a sentence.
fn faults_of(document: &str, text: &str, rest: &str, records: &Records) -> Vec<String> {
    let quotes = format!("[[sentence]]\nfile = \"README.md\"\ntext = \"{text}\"\n{rest}\n");
    check("README.md", document, true, &quotes, records).1
}

const RECORD: &str = "record = \"2026-11-21-amd-epyc\"";

#[test]
fn a_wrong_figure_is_found() {
    let Some(records) = Records::read(&root().join("records/bench")) else { return };
    let rest = format!("{RECORD}\nqueries = [\"fill 16 headwater\"]");
    assert_eq!(faults_of("It takes 7.4\nns.", "It takes {7.4} ns.", &rest, &records), [""; 0]);
    let none = rest.replace("2026-11-21-amd-epyc", "2026-01-01-none");
    let unlisted = format!("{RECORD}\nqueries = []");
    let in_us = rest.replace("headwater", "headwater, in us");
    for (document, text, rest, expected) in [
        ("It takes 7.5 ns.", "takes {7.5} ns", &*rest, "7.5 is quoted, the record says [7.3"),
        ("It takes 7 ns.", "takes {7} ns", &rest, "7 is quoted"), // one digit says too little
        ("It takes 7.4 µs.", "takes {7.4} µs", &rest, "7.4 is quoted in us, its query says ns"),
        ("It takes 7.4 ns.", "takes {7.4} ns", &in_us, "7.4 is quoted in ns, its query says us"),
        ("It takes 7.4 ns.", "takes 7.4 ns", &rest, "no figure of the text is in braces"),
        ("It takes 7.4 ns.", "takes {7}.4 ns", &rest, "do not hold one whole number"),
        ("It takes 7.4 ns.", "takes {7.4} ns", &unlisted, "1 figures are in braces, and 0 queries"),
        ("It takes 7.4 ns.", "takes {7.4} ns", &none, "no record '2026-01-01-none'"),
        ("It takes 7.4 ns.", "takes {7.4} ns", &rest.replace("16", "17"), "has no such row"),
        ("It takes 7.4 ns.", "takes {7.4} ns", RECORD, "1 figures are in braces, and 0 queries"),
        ("It takes 7.4 ns.", "takes {7.4} ns", "", "1 figures are in braces, and 0 queries"),
    ] {
        let faults = faults_of(document, text, rest, &records);
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{document}: {faults:?}");
    }
    let elsewhere = "elsewhere = \"core/DESIGN.md\"";
    assert_eq!(faults_of("A word takes 20 ns.", "takes {20} ns", elsewhere, &records), [""; 0]);
}

#[test]
fn a_figure_without_an_entry_is_found() {
    let Some(records) = Records::read(&root().join("records/bench")) else { return };
    for (document, figure) in [
        ("It takes 7.4 ns.", "7.4"),
        ("It takes 7.4\nns.", "7.4"),
        ("It takes 4 to 8 ns.", "4"),
        ("* It takes **20** µs.", "20"),
        ("It is 3 times\nas fast.", "3"),
        ("It is 1.35 (1.35 to 1.36) times faster.", "1.35 (1.35 to 1.36)"),
        ("It is 20 % faster.", "20"),
        ("Beside it: 1.35 (1.35 to 1.36).", "1.35 (1.35 to 1.36)"),
        ("| a | takes 9 ms |\n| --- | --- |", "9"),
        ("| | 16 B |\n| --- | --- |\n| headwater | 7.4 |", "7.4"),
        ("| | 1 MiB |\n| --- | --- |\n| headwater | 4.2 ms |", "4.2"),
    ] {
        let (figures, faults) = check("README.md", document, true, "", &records);
        let expected = format!("no entry of docs/quotes.toml covers {figure} in '");
        assert!(faults.iter().any(|fault| fault.contains(&expected)), "{document}: {faults:?}");
        assert_eq!(figures, 0);
        assert_eq!(check("core/DESIGN.md", document, false, "", &records).1, [""; 0]);
    }
    for document in ["It takes 16 bytes.", "```\nIt takes 7.4 ns.\n```", "Version 1.2 wins runs."] {
        assert_eq!(check("README.md", document, true, "", &records).1, [""; 0], "{document}");
    }
    let mark = "It takes 7<!-- record 2026-11-21-amd-epyc: fill 16 headwater --> parts.";
    let faults = check("README.md", mark, true, "", &records).1;
    assert_eq!(faults, ["README.md:1: entries belong in docs/quotes.toml, not here"]);
}

#[test]
fn an_entry_whose_text_is_gone_is_found() {
    let Some(records) = Records::read(&root().join("records/bench")) else { return };
    let rest = format!("{RECORD}\nqueries = [\"fill 16 headwater\"]");
    let faults = faults_of("Here it takes now 8 bytes.", "Here it takes {7.4} ns", &rest, &records);
    assert_eq!(
        faults,
        ["docs/quotes.toml:3 (README.md): the document has no such text: 'Here it takes 7.4 ns'; \
          the closest is in line 1: 'Here it takes now 8 bytes.'"]
    );
    let twice = "It takes 7.4 ns.\n\nHere it takes 7.4 ns.";
    let faults = faults_of(twice, "takes {7.4} ns", &rest, &records);
    assert!(faults[0].contains("has this text 2 times, quote more of it"), "{faults:?}");
    let unknown = "[[sentence]]\nfile = \"README.md\"\ntext = \"{7} ns\"\nqerues = []\n";
    let faults = check("README.md", "7 ns", true, unknown, &records).1;
    assert!(faults[0].contains("unknown field `qerues`"), "{faults:?}");
}

#[test]
fn a_wrong_cell_is_found() {
    let Some(records) = Records::read(&root().join("records/bench")) else { return };
    let table = "text\n\n| | 16 B | 64 MiB |\n| --- | --- | --- |\n\
                 | headwater | 7.4 | 4.2 ms |\n| aws-lc | 337 | 10.1 ms |\n\ntext";
    let quotes = format!(
        "[[table]]\nfile = \"README.md\"\nheading = \"| | 16 B | 64 MiB |\"\n{RECORD}\n\
         case = \"fill\"\nimplementations = [\"headwater\", \"aws-lc\"]\n"
    );
    let faults = |table: &str| check("README.md", table, true, &quotes, &records).1;
    assert_eq!(check("README.md", table, true, &quotes, &records), (4, vec![]));
    let wrong = faults(&table.replace("337", "338"));
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].starts_with("README.md:6: 338 is quoted, the record says [337."), "{wrong:?}");
    let missing = faults(&table.replace("| aws-lc | 337 | 10.1 ms |\n", ""));
    let expected = "docs/quotes.toml:3 (README.md): 2 implementations are listed, the table has 1";
    assert!(missing[0].starts_with(expected), "{missing:?}");
    let gone = faults(&table.replace("64 MiB", "64 KiB"));
    assert!(gone[0].contains("has 0 tables with this heading"), "{gone:?}");
    let unit = faults(&table.replace("10.1 ms", "10.1 s"));
    assert!(unit[0].contains("the cell '10.1 s' has an unknown unit"), "{unit:?}");
    // A row may also be quoted as text, each figure from a record of its own.
    let row = "| headwater | {7.4} | {4.2} ms |";
    let rest = format!(
        "{RECORD}\nqueries = [\"fill 16 headwater\", \
         \"2026-11-21-amd-epyc: fill 67108864 headwater, in ms\"]"
    );
    let alone = table.replace("| aws-lc | 337 | 10.1 ms |\n", "");
    assert_eq!(faults_of(&alone, row, &rest, &records), [""; 0]);
}

#[test]
fn ratios_are_quoted_with_their_interval_or_without() {
    let Some(records) = Records::read(&root().join("records/bench")) else { return };
    let rest = format!("{RECORD}\nqueries = [\"fill 16 headwater[buffered] vs rand-thread_rng\"]");
    let faults = |figure: &str| {
        let document = format!("{figure} times as fast");
        faults_of(&document, &format!("{{{figure}}} times as fast"), &rest, &records)
    };
    assert_eq!(faults("1.35 (1.35 to 1.36)"), [""; 0]);
    assert_eq!(faults("1.4"), [""; 0]);
    assert_eq!(faults("1.35 (1.35 to 1.37)").len(), 1);
    assert_eq!(faults("1.5").len(), 1);
    // An interval outside the braces would stay unchecked.
    let outside = "1.35 (1.35 to 1.37) times as fast";
    let text = "{1.35} (1.35 to 1.37) times as fast";
    assert_eq!(faults_of(outside, text, &rest, &records).len(), 1);
}

#[test]
fn rounding_is_to_the_digits_shown() {
    for (figure, value, right) in [
        ("7.4", 7.44, true),
        ("7.4", 7.46, false),
        ("7.44", 7.44, true),
        ("1,460", 1459.6, true),
        ("19,400", 19_371.0, true),
        ("19,400", 19_349.0, false),
        ("90,000", 90_021.0, true),
        ("90,000", 91_000.0, false),
        ("100", 104.0, true),
        ("100", 106.0, false),
        ("0", 0.2, false),
        ("10", 9.6, true),
    ] {
        assert_eq!(is_rounded(figure, value), right, "{figure} for {value}");
    }
}
