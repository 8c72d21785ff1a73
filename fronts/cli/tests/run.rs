//! `headwater run`: the statuses of env(1), what it refuses, and commands that draw from headwater.
#![cfg(target_os = "linux")]

mod running;
mod support;

use running::{CLONES, PRELOAD, draws, folder, modules, refused, run};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::copy_program;

#[test]
fn the_status_is_the_commands_own() {
    for status in [0, 1, 2, 42] {
        let output = run(&["--openssl", "--", "sh", "-c", &format!("exit {status}")]).output();
        assert_eq!(output.unwrap().status.code(), Some(status));
    }
    // Becomes the command, so that its process is the one that was started.
    let child = run(&["--openssl", "sh", "-c", "echo $$"]).stdout(Stdio::piped()).spawn().unwrap();
    let id = child.id();
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(said, format!("{id}\n"));
}

#[test]
fn what_is_not_run_is_told_as_env_does() {
    let said = refused(run(&["--openssl", "--", "no-such-command"]).output().unwrap(), 127);
    assert!(said.contains("cannot run 'no-such-command'"), "{said}");
    let file = folder("files").join("not-executable");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let file = file.display().to_string();
    refused(run(&["--openssl", "--", &file]).output().unwrap(), 126);
    refused(run(&[]).output().unwrap(), 125);
    refused(run(&["--no-such-option", "true"]).output().unwrap(), 125);
}

/// With the library nowhere, the command is not run with the generator that it has by itself.
#[test]
fn without_the_library_nothing_is_run() {
    let mut command = run(&["--", "echo", "ran"]);
    let output = command.env("HEADWATER_PRELOAD", "/nowhere/at/all.so").output().unwrap();
    let said = refused(output, 125);
    assert!(said.contains("was not found (searched: /nowhere/at/all.so)"), "{said}");
}

