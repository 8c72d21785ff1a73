//! The speed of the log reader on logs in which every second line is relevant.
//!
//! `cargo run --release -p headwater-doctor --example read_logs -- [MIB] [FORMAT]`
//!
//! A log of MIB MiB (256 by default) is written in each format, with the shapes of real lines, and
//! read three times from the page cache. A row has the best speed by the clock and by the CPU time
//! of the process, and the memory that reading added. records/doctor/ has the results.

use headwater_doctor::journal;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

/// A line without its time: the writer's name, its process number, and the message.
type Line = (&'static str, u32, &'static str);

/// Lines that the reader has no use for.
const OTHERS: [Line; 10] = [
    (
        "sshd",
        51234,
        "Accepted publickey for deploy from 198.51.100.23 port 40022 ssh2: ED25519 SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
    ),
    ("sshd", 51234, "pam_unix(sshd:session): session opened for user deploy(uid=1001) by (uid=0)"),
    ("kernel", 0, "IPv6: ADDRCONF(NETDEV_CHANGE): veth7a1d2f3: link becomes ready"),
    ("CRON", 60111, "(root) CMD (   cd / && run-parts --report /etc/cron.hourly)"),
    (
        "nginx",
        4711,
        "192.0.2.17 - - \"GET /static/app.js?v=3.2.1 HTTP/2.0\" 200 18231 \"https://example.org/\" \"Mozilla/5.0 (X11; Linux x86_64)\"",
    ),
    (
        "kernel",
        0,
        "audit: type=1400 audit(1700000000.123:45): apparmor=\"STATUS\" operation=\"profile_load\" profile=\"unconfined\" name=\"lsb_release\"",
    ),
    ("systemd", 812, "Reached target default.target - Main User Target."),
    ("dbus-daemon", 640, "[system] Successfully activated service 'org.freedesktop.hostname1'"),
    (
        "dockerd",
        900,
        "time=\"2026-11-22T06:07:30.123456789Z\" level=info msg=\"ignoring event\" module=libcontainerd namespace=moby topic=/tasks/delete",
    ),
    ("kernel", 0, "docker0: port 1(veth7a1d2f3) entered blocking state"),
];

/// Lines of systemd as the first program, which are most relevant lines of a journal.
const SYSTEMD: [Line; 10] = [
    ("systemd", 1, "Started session-4711.scope - Session 4711 of User deploy."),
    ("systemd", 1, "session-4711.scope: Deactivated successfully."),
    ("systemd", 1, "Starting sysstat-collect.service - system activity accounting tool..."),
    ("systemd", 1, "sysstat-collect.service: Deactivated successfully."),
    ("systemd", 1, "Finished sysstat-collect.service - system activity accounting tool."),
    (
        "systemd",
        1,
        "user-runtime-dir@1001.service: Consumed 1.203s CPU time, 38.2M memory peak, 0B memory swap peak.",
    ),
    ("systemd", 1, "Stopping user@1001.service - User Manager for UID 1001..."),
    ("systemd", 1, "Stopped user@1001.service - User Manager for UID 1001."),
    ("systemd", 1, "Removed slice user-1001.slice - User Slice of UID 1001."),
    ("systemd", 1, "Created slice user-1001.slice - User Slice of UID 1001."),
];

/// Relevant lines of the kernel, of the audit system, and of programs.
const KERNEL: [Line; 10] = [
    ("kernel", 0, "random: systemd: uninitialized urandom read (16 bytes read)"),
    ("kernel", 0, "random: 7 urandom warning(s) missed due to ratelimiting"),
    (
        "kernel",
        0,
        "clocksource: timekeeping watchdog on CPU3: Marking clocksource 'tsc' as unstable because the skew is too large:",
    ),
    ("kernel", 0, "random: crng reseeded due to virtual machine fork"),
    (
        "kernel",
        0,
        "audit: type=1326 audit(1700000000.456:78): auid=4294967295 uid=33 gid=33 ses=4294967295 pid=4711 comm=\"worker\" exe=\"/usr/sbin/worker\" sig=0 arch=c000003e syscall=41 compat=0 ip=0x7f2ac code=0x50000",
    ),
    ("systemd", 1, "Started session-4711.scope - Session 4711 of User deploy."),
    ("kernel", 0, "hwrng: no data available"),
    ("systemd-timesyncd", 512, "Contacted time server 192.0.2.1:123 (ntp.example.org)."),
    ("kernel", 0, "Freeing unused kernel image (initmem) memory: 2088K"),
    ("systemd", 1, "session-4711.scope: Deactivated successfully."),
];

/// The beginning of the boot: the generator was late, and one unit waited.
const BOOT: [(u64, Line); 5] = [
    (0, ("kernel", 0, "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)")),
    (1, ("kernel", 0, "Run /init as init process")),
    (3, ("systemd", 1, "Starting ssh.service - OpenBSD Secure Shell server...")),
    (63, ("kernel", 0, "random: crng init done")),
    (64, ("systemd", 1, "Started ssh.service - OpenBSD Secure Shell server.")),
];

type Form = fn(u64, Line, &mut Vec<u8>);

fn tag((name, pid, _): Line) -> String {
    if pid == 0 { name.to_owned() } else { format!("{name}[{pid}]") }
}

fn calendar(at: u64) -> (u64, u64, u64, u64) {
    (at / 86_400 % 28 + 1, at / 3600 % 24, at / 60 % 60, at % 60)
}

