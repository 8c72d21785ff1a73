//! Names and keys that a copy shares with its siblings until they are renewed.

use anyhow::{Context, Result, ensure};
use headwater_text::file::replace;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Writes a new machine-id: a random UUID without dashes, as machine-id(5) asks.
pub(super) fn machine_id(root: &Path) -> Result<()> {
    let mut bytes = headwater::array::<16>()?;
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    write(&root.join("etc/machine-id"), &format!("{text}\n"))?;
    // D-Bus has a file of its own unless it is a link to the first.
    let of_dbus = root.join("var/lib/dbus/machine-id");
    if of_dbus.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
        write(&of_dbus, &format!("{text}\n"))?;
    }
    Ok(())
}

/// Replaces a file, or writes into it where it is a mount of its own, as in containers.
fn write(file: &Path, text: &str) -> Result<()> {
    let written = match replace(file, text) {
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => fs::write(file, text),
        other => other,
    };
    written.with_context(|| format!("cannot write {}", file.display()))?;
    // A link to /dev/null takes everything, and the siblings' name would stay.
    let kept = fs::read(file).is_ok_and(|kept| kept == text.as_bytes());
    ensure!(kept, "{} does not keep what is written to it; remove it", file.display());
    Ok(())
}

/// Replaces systemd's seed file by new bytes, as many as it had. No other user may read them: they
/// credit the next boot with entropy.
pub(super) fn seed_file(root: &Path) -> Result<()> {
    let file = root.join("var/lib/systemd/random-seed");
    let size = fs::metadata(&file).map(|metadata| metadata.len()).unwrap_or(32);
    let mut bytes = vec![0; usize::try_from(size)?.clamp(32, 512)];
    headwater::fill(&mut bytes)?;
    // Emptied and closed to others first, because a file that is replaced is readable by all.
    fs::write(&file, [])
        .and_then(|()| fs::set_permissions(&file, fs::Permissions::from_mode(0o600)))
        .and_then(|()| fs::write(&file, &bytes))
        .with_context(|| format!("cannot write {}", file.display()))
}

/// Makes new host keys of each kind, and puts them in place of the old ones once all are made. A
/// copy without keys would lock its owner out.
pub(super) fn ssh_host_keys(root: &Path) -> Result<()> {
    let directory = root.join("etc/ssh");
    ensure!(directory.is_dir(), "there is no {}", directory.display());
    let beside = directory.join(format!(".headwater-{}", std::process::id()));
    // A repair that was killed may have left one, under a number that came again. ssh-keygen
    // keeps the keys that it finds there, so an image's would become those of every copy.
    let _ = fs::remove_dir_all(&beside);
    fs::create_dir(&beside)
        .and_then(|()| fs::create_dir_all(beside.join("etc/ssh")))
        .with_context(|| format!("cannot make {}", beside.display()))?;
    let made = (|| {
        // ssh-keygen -A makes every kind that its version serves, below the prefix.
        let output = Command::new("ssh-keygen").arg("-A").arg("-f").arg(&beside).output();
        let output = output.context("cannot run ssh-keygen (package openssh-client)")?;
        let said = crate::process::last_line(&output.stderr);
        ensure!(output.status.success(), "ssh-keygen failed: {said}");
        let mut made = BTreeSet::new();
        for entry in fs::read_dir(beside.join("etc/ssh"))? {
            let entry = entry?;
            fs::rename(entry.path(), directory.join(entry.file_name()))?;
            made.insert(entry.file_name());
        }
        ensure!(!made.is_empty(), "ssh-keygen made no key");
        // A kind that this ssh-keygen no longer makes (DSA, from OpenSSH 9.8) may still be served.
        let old: Vec<String> = fs::read_dir(&directory)?
            .filter_map(|entry| Some(entry.ok()?.file_name()))
            .filter(|name| !made.contains(name))
            .filter_map(|name| name.into_string().ok())
            .filter(|name| name.starts_with("ssh_host_") && name.ends_with("_key"))
            .collect();
        ensure!(
            old.is_empty(),
            "ssh-keygen makes no key of the kind of {}, so the siblings' stays; remove it",
            old.join(", ")
        );
        Ok(())
    })();
    let _ = fs::remove_dir_all(&beside);
    made
}

