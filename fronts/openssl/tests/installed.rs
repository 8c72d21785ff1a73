//! Follows the steps of docs/openssl.md for administrators: installs the module, and copies its
//! configuration to the end of the system's. Only a mount namespace of the test sees the changed
//! system file.
//!
//! The test is ignored by default, because it installs and needs root. `cargo xtask test --all`
//! runs it.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use support::said;

/// Runs a shell line in a mount namespace where the file `shown` is mounted over `place`.
fn where_it_is(shown: &Path, place: &Path, line: &str) -> Output {
    let mut run = Command::new("unshare");
    run.args(["--mount", "--propagation", "private", "sh", "-ec"]);
    run.arg(format!("mount --bind {} {}\n{line}", shown.display(), place.display()));
    for variable in ["OPENSSL_CONF", "OPENSSL_MODULES", "HEADWATER_MODE"] {
        run.env_remove(variable);
    }
    run.output().unwrap()
}

#[test]
#[ignore = "installs, and needs root"]
fn the_systems_configuration_may_include_the_installed_one() {
    const LOSS: &str = "nothing shows whether the page for administrators is right";
    let Some(system) = ["/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf"]
        .into_iter()
        .find_map(|path| fs::canonicalize(path).ok())
    else {
        println!("skipped: the system's configuration: OpenSSL has none here; {LOSS}");
        return;
    };
    let probe = where_it_is(&system, &system, "openssl version");
    if !probe.status.success() {
        let why = String::from_utf8_lossy(&probe.stderr).into_owned();
        println!("skipped: a configuration for the test alone: {}; {LOSS}", why.trim());
        return;
    }

    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().join("prefix");
    let mut install = Command::new(env!("CARGO"));
    install.args(["xtask", "install", "--only", "openssl", "--prefix"]).arg(&prefix);
    said(install.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap());
    let shown = directory.path().join("openssl.cnf");
    let installed = prefix.join("share/headwater/headwater-openssl.cnf");
    let before = fs::read_to_string(&system).unwrap();
    let content = fs::read_to_string(&installed).unwrap();
    fs::write(&shown, format!("{before}\n{content}")).unwrap();

    let list = said(where_it_is(&shown, &system, "openssl list -random-instances"));
    assert_eq!(list.matches("HEADWATER @ headwater").count(), 3, "{list}");
    // With an OpenSSL of its own, which reads the same file and has no directory for modules.
    if Command::new("node").arg("--version").output().is_err() {
        println!(
            "skipped: Node with headwater: it is not installed; nothing shows whether it starts"
        );
        return;
    }
    let script = "require(\"crypto\").randomBytes(16); \
                  console.log(/\\/headwater\\.so/.test(require(\"fs\").readFileSync(\"/proc/self/maps\")))";
    assert_eq!(said(where_it_is(&shown, &system, &format!("node -e '{script}'"))), "true\n");
    let own = said(
        Command::new("node")
            .args(["-p", "process.config.variables.node_shared_openssl"])
            .output()
            .unwrap(),
    );
    if own != "false\n" {
        return;
    }
    // The trap that the page names, so that it does not outlive its reason.
    let unnamed = fs::read_to_string(&installed).unwrap().replace("\nmodule = ", "\n#module = ");
    fs::write(&shown, format!("{before}\n{unnamed}")).unwrap();
    let output = where_it_is(&shown, &system, &format!("node -e '{script}'"));
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
}
