//! Words of programs that wait for random bytes, and stacks that show the wait.
//!
//! Sources: gnupg's cipher/rndlinux.c, libsodium's documentation ("sodium_init() stalling on
//! Linux"), dropbear's dbrandom.c, OpenJDK's NativePRNG.java and SeedGenerator.java, rand 0.6,
//! OpenSSL 1.1.1's rand_unix.c, OpenSSH's entropy.c, osrandom_engine.c of Python's cryptography,
//! and Go's crypto/rand and runtime/traceback.go.

use super::log_event::LogEvent;
use crate::boot::Waiter;

/// The words of gpg, in front of which its translators leave nothing.
pub(super) const GPG: &str = "Not enough random bytes available";
/// The words that libsodium's manual suggests to programs.
pub(super) const SODIUM: &str = "provide enough entropy to quickly";
/// The words of dropbear and dropbearkey.
pub(super) const DROPBEAR: &str = "Waiting for kernel randomness";
/// The words of Rust's rand 0.6.
const RUST: &str = "getrandom not ready";
/// The words of Python's cryptography, whose generator failed at the same answer.
pub(super) const PYTHON: &str = "getrandom() initialization failed";
/// The words with which each program of OpenSSH ends if OpenSSL finds no source of a seed.
pub(super) const UNSEEDED: &str = "PRNG is not seeded";
/// The frame of a stack of Go in getrandom(2).
pub(super) const GO_FRAME: &str = "unix.GetRandom(";
/// The head of a stack of Go.
pub(super) const GOROUTINE: &str = "goroutine ";
/// The words of every report with seconds.
pub(super) const BLOCKED: &str = "blocked for ";

/// Reads a line of a program that waits for random bytes.
pub(super) fn waiter(message: &str) -> Option<LogEvent<'_>> {
    let waits = |waiter| Some(LogEvent::ProgramWaits { waiter, seconds: None });
    if let Some(at) = message.find(GPG) {
        return is_own(&message[..at]).then(|| waits(Waiter::Gpg))?;
    }
    if message.contains(SODIUM) {
        let at = message.find("This system doesn")?;
        return is_own(&message[..at]).then(|| waits(Waiter::Libsodium))?;
    }
    if let Some(at) = message.find(DROPBEAR) {
        return is_own(&message[..at]).then(|| waits(Waiter::Dropbear))?;
    }
    if message.contains(RUST) {
        return message.contains("entropy sources failed").then(|| waits(Waiter::Rust))?;
    }
    if message.contains(PYTHON) {
        return waits(Waiter::Python);
    }
    if message.trim_end().ends_with(UNSEEDED) {
        return waits(Waiter::NoDevice);
    }
    if message.starts_with("internal/syscall/") && message.contains(GO_FRAME) {
        return waits(Waiter::Getrandom);
    }
    java(message).or_else(|| debugger(message)).and_then(waits).or_else(|| hangs(message))
}

/// Returns whether words that follow `head` are a program's own: at the line's start, after a
/// stamp, or after a name with a colon. Source code has a quotation mark in front of them, and a
/// sentence about the program has words.
fn is_own(head: &str) -> bool {
    let head = head.trim_end_matches(' ');
    let is_stamp = head.chars().all(|letter| !letter.is_alphabetic() || "TZ".contains(letter));
    is_stamp && !head.contains(['"', '`', '\'']) || head.ends_with(':')
}

/// Reads a frame of a Java stack. A thread that reads /dev/urandom passes through NativePRNG as
/// well, so only frames of the seed and of the blocking generator count.
fn java(message: &str) -> Option<Waiter> {
    let frame = message.trim_start();
    let is_frame = frame.starts_with("at ") || frame.starts_with("sun.security.provider.");
    if !is_frame {
        return None;
    }
    if frame.contains("sun.security.provider.NativePRNG$Blocking.") {
        return Some(Waiter::JavaBlocking);
    }
    let seeds = [
        "sun.security.provider.NativePRNG$RandomIO.implGenerateSeed",
        "sun.security.provider.SeedGenerator$URLSeedGenerator.",
    ];
    seeds.iter().any(|seed| frame.contains(seed)).then_some(Waiter::Java)
}

