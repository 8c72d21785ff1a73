//! The help of a verb as Markdown: its lists of commands and options become tables, which a phone
//! can wrap.

use std::fmt::Write;

/// Returns the page's text for a help text of clap.
pub(super) fn markdown(help: &str) -> String {
    let mut out = String::new();
    for block in blocks(help) {
        let block = block.as_str();
        let (title, list) = block.split_once('\n').unwrap_or((block, ""));
        match title.strip_suffix(':').filter(|_| !title.starts_with(' ')) {
            Some(title) => match rows(list) {
                Some(rows) => table(&mut out, title, &rows),
                None => code(&mut out, block),
            },
            // An example, or a second list without a title, keeps its columns.
            None if block.lines().any(|line| line.starts_with(' ')) => code(&mut out, block),
            None if title.starts_with("Usage:") => code(&mut out, block),
            None => {
                let _ = writeln!(out, "{}\n", escaped(&block.replace('\n', " ")));
            }
        }
    }
    out
}

/// Splits a help text at its empty lines, but for those inside of a list: the longer form of a help
/// has an empty line below each option.
fn blocks(help: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for block in help.trim_end().split("\n\n") {
        let goes_on = ["      ", "  -", "  <"].iter().any(|start| block.starts_with(start));
        match blocks.last_mut() {
            Some(last) if goes_on => *last += &format!("\n{block}"),
            _ => blocks.push(block.to_owned()),
        }
    }
    blocks
}

/// Splits the lines of a list into names and texts; `None` if a line has another form.
fn rows(list: &str) -> Option<Vec<(String, String)>> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for line in list.lines().filter(|line| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        let (name, text) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
        match rows.last_mut() {
            // Options without a short form stand six columns from the edge, and the lines of a
            // longer text further to the right.
            Some((_, last)) if indent > 6 => {
                let line = line.trim();
                // A value of an option that has a list of them.
                let is_value = line.starts_with("- ") || line == "Possible values:";
                let between = if is_value { "\n" } else { " " };
                let _ = write!(last, "{between}{line}");
            }
            _ if indent < 2 => return None,
            _ => rows.push((name.to_owned(), text.trim().to_owned())),
        }
    }
    (!rows.is_empty()).then_some(rows)
}

fn table(out: &mut String, title: &str, rows: &[(String, String)]) {
    let _ = writeln!(out, "| {title} | |\n| --- | --- |");
    for (name, text) in rows {
        let _ = writeln!(
            out,
            "| `{}` | {} |",
            name.replace('|', "\\|"),
            escaped(text.trim()).replace('\n', "<br>")
        );
    }
    out.push('\n');
}

fn code(out: &mut String, block: &str) {
    let _ = writeln!(out, "```text\n{block}\n```\n");
}

/// Escapes what Markdown would take for markup.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '<' | '>' | '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_with_empty_lines_between_them_are_one_list() {
        let help = "Options:\n      --seed <S>\n          The seed\n\n      --engine <E>\n          \
                    One of\n\n          Possible values:\n          - a:  First\n          - b:  \
                    Second\n          \n          [default: a]\n\n  -h, --help\n          Print\n";
        let expected = "| Options | |\n| --- | --- |\n| `--seed <S>` | The seed |\n\
                        | `--engine <E>` | One of<br>Possible values:<br>- a:  First<br>- b:  Second \
                        \\[default: a\\] |\n| `-h, --help` | Print |\n\n";
        assert_eq!(markdown(help), expected);
    }

    #[test]
    fn lists_become_tables_and_examples_stay() {
        let help = "Fill <FILE>\n\nUsage: x [OPTIONS]\n       x <COMMAND>\n\nOptions:\n  -q, --quiet   \
                    Print nothing\n      --a <A|B>  One of these\n                 and more\n\n\
                    For example:\n  x --quiet  fills\nnot so\n\nEnd of\nthe text.\n";
        let expected = "Fill \\<FILE\\>\n\n```text\nUsage: x [OPTIONS]\n       x <COMMAND>\n```\n\n\
                        | Options | |\n| --- | --- |\n| `-q, --quiet` | Print nothing |\n\
                        | `--a <A\\|B>` | One of these and more |\n\n\
                        ```text\nFor example:\n  x --quiet  fills\nnot so\n```\n\n\
                        End of the text.\n\n";
        assert_eq!(markdown(help), expected);
    }
}
