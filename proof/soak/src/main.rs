//! headwater under all disturbances at once, for as long as the caller likes, with a check that no
//! word repeats.
//!
//! The library under test is the shipped one: a release build without failpoints. (The feature
//! `hooks` adds them, so that forks happen at exact places too.) Time is cut into rounds. Each
//! round starts fresh processes, whose threads draw in every way while a random plan disturbs them:
//! forks of every kind, signals whose handlers draw, fork and jump away, dropped pages, reseeds of
//! the kernel, changes of mode. All draws go into one record in shared memory. At the end of a
//! round no word of the record may be zero, or be there twice.
//!
//! The seed and the number of a round reproduce its plan. The scheduler's choices are new each
//! time.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("headwater-soak runs on Linux only");
    std::process::exit(3);
}
