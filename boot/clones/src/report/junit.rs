//! The report as JUnit XML, which CI systems show beside the tests of a program.

use super::{advice, counted, late, named};
use crate::comparison::{Comparison, Verdict};
use quick_xml::Writer;
use std::io;

/// Returns the file: a test case for each source. A source that repeats and can be renewed is a
/// failure; one that was not shown is skipped, because a green test would promise what was not
/// seen. So is a witness that did not run. A limit for the reseed is a test case of its own.
///
/// # Errors
///
/// Only those of a writer into memory.
pub fn comparison(comparison: &Comparison) -> io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let absent = &comparison.absent;
    let timed = usize::from(comparison.reseed_limit_ms.is_some());
    let tests = (comparison.rows.len() + absent.len() + timed).to_string();
    let failures = (comparison.repeats + usize::from(comparison.is_late())).to_string();
    let skipped = (comparison.not_shown + absent.len()).to_string();
    let counts =
        [("tests", &*tests), ("failures", &*failures), ("errors", "0"), ("skipped", &*skipped)];
    let suite = [("name", "headwater clones")].into_iter().chain(counts);
    writer.create_element("testsuite").with_attributes(suite).write_inner_content(|writer| {
        for row in &comparison.rows {
            let (class, name) = row.id.split_once('/').unwrap_or(("", &row.id));
            let case = writer.create_element("testcase");
            let case = case.with_attributes([("classname", class), ("name", name)]);
            let said = format!("{} {}: {}", named(row.verdict), counted(row), advice(row));
            let inner = match row.verdict {
                Verdict::Repeats => "failure",
                Verdict::NotShown => "skipped",
                // Seen and said, but nothing that a build could be made to pass by.
                Verdict::NotRenewable => "system-out",
                Verdict::Differs => {
                    case.write_empty()?;
                    continue;
                }
            };
            case.write_inner_content(|writer| {
                let element = writer.create_element(inner);
                if inner == "system-out" {
                    let text = quick_xml::events::BytesText::new(&said);
                    element.write_text_content(text)?;
                } else {
                    element.with_attribute(("message", &*said)).write_empty()?;
                }
                Ok(())
            })?;
        }
        if timed > 0 {
            let case = writer.create_element("testcase");
            let case = case.with_attributes([("classname", "kernel"), ("name", "reseed in time")]);
            match late(comparison) {
                None => _ = case.write_empty()?,
                Some(late) => {
                    case.write_inner_content(|writer| {
                        let element = writer.create_element("failure");
                        element.with_attribute(("message", &*late)).write_empty()?;
                        Ok(())
                    })?;
                }
            }
        }
        for absent in absent {
            let case = writer.create_element("testcase");
            let case = case.with_attributes([("classname", &*absent.witness), ("name", "witness")]);
            case.write_inner_content(|writer| {
                let element = writer.create_element("skipped");
                element.with_attribute(("message", &*absent.why)).write_empty()?;
                Ok(())
            })?;
        }
        Ok(())
    })?;
    let body = String::from_utf8_lossy(&writer.into_inner()).into_owned();
    Ok(format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}\n"))
}
