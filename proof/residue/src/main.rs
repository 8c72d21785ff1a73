//! Looks for key material in the memory and registers of a process that has just drawn.
//!
//! The process is the package `subject`, built in the profile in question; this one is always built
//! to be quick. README.md describes the search.

use residue::case::{Case, Found};
use residue::options::Options;
use std::process::ExitCode;

/// Runs all cases; fails with 1 if any found something, with 2 if any could not be run.
fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("residue: {error}");
            return ExitCode::from(2);
        }
    };
    if options.header {
        println!("{}", Found::HEADER);
    }
    let mut worst = 0;
    for case in Case::all(&options) {
        let code = match case.run(&options) {
            Ok(found) => {
                println!("{found}");
                u8::from(found.is_fault())
            }
            Err(error) => {
                println!("{case}  could not be run: {error}");
                2
            }
        };
        worst = worst.max(code);
    }
    ExitCode::from(worst)
}
