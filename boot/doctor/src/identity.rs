//! The names by which a fleet knows a machine, and hashed evidence by which clones of one image are
//! found.
//!
//! A template that is copied with its machine id, its SSH host keys or its saved seed makes
//! machines that other parts of a network cannot distinguish. Only a comparison of machines shows
//! this, so each report carries hashes of these facts if the user asks for them (`--identity`), and
//! `headwater doctor merge` compares the hashes.

use crate::Root;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::time::{SystemTime, UNIX_EPOCH};

/// The names by which a fleet knows a machine. Each one is null where it is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Origin {
    /// The host name.
    pub name: Option<String>,
    /// The machine id of machine-id(5). With `--salt` its hash, in the form of the identity.
    pub machine_id: Option<String>,
    /// The kernel's id of this boot.
    pub boot_id: Option<String>,
    /// Seconds since the kernel started, at the report's time.
    pub uptime_seconds: Option<u64>,
}

/// Hashed evidence of a machine's identity. A hash is the first 16 bytes of a SHA-256 over the
/// kind of evidence, the salt and the value; null where the value is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Identity {
    /// A hash of the salt alone. Hashes of reports with different salts cannot be compared.
    pub salt: String,
    /// The machine id.
    pub machine_id: Option<String>,
    /// The public SSH host keys in /etc/ssh, sorted.
    pub ssh_host_keys: Vec<String>,
    /// The seed that systemd saved for the next boot. Only root can read it.
    pub random_seed: Option<String>,
    /// The kernel's id of this boot, which machines share that were resumed from one snapshot.
    pub boot_id: Option<String>,
    /// The firmware's UUID and the addresses of the network cards, which differ between machines
    /// even if one is a copy of the other.
    pub hardware: Option<String>,
}

/// The seed of systemd-random-seed.service.
const RANDOM_SEED: &str = "/var/lib/systemd/random-seed";
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
const MACHINE_ID: &str = "/etc/machine-id";

impl Origin {
    /// Reads the names. With a salt, the machine id is hashed, because systemd asks programs not to
    /// pass it on where others can read it (machine-id(5)).
    pub fn read(root: &Root, salt: Option<&str>) -> Origin {
        let uptime = root.text("/proc/uptime").ok();
        let name = line(root, "/proc/sys/kernel/hostname").or_else(|| line(root, "/etc/hostname"));
        let id = machine_id(root);
        Origin {
            // "(none)" is the kernel's name before a program has set one.
            name: name.filter(|name| name != "(none)"),
            machine_id: match salt {
                Some(salt) => id.map(|id| hash("machine-id", salt, id.as_bytes())),
                None => id,
            },
            boot_id: line(root, BOOT_ID),
            uptime_seconds: uptime
                .and_then(|text| text.split(['.', ' ']).next()?.parse::<u64>().ok()),
        }
    }
}

impl Identity {
    /// Reads and hashes the evidence.
    pub fn read(root: &Root, salt: &str) -> Identity {
        let hash = |kind: &str, value: &[u8]| hash(kind, salt, value);
        let names = root.names("/etc/ssh").into_iter();
        let files =
            names.filter(|name| name.starts_with("ssh_host_") && name.ends_with("_key.pub"));
        let mut keys: Vec<String> = files
            .filter_map(|name| {
                let text = line(root, &format!("/etc/ssh/{name}"))?;
                // Type and key; the comment after them names the host where the key was made.
                let key = text.split_whitespace().take(2).collect::<Vec<&str>>().join(" ");
                Some(hash("ssh-host-key", key.as_bytes()))
            })
            .collect();
        keys.sort();
        keys.dedup();
        Identity {
            salt: hash("salt", b""),
            machine_id: machine_id(root).map(|id| hash("machine-id", id.as_bytes())),
            ssh_host_keys: keys,
            random_seed: seed(root).map(|seed| hash("random-seed", &seed)),
            boot_id: line(root, BOOT_ID).map(|id| hash("boot-id", id.as_bytes())),
            hardware: hardware(root).map(|text| hash("hardware", text.as_bytes())),
        }
    }
}

/// Returns Unix time in seconds; `None` if the clock is set before 1970.
pub fn now() -> Option<u64> {
    Some(SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs())
}

