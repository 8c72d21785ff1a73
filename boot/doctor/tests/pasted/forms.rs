//! Forms in which logs are pasted, each with the same stall of 119 seconds.

use super::{find, of_bytes, of_log, one};
use headwater_doctor::{Id, Severity};

const STALL: [(f64, &str); 4] = [
    (0.0, "Linux version 4.19.0-6-amd64 (x) #1 SMP"),
    (1.5, "Run /init as init process"),
    (1.75, "random: fast init done"),
    (120.5, "random: crng init done"),
];

fn in_form(form: impl Fn(f64, &str) -> String) -> String {
    STALL.map(|(time, text)| form(time, text) + "\n").concat()
}

/// Returns the time of the day, some seconds after ten.
fn clock(time: f64) -> String {
    format!("10:{:02}:{:09.6}", (time / 60.0) as u32, time % 60.0)
}

#[track_caller]
fn is_a_stall(form: &str, log: &[u8], title: &str) {
    let report = of_bytes(log);
    let late = find(&report, Id::ReadyLate).unwrap_or_else(|| panic!("{form}: {report:?}"));
    assert_eq!(late.severity, Severity::Critical, "{form}");
    assert!(late.title.contains(title), "{form}: {}", late.title);
}

#[test]
fn a_stall_is_found_in_every_form() {
    let second = |time: f64| clock(time)[..8].to_owned();
    for (form, log, title) in [
        ("Unisoc", in_form(|at, text| format!("[{at:12.6}] c1      1 {text}")), "119.0 s"),
        (
            "docker logs -t",
            in_form(|at, text| format!("2026-11-20T{}789Z [{at:12.6}] {text}", clock(at))),
            "119.0 s",
        ),
        (
            "svlogd",
            in_form(|at, text| format!("2026-11-20_{} kern.notice: {text}", &clock(at)[..14])),
            "119.0 s",
        ),
        (
            "svlogd, with the kernel's time",
            in_form(|at, text| {
                format!("2026-11-20T{} kern.info: [{at:12.6}] {text}", &clock(at)[..14])
            }),
            "119.0 s",
        ),
        (
            "multilog",
            in_form(|at, text| {
                let (whole, rest) = (at as u32, ((at % 1.0) * 1e9) as u32);
                format!("@40000000{:08x}{rest:08x} kern.notice: {text}", 0x6700_0000 + whole)
            }),
            "119.0 s",
        ),
        (
            "Catalan dmesg -T",
            in_form(|at, text| format!("[dv. de nov. 20 {} 2026] {text}", second(at))),
            "at least 118",
        ),
        (
            "Catalan syslog",
            in_form(|at, text| format!("d’oct. 20 {} h kernel: {text}", second(at))),
            "at least 118",
        ),
        (
            "Catalan journal",
            in_form(|at, text| format!("de nov. 20 {} h kernel: {text}", second(at))),
            "at least 118",
        ),
    ] {
        is_a_stall(form, log.as_bytes(), title);
    }
}

/// December is no unknown month: only then is a wait over its first midnight right.
#[test]
fn a_catalan_december_is_december() {
    let log = "de nov. 30 23:59:00 h systemd[1]: Starting A...\n\
               de nov. 30 23:59:01 h kernel: random: fast init done\n\
               de des. 1 00:01:00 h kernel: random: crng init done\n\
               de des. 1 00:01:00 h systemd[1]: Started A.\n";
    let report = of_log(log);
    assert!(one(&report, Id::ReadyLate).title.contains("at least 119 s"));
}

/// The first program's line has the same marks as the kernel's.
#[test]
fn a_phones_first_program_is_found() {
    let log = "[    0.000000] c0      0 Linux version 4.14.193+ (x) #1\n\
               [    1.234567] c1      1 init: init first stage started!\n\
               [   58.200000] c0      0 random: crng init done\n";
    let report = of_log(log);
    let late = one(&report, Id::ReadyLate);
    assert!(late.title.contains("between 56 and 59 s"), "{}", late.title);
    assert_eq!(late.severity, Severity::Critical);
}

