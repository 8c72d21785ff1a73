//! `check`: the whole test of copies, with any tool and with CRIU.

use crate::{Folder, clones, command, draws, is_root, said, status, witnesses};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A tool of the user's, here sh, that makes copies and runs commands in them.
#[test]
fn any_tool_is_driven_by_its_lines() {
    let folder = Folder::new("driven");
    for (name, rand) in [("1", "a"), ("2", "a"), ("3", "b")] {
        folder.write(name, &draws("p", rand, name));
    }
    let log = folder.path("log");
    let exec = format!("echo exec {{copy}} {{command}} >> {log}; echo hello; cat {{copy}} || true");
    let exec = format!("cd {}; touch template; {exec}", folder.path("."));
    let line = |what: &str| format!("echo {what} {{copy}} $HEADWATER_COPY >> {log}");
    let (template, snapshot) = (line("template"), line("snapshot"));
    let (spawn, stop) = (line("spawn"), line("stop"));
    let output = clones(&[
        "check",
        "--template",
        &template,
        "--snapshot",
        &snapshot,
        "--spawn",
        &spawn,
        "--exec",
        &exec,
        "--stop",
        &stop,
        "--inside",
        "/opt/hw",
        "--only",
        "libc",
        "--processes",
    ]);
    assert_eq!(status(&output), 1, "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("libc/rand  1/1 in 2"), "{text}");
    let log = fs::read_to_string(&log).unwrap();
    let expected = "\
template template template
exec template /opt/hw clones plant --only libc
snapshot template template
spawn 1 1
exec 1 /opt/hw clones draw
stop 1 1
spawn 2 2
exec 2 /opt/hw clones draw
stop 2 2
spawn 3 3
exec 3 /opt/hw clones draw
stop 3 3
stop template template
";
    assert_eq!(log, expected);
}

#[test]
fn a_line_that_fails_hangs_or_answers_nonsense_is_named_and_copies_are_stopped() {
    let folder = Folder::new("lines");
    let stopped = folder.path("stopped");
    let stop = format!("echo {{copy}} >> {stopped}");
    let check = |spawn: &str, exec: &str| {
        clones(&[
            "check",
            "--planted",
            "--spawn",
            spawn,
            "--exec",
            exec,
            "--stop",
            &stop,
            "--timeout",
            "2",
        ])
    };
    let output = check("true", "echo hello # {command}");
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("copy 1 printed no draws: hello"), "{}", said(&output));
    assert_eq!(fs::read_to_string(&stopped).unwrap(), "1\ntemplate\n");

    let output = check("exit 9", "{command}");
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("copy 1 was not made: `exit 9` failed"), "{}", said(&output));

    let output = check("true", "sleep 100; {command}");
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("did not end in 2 s"), "{}", said(&output));

    let output = check("true", "ssh copy{copy}");
    assert_eq!(status(&output), 2);
    assert!(said(&output).contains("lacks {command}"), "{}", said(&output));

    let output = clones(&["check", "--only", "cobol"]);
    assert_eq!(status(&output), 2);
    assert!(said(&output).contains("no witness is called 'cobol'"), "{}", said(&output));
    assert_eq!(status(&clones(&["check", "--exec", "x"])), 2, "--exec without --spawn");
    assert_eq!(status(&clones(&["check", "--copies", "1"])), 2, "one copy");
    let output = clones(&["check", "--html", "/no/such/page.html"]);
    assert_eq!(status(&output), 2, "before anything is made");
}

