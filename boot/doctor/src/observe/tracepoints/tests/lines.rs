//! Lines of real kernels, and lines of any form.

use crate::observe::tracepoints::line::{Call, Event, Line, parse};
use proptest::prelude::*;

fn call(tid: u32, at: f64, comm: &str, event: Event) -> Option<Line<'_>> {
    Some(Line::Call(Call { tid, at, comm: comm.as_bytes(), event }))
}

const BEGIN: Event = Event::Begin { flags: 0 };

#[test]
fn lines_of_real_kernels_are_read() {
    // Linux 6.18.
    let line = b"            sshd-2323    [000] .....  3782.481696: \
        sys_getrandom(ubuf: 0x7fe4e88c9960, len: 0x10, flags: 0)";
    assert_eq!(parse(line), call(2323, 3_782.481_696, "sshd", BEGIN));
    let line = b"           <...>-2323    [000] .....  3782.481716: sys_getrandom -> 0x10";
    assert_eq!(parse(line), call(2323, 3_782.481_716, "", Event::End { returned: 16 }));
    let line = b"           <...>-2323    [001] .....  3782.481800: \
        sys_getrandom -> 0xfffffffffffffff2";
    assert_eq!(parse(line), call(2323, 3782.4818, "", Event::End { returned: -14 }));
    // With the option record-tgid.
    let line = b"        pool-1-2-71      (     70) [003] .....     7.000001: \
        sys_getrandom(ubuf: 0x7ffe, len: 0x20, flags: 0x2)";
    assert_eq!(parse(line), call(71, 7.000_001, "pool-1-2", Event::Begin { flags: 2 }));
    // Before 5.12 a line has four flags, and the arguments had other names.
    let line = b"              dd-88    [000] ....    12.345678: \
        sys_getrandom(buf: 7ffd0, count: 10, flags: 1)";
    assert_eq!(parse(line), call(88, 12.345_678, "dd", Event::Begin { flags: 1 }));
    assert_eq!(parse(b"CPU:1 [LOST 131 EVENTS]"), Some(Line::Lost(131)));
}

#[test]
fn lines_of_other_forms_are_refused() {
    let good = "sshd-312 [000] ..... 7.5: sys_getrandom(flags: 0)";
    assert_eq!(parse(good.as_bytes()), call(312, 7.5, "sshd", BEGIN));
    let bad = [
        ("312", "x"),
        ("312", "99999999999"),
        ("-312", ""),
        ("[000]", ""),
        ("7.5", "inf"),
        ("7.5", "1e5"),
        ("7.5", ""),
        ("flags: 0", "flags: "),
        ("flags: 0", "flags: -1"),
        ("flags: 0)", "flags: 0"),
        ("flags: 0", "flags: 0x1ffffffff"),
        ("flags: 0", "len: 0"),
        ("(flags: 0)", " -> "),
        ("(flags: 0)", " -> 0x"),
        ("(flags: 0)", " -> -1"),
        ("(flags: 0)", "_old(flags: 0)"),
        ("sys_getrandom", "sys_read"),
    ];
    for (from, to) in bad {
        let line = good.replacen(from, to, 1);
        assert_eq!(parse(line.as_bytes()), None, "{line}");
    }
    assert_eq!(parse(b"CPU:1 [LOST many EVENTS]"), None);
    assert_eq!(parse(b""), None);
}

proptest! {
    #[test]
    fn any_line_is_read_or_refused(line in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&line);
    }

    /// Marks that separate fields, in any order.
    #[test]
    fn any_line_of_the_marks_is_read_or_refused(
        line in "([-\\[\\]() .:0-9x]|sys_getrandom|flags: |CPU:| -> |\\[LOST | EVENTS\\]){0,40}"
    ) {
        let _ = parse(line.as_bytes());
    }

    /// A program chooses its name, and cannot change the number or the time in its line.
    #[test]
    fn a_name_never_changes_the_number(
        name in proptest::collection::vec(1_u8..=255, 0..16),
        spliced in proptest::option::of("(-1 \\[0\\]|: sys_getrandom|\\) \\(|-9 \\()"),
        tid in 1_u32..5_000_000,
        tgid in proptest::option::of(1_u32..5_000_000),
    ) {
        let mut comm = spliced.unwrap_or_default().into_bytes();
        comm.extend(name);
        comm.truncate(15);
        let mut text = comm.clone();
        let tgid = tgid.map(|tgid| format!(" ({tgid:7})")).unwrap_or_default();
        text.extend(format!("-{tid:<7}{tgid} [001] d..1.   12.345678: sys_getrandom -> 0x10").bytes());
        // A line break in the name costs the part before it.
        let line = text.rsplit(|byte| *byte == b'\n').next().unwrap();
        prop_assume!(!line.starts_with(b"CPU:"));
        let Some(Line::Call(call)) = parse(line) else { panic!("{line:?}") };
        prop_assert_eq!((call.tid, call.at), (tid, 12.345678));
        prop_assert_eq!(call.event, Event::End { returned: 16 });
    }
}