/// A container's program writes its own words after the stamp that its runtime adds.
#[test]
fn a_program_in_a_container_reports_its_wait() {
    let log = "2026-11-20T10:00:01.123456789Z starting\n2026-11-20T10:01:01.123456789Z crypto/rand: \
               blocked for 60 seconds waiting to read random data from the kernel\n";
    let report = of_log(log);
    assert!(one(&report, Id::UnitWaited).title.contains("at least 60 s"), "{report:?}");
}

/// A line may hold as many stamps as it has room for, and a reader that follows each of them would
/// run out of its stack.
#[test]
fn a_line_of_nothing_but_stamps_is_a_line() {
    let nested = "2026-11-20T10:00:01Z kern.info: ".repeat(30_000);
    let log = format!("{nested}\n{}", in_form(|at, text| format!("[{at:12.6}] {text}")));
    is_a_stall("nested", log.as_bytes(), "119.0 s");
}

/// The word by which a cloud's document is known may stand in a journal as well.
#[test]
fn a_journal_with_an_output_is_a_journal() {
    let log = in_form(|at, text| {
        serde_json::json!({
            "_BOOT_ID": "x", "_TRANSPORT": "kernel", "SYSLOG_IDENTIFIER": "kernel",
            "__MONOTONIC_TIMESTAMP": format!("{}", (at * 1e6) as u64), "MESSAGE": text,
            "Output": "speakers",
        })
        .to_string()
    });
    is_a_stall("json", log.as_bytes(), "119.0 s");
}

/// logd takes the text before the first colon for a tag, and pads it.
#[test]
fn logcats_kernel_buffer_is_read() {
    let tagged = |text: &str| match text.split_once(": ") {
        Some((tag, rest)) => format!("{tag:8}: {rest}"),
        None => format!("        : {text}"),
    };
    let threadtime =
        in_form(|at, text| format!("11-20 {}     0     0 I {}", &clock(at)[..12], tagged(text)));
    is_a_stall(
        "logcat",
        format!("--------- beginning of kernel\n{threadtime}").as_bytes(),
        "119.0 s",
    );
    let brief = in_form(|at, text| {
        let tagged = tagged(text);
        let (tag, rest) = tagged.split_once(": ").unwrap();
        format!("11-20 {} I/{tag}(    0): {rest}", &clock(at)[..12])
    });
    is_a_stall("logcat -v time", brief.as_bytes(), "119.0 s");
    // Qualcomm's and Unisoc's kernels name the CPU and the process, and logd finds no tag then.
    let marked = in_form(|at, text| {
        format!("11-20 {}     0     0 I         : c3      1 {text}", &clock(at)[..12])
    });
    is_a_stall("logcat of Qualcomm", marked.as_bytes(), "119.0 s");
    let quoted = threadtime.replace("    0     0 I random  :", " 4711  4711 I reader  : random:");
    assert!(find(&of_log(&quoted), Id::ReadyLate).is_none(), "a program that quotes the kernel");
}

#[test]
fn a_console_that_a_cloud_returns_as_json_is_read() {
    let console = in_form(|at, text| format!("[{at:12.6}] {text}\r"));
    let document = serde_json::json!({
        "InstanceId": "i-0123456789", "Output": console, "Timestamp": "2026-11-20T10:11:12.000Z",
    });
    is_a_stall("EC2", document.to_string().as_bytes(), "119.0 s");
    is_a_stall("EC2, pretty", format!("{document:#}\n").as_bytes(), "119.0 s");
    let none = br#"{ "InstanceId": "i-0123456789", "Output": "" }"#;
    let error = headwater_doctor::journal::read(&none[..], "log").unwrap_err();
    assert!(error.to_string().contains("is empty"), "{error}");
}

