//! Lines of trace_pipe: the begin and the end of a call of getrandom(2).
//!
//! A line begins with the name of the thread, which a program chooses freely. A name can contain
//! line breaks and every mark that separates fields, so a line is read from its end, and everything
//! that the kernel wrote after the name must be there. A name of 15 bytes is too short for that.

use memchr::{memmem, memrchr};

/// The name of the call, after the time.
const CALL: &[u8] = b": sys_getrandom";
/// The kernel's text for a thread whose name it has not stored.
const UNKNOWN: &[u8] = b"<...>";

/// A line of the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Line<'a> {
    Call(Call<'a>),
    /// The kernel had no room for so many events.
    Lost(u64),
}

/// One end of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Call<'a> {
    pub(super) tid: u32,
    /// Seconds of the trace's clock.
    pub(super) at: f64,
    /// The name of the thread; empty if the kernel has not stored it.
    pub(super) comm: &'a [u8],
    pub(super) event: Event,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Begin {
        flags: u32,
    },
    /// The number of bytes, or a negative error number.
    End {
        returned: i64,
    },
}

/// Reads a line without its line break. Returns `None` for every line of another form.
pub(super) fn parse(line: &[u8]) -> Option<Line<'_>> {
    if line.starts_with(b"CPU:") {
        return lost(line).map(Line::Lost);
    }
    // A thread can be named like the call. The kernel's own text is the last one.
    let at = memmem::rfind(line, CALL)?;
    let (head, tail) = line.split_at_checked(at)?;
    let event = event(tail.get(CALL.len()..)?)?;
    let space = memrchr(b' ', head)?;
    let at = seconds(head.get(space + 1..)?)?;
    // Before the time: flags, and the CPU in brackets, which comes after name and number.
    let thread = head.get(..memrchr(b'[', head)?)?.trim_ascii_end();
    let thread = without_process(thread);
    let dash = memrchr(b'-', thread)?;
    let tid = decimal(thread.get(dash + 1..)?)?;
    let comm = thread.get(..dash)?.trim_ascii_start();
    let comm = if comm == UNKNOWN { &[] } else { comm };
    Some(Line::Call(Call { tid: u32::try_from(tid).ok()?, at, comm, event }))
}

/// Returns a line's beginning without the number of the process, which the option `record-tgid`
/// adds in parentheses.
fn without_process(thread: &[u8]) -> &[u8] {
    if thread.last() != Some(&b')') {
        return thread;
    }
    let open = memrchr(b'(', thread).and_then(|open| thread.get(..open));
    open.unwrap_or_default().trim_ascii_end()
}

/// Reads what follows the name of the call: arguments or a result.
fn event(text: &[u8]) -> Option<Event> {
    if let Some(result) = text.strip_prefix(b" -> ") {
        let returned = hexadecimal(result.trim_ascii_end())?;
        return Some(Event::End { returned: returned.cast_signed() });
    }
    const FLAGS: &[u8] = b"flags: ";
    let arguments = text.strip_prefix(b"(")?;
    let flags = arguments.get(memmem::find(arguments, FLAGS)? + FLAGS.len()..)?;
    let end = flags.iter().position(|byte| !(byte.is_ascii_hexdigit() || *byte == b'x'));
    let flags = hexadecimal(flags.get(..end?)?)?;
    Some(Event::Begin { flags: u32::try_from(flags).ok()? })
}

/// Reads `CPU:1 [LOST 123 EVENTS]`.
fn lost(line: &[u8]) -> Option<u64> {
    let text = line.get(memmem::find(line, b"[LOST ")? + 6..)?;
    decimal(text.get(..memmem::find(text, b" EVENTS]")?)?)
}

/// Reads a time such as `12.345678`.
fn seconds(text: &[u8]) -> Option<f64> {
    let is_plain = text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    if !is_plain {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn decimal(text: &[u8]) -> Option<u64> {
    let is_plain = text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| is_plain)?.parse().ok()
}

fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    let is_plain = digits.iter().all(u8::is_ascii_hexdigit);
    u64::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| is_plain)?, 16).ok()
}
