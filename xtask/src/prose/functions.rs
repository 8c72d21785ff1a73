//! Finds functions whose doc comment does not begin with a verb: "The number of slots" names a
//! thing and leaves open what the function does with it, "Returns the number of slots" does not.
//! Also finds closures whose parameter has no name of its own.

/// First words that end in -s like a verb and are not verbs.
const NO_VERBS: [&str; 40] = [
    "Arrays",
    "As",
    "Bits",
    "Blocks",
    "Bytes",
    "Cases",
    "Characters",
    "Counters",
    "Days",
    "Devices",
    "Digits",
    "Distributions",
    "Divisors",
    "Facts",
    "Files",
    "Hours",
    "Hypervisors",
    "Its",
    "Lengths",
    "Less",
    "Lines",
    "Mappings",
    "Methods",
    "Nanoseconds",
    "Numbers",
    "Others",
    "Pages",
    "Pieces",
    "Process",
    "Programs",
    "Prometheus",
    "Rows",
    "Samplers",
    "Seconds",
    "Threads",
    "This",
    "Trees",
    "Us",
    "Values",
    "Vectors",
];

/// Returns the line of each such function's doc comment, and its start.
///
/// The function of a test is named as the claim that it checks, so its comment may be anything.
pub(super) fn without_verb(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    // The first line of the comment above, and whether an attribute makes a test of the function.
    let (mut doc, mut is_test, mut in_attribute) = (None, false, false);
    for (index, line) in source.lines().enumerate() {
        let line = line.trim();
        if in_attribute || line.starts_with("#[") {
            let code = line.split(" //").next().unwrap_or_default();
            in_attribute = !code.ends_with(']');
            is_test |= line == "#[test]";
        } else if let Some(text) = line.strip_prefix("///") {
            doc.get_or_insert((index + 1, text.trim()));
        } else {
            if let (true, false, Some((at, text))) = (is_function(line), is_test, doc.take())
                && !begins_with_verb(text)
            {
                found.push((at, text.chars().take(70).collect()));
            }
            (doc, is_test) = (None, false);
        }
    }
    found
}

/// Returns the lines with a closure that calls its parameter `it`, as Kotlin does. The name says
/// nothing, so a reader has to go back to the left and work out what the elements are.
pub(super) fn over_it(source: &str) -> Vec<(usize, String)> {
    let is_it = |parameters: &str| {
        let mut words = parameters.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.clone().count() <= 6 && words.any(|word| word == "it")
    };
    let found = (1..).zip(source.lines()).filter(|(_, line)| {
        let code: String = line.split('"').step_by(2).collect();
        let code = code.split("//").next().unwrap_or_default();
        code.split('|').skip(1).step_by(2).any(is_it)
    });
    found.map(|(at, line)| (at, line.trim().chars().take(70).collect())).collect()
}

/// Returns whether the line begins a function, whatever its visibility and its qualifiers are.
fn is_function(line: &str) -> bool {
    let before = line.split("fn ").next().unwrap_or_default();
    before.len() < line.len()
        && before.split_whitespace().all(|word| {
            word.starts_with("pub")
                || matches!(word, "default" | "const" | "async" | "unsafe" | "extern" | "\"C\"")
        })
}

/// Returns true also for a heading, as above the promises of an unsafe function.
fn begins_with_verb(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
    let first = words.next().unwrap_or_default();
    text.starts_with("# ")
        // "Calls of all threads" are a thing.
        || (words.next() != Some("of")
            && first.ends_with('s')
            && first.starts_with(|c: char| c.is_ascii_uppercase())
            && !NO_VERBS.contains(&first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closure_over_it_is_found() {
        for (line, count) in [
            ("names.map(|it| it.len())", 1),
            ("pairs.find(|(_, it)| it.is_some())", 1),
            ("let is_of = |it: &&mut Entry| {", 1),
            ("names.map(|name| name.len())", 0),
            ("// names.map(|it| it.len())", 0),
            ("a | b_it | c", 0),
        ] {
            assert_eq!(over_it(line).len(), count, "{line}");
        }
    }

    #[test]
    fn a_doc_that_names_a_thing_is_found() {
        for (source, expected) in [
            ("/// Returns the sum.\nfn sum() {}", &[][..]),
            ("/// The sum.\nfn sum() {}", &[1]),
            (
                "struct S;\n\n    /// Bytes of it.\n    /// Returns no more.\n    pub(crate) fn f() {}",
                &[3],
            ),
            ("/// The sum.\n#[cfg(any(\n    a,\n))]\npub const unsafe fn sum() {}", &[1]),
            ("/// `sum`, once more.\npub unsafe extern \"C\" fn sum() {}", &[1]),
            ("/// Calls of a thread.\nfn calls() {}", &[1]),
            ("/// Calls the function.\nfn call() {}", &[]),
            ("/// XORs two words.\nfn xor() {}", &[]),
            ("/// # Safety\n///\n/// None.\nunsafe fn f() {}", &[]),
            ("/// Each row holds.\n#[test]\nfn each_row() {}", &[]),
            ("/// The claim.\n#[test]\n#[ignore = \"long\"]\nfn claim() {}", &[]),
            (
                "/// A C type.\n#[allow(x)] // a name of C\nstruct c;\n/// Returns it.\nfn f() {}",
                &[],
            ),
            ("/// A place.\nstruct Place;\nfn none() {}", &[]),
            ("/// The call.\nlet fn_ = 1;", &[]),
        ] {
            let lines: Vec<usize> =
                without_verb(source).into_iter().map(|(line, _)| line).collect();
            assert_eq!(lines, expected, "{source}");
        }
    }
}
