//! The first process of the lab's guests, linked statically: it waits for randomness, draws, and
//! reports over a serial line in the messages of `headwater-lab-protocol`.
//!
//! The process is its own init, and nothing else runs in the guest. Whatever blocks or repeats is
//! therefore the doing of the kernel or of the libraries that are linked in: headwater as it is
//! published, and the generators of OpenSSL and rand as witnesses.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn main() {
    eprintln!("headwater-guest: runs on 64-bit Linux only");
    std::process::exit(2);
}
