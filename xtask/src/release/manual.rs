//! The man pages of the C library and of OpenSSL's module as pages of the site, by mandoc.

use crate::process::{output, program};
use crate::tools;
use anyhow::{Result, ensure};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The man pages, each with the title and the file name of its page.
const PAGES: [(&str, &str, &str); 2] = [
    ("fronts/c/man/headwater.3", "Functions in C", "headwater.3.md"),
    ("fronts/openssl/man/headwater-openssl.7", "The module of OpenSSL", "headwater-openssl.7.md"),
];
/// The functions that the C library exports, each with the version of its symbol.
const FUNCTIONS: &str = "fronts/c/abi.txt";

/// Writes the pages, and returns their lines of the summary.
pub(super) fn pages(source: &Path) -> Result<String> {
    tools::package("mandoc", "mandoc")?;
    let mut summary = String::new();
    fs::create_dir_all(source.join("manual"))?;
    for (manual, title, file) in PAGES {
        let text = page(title, &output(program("mandoc -T markdown").arg(manual))?);
        if manual.ends_with(".3") {
            has_all(&text, &fs::read_to_string(FUNCTIONS)?)?;
        }
        fs::write(source.join("manual").join(file), text)?;
        let _ = writeln!(summary, "- [{title}](manual/{file})");
    }
    Ok(summary)
}

/// Returns the text of a page: the title in place of mandoc's first line, no footer, and headings
/// below the title.
fn page(title: &str, manual: &str) -> String {
    let mut lines: Vec<&str> = manual.trim_end().lines().skip(1).collect();
    // The system and the date of the page, which mandoc writes last.
    lines.pop();
    let mut text = format!("# {title}\n");
    for line in lines {
        let is_heading = line.starts_with('#');
        let _ = writeln!(text, "{}{line}", if is_heading { "#" } else { "" });
    }
    text
}

/// Returns an error if the page lacks a function.
fn has_all(page: &str, functions: &str) -> Result<()> {
    for name in functions.lines().filter_map(|line| line.split('@').next()) {
        // With the parenthesis, because the name alone also stands in the list of names.
        let prototype = format!("**{}**(", name.replace('_', "\\_"));
        ensure!(page.contains(&prototype), "the site's page of C functions lacks {name}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_becomes_a_page_with_one_title() {
        let manual = "X(3) - Manual\n\n# NAME\n\n**x\\_fill**\n\n## More\n\nDebian - May 1, 2026\n";
        let expected = "# Title\n\n## NAME\n\n**x\\_fill**\n\n### More\n\n";
        assert_eq!(page("Title", manual), expected);
    }

    #[test]
    fn a_function_without_its_prototype_is_an_error() {
        let page = "**x\\_fill**,\n**x\\_new**\n\n**x\\_fill**(*void \\*out*);\n";
        assert!(has_all(page, "x_fill@X_0\n").is_ok());
        assert!(has_all(page, "x_fill@X_0\nx_new@X_0\n").is_err());
    }
}
