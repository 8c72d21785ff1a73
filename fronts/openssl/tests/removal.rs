//! The Debian package's script before its removal: a configuration that names the module forbids
//! it, because OpenSSL would say nothing about what is gone.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn removed(root: Option<&Path>, action: &str, forced: bool) -> Output {
    let script =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/release/debian/headwater-openssl.prerm");
    let mut command = Command::new("sh");
    command.arg(script).arg(action).env_remove("OPENSSL_CONF");
    command.env_remove("HEADWATER_OPENSSL_REMOVE").env_remove("DPKG_ROOT");
    if let Some(root) = root {
        command.env("DPKG_ROOT", root);
    }
    if forced {
        command.env("HEADWATER_OPENSSL_REMOVE", "1");
    }
    command.output().unwrap()
}

#[test]
fn a_configuration_that_names_the_module_forbids_the_removal() {
    let root = tempfile::tempdir().unwrap();
    let configuration = root.path().join("etc/ssl/openssl.cnf");
    fs::create_dir_all(configuration.parent().unwrap()).unwrap();
    for (text, is_forbidden) in [
        ("[a]\nb = c\n", false),
        (".include /usr/share/headwater/headwater-openssl.cnf\n", true),
        (".include = /usr/local/share/headwater/headwater-openssl.cnf\n", true),
        ("[m]\nmodule = /usr/lib/x86_64-linux-gnu/ossl-modules/headwater.so\n", true),
        ("# .include /usr/share/headwater/headwater-openssl.cnf\n", false),
        ("  #module = /usr/lib/ossl-modules/headwater.so\n", false),
    ] {
        fs::write(&configuration, text).unwrap();
        let output = removed(Some(root.path()), "remove", false);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), !is_forbidden, "{text}: {said}");
        assert_eq!(said.contains("/etc/ssl/openssl.cnf\n"), is_forbidden, "{text}: {said}");
        // An upgrade takes nothing away, and the administrator has the last word.
        assert!(removed(Some(root.path()), "upgrade", false).status.success());
        assert!(removed(Some(root.path()), "remove", true).status.success());
    }
}

#[test]
fn a_process_that_names_the_module_forbids_the_removal() {
    let directory = tempfile::tempdir().unwrap();
    let configuration = directory.path().join("openssl.cnf");
    fs::write(&configuration, "module = /usr/lib/ossl-modules/headwater.so\n").unwrap();
    let name = format!("OPENSSL_CONF={}", configuration.display());
    let mut process = Command::new("sleep");
    let mut process = process.arg("100").env("OPENSSL_CONF", &configuration).spawn().unwrap();
    let output = removed(None, "remove", false);
    process.kill().unwrap();
    process.wait().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(&name), "{said}");
    let output = removed(None, "remove", false);
    assert!(!String::from_utf8_lossy(&output.stderr).contains(&name), "{output:?}");
}
