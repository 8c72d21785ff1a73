//! Every figure that the documents quote is in a record, rounded rightly. How a figure is marked is written
//! in `docs/bench.md`, "Quoting".

#[path = "quotes/marks.rs"]
mod marks;
#[path = "quotes/record.rs"]
mod record;

use marks::{Mark, Place};
use record::{Records, is_rounded};
use std::path::{Path, PathBuf};

/// Documents in which every speed must be marked.
const STRICT: [&str; 3] = ["README.md", "COMPARE.md", "CHANGELOG.md"];
/// Documents that also tell of single parts, which no record has; here only what says where it is from.
const LENIENT: [&str; 2] = ["DESIGN.md", "docs/bench.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What is wrong with a document, one line each.
fn faults(text: &str, strict: bool, records: &Records) -> Vec<String> {
    let document = marks::read(text);
    let mut faults = document.faults;
    for mark in &document.marks {
        faults.extend(fault(mark, records));
    }
    if strict {
        faults.extend(document.unmarked);
    }
    faults
}

fn fault(Mark { place, figure, query }: &Mark, records: &Records) -> Option<String> {
    let at = match place {
        Place::Line(line) => format!("line {line}"),
        Place::Cell(line, cell) => format!("line {line}, cell {cell}"),
    };
    match records.find(query) {
        Err(reason) => Some(format!("{at}: {figure}: {reason}")),
        Ok(values) => {
            let figures = marks::numbers(figure);
            let right = figures.len() <= values.len()
                && !figures.is_empty()
                && figures.iter().zip(&values).all(|(figure, value)| is_rounded(figure, *value));
            (!right).then(|| format!("{at}: {figure} is quoted, the record says {values:?}"))
        }
    }
}

#[test]
fn every_figure_of_the_documents_is_in_a_record() {
    let Some(records) = Records::read(&root().join("records/bench")) else {
        return println!("skipped: quotes: the documents are not part of this package");
    };
    let mut marked = 0;
    for (name, strict) in
        STRICT.map(|name| (name, true)).into_iter().chain(LENIENT.map(|name| (name, false)))
    {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        let faults = faults(&text, strict, &records);
        assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
        marked += marks::read(&text).marks.len();
    }
    assert!(marked > 80, "{marked} figures are marked: is the markup still read?");
}

/// DESIGN.md says "in the first record" of some figures. As long as they are not marked one by one, they
/// must at least be among those that the record has.
#[test]
fn what_design_says_of_the_first_record_is_in_it() {
    let Some(records) = Records::read(&root().join("records/bench")) else { return };
    let text = std::fs::read_to_string(root().join("DESIGN.md")).unwrap().replace('\n', " ");
    for sentence in text.split(". ").filter(|sentence| sentence.contains("in the first record")) {
        for figure in marks::unmarked_decimals(sentence) {
            assert!(records.first_has(&figure), "{figure} is not in the first record: {sentence}");
        }
    }
}

#[test]
fn a_wrong_figure_is_found() {
    let Some(records) = Records::read(&root().join("records/bench")) else { return };
    let faults = |text: &str| faults(text, true, &records);
    let mark = "<!-- record 2026-11-21-amd-epyc: fill 16 headwater -->";
    assert_eq!(faults(&format!("It takes 7.4{mark} ns.")), [""; 0]);
    for (text, expected) in [
        (format!("It takes 7.5{mark} ns."), "7.5 is quoted, the record says [7.3"),
        (format!("It takes 7{mark} ns."), "7 is quoted"), // one digit says too little
        ("It takes 7.4 ns.".to_owned(), "7.4 ns has no mark"),
        ("It is 3 times as fast.".to_owned(), "3 times as fast has no mark"),
        (format!("It takes {mark} ns."), "no figure before the mark"),
        (
            "7.4<!-- record 2026-01-01-none: fill 16 headwater -->".to_owned(),
            "no record '2026-01-01-none'",
        ),
        (
            "7.4<!-- record 2026-11-21-amd-epyc: fill 17 headwater -->".to_owned(),
            "the record has no such row",
        ),
    ] {
        let faults = faults(&text);
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{text}: {faults:?}");
    }
    assert_eq!(faults("A word takes 20<!-- elsewhere: DESIGN.md --> ns."), [""; 0]);
}

#[test]
fn a_wrong_cell_is_found() {
    let Some(records) = Records::read(&root().join("records/bench")) else { return };
    let table = "<!-- record 2026-11-21-amd-epyc: fill; headwater, aws-lc -->\n\
                 | | 16 B | 64 MiB |\n| --- | --- | --- |\n\
                 | headwater | 7.4 | 4.2 ms |\n| aws-lc | 337 | 10.1 ms |\n\ntext";
    assert_eq!(faults(table, true, &records), [""; 0]);
    let wrong = faults(&table.replace("337", "338"), true, &records);
    assert_eq!(wrong.len(), 1);
    assert!(
        wrong[0].starts_with("line 5, cell 1: 338 is quoted, the record says [337."),
        "{wrong:?}"
    );
    let missing = faults(&table.replace("| aws-lc | 337 | 10.1 ms |\n", ""), true, &records);
    assert!(missing[0].contains("2 rows are named and 1 there"), "{missing:?}");
}

#[test]
fn ratios_are_quoted_with_their_interval_or_without() {
    let Some(records) = Records::read(&root().join("records/bench")) else { return };
    let mark =
        "<!-- record 2026-11-21-amd-epyc: fill 16 headwater[buffered] vs rand-thread_rng -->";
    let faults = |figure: &str| faults(&format!("{figure}{mark} times as fast"), true, &records);
    assert_eq!(faults("1.35 (1.35 to 1.36)"), [""; 0]);
    assert_eq!(faults("1.4"), [""; 0]);
    assert_eq!(faults("1.35 (1.35 to 1.37)").len(), 1);
    assert_eq!(faults("1.5").len(), 1);
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
