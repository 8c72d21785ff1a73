//! Lines of a capture: a whole line of one format after the stamp of another.

use super::entry::{Depth, Entry, Writer, direct, entry, head, is_level, parse_at};
use super::programs::GO_WAITS;
use super::split::split_at_colon;
use super::stamp::{self, Stamp};

/// Reads a whole line of another format after a stamp: `docker logs -t` and `kubectl logs
/// --timestamps` print a container's lines so, and socklog the kernel's after `kern.notice: `.
pub(super) fn captured_line(rest: &str) -> Option<Entry<'_>> {
    if rest.starts_with('[') {
        return parse_at(rest, Depth::Captured);
    }
    // Go's words begin like the name of a program: "crypto/rand: ".
    if rest.starts_with(GO_WAITS) {
        return Some(entry(Stamp::default(), Writer::Other, rest));
    }
    let (level, message) = split_at_colon(rest)?;
    if !is_level(level) {
        return None;
    }
    let own = stamp::take(message).and_then(|_| parse_at(message, Depth::Captured));
    own.or_else(|| {
        let (writer, message) =
            if level.starts_with("kern.") { direct(message) } else { head(message)? };
        Some(entry(Stamp::default(), writer, message))
    })
}

/// Adds the time of a capture to a line. The line's own time by the wall clock is older and so
/// nearer to the event.
pub(super) fn within(outer: Stamp, inner: Entry<'_>) -> Entry<'_> {
    let stamp = match inner.stamp {
        own if own.wall.is_some() => own,
        own => Stamp { kernel: own.kernel, ..outer },
    };
    Entry { stamp, ..inner }
}
