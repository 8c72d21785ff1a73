//! `headwater quality`: statistical tests of a generator.

use crate::failure::Failure;
use crate::output;
use headwater_quality::{SourceKind, Verdict};
use std::fmt::Write;

pub(crate) fn run(args: &headwater_quality::Args) -> Result<(), Failure> {
    if args.list {
        return list();
    }
    if args.sp800_90b {
        let assessed = headwater_quality::assess(args, std::io::stdin())?;
        if args.json {
            output::json(&assessed)?;
        } else {
            output::text(&assessed.table())?;
        }
        return assessed.failure().map_or(Ok(()), |why| Err(Failure::Samples(why)));
    }
    if let Some(file) = &args.html {
        headwater_quality::check_html_file(file)?;
    }
    let report = headwater_quality::run(args, std::io::stdin())?;
    // Before stdout, whose reader may close the pipe.
    if let Some(file) = &args.html {
        headwater_quality::write_html(file, &report.html()?)?;
    }
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&format!("{}\n", report.table().trim_end()))?;
    }
    match report.verdict {
        Verdict::Failed => Err(Failure::Quality(report.source)),
        Verdict::Clean | Verdict::Weak => Ok(()),
    }
}

/// Lists every source by kind.
fn list() -> Result<(), Failure> {
    let mut text = String::new();
    let mut last = None;
    for source in headwater_quality::sources() {
        if last != Some(source.kind) {
            let heading = match source.kind {
                SourceKind::Secure => "Secure bytes",
                SourceKind::Engine => "Reproducible streams, not for secrets",
                SourceKind::System => "The system's",
                SourceKind::Noise => "Hardware; its entropy is estimated too",
                SourceKind::Control => "Controls, which must fail",
            };
            let gap = if last.is_some() { "\n" } else { "" };
            let _ = writeln!(text, "{gap}{heading}");
            last = Some(source.kind);
        }
        let _ = writeln!(text, "  {:20} {}", source.name, source.about);
    }
    let _ = writeln!(text, "\nStandard input\n  {:20} bytes of any generator", "-");
    Ok(output::text(&text)?)
}
