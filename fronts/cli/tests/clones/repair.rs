//! `repair`: entropy in, proof out.

use crate::{Folder, clones, is_root, random, said, status};
use socket2::{Domain, SockAddr, Socket, Type};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

/// Runs `clones repair` with these bytes on standard input.
pub(crate) fn repair(entropy: &[u8], arguments: &[&str], preload: Option<&str>) -> Output {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let folder = Folder::new(&format!("entropy-{}", CALLS.fetch_add(1, Relaxed)));
    let file = folder.path("entropy");
    fs::write(&file, entropy).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.args(["clones", "repair", "--entropy-fd", "0"]);
    if !arguments.contains(&"--hooks") {
        // The hooks of this machine are none of the test's business.
        let none = folder.path("hooks");
        fs::create_dir(&none).unwrap();
        command.args(["--hooks", &none]);
    }
    if !arguments.contains(&"--page") {
        // Nor is a watcher of this machine.
        command.args(["--page", &folder.path("none")]);
    }
    command.args(arguments);
    command.stdin(fs::File::open(&file).unwrap());
    if let Some(library) = preload {
        command.env("LD_PRELOAD", library);
    }
    command.output().unwrap()
}

#[test]
fn entropy_that_cannot_be_random_is_refused() {
    let output = clones(&["repair"]);
    assert_eq!(status(&output), 2);
    assert!(said(&output).contains("--entropy-fd"), "{}", said(&output));
    for (bytes, expected) in [
        (random()[..31].to_vec(), "31 bytes of entropy"),
        (vec![], "0 bytes of entropy"),
        (vec![0; 64], "repeats itself"),
        (b"correct horse battery staple".repeat(4), "repeats itself"),
    ] {
        let output = repair(&bytes, &[], None);
        assert_eq!(status(&output), 3);
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
    let output = clones(&["repair", "--entropy-fd", "77"]);
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("descriptor 77"), "{}", said(&output));
}

#[test]
fn a_repair_is_proven_and_a_pretended_one_is_not() {
    if !is_root() {
        println!("skipped: only root may reseed the kernel; repair's proof is not shown");
        return;
    }
    let output = repair(&random(), &["--json"], None);
    if status(&output) == 3 && said(&output).contains("the kernel") {
        println!("skipped: {}; repair's proof is not shown", said(&output).trim());
        return;
    }
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    if document["proof"] == "calls" {
        println!("skipped: this kernel shows no reseed generation; repair's proof is not shown");
        return;
    }
    assert_eq!((status(&output), &document["proof"]), (0, &"generation".into()), "{document}");
    let [before, after] = [0, 1].map(|at| document["generations"][at].as_u64().unwrap());
    assert!(after >= before + 2, "{document}");

    // The gate opens after a repair, and stays shut if a step fails.
    let output = repair(&random(), &["--gate", "--", "echo", "through"], None);
    assert_eq!((status(&output), &*output.stdout), (0, &b"through\n"[..]));
    let output =
        repair(&random(), &["--hooks", "/nowhere", "--gate", "--", "echo", "through"], None);
    assert_eq!(status(&output), 1);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("through"));

    // A sandbox that accepts the calls and ignores them.
    let folder = Folder::new("ioctl");
    let source = folder.write(
        "ioctl.c",
        "int ioctl(int fd, unsigned long request, ...) { (void)fd; (void)request; return 0; }\n",
    );
    let library = folder.path("ioctl.so");
    let mut cc = Command::new("cc");
    let built = cc.args(["-shared", "-fPIC", "-o", &library, &source]).status();
    if !built.is_ok_and(|status| status.success()) {
        println!("skipped: no C compiler; a kernel that only pretends is not shown to be found");
        return;
    }
    for _ in 0..20 {
        let output = repair(&random(), &["--gate", "--", "echo", "through"], Some(&library));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(status(&output), 1, "{text}");
        assert!(text.starts_with("not repaired") && !text.contains("through"), "{text}");
    }
}