/// Reads a frame as gdb and pstack print it: `#1  0x97485d in rand_pool_acquire_entropy ()`.
fn debugger(message: &str) -> Option<Waiter> {
    let frame = message.trim_start().strip_prefix('#')?;
    frame.starts_with(|digit: char| digit.is_ascii_digit()).then_some(())?;
    let has = |name: &str| frame.contains(name);
    if has("rand_pool_acquire_entropy") || has("wait_random_seeded") {
        Some(Waiter::Openssl)
    } else if has("randombytes_linux_getrandom") {
        Some(Waiter::Libsodium)
    } else {
        (has(" in getrandom (") || has("__GI_getrandom")).then_some(Waiter::Getrandom)
    }
}

/// Reads the seconds of a thread or a task whose stack follows: `Thread[main] has been blocked for
/// 7932 ms`; `INFO: task mount:206 blocked for more than 122 seconds.`
fn hangs(message: &str) -> Option<LogEvent<'_>> {
    if let Some(goroutine) = message.strip_prefix(GOROUTINE) {
        return goroutine_hangs(goroutine);
    }
    let (_, rest) = message.split_once(BLOCKED)?;
    let rest = rest.strip_prefix("more than ").unwrap_or(rest);
    let (number, rest) = rest.split_once(' ')?;
    let number: f64 = number.parse::<u32>().ok()?.into();
    if rest.starts_with("ms") {
        return message.contains("Thread").then_some(LogEvent::Hangs(number / 1e3));
    }
    (rest.starts_with("seconds") && message.contains("task ")).then_some(LogEvent::Hangs(number))
}

/// Reads the minutes of Go's `goroutine 29 [syscall, 1 minutes]:`. A head without minutes ends the
/// stack before it, whose minutes must not become those of this one.
fn goroutine_hangs(goroutine: &str) -> Option<LogEvent<'_>> {
    let (number, state) = goroutine.trim_end().strip_suffix("]:")?.split_once(" [")?;
    number.parse::<u64>().ok()?;
    let minutes = || state.split_once(", ")?.1.strip_suffix(" minutes")?.parse::<u32>().ok();
    Some(LogEvent::Hangs(minutes().map_or(0.0, |minutes| f64::from(minutes) * 60.0)))
}

/// Reads a line of /proc/PID/stack: `[<0>] wait_for_random_bytes+0x57/0x60`. Each line is a frame
/// in which the task is, unlike a stack in the kernel's log, where frames of earlier calls have a
/// question mark.
pub(super) fn stack(line: &str) -> Option<LogEvent<'_>> {
    let frame = || line.trim_start().strip_prefix("[<")?.split_once(">] ");
    let waiter = match frame() {
        Some((_, frame)) => frame_of_kernel(frame)?,
        None => row(line)?.0,
    };
    Some(LogEvent::ProgramWaits { waiter, seconds: None })
}

/// Reads a row that top or ps prints with the column WCHAN, and returns the program's name: the
/// column beside it, or the last one.
pub(super) fn row(line: &str) -> Option<(Waiter, &str)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    words.first()?.parse::<u32>().ok()?;
    let (at, waiter) =
        words.iter().enumerate().find_map(|(at, word)| Some((at, function_of_kernel(word)?)))?;
    let name = if at + 1 == words.len() { at.checked_sub(1)? } else { words.len() - 1 };
    words.get(name).map(|name| (waiter, *name))
}

/// Returns the call in which a task waits if a frame of its stack is this one.
pub(super) fn frame_of_kernel(frame: &str) -> Option<Waiter> {
    let (name, _) = frame.trim_start().split_once("+0x")?;
    function_of_kernel(name)
}

