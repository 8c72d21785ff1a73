//! The corpora of the fuzz targets (boot/fuzz/README.md), from the files of the tests.
//!
//! `cargo run -p headwater-doctor --example fuzz_corpus -- DIRECTORY`

use headwater_doctor::{Case, Root, diagnose, journal, observe};
use headwater_hostfile::{Archive, Entry};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Larger inputs are mutated less often in the same time.
const LARGEST: usize = 16 << 10;

/// Writes one input of a corpus, cut at a line's end if it is long.
fn put(top: &Path, corpus: &str, name: &str, text: &[u8]) -> Result<()> {
    let end = match text.get(..LARGEST) {
        Some(head) => head.iter().rposition(|byte| *byte == b'\n').map_or(LARGEST, |at| at + 1),
        None => text.len(),
    };
    let directory = top.join(corpus);
    fs::create_dir_all(&directory)?;
    Ok(fs::write(directory.join(name.replace(['/', ' '], "-")), &text[..end])?)
}

fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() { files.extend(self::files(&path)?) } else { files.push(path) }
    }
    Ok(files)
}

/// Returns a record of the observer with every kind of victim.
fn record() -> Result<String> {
    let victim = |pid: u32, call: &str, most: Option<f64>, ending: &str| {
        serde_json::json!({
            "unit": "ssh.service", "process": "sshd", "pid": pid, "thread": "main", "tid": pid + 1,
            "call": call, "from": 6.1, "until": 107.7, "waits": 2, "ending": ending,
            "seconds": { "at_least": 101.6, "at_most": most },
        })
    };
    let record = serde_json::json!({
        "schema": observe::SCHEMA, "version": "0.2.0",
        "boot_id": "00000000-0000-0000-0000-000000000000", "kernel": "5.10.0-8-amd64",
        "began": 5.0, "ended": 107.7, "outcome": "ready", "ready": 107.7,
        "ready_by": "virtio_rng.0", "looks": 1020, "cpu_seconds": 0.2, "missed": 1,
        "victims": [
            victim(312, "getrandom", Some(101.8), "ready"),
            victim(400, "/dev/random", None, "gave_up"),
            victim(500, "poll of /dev/random", Some(9.0), "still_waits"),
        ],
    });
    Ok(serde_json::to_string_pretty(&record)?)
}

fn main() -> Result<()> {
    let top = PathBuf::from(std::env::args().nth(1).ok_or("give a directory")?);
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for file in files(&tests.join("logs"))?.into_iter().chain(files(&tests.join("outside"))?) {
        if file.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for (name, entry) in Archive::parse(&fs::read(&file)?)?.entries() {
            let Entry::File(text) = entry else { continue };
            let corpus = match (&*stem, journal::read(text.as_slice(), name)) {
                ("strace", _) => "strace",
                (_, Ok(_)) if text.starts_with(b"{\"") => "journal_json",
                (_, Ok(_)) if text.starts_with(b"__") => "journal_export",
                (_, Ok(_)) => "journal_text",
                (_, Err(_)) => "journal_any",
            };
            put(&top, corpus, &format!("{stem}-{name}"), text)?;
            put(&top, "journal_any", &format!("{stem}-{name}"), text)?;
        }
    }
    for file in files(&tests.join("hosts"))? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read(&file)?;
        put(&top, "host_file", &name, &text)?;
        let case = Case::of_machine(Root::archive(name.clone(), Archive::parse(&text)?))?;
        put(&top, "reports", &name, diagnose(case).json()?.as_bytes())?;
    }
    put(&top, "observed", "record", record()?.as_bytes())
}
