//! A file of 1 GiB in each format: read in flat memory, and the speed printed.
//!
//! `cargo test --release -p headwater-doctor --test large -- --ignored --nocapture`
//!
//! MiB a second by the clock, best of three, file in the page cache (2026-11-22, AMD EPYC, Zen 4,
//! otherwise idle): short 926, short-monotonic 868, json 1742, export 1168, strace 383; memory grew
//! by 1 MiB at most.

use headwater_doctor::{journal, strace};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

const SIZE: usize = 1 << 30;
/// The buffer of a block, a boot or two, and what the allocator keeps.
const MOST_MEMORY_KIB: u64 = 16 << 10;

/// A log of a machine with a web server: one line in ten is systemd's.
const LINES: [(&str, u32, &str); 10] = [
    (
        "nginx",
        4711,
        "192.0.2.17 - - \"GET /static/app.js?v=3.2.1 HTTP/2.0\" 200 18231 \"https://example.org/\" \"Mozilla/5.0 (X11; Linux x86_64)\"",
    ),
    (
        "sshd",
        51234,
        "Accepted publickey for deploy from 198.51.100.23 port 40022 ssh2: ED25519 SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
    ),
    ("sshd", 51234, "pam_unix(sshd:session): session opened for user deploy(uid=1001) by (uid=0)"),
    ("systemd", 1, "Started session-4711.scope - Session 4711 of User deploy."),
    (
        "postgres",
        812,
        "[812] LOG:  checkpoint complete: wrote 712 buffers (4.3%); 0 WAL file(s) added, 0 removed, 1 recycled",
    ),
    ("kernel", 0, "IPv6: ADDRCONF(NETDEV_CHANGE): veth7a1d2f3: link becomes ready"),
    (
        "dockerd",
        900,
        "time=\"2026-11-22T06:07:30.123456789Z\" level=info msg=\"ignoring event\" module=libcontainerd namespace=moby topic=/tasks/delete",
    ),
    ("CRON", 60111, "(root) CMD (   cd / && run-parts --report /etc/cron.hourly)"),
    (
        "nginx",
        4711,
        "198.51.100.99 - - \"POST /api/v1/orders HTTP/1.1\" 201 512 \"-\" \"okhttp/4.12.0\" rt=0.031 uct=0.001 uht=0.030 urt=0.030",
    ),
    (
        "kubelet",
        1200,
        "I1122 06:07:30.123456    1200 reconciler_common.go:218] \"operationExecutor.MountVolume started for volume\"",
    ),
];

fn short(at: u64, name: &str, pid: u32, message: &str, out: &mut Vec<u8>) {
    let (second, minute, hour, day) = (at % 60, at / 60 % 60, at / 3600 % 24, at / 86_400 % 28 + 1);
    let pid = if pid == 0 { String::new() } else { format!("[{pid}]") };
    writeln!(out, "Nov {day:>2} {hour:02}:{minute:02}:{second:02} web1 {name}{pid}: {message}")
        .unwrap();
}

fn monotonic(at: u64, name: &str, pid: u32, message: &str, out: &mut Vec<u8>) {
    let pid = if pid == 0 { String::new() } else { format!("[{pid}]") };
    writeln!(out, "[{at:>5}.123456] web1 {name}{pid}: {message}").unwrap();
}

fn fields(at: u64, name: &str, pid: u32, message: &str) -> Vec<(&'static str, String)> {
    let transport = if pid == 0 { "kernel" } else { "journal" };
    vec![
        (
            "__CURSOR",
            format!(
                "s=b71a7682489543118968f8b2a5c339ee;i={at:x};b=0f9cb3a1c5d24e11a4f26f5d8e0b7a31;m={at:x};t=595b9c5c10d09;x=f0bda6bd62f67a8e"
            ),
        ),
        ("__REALTIME_TIMESTAMP", format!("{}", 1_795_327_650_000_000 + at * 1_000_000)),
        ("__MONOTONIC_TIMESTAMP", format!("{}", at * 1_000_000)),
        ("_BOOT_ID", "0f9cb3a1c5d24e11a4f26f5d8e0b7a31".to_owned()),
        ("_MACHINE_ID", "5d3c1f0e9b8a47d6a5c4b3a291807f6e".to_owned()),
        ("_HOSTNAME", "web1".to_owned()),
        ("_TRANSPORT", transport.to_owned()),
        ("PRIORITY", "6".to_owned()),
        ("SYSLOG_IDENTIFIER", name.to_owned()),
        ("_PID", pid.to_string()),
        ("_UID", "0".to_owned()),
        ("_COMM", name.to_owned()),
        ("_EXE", format!("/usr/sbin/{name}")),
        ("_CMDLINE", format!("/usr/sbin/{name} --config /etc/{name}.conf --foreground")),
        ("_SYSTEMD_CGROUP", format!("/system.slice/{name}.service")),
        ("_SYSTEMD_UNIT", format!("{name}.service")),
        ("MESSAGE", message.to_owned()),
    ]
}

fn export(at: u64, name: &str, pid: u32, message: &str, out: &mut Vec<u8>) {
    for (field, value) in fields(at, name, pid, message) {
        writeln!(out, "{field}={value}").unwrap();
    }
    out.push(b'\n');
}

