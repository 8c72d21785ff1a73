//! Broken files: never a panic, and never a finding that is not in the file.

mod support;

use headwater_doctor::boot::{Boot, Moment};
use headwater_doctor::{Case, Finding, Id, Report, Severity, diagnose, journal, strace};
use headwater_hostfile::{Archive, Entry};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Returns every log and trace under tests/logs, in the order of their names.
fn files() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder("logs")).unwrap().flatten() {
            let path = entry.path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            for (section, content) in support::logs(name).entries() {
                let Entry::File(content) = content else { unreachable!() };
                files.push((format!("{name}/{section}"), content.clone()));
            }
        }
        files.sort();
        assert!(files.len() > 35, "{} files", files.len());
        files
    })
}

/// Returns logs of healthy boots: the kernel's logs of guests whose generator was ready before the
/// first program, and the second boot of the founding story.
fn healthy() -> &'static [String] {
    static LOGS: OnceLock<Vec<String>> = OnceLock::new();
    LOGS.get_or_init(|| {
        let mut logs: Vec<String> = ["lab-6.1-rdrand", "lab-6.12-vmgenid", "lab-7-uefi-seed"]
            .map(|host| {
                let file = folder("hosts/guest").join(format!("{host}.host"));
                let archive = Archive::parse(&fs::read(file).unwrap()).unwrap();
                String::from_utf8(archive.file("/log/kernel").unwrap().to_vec()).unwrap()
            })
            .to_vec();
        let stories = support::logs("two-attempts-systemd-241");
        let both = |format| String::from_utf8(stories.file(format).unwrap().to_vec()).unwrap();
        for format in ["short", "short-monotonic", "short-iso-precise", "short-unix", "with-unit"] {
            let both = both(format);
            let (_, second) =
                both.split_once("-- Boot 7b1d2f64a09c4c5ea1b8d3c2f4e59a60 --\n").unwrap();
            logs.push(second.to_owned());
        }
        logs.push(
            both("json")
                .split_inclusive('\n')
                .filter(|line| line.contains("7b1d2f64a09c4c5ea1b8d3c2f4e59a60"))
                .collect(),
        );
        for log in &logs {
            let report = diagnose(Case {
                boots: journal::read(log.as_bytes(), "log").unwrap(),
                ..Case::default()
            });
            assert!(faults(&report).is_empty(), "{:?}", report.findings);
        }
        logs
    })
}

/// Returns the findings that depend on a log. (An old kernel is a finding for any log.)
fn faults(report: &Report) -> Vec<&Finding> {
    const OF_LOGS: [Id; 5] =
        [Id::ReadyLate, Id::UnitWaited, Id::EarlyCaller, Id::EarlyRead, Id::Cloned];
    let is_fault =
        |finding: &&Finding| OF_LOGS.contains(&finding.id) && finding.severity > Severity::Note;
    report.findings.iter().filter(is_fault).collect()
}

fn moments(boot: &Boot) -> Vec<&Moment> {
    let units = boot.units.iter().flat_map(|unit| &unit.attempts);
    boot.init
        .iter()
        .chain(&boot.fast_init)
        .chain(&boot.ready)
        .chain(&boot.forks)
        .chain(&boot.resumptions)
        .chain(boot.early_callers.iter().map(|caller| &caller.moment))
        .chain(boot.early_reads.iter().map(|read| &read.moment))
        .chain(boot.hints.iter().map(|hint| &hint.moment))
        .chain(units.flat_map(|attempt| [&attempt.began].into_iter().chain(&attempt.ended)))
        .collect()
}

