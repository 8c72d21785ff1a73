//! The real binary: what it writes, where, and how it ends.

mod command;

use command::{headwater, misused, stdout, text};
use snapbox::{file, str};
use std::fs::File;
use std::io::Read;
use std::process::Stdio;

fn std_headwater(args: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.args(args);
    command
}

#[test]
fn help() {
    headwater(&["--help"])
        .assert()
        .success()
        .stdout_eq(file!["snapshots/help.txt"])
        .stderr_eq(str![""]);
    for verb in
        ["status", "bytes", "uuid", "stream", "bench", "lab", "quality", "run", "completions"]
    {
        assert!(text(&[verb, "--help"]).contains("Usage: headwater"));
    }
    headwater(&["stream", "--help"])
        .assert()
        .success()
        .stdout_eq(file!["snapshots/help_stream.txt"]);
    headwater(&["stream", "write", "--help"])
        .assert()
        .success()
        .stdout_eq(file!["snapshots/help_stream_write.txt"]);
    headwater(&["stream", "verify", "--help"])
        .assert()
        .success()
        .stdout_eq(file!["snapshots/help_stream_verify.txt"]);
}

#[test]
fn wrong_input_is_one_line() {
    misused(&["frobnicate"]).stderr_eq(str![[r#"
headwater: unrecognized subcommand 'frobnicate'; see 'headwater --help'

"#]]);
    misused(&["byte"]).stderr_eq(str![[r#"
headwater: unrecognized subcommand 'byte'; tip: a similar subcommand exists: 'bytes'; see 'headwater --help'

"#]]);
    misused(&["bytes"]).stderr_eq(str![[r#"
headwater: the following required arguments were not provided: <N>; see 'headwater bytes --help'

"#]]);
    misused(&["bytes", "ten"]).stderr_eq(str![[r#"
headwater: invalid value 'ten' for '<N>': a size is a whole number of bytes, such as 32, 4k or 4MiB; see 'headwater bytes --help'

"#]]);
    misused(&["bytes", "-5"]).stderr_eq(str![[r#"
headwater: invalid value '-5' for '<N>': a size is a whole number of bytes, such as 32, 4k or 4MiB; see 'headwater bytes --help'

"#]]);
    misused(&["bytes", "1kb"]).stderr_eq(str![[r#"
headwater: invalid value '1kb' for '<N>': a unit is one of B, KiB, MiB, GiB, TiB, PiB, EiB, or k, M, G, T, P, E; see 'headwater bytes --help'

"#]]);
    misused(&["bytes", "99999999999G"]).stderr_eq(str![[r#"
headwater: invalid value '99999999999G' for '<N>': the size is larger than 2^64 - 1 bytes; see 'headwater bytes --help'

"#]]);
    misused(&["bytes", "1", "--hex", "--raw"]).stderr_eq(str![[r#"
headwater: the argument '--hex' cannot be used with '--raw'; see 'headwater bytes --help'

"#]]);
    misused(&["bytes", "1", "2"]).stderr_eq(str![[r#"
headwater: unexpected argument '2' found; see 'headwater bytes --help'

"#]]);
    misused(&["stream", "9"]).stderr_eq(str![[r#"
headwater: the following required arguments were not provided: --seed <S>; see 'headwater stream --help'

"#]]);
    misused(&["stream", "--seed", "12monkeys", "9"]).stderr_eq(str![[r#"
headwater: invalid value '12monkeys' for '--seed <S>': '12monkeys' is no seed: write a whole number (42, -1, 0x2a), hex:00ff for bytes, or text:anything; see 'headwater stream --help'

"#]]);
    misused(&["stream", "--seed=1", "--engine", "ars6", "9"]).stderr_eq(str![[r#"
headwater: invalid value 'ars6' for '--engine <E>' [possible values: ars7, ars5, philox4x32, xoshiro256pp, xoshiro256pp-x8, xorshift128p, pcg64dxsm, sfc64]; tip: a similar value exists: 'ars5'; see 'headwater stream --help'

"#]]);
    misused(&["stream", "--seed=1", "--substream=281474976710656", "9"]).stderr_eq(str![[r#"
headwater: stream 281474976710656 does not exist: numbers end at 2^48 - 1; make a child key for more; see 'headwater stream --help'

"#]]);
    misused(&["stream", "--seed=1", "--offset=18446744073709551610", "9"]).stderr_eq(str![[r#"
headwater: 9 bytes from byte 18446744073709551610 on pass the end of the stream at 2^64 - 1; see 'headwater stream --help'

"#]]);
    misused(&["stream", "--seed=1", "--engine=sfc64", "--offset=1k", "9"]).stderr_eq(str![[r#"
headwater: sfc64 cannot skip: drop the bytes with '| tail -c +1025' in place of --offset, or use pcg64dxsm; see 'headwater stream --help'

"#]]);
    misused(&["stream", "--seed=-1", "--engine=pcg64dxsm", "9"]).stderr_eq(str![[r#"
headwater: NumPy seeds its generators from whole numbers from 0 on: give such a seed, or take another engine; see 'headwater stream --help'

"#]]);
    misused(&["stream", "--seed=1", "--engine=sfc64", "--substream=4294967296", "9"]).stderr_eq(
        str![[r#"
headwater: substream 4294967296 does not exist: this engine has 2^32; use another seed for more; see 'headwater stream --help'

"#]],
    );
    misused(&["stream", "--seed=1", "--engine=xoshiro256pp-x8", &format!("--substream={}", 1_u64 << 61), "9"])
        .stderr_eq(str![[r#"
headwater: substream 2305843009213693952 does not exist: this engine has 2^61; use another seed for more; see 'headwater stream --help'

"#]]);
    misused(&["stream", "--seed=1", "--offset=-1", "9"]);
    misused(&["stream", "--seed=\n", "--engine=\x1b[31m", "9"]);
    misused(&["uuid", "-n", "-1"]).stderr_eq(str![[r#"
headwater: invalid value '-1' for '-n <N>': expected a whole number from 0 to 2^64 - 1; see 'headwater uuid --help'

"#]]);
    misused(&["completions", "cmd"]).stderr_eq(str![[r#"
headwater: invalid value 'cmd' for '<SHELL>' [possible values: bash, elvish, fish, powershell, zsh]; see 'headwater completions --help'

"#]]);
    misused(&["status", "--openssl", "--speed", "--pid=1"]).stderr_eq(str![[r#"
headwater: the argument '--openssl' cannot be used with '--speed'; see 'headwater status --help'

"#]]);
}

#[test]
fn arguments_may_hold_anything() {
    use std::os::unix::ffi::OsStrExt;
    for argument in [&b"\n\n\x1b[31m\x07"[..], b"\xFF\n\x1b[31m", b"", b"-\n", b"--\x07x"] {
        let argument = std::ffi::OsStr::from_bytes(argument);
        let done = headwater(&["bytes"]).arg(argument).assert().code(2);
        let words = String::from_utf8(done.get_output().stderr.clone()).unwrap();
        let line = words.strip_suffix('\n').unwrap();
        assert!(!line.contains(char::is_control), "{line:?}");
        assert!(line.ends_with("; see 'headwater bytes --help'"), "{line:?}");
    }
}

/// `streams/vectors/streams.json` and `streams/vectors/keys.json` are what every implementation is
/// held to.
#[test]
fn streams_are_those_of_the_vectors() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../streams/vectors");
    let vectors = std::fs::read_to_string(folder.join("streams.json")).unwrap();
    let vectors: serde_json::Value = serde_json::from_str(&vectors).unwrap();
    for case in vectors["cases"].as_array().unwrap() {
        let field = |name: &str| case[name].as_str().unwrap();
        let count = (field("bytes").len() / 2).to_string();
        let substream = case["stream"].to_string();
        let hex = text(&[
            "stream",
            "--seed",
            field("seed"),
            "--engine",
            field("engine"),
            "--substream",
            &substream,
            "--offset",
            field("start"),
            "--hex",
            &count,
        ]);
        assert_eq!(hex, format!("{}\n", field("bytes")), "{case}");
    }
}

/// `streams/vectors/seeds.json` holds the generators with a state to the same.
#[test]
fn generators_with_a_state_are_those_of_the_vectors() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../streams/vectors/seeds.json");
    let vectors: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for case in vectors["cases"].as_array().unwrap() {
        let field = |name: &str| case[name].as_str().unwrap();
        let count = (field("bytes").len() / 2).to_string();
        let engine = field("generator");
        let mut args = vec!["stream", "--hex", "--seed", field("seed"), "--engine", engine, &count];
        let substream = case["substream"].to_string();
        if substream != "null" {
            args.extend(["--substream", &substream]);
        }
        if engine != "sfc64" {
            args.extend(["--offset", field("offset")]);
        }
        assert_eq!(text(&args), format!("{}\n", field("bytes")), "{case}");
    }
}

/// Compares with NumPy itself, where it is installed.
#[test]
fn numpys_generators_give_the_bytes_of_numpy() {
    const PROGRAM: &str = "
import sys
from numpy.random import PCG64DXSM, SFC64, SeedSequence
seeds = SeedSequence(42)
for seeds in (42, seeds.spawn(3)[2]):
    for engine in (PCG64DXSM, SFC64):
        sys.stdout.buffer.write(engine(seeds).random_raw(1000).astype('<u8').tobytes())
";
    let python = std::env::var("HEADWATER_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let answer = std::process::Command::new(&python).args(["-c", PROGRAM]).output();
    let Some(answer) = answer.ok().filter(|answer| answer.status.success()) else {
        println!(
            "skipped: the bytes of NumPy: {python} has none; whether a newer NumPy still agrees"
        );
        return;
    };
    let mut ours = Vec::new();
    for substream in [None, Some("--substream=2")] {
        for engine in ["--engine=pcg64dxsm", "--engine=sfc64"] {
            let mut args = vec!["stream", "--seed=42", engine, "8000"];
            args.extend(substream);
            ours.extend(stdout(&args));
        }
    }
    assert!(ours == answer.stdout);
}

/// Up to the ends of what a generator has, and over the seam of what is written at a time.
#[test]
fn generators_can_begin_anywhere() {
    for engine in ["xoshiro256pp", "xoshiro256pp-x8", "xorshift128p", "pcg64dxsm"] {
        let engine = format!("--engine={engine}");
        let whole = stdout(&["stream", "--seed=7", &engine, "1600000"]);
        for (offset, length) in
            [(0, 0), (1, 1), (7, 2), (8, 8), (13, 1_500_000), (786_431, 786_434)]
        {
            let offset_is = format!("--offset={offset}");
            let piece = stdout(&["stream", "--seed=7", &engine, &offset_is, &length.to_string()]);
            assert!(
                piece == whole[offset..][..length],
                "{engine}: {length} bytes from {offset} on"
            );
        }
        let last = format!("--offset={}", u64::MAX);
        assert_eq!(stdout(&["stream", "--seed=7", &engine, &last, "64"]).len(), 64);
        assert_ne!(stdout(&["stream", "--seed=7", "--substream=1", &engine, "64"]), whole[..64]);
    }
}

/// One process for the whole of a stream, or many for pieces of it, over the seam of what one
/// writes at a time.
#[test]
fn streams_are_the_same_from_any_number_of_processes() {
    let whole = stdout(&["stream", "--seed", "pieces", "2000000"]);
    assert_eq!(whole.len(), 2_000_000);
    let mut at = 0;
    for length in [1, 15, 786_431, 3, 1_000_000, 213_550] {
        let piece = stdout(&[
            "stream",
            "--seed=text:pieces",
            "--engine=ars7",
            &format!("--offset={at}"),
            &length.to_string(),
        ]);
        assert!(piece == whole[at..][..length], "{length} bytes from {at} on");
        at += length;
    }
    assert_eq!(at, whole.len());
    assert_ne!(stdout(&["stream", "--seed", "Pieces", "64"]), whole[..64]);
    assert_eq!(stdout(&["stream", "--seed", "-7", "64"]), stdout(&["stream", "--seed=-0x7", "64"]));
}

#[test]
fn bytes_are_as_many_as_asked_for() {
    for (typed, length) in [
        ("0", 0),
        ("1", 1),
        ("17", 17),
        ("4k", 4096),
        ("786432", 786_432),
        ("786433", 786_433),
        ("3MiB", 3 << 20),
    ] {
        assert_eq!(stdout(&["bytes", typed]).len(), length, "{typed}");
        assert_eq!(stdout(&["bytes", typed, "--raw"]).len(), length, "{typed}");
        assert_eq!(stdout(&["bytes", typed, "--hex"]).len(), 2 * length + 1);
        let base64 = stdout(&["bytes", typed, "--base64"]);
        assert_eq!(base64.len(), 4 * length.div_ceil(3) + 1);
    }
}

#[test]
fn text_is_text() {
    let hex = text(&["bytes", "33", "--hex"]);
    let digits = hex.strip_suffix('\n').unwrap();
    assert!(digits.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')));
    let base64 = text(&["bytes", "1", "--base64"]);
    assert!(base64.ends_with("==\n"), "{base64}");
}

#[test]
fn two_runs_differ() {
    let run = || stdout(&["bytes", "16"]);
    assert_ne!(run(), run()); // equal by chance: 2^-128
}

#[test]
fn uuids() {
    for (args, version) in [(&["uuid", "-n", "100"][..], '4'), (&["uuid", "-n100", "--v7"], '7')] {
        let mut uuids: Vec<String> = text(args).lines().map(String::from).collect();
        assert_eq!(uuids.len(), 100);
        for uuid in &uuids {
            let at = |index| uuid.chars().nth(index).unwrap();
            assert_eq!(uuid.len(), 36);
            assert_eq!([8, 13, 18, 23].map(at), ['-'; 4]);
            assert_eq!(at(14), version);
            assert!(matches!(at(19), '8' | '9' | 'a' | 'b'));
        }
        uuids.sort();
        uuids.dedup();
        assert_eq!(uuids.len(), 100); // two equal by chance: below 2^-48, for v7 within one step
    }
    assert_eq!(text(&["uuid"]).lines().count(), 1);
    assert_eq!(text(&["uuid", "-n", "0"]), "");
}

#[test]
fn a_closed_pipe_is_success() {
    for args in [
        &["bytes", "1GiB"][..],
        &["bytes", "1GiB", "--base64"],
        &["uuid", "-n", "10000000"],
        &["completions", "zsh"],
        &["--help"],
        &["--version"],
        &["status", "--json"],
    ] {
        let mut child =
            std_headwater(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdout.take().unwrap();
        if args[0] == "bytes" {
            pipe.read_exact(&mut [0; 10]).unwrap();
        }
        drop(pipe);
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", done.status);
        assert_eq!(done.stderr, b"", "{args:?}");
    }
}

#[test]
fn a_full_disk_is_a_failure() {
    for args in [
        &["bytes", "10"][..],
        &["bytes", "3MiB", "--hex"],
        &["uuid"],
        &["--version"],
        &["--help"],
        &["status", "--json"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let done = std_headwater(args).stdout(full).output().unwrap();
        assert_eq!(done.status.code(), Some(3), "{args:?}");
        assert_eq!(
            String::from_utf8_lossy(&done.stderr),
            "headwater: cannot write to standard output: No space left on device (os error 28)\n"
        );
    }
}

/// Rust's runtime opens /dev/null in place of a closed descriptor, where the data would be lost.
#[test]
fn a_closed_standard_output_is_a_failure() {
    for verb in ["bytes 10", "uuid", "stream --seed 1 10", "--version", "--help", "status --json"] {
        let line = format!("exec {} {verb} >&-", env!("CARGO_BIN_EXE_headwater"));
        let done = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
        assert_eq!(done.status.code(), Some(3), "{verb}");
        assert_eq!(
            String::from_utf8_lossy(&done.stderr),
            "headwater: cannot write to standard output: Bad file descriptor (os error 9)\n"
        );
    }
}

#[test]
fn status_as_json() {
    let document: serde_json::Value = serde_json::from_str(&text(&["status", "--json"])).unwrap();
    assert_eq!(document["schema"], "headwater.status/1");
    assert_eq!(document["seeded"], true);
    assert_eq!(document["speed"], serde_json::Value::Null);
    let with_speed = text(&["status", "--json", "--speed"]);
    let document: serde_json::Value = serde_json::from_str(&with_speed).unwrap();
    assert_eq!(document["speed"][0]["impl"], "headwater");
    assert_eq!(document["speed"][0]["len"], 4);
}

#[test]
fn no_verb_is_the_status_screen() {
    for args in [&[][..], &["status"]] {
        let screen = text(args);
        for section in ["Status", "Machine", "Counters", "Sample", "Speed"] {
            assert!(screen.contains(&format!("\n{section}")), "{screen}");
        }
        assert!(!screen.contains('\u{1b}'), "colours in a pipe");
        let widest = screen.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{screen}");
    }
}

#[test]
fn versions() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(text(&["-V"]), format!("headwater {version}\n"));
    let long = text(&["--version"]);
    let mut lines = long.lines();
    assert_eq!(lines.next(), Some(&*format!("headwater {version}")));
    let mut values = Vec::new();
    for name in ["commit", "target", "features", "cipher", "guard", "mode"] {
        let line = lines.next().unwrap();
        let Some(value) = line.strip_prefix(&format!("{name}: ")) else { panic!("{line}") };
        values.push(value);
    }
    assert_eq!(lines.next(), None);
    // The command has UUIDs, and a build for users has no test hooks.
    assert_eq!(values[2], "rand_core, uuid");
    let is_commit = values[0].len() == 12 && values[0].bytes().all(|c| c.is_ascii_hexdigit());
    assert!(is_commit || values[0] == "unknown", "{long}");
}

#[test]
fn completions_of_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(text(&["completions", shell]).contains("base64"), "{shell}");
    }
}