/// A line may run its command on this machine, where the original and the copies are one.
#[test]
fn a_check_that_fails_removes_what_it_planted_on_this_machine() {
    let folder = Folder::new("local");
    let directory = folder.path("garden");
    let own = env!("CARGO_BIN_EXE_headwater");
    let check = |spawn: &str, exec: &str| {
        let mut check = command(&["check", "--copies", "2", "--spawn", spawn, "--exec", exec]);
        check.args(["--inside", own, "--only", "bash", "--timeout", "60", "--dir", &directory]);
        check
    };
    let is_removed = || {
        assert!(!Path::new(&directory).exists(), "the planting is left");
        let begun = Instant::now();
        while witnesses(&directory) > 0 {
            assert!(begun.elapsed() < Duration::from_secs(30), "witnesses are left");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let output = check("false", "{command}").output().unwrap();
    assert_eq!(status(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("copy 1 was not made"), "{}", said(&output));
    is_removed();
    // A signal ends the line, and the line's own command cannot remove anything then.
    let planted = format!("{directory}/bash/ready");
    let output = signalled(check("true", "{command}; sleep 1000"), "-TERM", &planted);
    assert_eq!(status(&output), 3, "{}", said(&output));
    is_removed();

    // A planting that was there is the user's.
    assert_eq!(status(&clones(&["plant", "--only", "bash", "--dir", &directory])), 0);
    let output = check("false", "{command}").output().unwrap();
    assert!(said(&output).contains("the original was not planted"), "{}", said(&output));
    assert_eq!(witnesses(&directory), 1);
    assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 0);
    is_removed();
}

/// Sends a signal to a command once a file is there, and returns what it said.
fn signalled(command: Command, signal: &str, file: &str) -> Output {
    // The test itself may run under nohup.
    let mut env = Command::new("env");
    env.arg("--default-signal=HUP").arg(command.get_program()).args(command.get_args());
    env.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let child = env.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    let begun = Instant::now();
    while !Path::new(file).exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{file} was not made");
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    child.wait_with_output().unwrap()
}

#[test]
fn a_signal_stops_copies_and_removes_the_planting() {
    let folder = Folder::new("signal");
    for (number, signal) in ["-INT", "-TERM", "-HUP"].iter().enumerate() {
        let (log, begun) =
            (folder.path(&format!("log{number}")), folder.path(&format!("b{number}")));
        let stop = format!("echo stop {{copy}} >> {log}");
        let exec =
            format!("echo $$ > {begun}.part; mv {begun}.part {begun}; sleep 1000; {{command}}");
        let check =
            command(&["check", "--planted", "--spawn", "true", "--exec", &exec, "--stop", &stop]);
        let output = signalled(check, signal, &begun);
        assert_eq!(status(&output), 3, "{}", said(&output));
        assert!(said(&output).contains("ended by a signal"), "{}", said(&output));
        assert_eq!(fs::read_to_string(&log).unwrap(), "stop 1\nstop template\n");
        let shell = fs::read_to_string(&begun).unwrap();
        let shell = Path::new("/proc").join(shell.trim());
        assert!(!shell.exists(), "the line's processes are left");
    }

    // A runtime that hangs while it is warmed, beside one that is warm already.
    let bin = folder.path("bin");
    fs::create_dir(&bin).unwrap();
    folder.program("bin/ruby", "#!/bin/sh\nsleep 1000 & wait\n");
    let directory = folder.path("garden");
    for verb in ["plant", "check"] {
        if verb == "check" && !can_check() {
            println!(
                "skipped: no CRIU or no root; that a signal ends a check by CRIU is not shown"
            );
            continue;
        }
        let mut plant = command(&[verb, "--only", "bash,ruby", "--dir", &directory]);
        plant.env("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap()));
        let output = signalled(plant, "-TERM", &format!("{directory}/bash/ready"));
        assert_eq!(status(&output), 3, "{}", said(&output));
        assert!(!Path::new(&directory).exists(), "the planting is left");
        let begun = Instant::now();
        while witnesses(&directory) > 0 {
            assert!(begun.elapsed() < Duration::from_secs(30), "witnesses are left");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Returns whether CRIU can be asked for copies here.
fn can_check() -> bool {
    let output = clones(&["check", "--only", "bash", "--copies", "2", "--dir", "/nowhere/x"]);
    !said(&output).contains("CRIU")
}

/// nohup(1) has it ignored, so that the end of a terminal ends no check that takes an hour.
#[test]
fn a_signal_that_the_caller_ignores_ends_no_check() {
    let folder = Folder::new("nohup");
    let (begun, signalled) = (folder.path("begun"), folder.path("signalled"));
    let exec =
        format!("touch {begun}; until test -e {signalled}; do sleep 0.01; done; {{command}}");
    let mut check = Command::new("sh");
    check.args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_headwater")]);
    check.args(["clones", "check", "--planted", "--spawn", "true", "--exec", &exec]);
    check.args(["--inside", "false"]);
    let child = check.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let waited = Instant::now();
    while !Path::new(&begun).exists() {
        assert!(waited.elapsed() < Duration::from_secs(60), "{begun} was not made");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(
        Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success()
    );
    std::thread::sleep(Duration::from_millis(100));
    fs::write(&signalled, "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(said(&output).contains("copy 1 did not draw"), "{}", said(&output));
}

#[test]
fn a_copy_that_was_half_made_is_stopped() {
    let folder = Folder::new("half");
    let stopped = folder.path("stopped");
    let stop = format!("echo {{copy}} >> {stopped}");
    let check = |template: &str, spawn: &str| {
        let _ = fs::remove_file(&stopped);
        let output = clones(&[
            "check",
            "--template",
            template,
            "--planted",
            "--spawn",
            spawn,
            "--exec",
            "{command}",
            "--stop",
            &stop,
            "--timeout",
            "1",
        ]);
        assert_eq!(status(&output), 3, "{}", said(&output));
        fs::read_to_string(&stopped).unwrap_or_default()
    };
    assert_eq!(check("true", "sleep 100"), "1\ntemplate\n");
    assert_eq!(check("true", "exit 9"), "1\ntemplate\n");
    assert_eq!(check("sleep 100", "true"), "template\n");
}

/// The action's script, run as its runner does, with a sudo that notes what it is asked for.
#[test]
fn the_action_runs_as_a_shell_and_reads_no_argument_as_script() {
    let folder = Folder::new("action");
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../boot/packaging/github/clones/action.yml");
    let text = fs::read_to_string(file).unwrap();
    let (before, script) = text.split_once("      run: |\n").unwrap();
    assert!(!script.contains("${{"), "an expression in the script is read as script");
    let script = script.replace("\n        ", "\n");
    fs::create_dir(folder.path("bin")).unwrap();
    let log = folder.path("log");
    folder.program(
        "bin/sudo",
        &format!("#!/bin/sh\nfor word; do printf '[%s]' \"$word\"; done >> {log}\necho >> {log}\n"),
    );
    let path = format!("{}:{}", folder.path("bin"), std::env::var("PATH").unwrap());
    let own = env!("CARGO_BIN_EXE_headwater");
    let run = |arguments: &str, command: &str| {
        let _ = fs::remove_file(&log);
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script.trim_start()]);
        bash.env("PATH", &path).env("ARGUMENTS", arguments).env("COMMAND", command);
        let output = bash.env("REPORT", "r.xml").current_dir(&folder.0).output().unwrap();
        (status(&output), fs::read_to_string(&log).unwrap_or_default(), said(&output))
    };
    let check = format!("[--preserve-env=PATH][{own}][clones][check][--junit=r.xml]");
    let setup = format!("[{own}][lab][setup][--only][criu]\n");
    for (arguments, words) in [
        ("--short", "[--short]"),
        ("--only python,node --copies 5", "[--only][python,node][--copies][5]"),
        ("--short\n--copies 5\n", "[--short][--copies][5]"),
        ("", ""),
        ("$(touch x) `touch x` ; touch x", "[$(touch][x)][`touch][x`][;][touch][x]"),
    ] {
        let (code, log, said) = run(arguments, own);
        assert_eq!((code, log), (0, format!("{setup}{check}{words}\n")), "{said}");
    }
    assert!(!Path::new(&folder.path("x")).exists());
    let (code, log, said) = run("--short", "no-such-headwater");
    assert_eq!((code, &*log), (2, ""), "{said}");
    assert!(said.contains("::error::there is no command"), "{said}");
    // Defaults that the description names exist.
    assert!(before.contains("default: --short"), "{before}");
}

/// Runs the command in a mount namespace where /run can only be read. Returns None where this
/// user, or a container, may not make one.
fn with_run_read_only(arguments: &[&str]) -> Option<Output> {
    let mut unshare = Command::new("unshare");
    let script = "mount -t tmpfs -o ro none /run || exit 77; exec \"$@\"";
    unshare.args(["--mount", "sh", "-c", script, "sh"]);
    unshare.args([env!("CARGO_BIN_EXE_headwater"), "clones"]).args(arguments);
    let output = unshare.stdin(Stdio::null()).output().ok()?;
    let is_refused = said(&output).contains("unshare") || output.status.code() == Some(77);
    (is_root() && !is_refused).then_some(output)
}

/// A lab locks its cache, and a check that asked for the same lock took the machine for one without
/// CRIU. The loader here is `false`, so the answer shows that it was found.
#[test]
fn a_check_finds_criu_while_a_lab_runs() {
    let folder = Folder::new("locked");
    let tree = folder.path("headwater/lab/criu/usr");
    for directory in ["sbin", "lib64", "lib"] {
        fs::create_dir_all(format!("{tree}/{directory}")).unwrap();
    }
    fs::write(format!("{tree}/sbin/criu"), "").unwrap();
    for loader in ["lib64/ld-linux-x86-64.so.2", "lib/ld-linux-aarch64.so.1"] {
        std::os::unix::fs::symlink("/bin/false", format!("{tree}/{loader}")).unwrap();
    }
    fs::write(folder.path("headwater/lab/criu/complete"), "").unwrap();
    let lock = fs::File::create(folder.path("headwater/lab/lock")).unwrap();
    lock.lock().unwrap();
    let mut check = command(&["check", "--only", "libc", "--dir", "/nowhere/x"]);
    let output = check.env("XDG_CACHE_HOME", folder.path("")).output().unwrap();
    let expected = if is_root() { "CRIU does not run" } else { "as root" };
    assert!(said(&output).contains(expected), "{}", said(&output));
}

#[test]
fn a_run_that_cannot_be_written_is_named() {
    let Some(output) = with_run_read_only(&["watch"]) else {
        println!("skipped: no right to mount; that /run may be read-only is not shown");
        return;
    };
    assert_eq!(status(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("/run/headwater"), "{}", said(&output));
    assert!(said(&output).contains("Read-only file system"), "{}", said(&output));
    let plant = ["plant", "--only", "libc"].as_slice();
    let verbs = match can_check() {
        true => vec![plant, &["check", "--only", "libc"]],
        false => {
            println!("skipped: no CRIU; that a check names a /run that is read-only is not shown");
            vec![plant]
        }
    };
    for verb in verbs {
        let output = with_run_read_only(verb).unwrap();
        assert_eq!(status(&output), 3, "{verb:?}: {}", said(&output));
        assert!(said(&output).contains("--dir names another"), "{}", said(&output));
    }
}

#[test]
fn a_check_says_what_it_lacks() {
    // A runtime that is not there is named, and the rest is planted.
    let folder = Folder::new("lacks");
    let directory = folder.path("garden");
    let bin = folder.path("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("/usr/bin/setsid", format!("{bin}/setsid")).unwrap();
    let mut plant = command(&["plant", "--only", "libc,ruby,java", "--dir", &directory]);
    let output = plant.env("PATH", &bin).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 0, "{}", said(&output));
    assert!(text.contains("ruby is not installed") && text.contains("warm: "), "{text}");
    assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 0);

    if !is_root() {
        let output = clones(&["check", "--only", "libc"]);
        assert_eq!(status(&output), 3);
        assert!(said(&output).contains("run this as root"), "{}", said(&output));
        return;
    }
    let output = clones(&["check", "--only", "libc", "--criu", "/nowhere/criu"]);
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("cannot run /nowhere/criu; "), "{}", said(&output));
    assert!(said(&output).contains("lab setup --only criu"), "{}", said(&output));
    // A file that runs, and is no CRIU.
    let directory = folder.path("none");
    let output = clones(&["check", "--only", "libc", "--criu", "false", "--dir", &directory]);
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("CRIU does not run"), "{}", said(&output));
    assert!(!Path::new(&directory).exists(), "nothing is planted before CRIU was found");

    let output = clones(&["check", "--only", "libc", "--criu", "echo", "--dir", &directory]);
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("echo is no CRIU"), "{}", said(&output));

    // A CRIU that is too old, and dumps nothing: its limit is said in each form of the report.
    let old = folder.path("old-criu");
    let script = "#!/bin/sh\\ntest \"$1\" = --version && echo Version: 4.1.1\\n";
    // By a process of its own: a child of another test would hold the file open for writing.
    let write = format!("printf '{script}' > '{old}' && chmod +x '{old}'");
    assert!(Command::new("sh").args(["-c", &write]).status().unwrap().success());
    let page = folder.path("page.html");
    for form in [&["--json"][..], &["--html", &page]] {
        let directory = folder.path("old");
        let check = ["check", "--only", "libc", "--criu", &old, "--dir", &directory];
        let output = clones(&[&check, form].concat());
        let text = match form {
            ["--json"] => String::from_utf8_lossy(&output.stdout).into_owned(),
            _ => {
                said(&output)
                    + &String::from_utf8_lossy(&output.stdout)
                    + &fs::read_to_string(&page).unwrap()
            }
        };
        let times = if form[0] == "--json" { 1 } else { 2 };
        let note = "CRIU before 4.2 restores pages that the kernel may drop";
        assert_eq!(text.matches(note).count(), times, "{text}");
    }

    let mut ordinary = Command::new("setpriv");
    ordinary.args(["--reuid=65534", "--clear-groups", env!("CARGO_BIN_EXE_headwater")]);
    let output = ordinary.args(["clones", "check", "--only", "libc"]).output();
    let Some(output) = output.ok().filter(|output| !said(output).contains("setpriv")) else {
        println!("skipped: no setpriv; a check without root is not shown to be refused");
        return;
    };
    assert_eq!(status(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("run this as root"), "{}", said(&output));
}