/// Hashes one piece of evidence. Kind and salt are preceded by their lengths, so that no two
/// different inputs are the same sequence of bytes.
pub(crate) fn hash(kind: &str, salt: &str, value: &[u8]) -> String {
    let mut state = Sha256::new();
    for part in [b"headwater.identity/1", kind.as_bytes(), salt.as_bytes()] {
        state.update((part.len() as u64).to_le_bytes());
        state.update(part);
    }
    state.update(value);
    state.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the first line of a file, unless it is empty.
fn line(root: &Root, path: &str) -> Option<String> {
    let text = root.text(path).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// Returns the machine id. An image that is prepared for copies has an empty file, or the word
/// "uninitialized" in it.
fn machine_id(root: &Root) -> Option<String> {
    line(root, MACHINE_ID).filter(|id| id != "uninitialized")
}

fn seed(root: &Root) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut seed = Vec::new();
    root.reader(RANDOM_SEED).ok()?.take(4096).read_to_end(&mut seed).ok()?;
    (!seed.is_empty()).then_some(seed)
}

/// Returns the firmware's UUID and the addresses of the network cards that are devices. Bridges and
/// tunnels have addresses that software chose.
fn hardware(root: &Root) -> Option<String> {
    let mut facts: Vec<String> = line(root, "/sys/class/dmi/id/product_uuid").into_iter().collect();
    for card in root.names("/sys/class/net") {
        if root.exists(&format!("/sys/class/net/{card}/device")) {
            facts.extend(line(root, &format!("/sys/class/net/{card}/address")));
        }
    }
    (!facts.is_empty()).then(|| facts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headwater_hostfile::{Archive, Entry};

    fn root(files: &[(&str, &str)]) -> Root {
        let mut archive = Archive::default();
        for (path, text) in files {
            archive.insert(path, Entry::File(text.as_bytes().to_vec())).unwrap();
        }
        Root::archive("test.host".to_owned(), archive)
    }

    fn machine() -> Root {
        root(&[
            ("proc/sys/kernel/hostname", "web-17\n"),
            ("proc/sys/kernel/random/boot_id", "4ad0e1c1-0000-4000-8000-000000000001\n"),
            ("proc/uptime", "812.55 1600.00\n"),
            ("etc/machine-id", "0123456789abcdef0123456789abcdef\n"),
            ("etc/ssh/ssh_host_ed25519_key.pub", "ssh-ed25519 AAAAkey root@template\n"),
            ("etc/ssh/ssh_host_ed25519_key", "secret\n"),
            ("etc/ssh/moduli", "x\n"),
            ("var/lib/systemd/random-seed", "seed"),
        ])
    }

    #[test]
    fn a_machine_has_names() {
        let origin = Origin::read(&machine(), None);
        assert_eq!(origin.name.as_deref(), Some("web-17"));
        assert_eq!(origin.machine_id.as_deref(), Some("0123456789abcdef0123456789abcdef"));
        assert_eq!(origin.uptime_seconds, Some(812));
        assert_eq!(Origin::read(&root(&[]), None), Origin::default());
    }

    #[test]
    fn a_salt_hides_the_machine_id() {
        let plain = Origin::read(&machine(), None).machine_id.unwrap();
        let salted = Origin::read(&machine(), Some("fleet")).machine_id.unwrap();
        assert_ne!(plain, salted);
        assert_eq!(Some(salted), Identity::read(&machine(), "fleet").machine_id);
    }

    #[test]
    fn evidence_depends_on_salt_kind_and_value_alone() {
        let one = Identity::read(&machine(), "a");
        assert_eq!(one, Identity::read(&machine(), "a"));
        let other = Identity::read(&machine(), "b");
        assert_ne!((&one.salt, &one.boot_id), (&other.salt, &other.boot_id));
        assert_eq!(one.ssh_host_keys.len(), 1, "private keys and other files are not read");
        assert_ne!(hash("a", "", b"x"), hash("b", "", b"x"));
        // The lengths keep the parts apart.
        assert_ne!(hash("ab", "c", b""), hash("a", "bc", b""));
        assert_ne!(hash("a", "b", b"c"), hash("a", "bc", b""));
    }

    #[test]
    fn the_comment_of_a_key_does_not_count() {
        let key = |comment: &str| {
            let text = format!("ssh-ed25519 AAAAkey {comment}\n");
            Identity::read(&root(&[("etc/ssh/ssh_host_ed25519_key.pub", &text)]), "").ssh_host_keys
        };
        assert_eq!(key("root@one"), key("root@two"));
    }

    #[test]
    fn an_image_prepared_for_copies_has_no_machine_id() {
        for text in ["", "\n", "uninitialized\n"] {
            let origin = Origin::read(&root(&[("etc/machine-id", text)]), None);
            assert_eq!(origin.machine_id, None, "{text:?}");
        }
    }

    #[test]
    fn a_known_hash_stays_the_same() {
        // Reports of different versions are compared, so the form must never change.
        assert_eq!(hash("machine-id", "fleet", b"0123"), "5e32b3f05f02090dd0622f18dda0aac6");
    }
}
