//! Lines of `perf trace`, and of the kernel's own tracer as /sys/kernel/tracing/trace and
//! trace-cmd(1) print it.

use super::clock::TimeColumn;
use super::line::{TraceEvent, TraceLine};
use crate::journal::stamp::seconds;

/// Reads `   381.593 ( 0.056 ms): sshd/312 getrandom(ubuf: 0x7f47, len: 4)    = 4`. A call that
/// other lines interrupt has `(         )` in its first line, and a second line:
/// `   341.058 (50.140 ms): sshd/312  ... [continued]: getrandom())    = 4`.
pub(super) fn perf(line: &str) -> Option<TraceLine<'_>> {
    let (began, rest) = line.trim().split_once(" (")?;
    let (took, rest) = rest.split_once("): ")?;
    let began = seconds(began.trim())?;
    let took = match took.trim() {
        "" => None,
        took => Some(seconds(took.strip_suffix("ms")?.trim())? / 1e3),
    };
    let (task, call) = rest.split_once(' ')?;
    let (name, pid) = task.rsplit_once('/')?;
    let call = call.trim_start();
    let event = if let Some(resumed) = call.strip_prefix("... [continued]: ") {
        if resumed.starts_with("getrandom(") {
            TraceEvent::GetrandomResumes
        } else {
            TraceEvent::Call
        }
    } else if let Some(arguments) = call.strip_prefix("getrandom(") {
        match (is_nonblock(arguments), took) {
            (true, _) => TraceEvent::GetrandomNonblock,
            (false, None) => TraceEvent::GetrandomBegins,
            (false, Some(_)) => TraceEvent::Getrandom,
        }
    } else {
        let name = call.split_once('(')?.0;
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_name.then_some(TraceEvent::Call)?
    };
    let time = Some(TimeColumn::Epoch(began / 1e3));
    Some(TraceLine { pid: pid.parse().ok()?, time, took, event, program: Some(name) })
}

/// Reads `  sshd-312  [001] ..... 41445.007426: sys_getrandom(buf: 7ffd, count: 20, flags: 0)`, its
/// end `sys_getrandom -> 0x20`, and trace-cmd's `sys_enter_getrandom:` and `sys_exit_getrandom:`.
pub(super) fn ftrace(line: &str) -> Option<TraceLine<'_>> {
    if line.starts_with("# ") || line == "#" {
        return Some(TraceLine {
            pid: 0,
            time: None,
            took: None,
            event: TraceEvent::Other,
            program: None,
        });
    }
    let (head, call) = line.split_once(": sys_")?;
    let (task, columns) = head.rsplit_once(" [")?;
    let (name, pid) = task.trim().rsplit_once('-')?;
    let at = seconds(columns.split_ascii_whitespace().last()?)?;
    let event = if let Some(arguments) =
        call.strip_prefix("getrandom(").or_else(|| call.strip_prefix("enter_getrandom:"))
    {
        if is_nonblock(arguments) {
            TraceEvent::GetrandomNonblock
        } else {
            TraceEvent::GetrandomBegins
        }
    } else if call.starts_with("getrandom -> ") || call.starts_with("exit_getrandom:") {
        TraceEvent::GetrandomResumes
    } else {
        TraceEvent::Call
    };
    let time = Some(TimeColumn::Epoch(at));
    Some(TraceLine { pid: pid.parse().ok()?, time, took: None, event, program: Some(name) })
}

/// Returns whether the flags hold GRND_NONBLOCK, by name or by number.
fn is_nonblock(arguments: &str) -> bool {
    let Some((_, flags)) = arguments.split_once("flags: ") else { return false };
    let flags = flags.split([')', ',']).next().unwrap_or_default().trim();
    let number = match flags.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => flags.parse(),
    };
    flags.contains("NONBLOCK") || number.is_ok_and(|number| number & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_perf_trace_are_read() {
        let read = |line| perf(line).map(|line| (line.pid, line.took, line.event, line.program));
        let sshd = Some("sshd");
        for (line, took, event) in [
            (
                "   381.593 (101673.209 ms): sshd/312 getrandom(ubuf: 0x7f47, len: 4)      = 4",
                Some(101.673_209),
                TraceEvent::Getrandom,
            ),
            (
                "   276.318 ( 0.040 ms): sshd/312 getrandom(ubuf: 0x7f, len: 24, flags: NONBLOCK) = 24",
                Some(0.00004),
                TraceEvent::GetrandomNonblock,
            ),
            (
                "   341.058 (         ): sshd/312 getrandom(ubuf: 0x7ff, len: 32)          ...",
                None,
                TraceEvent::GetrandomBegins,
            ),
            (
                "   341.058 (50.000 ms): sshd/312  ... [continued]: getrandom())          = 32",
                Some(0.05),
                TraceEvent::GetrandomResumes,
            ),
            (
                "   341.058 (50.000 ms): sshd/312 read(fd: 3, buf: 0x7ff, count: 8)       = 8",
                Some(0.05),
                TraceEvent::Call,
            ),
        ] {
            assert_eq!(read(line), Some((312, took, event, sshd)), "{line}");
        }
        assert_eq!(read("some (text): of another/kind x(y)"), None);
    }

    #[test]
    fn lines_of_the_kernels_tracer_are_read() {
        let read = |line| ftrace(line).map(|line| (line.pid, line.time, line.event));
        let at = |seconds| Some(TimeColumn::Epoch(seconds));
        for (line, time, event) in [
            (
                "            sshd-312     [001] .....     3.245678: sys_getrandom(ubuf: 0x7f, len: 8, flags: 0)",
                at(3.245_678),
                TraceEvent::GetrandomBegins,
            ),
            (
                "            sshd-312     [001]     3.245678: sys_getrandom(buf: 7f, count: 8, flags: 1)",
                at(3.245_678),
                TraceEvent::GetrandomNonblock,
            ),
            (
                "            sshd-312     [001] ..... 41445.007441: sys_getrandom -> 0x8",
                at(41_445.007_441),
                TraceEvent::GetrandomResumes,
            ),
            (
                "            sshd-312   [000]    12.345678: sys_enter_getrandom:  buf: 0x7f, count: 0x20, flags: 0x0",
                at(12.345_678),
                TraceEvent::GetrandomBegins,
            ),
            (
                "            sshd-312   [000]    12.345678: sys_exit_getrandom:   0x20",
                at(12.345_678),
                TraceEvent::GetrandomResumes,
            ),
        ] {
            assert_eq!(read(line), Some((312, time, event)), "{line}");
        }
        assert_eq!(read("# tracer: nop").map(|line| line.2), Some(TraceEvent::Other));
        assert_eq!(read("host sys_getrandom"), None);
    }
}