/// Sets the host name, now and for the next boot.
pub(super) fn host_name(root: &Path, name: &str) -> Result<()> {
    rustix::system::sethostname(name.as_bytes()).context("cannot set the host name")?;
    write(&root.join("etc/hostname"), &format!("{name}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_seeds_are_new_each_time_and_complete() {
        let root = std::env::temp_dir().join(format!("headwater-root-{}", std::process::id()));
        for directory in ["etc", "var/lib/dbus", "var/lib/systemd"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::write(root.join("var/lib/dbus/machine-id"), "old\n").unwrap();
        fs::write(root.join("var/lib/systemd/random-seed"), [0; 512]).unwrap();
        let read = |name: &str| fs::read(root.join(name)).unwrap();
        let mut seen = Vec::new();
        for _ in 0..2 {
            machine_id(&root).unwrap();
            seed_file(&root).unwrap();
            seen.push((read("etc/machine-id"), read("var/lib/systemd/random-seed")));
        }
        let mode = fs::metadata(root.join("var/lib/systemd/random-seed")).unwrap();
        let same = read("etc/machine-id") == read("var/lib/dbus/machine-id");
        let nowhere = ssh_host_keys(&root).unwrap_err().to_string();
        fs::remove_dir_all(&root).unwrap();
        assert_ne!(seen[0].0, seen[1].0);
        assert_ne!(seen[0].1, seen[1].1);
        assert_eq!((seen[0].0.len(), seen[0].1.len()), (33, 512));
        assert_eq!((seen[0].0[12], mode.permissions().mode() & 0o777), (b'4', 0o600));
        assert!(same && nowhere.contains("etc/ssh"), "{nowhere}");
    }

    #[test]
    fn a_key_that_stays_the_siblings_is_an_error() {
        let root = std::env::temp_dir().join(format!("headwater-ssh-{}", std::process::id()));
        let ssh = root.join("etc/ssh");
        fs::create_dir_all(&ssh).unwrap();
        fs::write(ssh.join("ssh_host_ed25519_key"), "old").unwrap();
        let renewed = ssh_host_keys(&root);
        let key = fs::read_to_string(ssh.join("ssh_host_ed25519_key")).unwrap();
        fs::write(ssh.join("ssh_host_rot13_key"), "old").unwrap();
        let stale = ssh_host_keys(&root).map_err(|error| error.to_string());
        let left: Vec<_> = fs::read_dir(&ssh).unwrap().flatten().map(|e| e.file_name()).collect();
        fs::remove_dir_all(&root).unwrap();
        if let Err(error) = renewed {
            println!("skipped: {error:#}; that each host key is renewed is not shown");
            return;
        }
        assert!(key.contains("PRIVATE KEY"), "{key}");
        assert!(stale.clone().unwrap_err().contains("ssh_host_rot13_key"), "{stale:?}");
        assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
    }

    #[test]
    fn a_name_that_is_not_kept_is_an_error() {
        let root = std::env::temp_dir().join(format!("headwater-null-{}", std::process::id()));
        fs::create_dir_all(root.join("etc")).unwrap();
        std::os::unix::fs::symlink("/dev/null", root.join("etc/machine-id")).unwrap();
        let written = machine_id(&root);
        fs::remove_dir_all(&root).unwrap();
        let error = written.unwrap_err().to_string();
        assert!(error.contains("etc/machine-id does not keep"), "{error}");
    }

    /// Process numbers come again, in containers at each start, and ssh-keygen keeps a key that
    /// it finds. So what a killed repair has left in an image would become every copy's key.
    #[test]
    fn keys_that_a_killed_repair_left_are_not_put_in_place() {
        let root = std::env::temp_dir().join(format!("headwater-left-{}", std::process::id()));
        let ssh = root.join("etc/ssh");
        let left = ssh.join(format!(".headwater-{}/etc/ssh", std::process::id()));
        fs::create_dir_all(&left).unwrap();
        for name in ["ssh_host_ed25519_key", "ssh_host_ed25519_key.pub"] {
            fs::write(left.join(name), "the image's").unwrap();
        }
        let renewed = ssh_host_keys(&root);
        let key = fs::read_to_string(ssh.join("ssh_host_ed25519_key")).unwrap_or_default();
        fs::remove_dir_all(&root).unwrap();
        if let Err(error) = renewed {
            println!("skipped: {error:#}; that left keys are not put in place is not shown");
            return;
        }
        assert!(key.contains("PRIVATE KEY"), "{key}");
    }
}