/// One change of a file's lines.
#[derive(Clone, Debug)]
enum Line {
    Remove(prop::sample::Index, usize),
    Double(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    CutEnd(prop::sample::Index),
    CutBegin(prop::sample::Index),
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let index = any::<prop::sample::Index>;
    let one = prop_oneof![
        4 => (index(), 1..60_usize).prop_map(|(at, count)| Line::Remove(at, count)),
        1 => index().prop_map(Line::Double),
        2 => (index(), index()).prop_map(|(one, other)| Line::Swap(one, other)),
        1 => index().prop_map(Line::CutEnd),
        1 => index().prop_map(Line::CutBegin),
    ];
    prop::collection::vec(one, 1..12)
}

fn with_lines(text: &str, changes: &[Line]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for change in changes {
        if lines.is_empty() {
            break;
        }
        match change {
            Line::Remove(at, count) => {
                let at = at.index(lines.len());
                lines.drain(at..(at + count).min(lines.len()));
            }
            Line::Double(at) => {
                let line = at.get(&lines).clone();
                lines.insert(at.index(lines.len()), line);
            }
            Line::Swap(one, other) => {
                let (one, other) = (one.index(lines.len()), other.index(lines.len()));
                lines.swap(one, other);
            }
            Line::CutEnd(at) => {
                let line = lines.last_mut().expect("it is not empty");
                let end = (0..=at.index(line.len() + 1))
                    .rev()
                    .find(|end| line.is_char_boundary(*end))
                    .unwrap_or(0);
                line.truncate(end);
            }
            Line::CutBegin(at) => {
                let begin = (0..=at.index(lines[0].len() + 1))
                    .rev()
                    .find(|at| lines[0].is_char_boundary(*at));
                lines[0] = lines[0].split_off(begin.unwrap_or(0));
            }
        }
    }
    lines.join("\n")
}

/// Returns changes of a file's bytes.
fn bytes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..40)
}

