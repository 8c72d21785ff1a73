//! The program of a guest.

mod boot;
mod callers;
mod commands;
mod doctor;
mod facts;
mod hibernation;
mod job;
mod kernel;
mod nodes;
mod openssl;
mod options;
mod pages;
mod port;
mod restored;
mod ring;
mod sections;
mod witness;
mod workers;

use std::process::ExitCode;

pub(crate) fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let verb = arguments.first().map(String::as_str);
    // In CRIU's process namespace, the restored process has number 1 too.
    if std::process::id() == 1 && verb != Some("restored") {
        boot::run()
    }
    match verb {
        Some("restored") => restored::run(&arguments[1..]),
        Some("doctor" | "wait") => doctor::command(),
        Some("nodes") => nodes::command(&arguments[1..]),
        Some("sections") => sections::command(&arguments[1..]),
        _ => {
            eprintln!(
                "headwater-guest: this program is the first process of a guest of `headwater lab`"
            );
            ExitCode::from(2)
        }
    }
}
