//! Programs that `headwater run` reaches, and those that it refuses because LD_PRELOAD does not.
#![cfg(target_os = "linux")]

mod running;
mod support;

use running::{PRELOAD, draws, folder, modules, refused, run};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::{env, fs};
use support::{copy_program, write_program};

/// Bundles of programs and their libraries start them so.
#[test]
fn a_program_under_the_dynamic_linker_is_reached() {
    let linker = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let Some(linker) = linker.into_iter().find(|linker| Path::new(linker).exists()) else {
        println!(
            "skipped: no dynamic linker of glibc; that its programs are reached is not checked"
        );
        return;
    };
    let program = draws();
    let line = ["--stats", "--", linker, "--argv0", "p", "/usr/bin/perl", "-e", &program];
    let output = run(&line).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(7), "{said}");
    assert!(said.starts_with("headwater: 1 program: 1,00"), "{said}");
}

/// Programs that LD_PRELOAD does not reach are not started with the generator that they have.
#[test]
fn programs_out_of_reach_are_refused() {
    let folder = folder("reach");
    let file = |name: &str, bytes: &[u8], mode: u32| {
        let path = folder.join(name);
        let _ = fs::remove_file(&path);
        write_program(&path, bytes, mode);
        path.display().to_string()
    };
    let refused = |path: &str| refused(run(&["--", path]).output().unwrap(), 125);
    let stock = fs::read("/bin/true").unwrap();

    let mut foreign = stock.clone();
    foreign[18..20].copy_from_slice(&243u16.to_le_bytes()); // e_machine of RISC-V
    let said = refused(&file("foreign", &foreign, 0o755));
    assert!(said.contains("is a program for RISC-V"), "{said}");

    // Another user's, so that the kernel changes identity.
    let privileged = file("privileged", &stock, 0o755);
    let user = fs::metadata("/proc/self").unwrap();
    let is_root = std::os::unix::fs::MetadataExt::uid(&user) == 0;
    if is_root {
        std::os::unix::fs::chown(&privileged, Some(12_345), None).unwrap();
        fs::set_permissions(&privileged, fs::Permissions::from_mode(0o4755)).unwrap();
        let said = refused(&privileged);
        assert!(said.contains("runs with more rights than its caller"), "{said}");
    } else {
        println!(
            "skipped: a set-user-ID program: only root can make one, so its refusal is not checked"
        );
    }

    // As root the capabilities add nothing, so the judge runs as a user.
    let capable = file("capable", &stock, 0o755);
    let has_capability = Command::new("setcap")
        .args(["cap_net_raw+ep", &capable])
        .env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin")
        .status();
    if is_root && has_capability.is_ok_and(|status| status.success()) {
        use std::os::unix::process::CommandExt;
        // A place that this user can reach, wherever the target directory is.
        let place = env::temp_dir().join(format!("headwater-capable-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        let [command, library] = ["headwater", PRELOAD].map(|name| place.join(name));
        copy_program(env!("CARGO_BIN_EXE_headwater"), &command);
        fs::copy(modules().join(PRELOAD), &library).unwrap();
        let there = place.join("capable").display().to_string();
        copy_program(&capable, &there);
        let mut set = Command::new("setcap");
        set.args(["cap_net_raw+ep", &there]);
        assert!(set.env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin").status().unwrap().success());
        for words in [vec![&*there], vec!["env", "A=1", &*there]] {
            let mut run = Command::new(&command);
            run.arg("run").arg("--").args(words).env("HEADWATER_PRELOAD", &library);
            run.env_remove("LD_PRELOAD").uid(65_534).gid(65_534);
            let said = self::refused(run.output().unwrap(), 125);
            assert!(said.contains("file capabilities"), "{said}");
        }
        fs::remove_dir_all(&place).unwrap();
    } else {
        println!(
            "skipped: a program with file capabilities: only root with setcap (libcap2-bin) can \
             make one, so its refusal is not checked"
        );
    }

    let source = file("static.c", b"int main(void) { return 0; }", 0o644);
    let program = folder.join("static").display().to_string();
    let compiler = Command::new("cc").args(["-static", "-o", &program, &source]).status();
    if compiler.is_ok_and(|status| status.success()) {
        let said = refused(&program);
        assert!(said.contains("is statically linked"), "{said}");
        let script = file("script", format!("#!{program} -x\n").as_bytes(), 0o755);
        let said = refused(&script);
        assert!(said.contains("script is a script: ") && said.contains("statically"), "{said}");
        let script =
            file("script-by-env", format!("#!/usr/bin/env -S {program} -x\n").as_bytes(), 0o755);
        assert!(refused(&script).contains("statically"));
    } else {
        println!("skipped: a static program: there is no compiler, so its refusal is not checked");
    }

    let script = file("script-that-runs", b"#!/usr/bin/env -S sh -e\nexit 9\n", 0o755);
    assert_eq!(run(&["--", &script]).output().unwrap().status.code(), Some(9));
}

#[test]
fn a_program_with_openssl_gets_a_note() {
    if Command::new("openssl").arg("version").output().is_err() {
        println!("skipped: the note on OpenSSL: there is no `openssl`, so the note is not checked");
        return;
    }
    let output = run(&["--", "openssl", "version"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("uses libcrypto.so.") && said.contains("add --openssl"), "{said}");
    let output = run(&["--openssl", "--", "openssl", "version"]).output().unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
}