/// A mail program folds lines at a width, and the rest begins the next line.
#[test]
fn folded_lines_of_a_mail_are_joined() {
    for mark in ["", "> ", "> > "] {
        let log = format!(
            "{mark}Nov 20 10:00:05 myhost.example.org kernel: [    0.000000] Linux version\n\
             {mark}4.19.0-6-amd64 (x) #1 SMP\n\
             {mark}Nov 20 10:00:06 myhost.example.org kernel: [    1.500000] Run /init as\n\
             {mark}init process\n\
             {mark}Nov 20 10:00:08 myhost.example.org kernel: [    3.000000] random: ssh-keygen:\n\
             {mark}uninitialized urandom read (32 bytes read)\n\
             {mark}Nov 20 10:02:05 myhost.example.org kernel: [  120.500000] random: crng init\n\
             {mark}done\n"
        );
        is_a_stall("folded", log.as_bytes(), "119.0 s");
        let report = of_log(&log);
        assert_eq!(report.kernel.as_deref(), Some("4.19.0-6-amd64"));
        let early = one(&report, Id::EarlyRead);
        assert!(early.title.contains("ssh-keygen (32 bytes)"), "{}", early.title);
        assert_eq!(early.evidence[0].place, "log:5", "the line of the user's file");
    }
    let unfolded = "[    1.500000] Run /init as init process\n[   90.0] random: crng init\n\
                    done with the installation\n[   91.0] usb 1-1: new\n";
    assert!(find(&of_log(unfolded), Id::ReadyLate).is_none(), "the line is too short to be folded");
}

#[test]
fn a_shortened_name_is_the_seeds_unit() {
    for line in [
        "     1min 16.746s systemd-ra…eed.service",
        "[**    ] Job systemd-ra…m-seed.service/start running (76s / 10min)",
        "[  *** ] A start job is running for Load/Sav…andom Seed (1min 16s / 10min)",
        "> console: [  *** ] A start job is running for Load/Save Random Seed (76s /\n> 9min 45s)",
    ] {
        let report = of_log(&format!("{line}\n"));
        let waited = one(&report, Id::UnitWaited);
        assert!(waited.title.starts_with("systemd-random-seed.service wait"), "{}", waited.title);
        assert!(waited.title.contains("76"), "{line}: {}", waited.title);
    }
    let other = "     1min 16.746s systemd-re…rvice\n";
    assert_eq!(of_log(other).findings.len(), 0, "a unit of which nothing is known");
    let log = "Nov 20 10:00:00 h kernel: Linux version 4.19.0-6-amd64 (x) #1\n\
               Nov 20 10:00:01 h systemd[1]: Starting systemd-ra…rvice - Load/Save OS Random Seed...\n\
               Nov 20 10:01:42 h kernel: random: crng init done\n\
               Nov 20 10:01:42 h systemd[1]: Finished systemd-ra…rvice - Load/Save OS Random Seed.\n";
    let report = of_log(log);
    let waited = one(&report, Id::UnitWaited);
    assert!(waited.title.starts_with("systemd-random-seed.service waited"), "{}", waited.title);
}

/// gzip(1) ignores what follows the last member, with a warning.
#[test]
fn what_follows_a_compressed_log_is_ignored() {
    use std::io::Write;
    let plain = in_form(|at, text| format!("[{at:12.6}] {text}"));
    let (one, two) = plain.split_at(plain.find("[    1.75").unwrap());
    let packed = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    for tail in [&b""[..], b"\0\0\0\0", b"-----BEGIN PGP SIGNATURE-----\n", b"\x1f"] {
        is_a_stall("gzip", &[&packed(&plain), tail].concat(), "119.0 s");
        is_a_stall("two members", &[&packed(one), &packed(two), tail].concat(), "119.0 s");
    }
    let mut cut = packed(&plain);
    cut.truncate(cut.len() - 9);
    let error = headwater_doctor::journal::read(&*cut, "log").unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "{error}");
}

/// Older versions of journalctl print spaces around each colon, and bytes with spaces as well.
#[test]
fn bytes_are_a_message_in_every_json() {
    let spaced = |at: f64, text: &str| {
        let bytes: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
        format!(
            "{{ \"_BOOT_ID\" : \"x\", \"_TRANSPORT\" : \"kernel\", \"SYSLOG_IDENTIFIER\" : \
             \"kernel\", \"__MONOTONIC_TIMESTAMP\" : \"{}\", \"MESSAGE\" : [ {} ] }}",
            (at * 1e6) as u64,
            bytes.join(", ")
        )
    };
    for (form, log) in [
        ("json", in_form(spaced)),
        ("json-seq", in_form(|at, text| format!("\x1e{}", spaced(at, text)))),
        ("json-sse", in_form(|at, text| format!("data: {}\n", spaced(at, text)))),
    ] {
        is_a_stall(form, log.as_bytes(), "119.0 s");
    }
}