fn with_bytes(bytes: &[u8], changes: &[(prop::sample::Index, u8, u8)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (at, value, kind) in changes {
        if bytes.is_empty() {
            break;
        }
        let at = at.index(bytes.len());
        match kind {
            0 => bytes[at] = *value,
            1 => bytes.insert(at, *value),
            2 => drop(bytes.remove(at)),
            _ => drop(bytes.drain(at..(at + usize::from(*value)).min(bytes.len()))),
        }
    }
    bytes
}

/// Returns the part of a moment's text that decides its meaning.
fn is_understood(says: &str) -> bool {
    [
        "as init process",
        "running in system mode",
        "init done",
        "crng done",
        "nonblocking pool is initialized",
        "reseeded",
        "called from",
        "urandom read",
        "clocksource",
        "RDRAND",
        "RDSEED",
        "entropy pool",
        "hwrng",
        "virtio_rng",
        "syscall=",
        "Start",
        "start",
        "Finished ",
        "Stopped ",
    ]
    .iter()
    .any(|text| says.contains(text))
}

/// Returns whether a text has what a moment says, except for what a reader of a page would not see:
/// control characters, and the backslashes that a page puts before brackets. `dmesg -H` gets its
/// seconds added up, so only the message is the file's.
fn holds(text: &str, says: &str) -> bool {
    let seen = text.chars().filter(|&letter| letter != '\\');
    let seen = seen.map(|letter| if letter.is_control() && letter != '\n' { ' ' } else { letter });
    let (seen, says) = (seen.collect::<String>(), says.replace('\\', ""));
    let message = says.strip_prefix('[').and_then(|says| says.split_once("] "));
    seen.contains(&says)
        || message.is_some_and(|(_, message)| says.contains(" +") && seen.contains(message))
        || unfolded(&seen).is_some_and(|joined| joined.contains(&says))
}

/// Returns the lines of a text as one, if a line's end has come into a message of the generator.
/// A mail program does that, and lines are joined only then.
fn unfolded(text: &str) -> Option<String> {
    const MESSAGES: [&str; 4] =
        [": uninitialized urandom read", "urandom read with", "init done", "is initialized"];
    let joined = text.lines().map(str::trim_end).collect::<Vec<_>>().join(" ");
    let count = |text: &str, says| text.matches(says).count();
    let is_folded = MESSAGES.iter().any(|says| count(&joined, says) > count(text, says));
    is_folded.then_some(joined)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(600), failure_persistence: None, ..ProptestConfig::default() })]

    /// Lines removed, doubled, exchanged or cut: the rest of a healthy boot has no moment that was
    /// not in it, and no finding.
    #[test]
    fn a_healthy_log_with_lines_mangled_has_no_fault(which in any::<prop::sample::Index>(), changes in lines()) {
        let original = which.get(healthy());
        let mangled = with_lines(original, &changes);
        let Ok(boots) = journal::read(mangled.as_bytes(), "log") else { return Ok(()) };
        for moment in boots.iter().flat_map(moments) {
            let says = moment.evidence.says.trim_end_matches(" ...");
            let message = says.split_once(": ").map_or(says, |(_, message)| message);
            prop_assert!(original.contains(says) || original.contains(message), "{says} is not in the log");
        }
        let report = diagnose(Case { boots, ..Case::default() });
        prop_assert!(faults(&report).is_empty(), "{:?}
{mangled}", faults(&report));
    }

    /// Bytes changed, put in, taken out, in every format: what is found is in the file.
    #[test]
    fn what_is_found_in_a_mangled_log_is_in_it(which in any::<prop::sample::Index>(), changes in bytes()) {
        let (name, original) = which.get(files());
        let mangled = with_bytes(original, &changes);
        let text = String::from_utf8_lossy(&mangled);
        if let Ok(boots) = journal::read(mangled.as_slice(), "log") {
            for moment in boots.iter().flat_map(moments) {
                let says = moment.evidence.says.trim_end_matches(" ...");
                prop_assert!(is_understood(says), "{name}: {says}");
                if !name.ends_with("json") && !name.ends_with("export") && !says.contains('\u{fffd}') && !text.contains('\x1b') {
                    prop_assert!(holds(&text, says), "{name}: {says}");
                }
                prop_assert!(moment.at.is_none_or(f64::is_finite));
            }
            let report = diagnose(Case { boots, ..Case::default() });
            prop_assert!(report.findings.len() < 100);
        }
        if let Ok(trace) = strace::read(mangled.as_slice(), "trace") {
            let written = text.matches("getrandom").count() as u64;
            prop_assert!(trace.summary || trace.calls <= written);
            prop_assert!(trace.getrandom.is_finite() && trace.getrandom >= 0.0 && trace.evidence.len() <= 10);
            diagnose(Case { traces: vec![trace], ..Case::default() });
        }
    }

    /// Lines of one file among those of another.
    #[test]
    fn two_files_in_one_are_read(one in any::<prop::sample::Index>(), other in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>()) {
        let (one, other) = (&one.get(files()).1, &other.get(files()).1);
        let cut = cut.index(one.len() + 1);
        let both = [&one[..cut], other, &one[cut..]].concat();
        let _ = (journal::read(both.as_slice(), "log"), strace::read(both.as_slice(), "trace"));
    }

    #[test]
    fn bytes_of_any_kind_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = (journal::read(bytes.as_slice(), "log"), strace::read(bytes.as_slice(), "trace"));
    }

    /// A trace with `-T`: what calls took in all is written in it.
    #[test]
    fn a_mangled_trace_tells_of_no_time_that_is_not_in_it(changes in lines()) {
        let original = "\
7 execve(\"/bin/a\", [\"a\"], 0x1) = 0 <0.001000>
7 getrandom(\"\\x01\"..., 32, 0) = 32 <0.000002>
8 getrandom( <unfinished ...>
7 read(3, \"x\", 1) = 1 <9.500000>
8 <... getrandom resumed>\"\\x01\"..., 8, 0) = 8 <0.000100>
9 getrandom(\"\\x01\"..., 32, 0) = 32 <0.000003>
7 +++ exited with 0 +++
";
        let mangled = with_lines(original, &changes);
        if let Ok(trace) = strace::read(mangled.as_bytes(), "trace") {
            let copies = mangled.matches("0.000100>").count() as f64;
            prop_assert!(trace.getrandom <= copies * 0.0001 + 0.001, "{trace:?}\n{mangled}");
            prop_assert!(trace.longest < 0.001);
        }
    }
}
