//! A run, kept: the figures, the table, and what it takes to repeat it.

use crate::Output;
use crate::failure::Failure;
use headwater_bench::{Machine, Report, machine};
use jiff::Timestamp;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the directory in `directory` for a run on this machine today. It must not exist, because
/// a record is never overwritten. The check comes before an hour of measuring rather than after it.
pub(crate) fn new_folder(directory: &Path) -> Result<PathBuf, Failure> {
    let folder = directory.join(folder_name(&machine())?);
    if folder.exists() {
        return Err(taken(&folder));
    }
    Ok(folder)
}

/// Writes the three files of a record.
pub(crate) fn write(folder: &Path, output: &Output) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::Other(format!("cannot record in {}: {error}", folder.display()))
    };
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::create_dir(folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => taken(folder),
        _ => failed(error),
    })?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    for (name, text) in [
        ("bench.json", &output.json),
        ("table.txt", &output.table),
        ("command.txt", &command(&arguments, &output.versions)),
    ] {
        fs::write(folder.join(name), format!("{}\n", text.trim_end())).map_err(failed)?;
    }
    Ok(())
}

fn taken(folder: &Path) -> Failure {
    Failure::Other(format!("{} exists: a record is never overwritten", folder.display()))
}

/// Returns a name such as `2026-11-21-amd-epyc`.
fn folder_name(machine: &Machine) -> Result<String, Failure> {
    let seconds = machine.date.and_then(|date| i64::try_from(date).ok());
    let date = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
    let date = date.ok_or_else(|| Failure::Other("the clock shows no date".to_owned()))?;
    let cpu = machine.cpu.as_deref().map_or_else(|| std::env::consts::ARCH.to_owned(), slug);
    Ok(format!("{}-{cpu}", date.strftime("%Y-%m-%d")))
}

/// Returns a CPU's name in a form for a path. `Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz` becomes
/// `intel-xeon-e5-2680-v4`.
fn slug(cpu: &str) -> String {
    let name = cpu.split('@').next().unwrap_or(cpu).to_ascii_lowercase();
    let name = name.replace("(r)", " ").replace("(tm)", " ");
    let words = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !["", "cpu", "processor"].contains(word));
    words.collect::<Vec<_>>().join("-")
}

/// Returns the command that was run, and the versions that it ran on.
fn command(arguments: &[String], versions: &[String]) -> String {
    let quoted = arguments.iter().map(|argument| quote(argument));
    let command: Vec<String> =
        std::iter::once("headwater-bench".to_owned()).chain(quoted).collect();
    let mode = std::env::var("HEADWATER_MODE");
    let mode = mode.map_or_else(
        |_| "HEADWATER_MODE unset".to_owned(),
        |mode| format!("HEADWATER_MODE={mode}"),
    );
    format!("{}\n{mode}\n\n{}", command.join(" "), versions.join("\n"))
}

/// Quotes an argument so that a POSIX shell reads it back.
fn quote(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=,./:+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// Returns one line for each part that has a version.
pub(crate) fn versions(report: &Report) -> Vec<String> {
    let machine = &report.machine;
    let known = |name: &str, version: &Option<String>| {
        format!("{name}: {}", version.as_deref().unwrap_or("unknown"))
    };
    let mut lines = vec![
        known("rustc", &machine.rustc),
        known("kernel", &machine.kernel),
        known("libc", &machine.libc),
        known("microcode", &machine.microcode),
    ];
    for row in &report.rows {
        let line = known(&row.implementation, &row.version);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_after_day_and_cpu() {
        let mut machine = machine();
        machine.date = Some(1_795_219_200);
        machine.cpu = Some("AMD EPYC".to_owned());
        assert_eq!(folder_name(&machine).ok().as_deref(), Some("2026-11-21-amd-epyc"));
    }

    #[test]
    fn cpu_names_lose_what_tells_nothing() {
        for (cpu, expected) in [
            ("AMD EPYC 9R14 96-Core Processor", "amd-epyc-9r14-96-core"),
            ("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "intel-xeon-e5-2680-v4"),
            ("Intel(R) Core(TM) i7-1185G7 @ 3.00GHz", "intel-core-i7-1185g7"),
        ] {
            assert_eq!(slug(cpu), expected);
        }
    }

    #[test]
    fn the_command_can_be_pasted() {
        let arguments =
            ["--impls".to_owned(), "headwater[hedged]".to_owned(), "--time=1".to_owned()];
        let text = command(&arguments, &["rustc: unknown".to_owned()]);
        assert!(
            text.starts_with("headwater-bench --impls 'headwater[hedged]' --time=1\n"),
            "{text}"
        );
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
    }

    #[test]
    fn a_record_is_never_overwritten() {
        let directory =
            std::env::temp_dir().join(format!("headwater-bench-{}", std::process::id()));
        let folder = new_folder(&directory).ok().unwrap();
        let output = Output {
            json: "{}".to_owned(),
            table: "table".to_owned(),
            page: None,
            versions: Vec::new(),
        };
        assert!(write(&folder, &output).is_ok());
        assert!(
            new_folder(&directory)
                .is_err_and(|error| error.to_string().contains("never overwritten"))
        );
        assert!(write(&folder, &output).is_err());
        assert_eq!(fs::read_to_string(folder.join("bench.json")).unwrap(), "{}\n");
        fs::remove_dir_all(&directory).unwrap();
    }
}