fn short(at: u64, line: Line, out: &mut Vec<u8>) {
    let (day, hour, minute, second) = calendar(at);
    let (tag, message) = (tag(line), line.2);
    let _ = writeln!(out, "Nov {day:>2} {hour:02}:{minute:02}:{second:02} web1 {tag}: {message}");
}

fn iso(at: u64, line: Line, out: &mut Vec<u8>) {
    let (day, hour, minute, second) = calendar(at);
    let (tag, message) = (tag(line), line.2);
    let time = format!("2026-11-{day:02}T{hour:02}:{minute:02}:{second:02}.123456+00:00");
    let _ = writeln!(out, "{time} web1 {tag}: {message}");
}

fn monotonic(at: u64, line: Line, out: &mut Vec<u8>) {
    let _ = writeln!(out, "[{at:>5}.123456] web1 {}: {}", tag(line), line.2);
}

fn fields(at: u64, (name, pid, message): Line) -> Vec<(&'static str, String)> {
    let cursor = "s=b71a7682489543118968f8b2a5c339ee;i=1f;b=0f9cb3a1c5d24e11a4f26f5d8e0b7a31";
    let transport = if pid == 0 { "kernel" } else { "journal" };
    let micros = at * 1_000_000;
    vec![
        ("__CURSOR", format!("{cursor};m={at:x};t=595b9c5c10d09;x=f0bda6bd62f67a8e")),
        ("__REALTIME_TIMESTAMP", format!("{}", 1_795_327_650_000_000 + micros)),
        ("__MONOTONIC_TIMESTAMP", micros.to_string()),
        ("_BOOT_ID", "0f9cb3a1c5d24e11a4f26f5d8e0b7a31".to_owned()),
        ("_MACHINE_ID", "5d3c1f0e9b8a47d6a5c4b3a291807f6e".to_owned()),
        ("_HOSTNAME", "web1".to_owned()),
        ("_TRANSPORT", transport.to_owned()),
        ("PRIORITY", "6".to_owned()),
        ("SYSLOG_IDENTIFIER", name.to_owned()),
        ("_PID", pid.to_string()),
        ("_COMM", name.to_owned()),
        ("_EXE", format!("/usr/sbin/{name}")),
        ("_SYSTEMD_UNIT", format!("{name}.service")),
        ("MESSAGE", message.to_owned()),
    ]
}

fn json(at: u64, line: Line, out: &mut Vec<u8>) {
    let text = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let fields = fields(at, line).into_iter();
    let fields: Vec<String> =
        fields.map(|(field, value)| format!("\"{field}\":\"{}\"", text(&value))).collect();
    let _ = writeln!(out, "{{{}}}", fields.join(","));
}

fn export(at: u64, line: Line, out: &mut Vec<u8>) {
    for (field, value) in fields(at, line) {
        let _ = writeln!(out, "{field}={value}");
    }
    out.push(b'\n');
}

const MIXES: [(&str, Form, &[Line; 10]); 7] = [
    ("short, systemd", short, &SYSTEMD),
    ("short, kernel", short, &KERNEL),
    ("short-iso-precise, systemd", iso, &SYSTEMD),
    ("short-monotonic, systemd", monotonic, &SYSTEMD),
    ("short-monotonic, kernel", monotonic, &KERNEL),
    ("json, systemd", json, &SYSTEMD),
    ("export, systemd", export, &SYSTEMD),
];

fn write(path: &Path, form: Form, relevant: &[Line; 10], size: usize) -> std::io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut text = Vec::new();
    for (at, line) in BOOT {
        form(at, line, &mut text);
    }
    let mut written = 0;
    for at in 65.. {
        for (other, line) in OTHERS.iter().zip(relevant) {
            form(at, *other, &mut text);
            form(at, *line, &mut text);
        }
        file.write_all(&text)?;
        written += text.len();
        text.clear();
        if written >= size {
            break;
        }
    }
    file.flush()
}

/// Returns the CPU seconds of this process: on a machine with other work, the clock counts that
/// work too.
fn on_cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns the most memory that this process has had, in KiB.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let mib: usize = args.next().map_or(Ok(256), |text| text.parse())?;
    let wanted = args.next().unwrap_or_default();
    let path = std::env::temp_dir().join(format!("headwater-read-logs-{}", std::process::id()));
    println!("| format, relevant lines | MiB/s by the clock | MiB/s of CPU time | memory, KiB |");
    println!("| --- | --- | --- | --- |");
    for (name, form, relevant) in MIXES.iter().filter(|mix| mix.0.starts_with(&wanted)) {
        write(&path, *form, relevant, mib << 20)?;
        let size = fs::metadata(&path)?.len() as f64 / f64::from(1 << 20);
        let before = peak().ok_or("no VmHWM")?;
        let (mut clock, mut cpu) = (f64::MAX, f64::MAX);
        for _ in 0..3 {
            let (begun, used) = (Instant::now(), on_cpu());
            let boots = journal::read_file(&path)?;
            clock = clock.min(begun.elapsed().as_secs_f64());
            cpu = cpu.min(on_cpu() - used);
            let ready = boots.last().and_then(|boot| boot.ready.as_ref()?.at);
            assert_eq!(ready.map(f64::floor), Some(63.0), "{name}");
        }
        let memory = peak().ok_or("no VmHWM")? - before;
        println!("| {name} | {:.0} | {:.0} | {memory} |", size / clock, size / cpu);
    }
    fs::remove_file(&path)?;
    Ok(())
}
