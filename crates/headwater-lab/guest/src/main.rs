//! The first process of the lab's guests, linked statically: it waits for randomness, draws, and tells over a
//! serial line what happened. docs/lab.md has the line protocol.
//!
//! It is its own init, with nothing else in the guest, so that whatever blocks or repeats is the kernel's doing or
//! that of the libraries linked in: headwater as it is shipped, OpenSSL's and rand's generators as witnesses.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod boot;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod callers;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod commands;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod doctor;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod kernel;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod openssl;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod options;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod port;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod restored;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod ring;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod witness;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod workers;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn main() -> std::process::ExitCode {
    if std::process::id() == 1 && std::env::args().nth(1).as_deref() != Some("restored") {
        boot::run()
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("restored") => restored::run(&arguments[1..]),
        Some("doctor" | "wait") => doctor::command(),
        _ => {
            eprintln!(
                "headwater-guest: this is the first process of a guest of `headwater lab`, and does nothing elsewhere"
            );
            std::process::ExitCode::from(2)
        }
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn main() {
    eprintln!("headwater-guest: only 64-bit Linux boots it");
    std::process::exit(2);
}
