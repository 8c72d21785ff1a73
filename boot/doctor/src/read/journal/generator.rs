//! The messages of the kernel's generator: drivers/char/random.c from 3.17 to 6.18.

use super::log_event::LogEvent;
use crate::read::logs::Texts;

/// Reads a message of the kernel's generator, without its prefix "random: ".
pub(super) fn generator(says: &str) -> Option<LogEvent<'_>> {
    const TRUSTING: &str = " (trusting CPU's manufacturer)";
    for (text, event) in [
        ("crng init done", LogEvent::Ready { trusted: false }),
        ("crng done", LogEvent::Ready { trusted: false }),
        // Before 4.8 getrandom waited for the pool of that name.
        ("nonblocking pool is initialized", LogEvent::Ready { trusted: false }),
        ("fast init done", LogEvent::FastInit),
        ("crng reseeded due to virtual machine fork", LogEvent::Fork),
        ("crng reseeded on system resumption", LogEvent::Resumed),
    ] {
        let Some(rest) = says.strip_prefix(text) else { continue };
        let is_ready = matches!(event, LogEvent::Ready { .. });
        if is_ready && let Some(rest) = rest.strip_prefix(TRUSTING) {
            return is_foreign(rest).then_some(LogEvent::Ready { trusted: true });
        }
        if text != "crng done" && is_foreign(rest) {
            return Some(event);
        }
    }
    // Most lines of a system that is ready end here.
    static WARNINGS: Texts =
        Texts::new(&[": uninitialized urandom read", " urandom read with ", " with crng_init="]);
    if !WARNINGS.is_in(says) {
        return missed(says);
    }
    if let Some((program, read)) = says.rsplit_once(": uninitialized urandom read (") {
        // A terminal's or a mail's width may have cut the rest off.
        let bytes = read.split_once(" byte").and_then(|(bytes, _)| bytes.parse().ok());
        return Some(LogEvent::EarlyRead { program, bytes: bytes.unwrap_or(0) });
    }
    // 5.18 and later.
    if let Some((program, _)) = says.split_once(": uninitialized urandom read") {
        return Some(LogEvent::EarlyRead { program, bytes: 0 });
    }
    // Before 4.8 the line does not name the number of bytes.
    if let Some((program, rest)) = says.split_once(" urandom read with ") {
        return rest
            .ends_with(" bits of entropy available")
            .then_some(LogEvent::EarlyRead { program, bytes: 0 });
    }
    if let Some((call, crng_init)) = says.rsplit_once(" with crng_init=") {
        let (_, caller) = call.split_once(" called from ")?;
        let crng_init = crng_init.parse().ok().filter(|state| *state < 2)?;
        return Some(LogEvent::EarlyCaller {
            caller: caller.split('+').next().unwrap_or(caller),
            crng_init,
        });
    }
    missed(says)
}

/// Returns true if this, after a message, is none of its words: a page's tag, a reader's arrow, or
/// what a program wrote to the same console.
fn is_foreign(rest: &str) -> bool {
    !rest.strip_prefix(' ').is_some_and(|word| word.starts_with(|c: char| c.is_lowercase()))
}

/// Reads the number of warnings that the kernel's rate limit left out.
fn missed(says: &str) -> Option<LogEvent<'_>> {
    let (count, rest) = says.split_once(' ')?;
    let missed = rest.starts_with("urandom warning(s) missed")
        || rest.starts_with("get_random_xx warning(s) missed");
    missed.then(|| count.parse().ok().map(LogEvent::Missed))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generators_messages_are_understood() {
        let says = [
            ("crng init done", Some(LogEvent::Ready { trusted: false })),
            ("crng done (trusting CPU's manufacturer)", Some(LogEvent::Ready { trusted: true })),
            (
                "crng init done (trusting CPU's manufacturer)",
                Some(LogEvent::Ready { trusted: true }),
            ),
            ("fast init done", Some(LogEvent::FastInit)),
            (
                "dd: uninitialized urandom read (512 bytes read)",
                Some(LogEvent::EarlyRead { program: "dd", bytes: 512 }),
            ),
            (
                "a: b: uninitialized urandom read (4 bytes read)",
                Some(LogEvent::EarlyRead { program: "a: b", bytes: 4 }),
            ),
            (
                "dd urandom read with 3 bits of entropy available",
                Some(LogEvent::EarlyRead { program: "dd", bytes: 0 }),
            ),
            (
                "get_random_bytes called from start_kernel+0x93/0x52a with crng_init=0",
                Some(LogEvent::EarlyCaller { caller: "start_kernel", crng_init: 0 }),
            ),
            (
                "dd: uninitialized urandom read (51",
                Some(LogEvent::EarlyRead { program: "dd", bytes: 0 }),
            ),
            (
                "dd: uninitialized urandom read (512 bytes =",
                Some(LogEvent::EarlyRead { program: "dd", bytes: 512 }),
            ),
            ("7 urandom warning(s) missed due to ratelimiting", Some(LogEvent::Missed(7))),
            ("3 get_random_xx warning(s) missed due to ratelimiting", Some(LogEvent::Missed(3))),
            ("crng reseeded due to virtual machine fork", Some(LogEvent::Fork)),
            ("crng reseeded on system resumption", Some(LogEvent::Resumed)),
            ("crng init done<br>", Some(LogEvent::Ready { trusted: false })),
            ("crng init done\\r", Some(LogEvent::Ready { trusted: false })),
            ("crng init done  <--- here", Some(LogEvent::Ready { trusted: false })),
            ("crng init doneStarting sshd: OK", Some(LogEvent::Ready { trusted: false })),
            ("nonblocking pool is initialized[/code]", Some(LogEvent::Ready { trusted: false })),
            ("crng done (trusting CPU's manufacturer)\"}", Some(LogEvent::Ready { trusted: true })),
            ("crng reseeded due to virtual machine fork</pre>", Some(LogEvent::Fork)),
            ("crng init done takes a minute here", None),
            ("crng done", None),
            ("crng init do", None),
            ("get_random_bytes called from start_kernel with crng_init=9", None),
            ("urandom warning(s) missed", None),
        ];
        for (text, expected) in says {
            assert_eq!(generator(text), expected, "{text}");
        }
    }
}