/// With the module nowhere, the command is not run with the generator that it has by itself.
#[test]
fn without_the_module_nothing_is_run() {
    // The command with nothing beside it. A copy would do, but a child that another test forks
    // while the copy is written holds it open for writing, and then Linux does not run it.
    let folder = folder("alone");
    let alone = folder.join("headwater");
    fs::hard_link(env!("CARGO_BIN_EXE_headwater"), &alone).unwrap();
    let mut command = Command::new(&alone);
    command.args(["run", "--openssl", "--", "echo", "ran"]).env("OPENSSL_MODULES", &folder);
    command.env("HEADWATER_PRELOAD", modules().join(PRELOAD));
    let output = command.output().unwrap();
    if output.status.success() {
        println!(
            "skipped: a machine without the module: one is installed here, so the message is not checked"
        );
        return;
    }
    let said = refused(output, 125);
    assert!(said.contains("was not found") && said.contains("OPENSSL_MODULES"), "{said}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_configuration_that_nobody_can_extend_is_told() {
    let folder = folder("spaces in it");
    fs::write(folder.join("openssl.cnf"), "").unwrap();
    let mut command = run(&["--openssl", "--", "echo", "ran"]);
    let output = command.env("OPENSSL_CONF", folder.join("openssl.cnf")).output().unwrap();
    let said = refused(output, 125);
    assert!(said.contains("characters that config(5) expands"), "{said}");
}

/// OpenSSL drops a file with one mistake, headwater's lines included, and says nothing.
#[test]
fn a_configuration_that_openssl_drops_is_refused() {
    let file = folder("dropped").join("openssl.cnf");
    for (text, why) in [
        ("[ san ]\nsubjectAltName = ${ENV::SAN}\n", "a variable that has no value"),
        ("; disabled = 1\nmy key = 1\n", "something else than an equals sign"),
        (".include one.cnf\n", "another file in each directory"),
        ("\u{feff}[a]\n", "a byte order mark"),
    ] {
        fs::write(&file, text).unwrap();
        let mut command = run(&["--openssl", "--", "echo", "ran"]);
        let output = command.env("OPENSSL_CONF", &file).env_remove("SAN").output().unwrap();
        let said = refused(output, 125);
        assert!(said.contains(why), "{text:?}: {said}");
    }
}

/// A line that is sound where it stands may be a mistake where it is repeated, and a section of
/// ours may have begun before.
#[test]
fn what_cannot_be_extended_soundly_is_refused() {
    let file = folder("repeated").join("openssl.cnf");
    for (text, why) in [
        (
            ".pragma = dollarid:on\nopenssl_conf = o\n[o]\nx$y = 1\n.pragma = dollarid:off\n",
            "an equals sign",
        ),
        ("openssl_conf = o\n[headwater_init]\nunknown = 1\n[o]\n", "would not lead to headwater"),
    ] {
        fs::write(&file, text).unwrap();
        let mut command = run(&["--openssl", "--", "echo", "ran"]);
        let said = refused(command.env("OPENSSL_CONF", &file).output().unwrap(), 125);
        assert!(said.contains(why), "{text:?}: {said}");
    }
    // Not every file that is no regular one is a pipe.
    let mut command = run(&["--openssl", "--print"]);
    assert!(command.env("OPENSSL_CONF", "/dev/null").output().unwrap().status.success());
    let mut command = Command::new("bash");
    command.args(["-c", "OPENSSL_CONF=<(echo) \"$0\" run --openssl --print"]);
    let said = refused(command.arg(env!("CARGO_BIN_EXE_headwater")).output().unwrap(), 125);
    assert!(said.contains("no regular file"), "{said}");
}

/// The last of a section's name counts, so headwater's lines must have all that stood there.
#[test]
fn a_policy_stays_however_its_file_is_included() {
    let folder = folder("policies");
    let (file, policy) = (folder.join("openssl.cnf"), folder.join("policy.cnf"));
    fs::write(&policy, "openssl_conf = o\n[o]\nssl_conf = s\n[s]\nsystem_default = d\n").unwrap();
    for text in [
        ".include $ENV::POLICY\n".to_owned(),
        format!(".pragma = includedir:{}\n.include policy.cnf\n", folder.display()),
        format!("where = {}\n.include = ${{where}}/policy.cnf # ours\n", folder.display()),
    ] {
        fs::write(&file, &text).unwrap();
        let mut command = run(&["--openssl", "--print"]);
        let output = command.env("OPENSSL_CONF", &file).env("POLICY", &policy).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let ours = "[headwater_init]\nrandom = headwater_random\nproviders = headwater_providers\n\
                    ssl_conf = s\n";
        assert!(printed.contains(ours), "{text}: {output:?}");
    }
}

/// A parent that ignores SIGCHLD leaves it so, and then the kernel keeps no child's status.
#[test]
fn the_status_is_there_where_a_parent_ignores_its_children() {
    let mut command = Command::new("env");
    command.args(["--ignore-signal=CHLD", env!("CARGO_BIN_EXE_headwater"), "run", "--stats", "--"]);
    command.args(["sh", "-c", "exit 7"]).env("HEADWATER_PRELOAD", modules().join(PRELOAD));
    let output = command.output().unwrap();
    if String::from_utf8_lossy(&output.stderr).contains("unrecognized option") {
        println!(
            "skipped: env(1) cannot ignore a signal here, so a status with SIGCHLD ignored is not shown"
        );
        return;
    }
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let mut command = Command::new("env");
    command.args(["--ignore-signal=CHLD", env!("CARGO_BIN_EXE_headwater"), "status", "--openssl"]);
    let output = command.args(["--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "no program loaded the module: {output:?}");
}

/// The desktop's specification has it that such a path is ignored.
#[test]
fn a_directory_for_the_counters_has_an_absolute_path() {
    let temporary = folder("counters");
    for runtime in ["", "relative", "."] {
        let line = "cd / && case $HEADWATER_STATS in $TMPDIR/headwater-stats-*) ;; *) exit 9 ;; \
                    esac && test -s \"$HEADWATER_STATS\"";
        let mut command = run(&["--stats", "--", "sh", "-c", line]);
        command.env("XDG_RUNTIME_DIR", runtime).env("TMPDIR", &temporary);
        let output = command.current_dir(&temporary).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{runtime:?}: {output:?}");
    }
}

/// A program that adds to counters without room ends by SIGBUS.
#[test]
fn without_room_for_the_counters_nothing_is_run() {
    let full = folder("full");
    let line = "mount -t tmpfs -o size=16k none \"$1\" || exit 99
                dd if=/dev/zero of=\"$1/x\" bs=4k count=9 2> /dev/null
                TMPDIR=$1 exec \"$2\" run --stats -- echo ran";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", line, "sh"]).arg(&full).arg(env!("CARGO_BIN_EXE_headwater"));
    command.env("HEADWATER_PRELOAD", modules().join(PRELOAD)).env_remove("XDG_RUNTIME_DIR");
    let output = command.output().unwrap();
    if matches!(output.status.code(), Some(1 | 99)) {
        println!(
            "skipped: no file system can be mounted here, so counters without room are not shown"
        );
        return;
    }
    let said = refused(output, 125);
    assert!(said.contains("cannot make the counters"), "{said}");
}

/// The thread that sends signals on is there before the command, or neither is.
#[test]
fn without_a_thread_to_wait_nothing_is_run() {
    const NO_OTHER: &str = "54321";
    let folder = folder("no-thread");
    for name in ["headwater", PRELOAD] {
        let built = if name == PRELOAD {
            modules().join(name)
        } else {
            env!("CARGO_BIN_EXE_headwater").into()
        };
        copy_program(&built, folder.join(name));
    }
    let mut command = Command::new("prlimit");
    command.args(["--nproc=1", "setpriv", "--reuid", NO_OTHER, "--regid", NO_OTHER]);
    command.arg("--clear-groups").arg(folder.join("headwater"));
    command.args(["run", "--stats", "--", "echo", "ran"]).env("TMPDIR", "/tmp");
    command.env_remove("XDG_RUNTIME_DIR");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("setpriv") || said.contains("prlimit") {
        println!(
            "skipped: no user without threads can be had here, so a relay without one is not shown: {said}"
        );
        return;
    }
    let said = refused(output, 125);
    assert!(said.contains("cannot wait for the command"), "{said}");
}

/// The dynamic linker warns of such a library, and starts the program without it.
#[test]
fn a_library_that_cannot_be_loaded_is_refused() {
    let file = folder("no-library").join("notes.so");
    fs::write(&file, "notes\n").unwrap();
    let mut command = run(&["--", "echo", "ran"]);
    let said = refused(command.env("HEADWATER_PRELOAD", &file).output().unwrap(), 125);
    assert!(said.contains("is no library for this machine"), "{said}");
}

/// The generator of an unchanged command, under the configurations that it may have had.
#[test]
fn the_command_draws_from_headwater() {
    if Command::new("openssl").arg("version").output().is_err() {
        println!(
            "skipped: a command under headwater run: there is no `openssl`, so its draws from headwater are not checked"
        );
        return;
    }
    let folder = folder("configurations");
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).unwrap();
        Some(folder.join(name))
    };
    let named_otherwise = "openssl_conf = mine\n[mine]\nproviders = list\n[list]\nbase = b\ndefault = d\n\
                           [b]\nactivate = 1\n[d]\nactivate = 1\n";
    for configuration in [
        None, // the system's
        Some(PathBuf::new()),
        write("empty.cnf", ""),
        write("named-otherwise.cnf", named_otherwise),
    ] {
        let line = ["--openssl", "--", "openssl", "list", "-random-instances"];
        let mut command = run(&line);
        if let Some(configuration) = &configuration {
            command.env("OPENSSL_CONF", configuration);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{configuration:?}: {output:?}");
        assert_eq!(said.matches("HEADWATER").count(), 3, "{configuration:?}: {said}");
    }
}

/// The user's own configuration stays in force: what it activates is there.
#[test]
fn the_present_configuration_stays_in_force() {
    if Command::new("openssl").arg("version").output().is_err() {
        println!(
            "skipped: a configuration under headwater run: there is no `openssl`, so its configuration is not checked"
        );
        return;
    }
    let file = folder("present").join("openssl.cnf");
    let text = "openssl_conf = o\n[o]\nproviders = p\n[p]\nnull = n\ndefault = d\n[n]\nactivate = 1\n[d]\nactivate = 1\n";
    fs::write(&file, text).unwrap();
    let mut command = run(&["--openssl", "--", "openssl", "list", "-providers"]);
    let output = command.env("OPENSSL_CONF", &file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    for name in ["null", "default", "headwater"] {
        assert!(said.contains(&format!("\n  {name}\n")), "{said}");
    }
}

#[test]
fn the_counters_say_what_was_drawn() {
    let said = |arguments: &[&str]| {
        let output = run(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let program = draws();
    let all = said(&["--stats", "--", "perl", "-e", &program]);
    assert!(
        all.starts_with("headwater: 1 program: 1,00") && all.contains("went to the kernel\n"),
        "{all}"
    );
    let own = said(&["--stats", "--no-syscall", "--", "perl", "-e", &program]);
    assert!(!own.contains("1,00"), "{own}");
    // Without --stats nothing is printed. The file of counters is gone in either case.
    assert_eq!(said(&["--", "perl", "-e", &program]), "");
    let left = fs::read_dir(folder("runtime")).unwrap();
    let names: Vec<_> = left.map(|file| file.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("stats")), "{names:?}");
}

#[test]
fn a_signal_to_the_command_that_counts_ends_both() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    for signal in ["TERM", "HUP", "USR1"] {
        let mut child = run(&["--stats", "--", "sh", "-c", "echo $$; exec sleep 100"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let kill = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let ended = child.wait().unwrap();
        let number = match signal {
            "TERM" => 15,
            "HUP" => 1,
            _ => 10,
        };
        assert_eq!(ended.signal(), Some(number), "{signal}: {ended}");
        assert!(!Path::new("/proc").join(line.trim()).exists(), "{signal}: {line} runs on");
    }
}

#[test]
fn libraries_that_were_there_stay() {
    let other = modules().join("headwater.so");
    let output = run(&["--", "sh", "-c", "echo $LD_PRELOAD"]).env("LD_PRELOAD", &other).output();
    let said = String::from_utf8(output.unwrap().stdout).unwrap();
    let both = format!("{}:{}\n", modules().join(PRELOAD).display(), other.display());
    assert_eq!(said, both);
}

/// The preload library's tests show what programs with AddressSanitizer do then.
#[test]
fn programs_with_address_sanitizer_may_have_the_library_in_front() {
    let options = |present: Option<&str>| {
        let mut command = run(&["--", "sh", "-c", "echo $ASAN_OPTIONS"]);
        command.env_remove("ASAN_OPTIONS");
        command.envs(present.map(|present| ("ASAN_OPTIONS", present)));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert_eq!(options(None), "verify_asan_link_order=0\n");
    assert_eq!(options(Some("")), "verify_asan_link_order=0\n");
    // The last one counts, so a user who wants the check has it.
    let mine = "detect_leaks=0:verify_asan_link_order=1";
    assert_eq!(options(Some(mine)), format!("verify_asan_link_order=0:{mine}\n"));
}

/// The two libraries together in a copy are shown by the step "copies of warm processes".
#[test]
fn clones_adds_a_library_after_the_first() {
    let output = run(&["--clones", "--", "sh", "-c", "echo $LD_PRELOAD"]).output().unwrap();
    let expected = [PRELOAD, CLONES].map(|name| modules().join(name).display().to_string());
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), expected.join(":"));
    let plain = run(&["--", "sh", "-c", "echo $LD_PRELOAD"]).output().unwrap();
    assert_eq!(String::from_utf8(plain.stdout).unwrap().trim(), expected[0]);

    // awk's srand() is its own; perl's and the shell's too. So a program of C.
    let source = folder("seeded").join("seeded.c");
    fs::write(
        &source,
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <sys/wait.h>\n\
         int main(void) { srand(42); srand48(42); int a = rand(); fflush(0);\n\
         if (fork() == 0) { printf(\"%d %d %ld\\n\", a, rand(), lrand48()); return 0; }\n\
         wait(0); printf(\"%d %d %ld\\n\", a, rand(), lrand48()); return 0; }\n",
    )
    .unwrap();
    let program = source.with_extension("out");
    let compiled = Command::new("cc").arg("-o").arg(&program).arg(&source).status().unwrap();
    assert!(compiled.success());
    let plain = Command::new(&program).output().unwrap().stdout;
    let with = run(&["--clones", "--", program.to_str().unwrap()]).output().unwrap();
    assert_eq!(with.stdout, plain, "a seed has to lead to the same numbers, and in a child");

    let missing =
        run(&["--clones", "--", "true"]).env("HEADWATER_CLONES_LIBRARY", "/none").output();
    let said = refused(missing.unwrap(), 125);
    assert!(said.contains(CLONES) && said.contains("HEADWATER_CLONES_LIBRARY"), "{said}");
}