fn json(at: u64, name: &str, pid: u32, message: &str, out: &mut Vec<u8>) {
    let text = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let fields: Vec<String> = fields(at, name, pid, message)
        .into_iter()
        .map(|(field, value)| format!("\"{field}\":\"{}\"", text(&value)))
        .collect();
    writeln!(out, "{{{}}}", fields.join(",")).unwrap();
}

type Write1 = fn(u64, &str, u32, &str, &mut Vec<u8>);

/// Returns the size in bytes, which HEADWATER_LARGE_MIB makes smaller while developing.
fn size() -> usize {
    std::env::var("HEADWATER_LARGE_MIB").map_or(SIZE, |mib| mib.parse::<usize>().unwrap() << 20)
}

/// Writes a boot whose generator was late, and then 1 GiB of a web server's lines.
fn write(path: &Path, line: Write1) {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    let mut text = Vec::new();
    for (at, name, pid, message) in [
        (0, "kernel", 0, "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)"),
        (1, "kernel", 0, "Run /init as init process"),
        (3, "systemd", 1, "Starting ssh.service - OpenBSD Secure Shell server..."),
        (63, "kernel", 0, "random: crng init done"),
        (64, "systemd", 1, "Started ssh.service - OpenBSD Secure Shell server."),
    ] {
        line(at, name, pid, message, &mut text);
    }
    let (size, mut written) = (size(), 0);
    let mut at = 64;
    while written + text.len() < size {
        file.write_all(&text).unwrap();
        written += text.len();
        text.clear();
        for (name, pid, message) in LINES {
            line(at, name, pid, message, &mut text);
        }
        at += 1;
    }
    file.flush().unwrap();
}

/// Returns the CPU seconds of this thread: on a machine with other work, the clock would count that
/// work too.
fn on_cpu() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_ascii_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// Returns the most memory that this process has had, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_ascii_whitespace().next().unwrap().parse().unwrap()
}

fn measured(name: &str, path: &Path, read: impl Fn(&Path)) {
    let before = peak();
    let (mut best, mut best_on_cpu) = (f64::MAX, f64::MAX);
    for _ in 0..3 {
        let (begun, cpu) = (Instant::now(), on_cpu());
        read(path);
        best_on_cpu = best_on_cpu.min(on_cpu() - cpu);
        best = best.min(begun.elapsed().as_secs_f64());
    }
    let grown = peak() - before;
    let size = fs::metadata(path).unwrap().len() as f64 / f64::from(1 << 20);
    let (speed, on_cpu) = (size / best, size / best_on_cpu);
    println!(
        "{name}: {speed:.0} MiB/s by the clock, {on_cpu:.0} MiB/s of CPU time, best of three; {grown} KiB of memory"
    );
    assert!(grown < MOST_MEMORY_KIB, "{name}: {grown} KiB");
}

#[test]
#[ignore = "writes 1 GiB five times, one after the other"]
fn a_gigabyte_is_read_in_flat_memory() {
    let folder =
        std::env::temp_dir().join(format!("headwater-doctor-large-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("log");
    for (name, line) in [
        ("short", short as Write1),
        ("short-monotonic", monotonic),
        ("json", json),
        ("export", export),
    ] {
        write(&path, line);
        measured(name, &path, |path| {
            let boots = journal::read_file(path).unwrap();
            assert_eq!(boots.len(), 1);
            assert_eq!(boots[0].ready.as_ref().unwrap().at.map(f64::floor), Some(63.0));
            assert_eq!(boots[0].units.len(), 1);
            assert!(boots[0].end.unwrap() > 10_000.0);
        });
    }
    let mut trace = BufWriter::with_capacity(1 << 20, File::create(&path).unwrap());
    let mut written = 0;
    for number in 0_u64.. {
        let at = 1_572_000_000.0 + number as f64 / 10_000.0;
        let call = match number % 4 {
            0 => {
                "read(7, \"\\27\\3\\3\\0\\263\\0\\0\\0\\0\\0\\0\\0\\1\\254\\230\\n\"..., 8192) = 184 <0.000021>"
            }
            1 => "epoll_wait(5, [{events=EPOLLIN, data={u32=7, u64=7}}], 64, 1000) = 1 <0.000310>",
            2 if number % 1_000_000 == 2 => {
                "getrandom(\"\\x2f\\x71\\x0c\\x9a\"..., 32, 0) = 32 <0.000002>"
            }
            _ => "write(8, \"HTTP/1.1 200 OK\\r\\nServer: nginx\\r\\nD\"..., 412) = 412 <0.000044>",
        };
        let line = format!("{} {at:.6} {call}\n", 4000 + number % 8);
        trace.write_all(line.as_bytes()).unwrap();
        written += line.len();
        if written > size() {
            break;
        }
    }
    trace.flush().unwrap();
    measured("strace -f -ttt -T", &path, |path| {
        let trace = strace::read_file(path).unwrap();
        assert!(trace.calls >= 1 && trace.getrandom < 1.0 && trace.total > 10.0);
    });
    fs::remove_dir_all(&folder).unwrap();
}
