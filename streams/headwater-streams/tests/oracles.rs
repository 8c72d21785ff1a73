//! Programs of other authors, where they are installed: the engines' authors' own code, and
//! Python's hash.

use headwater_streams::{Engine, Key};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory that is removed when this value is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("headwater-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Random123 (Debian: librandom123-dev) compiled into a program that prints blocks.
#[test]
fn engines_agree_with_random123() {
    const LOSS: &str =
        "the engines are compared with their published answers and our reference alone";
    if !cfg!(target_arch = "x86_64") || !Path::new("/proc/cpuinfo").exists() {
        println!("skipped: Random123's ars: it is for x86-64 only, {LOSS}");
        return;
    }
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if !cpu.split_whitespace().any(|flag| flag == "aes") {
        println!("skipped: Random123's ars: this CPU has no AES, {LOSS}");
        return;
    }
    let folder = Folder::new("random123");
    let program = folder.0.join("random123");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/random123.c");
    let compiled = Command::new("cc")
        .args(["-O1", "-maes", "-msse4.1", "-o"])
        .arg(&program)
        .arg(source)
        .output();
    match compiled {
        Ok(done) if done.status.success() => {}
        Ok(done) if String::from_utf8_lossy(&done.stderr).contains("Random123/") => {
            println!(
                "skipped: Random123: its headers are not installed (librandom123-dev), {LOSS}"
            );
            return;
        }
        Ok(done) => panic!("{}", String::from_utf8_lossy(&done.stderr)),
        Err(error) => {
            println!("skipped: Random123: no C compiler ({error}), {LOSS}");
            return;
        }
    }
    // Keys and counters from the program itself, one a line with their three blocks.
    let done = Command::new(&program).arg("2000").output().unwrap();
    let lines = String::from_utf8(done.stdout).unwrap();
    assert_eq!(lines.lines().count(), 2000);
    for line in lines.lines() {
        let numbers: Vec<u128> =
            line.split(' ').map(|number| u128::from_str_radix(number, 16).unwrap()).collect();
        let [key, counter, ars7, ars5, philox] = numbers[..] else { panic!("{line}") };
        let block = |engine, key: u128| Key::from_raw(engine, key.to_le_bytes()).block(counter);
        assert_eq!(block(Engine::Ars7, key), ars7, "{line}");
        assert_eq!(block(Engine::Ars5, key), ars5, "{line}");
        assert_eq!(block(Engine::Philox4x32, key & u128::from(u64::MAX)), philox, "{line}");
    }
}

/// Runs the whole specification in plain Python, written from STREAMS.md alone. If the document
/// lacked something, or if the vectors changed, a case would differ.
#[test]
fn the_specification_alone_makes_every_vector() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/streams.py");
    let done = match Command::new("python3").arg(program).output() {
        Ok(done) => done,
        Err(error) => {
            println!(
                "skipped: STREAMS.md in Python: no python3 ({error}), the vectors have one oracle less"
            );
            return;
        }
    };
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(text.lines().count(), 8, "one line for each file: {text}");
}

/// The derivation of keys as STREAMS.md has it, in ten lines of Python.
#[test]
fn keys_agree_with_a_python_of_ten_lines() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys.py");
    let done = match Command::new("python3").arg(program).output() {
        Ok(done) => done,
        Err(error) => {
            println!(
                "skipped: Python's BLAKE2s: no python3 ({error}), keys are compared with our reference alone"
            );
            return;
        }
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut expected = String::new();
    for engine in Engine::ALL {
        let key = Key::with_engine(*engine, 42);
        for n in 0..300 {
            let text = "x".repeat(n as usize);
            for key in [
                key.child(n),
                key.child(-1 - n),
                key.child(&text),
                Key::with_engine(*engine, text.as_bytes()),
            ] {
                expected.extend(key.to_raw().map(|byte| format!("{byte:02x}")));
                expected.push('\n');
            }
        }
    }
    assert!(String::from_utf8_lossy(&done.stdout) == expected);
}