#[test]
fn a_repair_without_the_right_to_it_changes_nothing() {
    if !is_root() {
        let output = repair(&random(), &[], None);
        assert_eq!(status(&output), 3);
        assert!(said(&output).contains("run this as root"), "{}", said(&output));
        return;
    }
    // The same right, given up.
    let folder = Folder::new("right");
    let file = folder.path("entropy");
    fs::write(&file, random()).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-sys_admin", env!("CARGO_BIN_EXE_headwater")]);
    command.args(["clones", "repair", "--entropy-fd", "0", "--machine-id"]);
    command.stdin(fs::File::open(&file).unwrap());
    let Ok(output) = command.output() else {
        println!("skipped: no setpriv; a repair without the right to it is not shown to fail");
        return;
    };
    assert_eq!(status(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("run this as root"), "{}", said(&output));
    assert!(said(&output).contains("CAP_SYS_ADMIN"), "{}", said(&output));
}

#[test]
fn programs_that_follow_a_repair_do_not_have_its_entropy() {
    if !is_root() {
        println!("skipped: only root may reseed the kernel; that entropy is closed is not shown");
        return;
    }
    let folder = Folder::new("closed");
    let entropy: Vec<u8> = (0..20).flat_map(|_| random()).collect();
    let file = folder.path("entropy");
    fs::write(&file, &entropy).unwrap();
    let gate = "--hooks \"$3\" --gate -- sh -c 'cat; cat <&3'";
    for script in [
        format!("exec \"$1\" clones repair --entropy-fd 0 {gate} < \"$2\" 3</dev/null"),
        format!("exec \"$1\" clones repair --entropy-fd 3 {gate} 3< \"$2\" </dev/null"),
        format!("cat \"$2\" | \"$1\" clones repair --entropy-fd 0 {gate} 3</dev/null"),
    ] {
        let hooks = folder.path("hooks");
        let _ = fs::create_dir(&hooks);
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_headwater"), &file, &hooks]);
        let output = shell.output().unwrap();
        assert!(output.stdout.is_empty(), "{script}: {} bytes of entropy", output.stdout.len());
        let text = said(&output);
        if text.contains("RNDADDENTROPY") || text.contains("RNDRESEEDCRNG") {
            println!("skipped: {text}; that entropy is closed is not shown");
            return;
        }
    }
    for descriptor in ["1", "2"] {
        assert_eq!(status(&clones(&["repair", "--entropy-fd", descriptor])), 2);
    }
}

/// The machine itself, by Linux's module vsock_loopback.
pub(crate) const LOCAL: u32 = 1;

/// Returns a listener at a port of this machine's vsock, or None where nothing can connect to it.
pub(crate) fn listener(port: u32) -> Option<Socket> {
    let socket = || Socket::new(Domain::VSOCK, Type::STREAM, None).ok();
    let listener = socket()?;
    listener.bind(&SockAddr::vsock(LOCAL, port)).ok()?;
    listener.listen(4).ok()?;
    let limit = Duration::from_millis(500);
    socket()?.connect_timeout(&SockAddr::vsock(LOCAL, port), limit).ok()?;
    listener.accept().ok()?;
    Some(listener)
}

/// Repairs by bytes that come over vsock, after which the sender waits.
fn repair_over_vsock(listener: &Socket, port: u32, bytes: &[u8], wait: Duration) -> Output {
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut peer, _) = listener.accept().unwrap();
            // The reader takes 512 bytes and goes.
            let _ = peer.write_all(bytes);
            thread::sleep(wait);
        });
        let folder = Folder::new(&format!("vsock-{}-{}", port, bytes.len()));
        let none = folder.path("hooks");
        fs::create_dir(&none).unwrap();
        let address = format!("{LOCAL}:{port}");
        let arguments = ["clones", "repair", "--json", "--hooks", &none, "--entropy-vsock"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
        command.args(arguments).arg(address).output().unwrap()
    })
}

