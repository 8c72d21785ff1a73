//! `headwater doctor merge`: the reports of many hosts as one table, grouped by cause and fix.
//!
//! Reports come from hosts that may be broken, by ways that may cut them short. A report that
//! cannot be read is listed with its reason, and costs the others nothing.

mod clones;
mod document;
mod fleet;
mod html;
mod split;
mod tables;
mod text;

use crate::{Error, Verdict};
use document::{Document, Refused};
use fleet::Fleet;
use split::{LONGEST, Piece, Splitter};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Put the JSON reports of many hosts together: one table, grouped by cause and fix
#[derive(clap::Args, Clone, Debug, Default)]
#[group(skip)]
#[command(after_help = "\
Reads what 'headwater doctor --json' printed: a file a host, or many documents in one file, one after
the other, one a line, or as an array. In a directory, files that end in .json, .jsonl or .ndjson.

Exit status: 0 healthy; 1 a host has findings, or hosts are clones of one image; 2 wrong usage;
3 no report could be read; 4 nothing found, but a report is incomplete or could not be read.")]
pub struct MergeArgs {
    /// Files, directories, or - for stdin
    #[arg(required = true, value_name = "REPORT|DIR|-")]
    pub reports: Vec<PathBuf>,

    /// Print JSON (schema headwater.merge/1)
    #[arg(long)]
    pub json: bool,

    /// Print nothing; the exit status is the answer
    #[arg(long, short, conflicts_with = "json")]
    pub quiet: bool,

    /// Write one page for a browser, with a table that can be sorted, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write a table with a line a host, too
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

/// The reports of a fleet, put together.
pub struct Merged(Fleet);

impl Merged {
    /// Returns the verdict, which the exit status follows.
    pub fn verdict(&self) -> Verdict {
        self.0.verdict()
    }
}

/// Reads all reports that the arguments name.
///
/// # Errors
///
/// Returns an error if a path does not exist. A file that cannot be read, or is not a report, is
/// listed in the result.
pub fn merge(args: &MergeArgs) -> Result<Merged, Error> {
    let mut fleet = Fleet::default();
    let mut text = Vec::new();
    for path in &args.reports {
        if path.as_os_str() == "-" {
            read(&mut fleet, "-", io::stdin().lock());
        } else if path.is_dir() {
            let mut files = Vec::new();
            let listed = find(path, &mut files, 0);
            listed.map_err(|reason| Error::Reports { path: path.clone(), reason })?;
            files.sort();
            for file in files {
                read_file(&mut fleet, &file, &mut text);
            }
        } else if let Err(reason) = std::fs::metadata(path) {
            return Err(Error::Reports { path: path.clone(), reason });
        } else {
            read_file(&mut fleet, path, &mut text);
        }
    }
    fleet.finish();
    Ok(Merged(fleet))
}

/// Collects the reports in a directory and the directories below it. Links are followed for files
/// only, so that no loop is possible.
fn find(directory: &Path, files: &mut Vec<PathBuf>, depth: usize) -> io::Result<()> {
    const DEEPEST: usize = 16;
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let is_report = path.extension().is_some_and(|extension| {
            ["json", "jsonl", "ndjson"].iter().any(|known| extension.eq_ignore_ascii_case(known))
        });
        let is_directory = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        if is_directory && depth < DEEPEST {
            // A directory that this user may not list is not a reason to drop the other reports.
            let _ = find(&path, files, depth + 1);
        } else if is_report && !is_directory {
            files.push(path);
        }
    }
    Ok(())
}

/// Reads a file. Nearly every file is one report, which is read in place; only other files are
/// split.
fn read_file(fleet: &mut Fleet, path: &Path, text: &mut Vec<u8>) {
    let source = path.display().to_string();
    let fail = |error: io::Error| Refused::File(format!("cannot be read: {error}"));
    let opened = File::open(path).and_then(|file| {
        // A pipe would be waited for.
        let is_file = file.metadata()?.is_file();
        if is_file { Ok(file) } else { Err(io::Error::other("not a regular file")) }
    });
    let mut file = match opened {
        Ok(file) => file,
        Err(error) => return fleet.refuse(&source, 0, &fail(error)),
    };
    text.clear();
    if let Err(error) = (&mut file).take(LONGEST as u64).read_to_end(text) {
        return fleet.refuse(&source, 0, &fail(error));
    }
    match Document::read(text) {
        Ok(document) => fleet.add(&source, 0, &document),
        Err(_) => read(fleet, &source, text.as_slice().chain(file)),
    }
}

/// Reads the documents of a stream.
fn read(fleet: &mut Fleet, source: &str, stream: impl Read) {
    let mut splitter = Splitter::new(stream);
    // A page of text in place of a report is one refusal, not one a line.
    let mut was_junk = false;
    for number in 0.. {
        let is_junk = match splitter.next() {
            Ok(None) if number == 0 => {
                let empty = Refused::File("is empty".to_owned());
                return fleet.refuse(source, 0, &empty);
            }
            Ok(None) => return,
            Ok(Some(Piece::Document(text))) => {
                match Document::read(text) {
                    Ok(document) => fleet.add(source, number, &document),
                    Err(reason) => {
                        fleet.refuse(source, number, &reason);
                        if matches!(reason, Refused::Json(_)) {
                            splitter.retreat();
                        }
                    }
                }
                false
            }
            Ok(Some(Piece::Bad(fault))) => {
                let is_junk = fault == split::Fault::NotAnObject;
                if !(is_junk && was_junk) {
                    fleet.refuse(source, number, &Refused::Split(fault));
                }
                is_junk
            }
            Err(error) => {
                let reason = Refused::File(format!("cannot be read: {error}"));
                return fleet.refuse(source, number, &reason);
            }
        };
        was_junk = is_junk;
    }
}

#[cfg(test)]
mod tests;
