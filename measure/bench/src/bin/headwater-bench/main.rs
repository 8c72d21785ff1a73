//! The benchmark with its peers built in: `headwater bench`, and what only a developer of headwater
//! needs, which is records to quote from and a check of the targets.

#![forbid(unsafe_code)]

mod check;
mod failure;
mod record;
mod targets;

use clap::Parser;
use failure::Failure;
use headwater_bench::{Args, Baseline, Report, check_html_file, html_from_file, write_html};
use std::path::PathBuf;
use std::process::ExitCode;

/// Every length of fill that the records show.
const SIZES: [&str; 10] = ["4", "16", "32", "64", "256", "1k", "4k", "64k", "1M", "64M"];

/// Compares random generators: headwater, the kernel, libc, OpenSSL, and crates that Rust programs
/// use.
///
/// Without --cases it runs all of them, and without --sizes it fills all lengths from 4 bytes to 64
/// MiB.
///
/// Exit status: 0; 1 if --check finds that something falls short, or --compare that headwater is
/// slower; 2 for wrong usage; 3 if something could not be measured or checked.
#[derive(Parser)]
#[command(name = "headwater-bench", version)]
struct Cli {
    #[command(flatten)]
    args: Args,
    /// Also measure Go, Java, Node and Python, where they are installed
    #[arg(long, conflicts_with_all = ["impls", "check", "from"])]
    all: bool,
    /// Write the report into a new directory DIR/<date>-<cpu>
    #[arg(long, value_name = "DIR", conflicts_with = "from")]
    record: Option<PathBuf>,
    /// Measure headwater's targets, as ratios, and say what falls short
    #[arg(long, conflicts_with_all = ["cases", "sizes", "impls", "threads", "procs", "compare", "from"])]
    check: bool,
}

fn main() -> ExitCode {
    if let Some(code) = headwater_bench::child() {
        return code;
    }
    match Cli::parse().run() {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("headwater-bench: {failure}");
            failure.exit_code()
        }
    }
}

impl Cli {
    fn run(self) -> Result<ExitCode, Failure> {
        if let Some(file) = &self.args.html {
            check_html_file(file)?;
        }
        if let (Some(old), Some(file)) = (&self.args.from, &self.args.html) {
            write_html(file, &html_from_file(old)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let baseline = Baseline::open(&self.args)?;
        let folder = self.record.as_deref().map(record::new_folder).transpose()?;
        let (output, code) = if self.check {
            let outcome = check::check(&self.args)?;
            (Output::new(&self, &outcome, &outcome.report, outcome.table())?, outcome.exit_code())
        } else {
            let mut report = measure(Args { all: self.all, ..self.args.clone() })?;
            if let Some(baseline) = baseline {
                baseline.compare(&mut report);
            }
            let code = ExitCode::from(u8::from(report.regressions() > 0));
            (Output::new(&self, &report, &report, headwater_bench::table(&report))?, code)
        };
        if let (Some(file), Some(page)) = (&self.args.html, &output.page) {
            write_html(file, page)?;
        }
        println!("{}", if self.args.json { &output.json } else { &output.table });
        if let Some(folder) = folder {
            record::write(&folder, &output)?;
            eprintln!("recorded in {}", folder.display());
        }
        Ok(code)
    }
}

/// A result in each form that it leaves in.
struct Output {
    json: String,
    table: String,
    /// The page, if one was asked for.
    page: Option<String>,
    versions: Vec<String>,
}

impl Output {
    fn new(
        cli: &Cli,
        data: &impl serde::Serialize,
        report: &Report,
        table: String,
    ) -> Result<Output, Failure> {
        Ok(Output {
            json: serde_json::to_string_pretty(data)?,
            table,
            page: cli.args.html.as_ref().map(|_| headwater_bench::html(report)).transpose()?,
            versions: record::versions(report),
        })
    }
}

/// Runs the library's measurement with other defaults for the cases and the lengths.
fn measure(mut args: Args) -> Result<Report, Failure> {
    if args.cases.is_empty() {
        args.cases = vec!["all".to_owned()];
    }
    args.default_sizes = SIZES.map(str::to_owned).to_vec();
    Ok(headwater_bench::run(&args)?)
}