/// A gate stays shut, and what was renewed is in the report.
#[test]
fn a_signal_ends_a_repair_in_order() {
    if !is_root() {
        println!("skipped: only root may reseed the kernel; a signal in a repair is not shown");
        return;
    }
    let folder = Folder::new("repair-signal");
    let (hooks, begun, file) = (folder.path("hooks"), folder.path("begun"), folder.path("bytes"));
    fs::create_dir(&hooks).unwrap();
    folder.program("hooks/10-hangs", &format!("#!/bin/sh\ntouch {begun}\nexec sleep 60\n"));
    folder.program("hooks/20-later", &format!("#!/bin/sh\ntouch {begun}-later\n"));
    fs::write(&file, random()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.args(["clones", "repair", "--entropy-fd", "0", "--without-generation", "--json"]);
    command.args(["--hooks", &hooks, "--page", &folder.path("none"), "--gate", "--", "echo", "in"]);
    command.stdin(fs::File::open(&file).unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    while !Path::new(&begun).exists() {
        if child.try_wait().unwrap().is_some() {
            let output = child.wait_with_output().unwrap();
            println!("skipped: {}; a signal in a repair is not shown", said(&output).trim());
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    Command::new("kill").arg(child.id().to_string()).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(started.elapsed() < Duration::from_secs(30), "the hook was waited for");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 1, "{text}");
    assert!(text.contains("a signal ended it") && text.contains("a signal came"), "{text}");
    assert!(!text.contains("in\n") && !Path::new(&format!("{begun}-later")).exists(), "{text}");
}

/// A host name that cannot be set is a wrong command line, and no reason to renew all else.
#[test]
fn a_wrong_host_name_is_refused_before_anything_is_changed() {
    for name in ["", "-a", "a b", "a..b", "a\nb", "../x", "ä", &"x".repeat(65)] {
        let output = repair(&random(), &[&format!("--host-name={name}")], None);
        assert_eq!(status(&output), 2, "{name:?}: {}", said(&output));
        assert!(said(&output).contains("letters, digits and hyphens"), "{}", said(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn entropy_comes_over_vsock() {
    let output = clones(&["repair", "--entropy-vsock", "2:host"]);
    assert_eq!(status(&output), 2);
    assert!(said(&output).contains("such as 2:5000"), "{}", said(&output));
    let output = clones(&["repair", "--entropy-vsock", "2:5000", "--entropy-fd", "0"]);
    assert_eq!(status(&output), 2);

    let _ = Command::new("modprobe").arg("vsock_loopback").output();
    let port = 50_000 + std::process::id() % 10_000;
    let Some(listener) = listener(port) else {
        println!("skipped: no vsock_loopback here; entropy over vsock is not shown to arrive");
        return;
    };
    let none = Duration::ZERO;
    let output = repair_over_vsock(&listener, port, &random()[..31], none);
    assert!(said(&output).contains("31 bytes of entropy"), "{}", said(&output));
    let output = repair_over_vsock(&listener, port, &[0; 64], none);
    assert!(said(&output).contains("repeats itself"), "{}", said(&output));
    let output = repair_over_vsock(&listener, port, &random()[..40], Duration::from_secs(12));
    assert!(said(&output).contains("sent no byte for 10 seconds"), "{}", said(&output));
    assert_eq!(status(&output), 3);
    if is_root() {
        for many in [32, 64, 600] {
            let bytes: Vec<u8> = (0..10).flat_map(|_| random()).take(many).collect();
            let output = repair_over_vsock(&listener, port, &bytes, none);
            let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert!(["generation", "calls"].contains(&document["proof"].as_str().unwrap()));
        }
    } else {
        println!("skipped: only root may reseed the kernel; no repair over vsock is proven");
    }
    drop(listener);
    let output = clones(&["repair", "--entropy-vsock", &format!("{LOCAL}:{port}")]);
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("cannot connect to port"), "{}", said(&output));
}
