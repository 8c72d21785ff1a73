//! Every output of a report. An output may not carry a control or bidirectional character of the
//! input.

use headwater_doctor::{Case, Report, diagnose};
use std::sync::atomic::{AtomicU32, Ordering};

/// Inputs whose outputs are written: the first, so that a single input that failed fails again, and
/// one in so many. Writing takes most of an input's time.
const WRITTEN: u32 = 16;

/// Diagnoses a case, and checks the outputs of some.
pub fn check(case: Case) {
    static INPUTS: AtomicU32 = AtomicU32::new(0);
    let report: Report = diagnose(case);
    if !INPUTS.fetch_add(1, Ordering::Relaxed).is_multiple_of(WRITTEN) {
        return;
    }
    clean("JSON", &report.json().expect("a report can be written"));
    clean("page", &report.html());
    clean("metrics", &report.prometheus());
    clean("text", &without_colours(&report.text()));
}

/// Fails if a text holds a character that changes how the rest of it is shown.
pub fn clean(output: &str, text: &str) {
    let is_hostile = |c: &char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    if let Some(found) = text.chars().find(is_hostile) {
        panic!("{found:?} in the {output}");
    }
}

/// Removes the colours, which are the doctor's own.
pub fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let end = after.find('m').expect("a colour ends");
        let is_colour = after[..end].chars().all(|c| c.is_ascii_digit() || c == ';');
        assert!(is_colour, "an escape sequence that is not a colour");
        rest = &after[end + 1..];
    }
    plain.push_str(rest);
    plain
}
