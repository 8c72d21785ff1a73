//! Measures RAND_bytes with headwater, with OpenSSL's own generator, and with one that does
//! nothing, in turns in one process. `cargo xtask openssl --speed` prints the figures; no test
//! judges them.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::path::PathBuf;
use support::{OpenSsl, modules, said};
use tempfile::TempDir;

/// Returns the program, and a directory that holds the providers which it compares. Prints a line
/// and returns `None` if the program cannot be compiled.
fn compiled(openssl: &OpenSsl) -> Option<(PathBuf, TempDir)> {
    let directory = tempfile::tempdir().unwrap();
    fs::copy(modules().join("headwater.so"), directory.path().join("headwater.so")).unwrap();
    let shared = ["-shared", "-fPIC", "-lcrypto"];
    let empty = openssl.compile_with("empty.c", directory.path(), &shared)?;
    fs::rename(empty, directory.path().join("empty.so")).unwrap();
    Some((openssl.compile("speed.c", directory.path())?, directory))
}

fn measured(openssl: &OpenSsl, mode: &str, rounds: &str) -> Option<String> {
    let (program, directory) = compiled(openssl)?;
    let mut run = openssl.program(program);
    run.arg(rounds).env("HEADWATER_MODULES", directory.path()).env("HEADWATER_MODE", mode);
    Some(said(run.output().unwrap()))
}

#[test]
#[ignore = "takes a minute, and prints figures"]
fn rand_bytes_beside_the_stock_generator() {
    for openssl in OpenSsl::all() {
        for mode in ["auto", "hedged", "strict"] {
            if let Some(table) = measured(&openssl, mode, "100") {
                println!("HEADWATER_MODE={mode}, {table}");
            }
        }
    }
}

/// Runs two rounds, so that a broken program is noticed. Every generator must have a line for each
/// of four lengths and two numbers of threads.
#[test]
fn the_speed_program_measures_every_generator() {
    for openssl in OpenSsl::all() {
        let Some(table) = measured(&openssl, "auto", "2") else { continue };
        for name in ["stock", "headwater", "empty"] {
            let lines = table.lines().filter(|line| line.trim_end().ends_with(name));
            assert_eq!(lines.count(), 8, "{name}: {table}");
        }
    }
}