fn function_of_kernel(name: &str) -> Option<Waiter> {
    match name {
        "wait_for_random_bytes" => Some(Waiter::Getrandom),
        "random_read" | "_random_read" => Some(Waiter::DevRandom),
        name if name.starts_with("_random_read.") || name.starts_with("random_read.") => {
            Some(Waiter::DevRandom)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_waiting_programs_are_known_and_talk_about_them_is_not() {
        let gpg = "Not enough random bytes available.  Please do some other work to give";
        let sodium = "This system doesn't provide enough entropy to quickly generate high-quality";
        let dropbear = "Waiting for kernel randomness to be initialised...";
        for (line, expected) in [
            (gpg.to_owned(), Waiter::Gpg),
            (format!("> {gpg}"), Waiter::Gpg),
            (format!("2017-12-14T10:42:58.238237594Z {gpg}"), Waiter::Gpg),
            (format!("2018-07-31 14:18:28 INFO: {sodium}"), Waiter::Libsodium),
            (dropbear.to_owned(), Waiter::Dropbear),
            (
                "at sun.security.provider.NativePRNG$Blocking.engineNextBytes(N.java:268)".into(),
                Waiter::JavaBlocking,
            ),
            ("#1  0x97485d in rand_pool_acquire_entropy ()".to_owned(), Waiter::Openssl),
            ("sshd[12]: fatal: PRNG is not seeded".to_owned(), Waiter::NoDevice),
            (
                "Error: 'osrandom_rand_bytes', 'getrandom() initialization failed.'".into(),
                Waiter::Python,
            ),
            ("internal/syscall/unix.GetRandom(0xc4201e20e9, 0x3)".to_owned(), Waiter::Getrandom),
        ] {
            let event = Some(LogEvent::ProgramWaits { waiter: expected, seconds: None });
            assert_eq!(waiter(&line), event, "{line}");
        }
        for line in [
            format!("fprintf(stderr, \"{sodium}"),
            format!("the message `{gpg}`"),
            "dropbear hung with Waiting for kernel randomness".to_owned(),
            "at sun.security.provider.NativePRNG$RandomIO.readFully(NativePRNG.java:424)".into(),
            "at sun.security.provider.SeedGenerator$ThreadedSeedGenerator.getSeedByte(S)".into(),
            "rand_pool_acquire_entropy() may hang".to_owned(),
            "if PRNG is not seeded, sshd ends".to_owned(),
        ] {
            assert_eq!(waiter(&line), None, "{line}");
        }
    }

    #[test]
    fn a_stack_counts_where_each_line_is_a_frame() {
        let waits = |waiter| Some(LogEvent::ProgramWaits { waiter, seconds: None });
        let line = "[<0>] wait_for_random_bytes+0x57/0x60";
        assert_eq!(stack(line), waits(Waiter::Getrandom));
        assert_eq!(stack("[<0>] random_read.part.1+0x10/0x20"), waits(Waiter::DevRandom));
        assert_eq!(stack("[    2.2]  ? wait_for_random_bytes+0xd0/0xd0"), None);
        assert_eq!(frame_of_kernel("? wait_for_random_bytes+0xd0/0xd0"), None);
        let row =
            "19540 root  -7  0 12.7g 21416 5780 S 0.0 0.1 0:00.62 impl_thread  random_read.part.34";
        assert_eq!(super::row(row), Some((Waiter::DevRandom, "impl_thread")));
        assert_eq!(
            super::row("206 wait_for_random_bytes mount"),
            Some((Waiter::Getrandom, "mount"))
        );
        assert_eq!(super::row("19544 root 0:05.13 timer_thread hrtimer_nanosleep"), None);
        assert_eq!(super::row("see random_read"), None);
        let line = "INFO: task mount.ceph:206 blocked for more than 122 seconds.";
        assert_eq!(waiter(line), Some(LogEvent::Hangs(122.0)));
        let line = "goroutine 29 [syscall, 1 minutes]:";
        assert_eq!(waiter(line), Some(LogEvent::Hangs(60.0)));
        assert_eq!(waiter("goroutine 30 [running]:"), Some(LogEvent::Hangs(0.0)));
        assert_eq!(waiter("goroutine leak detected"), None);
        let line = "Thread Thread[loop-7,5,main] has been blocked for 7932 ms, time limit is 2000";
        assert_eq!(waiter(line), Some(LogEvent::Hangs(7.932)));
    }
}
