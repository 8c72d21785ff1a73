//! Runs the searches that a file lists, one after the other: the one program of a guest, which has
//! no shell and no cargo.
//!
//! A line is what a person would type: variables, a program, and its arguments.

use std::process::{Command, ExitCode};

/// Continues after a fault, because the next line is about another build. Fails with 1 if any
/// program did not end with 0, and with 2 if there is no list.
fn main() -> ExitCode {
    let list = std::env::args_os().nth(1).ok_or("usage: residue-list FILE".to_owned());
    let list = list.and_then(|file| std::fs::read_to_string(file).map_err(|e| e.to_string()));
    let list = match list {
        Ok(list) => list,
        Err(error) => {
            eprintln!("residue-list: {error}");
            return ExitCode::from(2);
        }
    };
    let mut faults = 0;
    for line in list.lines() {
        println!("$ {line}");
        let fault = match command(line).status() {
            Ok(status) if status.success() => continue,
            Ok(status) => format!("ended with {status}"),
            Err(error) => format!("could not be run: {error}"),
        };
        println!("`{line}` {fault}");
        faults += 1;
    }
    println!("{} searches, {faults} of them with a fault", list.lines().count());
    ExitCode::from(u8::from(faults > 0 || list.is_empty()))
}

fn command(line: &str) -> Command {
    let mut words = line.split_whitespace().peekable();
    let mut variables = Vec::new();
    while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
        variables.push((name, value));
        words.next();
    }
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).envs(variables);
    command
}
