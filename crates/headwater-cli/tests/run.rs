//! `headwater run --openssl`: the statuses of env(1), and a command that draws from headwater.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::{env, fs, process};

/// A directory named after the test process.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// OpenSSL's module, as cargo builds it, in a directory by itself.
fn modules() -> &'static Path {
    static MODULES: OnceLock<PathBuf> = OnceLock::new();
    MODULES.get_or_init(|| {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--package", "headwater-openssl-module", "--message-format", "json"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(built.status.success());
        let messages = String::from_utf8(built.stdout).unwrap();
        let end = messages.rfind("libheadwater_openssl.so\"").expect("cargo names the module");
        let path = messages[..end].rsplit('"').next().unwrap();
        let folder = folder("modules");
        fs::copy(format!("{path}libheadwater_openssl.so"), folder.join("headwater.so")).unwrap();
        folder
    })
}

/// `headwater run` with these arguments, and the module in place.
fn run(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.arg("run").args(arguments).env("OPENSSL_MODULES", modules());
    command.env("XDG_RUNTIME_DIR", folder("runtime")).env_remove("OPENSSL_CONF");
    command.stdin(Stdio::null());
    command
}

/// Its status and one line on stderr; nothing on stdout.
fn refused(output: Output, status: i32) -> String {
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches('\n').count(), 1, "{said}");
    assert!(said.starts_with("headwater: "), "{said}");
    said
}

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

#[test]
fn without_openssl_it_says_what_is_missing() {
    let said = refused(run(&["--", "true"]).output().unwrap(), 125);
    assert!(said.contains("is not part of this version"), "{said}");
    assert!(said.contains("headwater run --openssl -- COMMAND"), "{said}");
}

/// With the module nowhere, the command is not run with the generator that it has by itself.
#[test]
fn without_the_module_nothing_is_run() {
    // A copy with nothing beside it.
    let folder = folder("alone");
    let alone = folder.join("headwater");
    fs::copy(env!("CARGO_BIN_EXE_headwater"), &alone).unwrap();
    let mut command = Command::new(&alone);
    command.args(["run", "--openssl", "--", "echo", "ran"]).env("OPENSSL_MODULES", &folder);
    let output = command.output().unwrap();
    if output.status.success() {
        println!(
            "skipped: a machine without the module: one is installed here, so the message is not checked"
        );
        return;
    }
    let said = refused(output, 125);
    assert!(said.contains("is not installed") && said.contains("OPENSSL_MODULES"), "{said}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_configuration_that_nobody_can_extend_is_told() {
    let folder = folder("spaces in it");
    fs::write(folder.join("openssl.cnf"), "").unwrap();
    let mut command = run(&["--openssl", "--", "echo", "ran"]);
    let output = command.env("OPENSSL_CONF", folder.join("openssl.cnf")).output().unwrap();
    let said = refused(output, 125);
    assert!(said.contains("takes no path with such characters"), "{said}");
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
