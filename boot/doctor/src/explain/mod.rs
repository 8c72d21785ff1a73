//! The long version of each finding, with the sources.
//!
//! Each text is a file beside this one, named by its id: paragraphs, headings (`## `) and lists
//! (`* `), wrapped at 100 columns and joined again for the terminal.

use crate::Id;
use crate::report::fill;
use anstyle::Style;
use std::fmt::Write;

const BOLD: Style = Style::new().bold();

macro_rules! texts {
    ($($id:ident $file:literal)+) => {
        const fn text(id: Id) -> &'static str {
            // No arm for all others: a new id needs a text, or this does not compile.
            match id { $(Id::$id => include_str!(concat!($file, ".md")),)+ }
        }

        /// The file of each, for the test that they are not mixed up.
        #[cfg(test)]
        const FILES: &[(Id, &str)] = &[$((Id::$id, $file)),+];
    };
}

texts! {
    NotReady "HW001"
    ReadyLate "HW002"
    Blocked "HW003"
    UnitWaited "HW004"
    TraceWaited "HW005"
    EarlyCaller "HW006"
    EarlyRead "HW007"
    NoJitter "HW010"
    OneLock "HW011"
    NoVdso "HW012"
    NoReseedWord "HW013"
    NoCpuRng "HW020"
    CpuRngUntrusted "HW021"
    CpuRngBroken "HW022"
    NoCycleCounter "HW023"
    NoHwrng "HW024"
    HwrngNoDriver "HW025"
    HwrngLate "HW026"
    HwrngUnhealthy "HW027"
    BootSeedUnused "HW028"
    SavedSeed "HW029"
    HypervisorSeed "HW030"
    NoVmgenid "HW040"
    VmgenidNoDriver "HW041"
    VmclockUnreadable "HW042"
    Cloned "HW043"
    Checkpointing "HW044"
    BlindGenerators "HW045"
    Sandbox "HW050"
    NeedlessDaemon "HW051"
    SwappedPages "HW052"
    TwoVersions "HW053"
}

/// Returns the explanation of a finding with colours; without an id, all findings in one line each.
pub fn explain(id: Option<Id>) -> String {
    let Some(id) = id else { return list() };
    let mut out = format!("{BOLD}{id}: {}{BOLD:#}\n\n", id.about());
    for line in joined(text(id)) {
        if let Some(heading) = line.strip_prefix("## ") {
            let _ = writeln!(out, "{BOLD}{heading}{BOLD:#}");
        } else if let Some(item) = line.strip_prefix("* ") {
            fill(&mut out, "  * ", "    ", item);
        } else {
            fill(&mut out, "", "", &line);
        }
    }
    out
}

/// Joins the lines of a paragraph or of an item, as Markdown does; an empty line stays.
fn joined(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let begins = line.is_empty() || line.starts_with("## ") || line.starts_with("* ");
        match lines.last_mut() {
            Some(last) if !begins && !last.is_empty() && !last.starts_with("## ") => {
                last.push(' ');
                last.push_str(line.trim_start());
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

fn list() -> String {
    let mut out = String::new();
    for id in Id::ALL {
        let _ = writeln!(out, "{BOLD}{id}{BOLD:#}  {}", id.about());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::COLUMNS;

    fn headings_of(text: &str) -> Vec<&str> {
        text.lines().filter_map(|line| line.strip_prefix("## ")).collect()
    }

    #[test]
    fn each_text_is_in_the_file_of_its_id_and_has_its_parts() {
        assert_eq!(FILES.len(), Id::ALL.len());
        for (id, file) in FILES {
            assert_eq!(&id.to_string(), file);
            let text = text(*id);
            let headings = headings_of(text);
            assert_eq!(headings.len(), 3, "{id}");
            assert_eq!(headings, headings_of(self::text(Id::ALL[0])), "{id}");
            let sources = text.split("## Sources\n").nth(1).unwrap_or_default();
            assert!(
                !sources.is_empty() && joined(sources).iter().all(|line| line.starts_with("* ")),
                "{id}"
            );
            assert!(text.len() > 500, "{id} is short for a long version");
        }
    }

    #[test]
    fn a_text_fits_the_terminal() {
        for id in Id::ALL {
            let text = explain(Some(*id));
            let widest = text.lines().map(|line| line.chars().count()).max();
            // The heading's colours have no width on a terminal.
            assert!(widest <= Some(COLUMNS + 8), "{id}: {widest:?}");
        }
        assert_eq!(explain(None).lines().count(), Id::ALL.len());
    }
}
