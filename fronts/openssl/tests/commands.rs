//! The command `openssl`, of each OpenSSL at hand, with headwater as its generator by the
//! configuration that is shipped.
#![cfg(target_os = "linux")]

mod support;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use support::{OpenSsl, configuration, modules, said};

/// Returns the command `openssl` with these arguments and this configuration. OPENSSL_MODULES names
/// the directory of headwater's module.
fn openssl(openssl: &OpenSsl, configuration: &Path, line: &str) -> Command {
    let mut command = openssl.command();
    command.args(line.split_whitespace());
    command.env("OPENSSL_CONF", configuration).env("OPENSSL_MODULES", modules());
    command
}

/// Configurations of real systems, and the number of providers that each activates, with headwater.
const FOUND: [(&str, &str, usize); 5] = [
    ("none at all", "", 2),
    (
        "Debian's",
        "openssl_conf = openssl_init\n[openssl_init]\nproviders = provider_sect\n[provider_sect]\n\
         default = default_sect\n[default_sect]\n# activate = 1\n[req]\nx = y\n",
        2,
    ),
    (
        "Fedora's",
        "openssl_conf = openssl_init\n[openssl_init]\nproviders = provider_sect\nssl_conf = ssl_module\n\
         [provider_sect]\ndefault = default_sect\n[default_sect]\nactivate = 1\n[ssl_module]\n\
         system_default = crypto_policy\n[crypto_policy]\nMinProtocol = TLSv1.2\n",
        2,
    ),
    (
        "one with another provider",
        "openssl_conf = openssl_init\n[openssl_init]\nproviders = provider_sect\n[provider_sect]\n\
         base = base_sect\n[base_sect]\nactivate = 1\n",
        3,
    ),
    (
        "one with a generator of its own",
        "openssl_conf = openssl_init\n[openssl_init]\nrandom = random_sect\n[random_sect]\nrandom = HASH-DRBG\n",
        2,
    ),
];

#[test]
fn included_after_any_configuration_it_is_the_generator() {
    for here in OpenSsl::all() {
        for (what, before, providers) in FOUND {
            let directory = tempfile::tempdir().unwrap();
            let configuration = configuration(directory.path(), before);
            let run = |line| said(openssl(&here, &configuration, line).output().unwrap());
            let context = format!("{what}, {}", here.name());
            let list = run("list -providers");
            assert_eq!(list.matches("status: active").count(), providers, "{context}: {list}");
            assert!(list.contains("headwater: secure random bytes"), "{context}: {list}");
            let list = run("list -random-generators");
            assert!(list.contains("HEADWATER @ headwater"), "{context}: {list}");
            assert!(list.contains("CTR-DRBG @ default"), "{context}: {list}");
            // The command lists the generators that OpenSSL itself has fetched.
            let list = run("list -random-instances");
            for which in ["primary", "public", "private"] {
                let name = list.split_once(&format!("{which}:")).expect(which).1.trim();
                assert!(name.starts_with("HEADWATER"), "{context}: {list}");
            }
            assert_eq!(run("rand -hex 32").trim().len(), 64, "{context}");
        }
    }
}

/// OpenSSL 3.5 needs one more line in the configuration to bypass its own layers (docs/openssl.md).
/// An older OpenSSL must fail on this line.
#[test]
fn the_provider_itself_is_called_since_3_5() {
    for here in OpenSsl::all() {
        let directory = tempfile::tempdir().unwrap();
        let configuration = configuration(directory.path(), "");
        let mut text = std::fs::read_to_string(&configuration).unwrap();
        text.push_str("[headwater_random_sect]\nrandom_provider = headwater\n");
        std::fs::write(&configuration, text).unwrap();
        let output = openssl(&here, &configuration, "rand -hex 32").output().unwrap();
        let version = said(here.command().arg("version").output().unwrap());
        let numbers = version.trim_start_matches("OpenSSL ").split('.');
        let numbers: Vec<u32> = numbers.map_while(|number| number.parse().ok()).collect();
        assert!(numbers.len() >= 2, "{version}");
        if numbers >= vec![3, 5] {
            assert_eq!(said(output).trim().len(), 64);
        } else {
            assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
        }
    }
}

/// Two draws are equal by chance with probability 2^-128 for each pair.
#[test]
fn processes_draw_differently() {
    for here in OpenSsl::all() {
        let directory = tempfile::tempdir().unwrap();
        let configuration = configuration(directory.path(), "");
        let mut seen = HashSet::new();
        for mode in ["buffered", "hedged", "strict", "kernel"] {
            for length in ["16", "1000", "70000"] {
                let mut run = openssl(&here, &configuration, &format!("rand {length}"));
                let output = run.env("HEADWATER_MODE", mode).output().unwrap();
                assert!(output.status.success(), "{output:?}");
                assert_eq!(output.stdout.len().to_string(), length);
                assert!(seen.insert(output.stdout[..16].to_vec()));
            }
        }
    }
}

/// Every kind of key that needs random bytes in another way: primes, scalars, raw bytes; and 3.5's
/// new ones.
#[test]
fn keys_are_made() {
    for here in OpenSsl::all() {
        let directory = tempfile::tempdir().unwrap();
        let configuration = configuration(directory.path(), "");
        let mut kinds = vec![
            "RSA -pkeyopt rsa_keygen_bits:1024",
            "EC -pkeyopt ec_paramgen_curve:P-256",
            "ED25519",
            "X25519",
        ];
        if matches!(here, OpenSsl::Unpacked(..)) {
            kinds.extend(["ML-KEM-768", "ML-DSA-65"]);
        }
        for kind in kinds {
            let key = || {
                let line = format!("genpkey -quiet -algorithm {kind}");
                // 3.0 has no -quiet.
                let line = if matches!(here, OpenSsl::Installed) {
                    line.replace(" -quiet", "")
                } else {
                    line
                };
                said(openssl(&here, &configuration, &line).output().unwrap())
            };
            let (one, two) = (key(), key());
            assert!(one.starts_with("-----BEGIN PRIVATE KEY-----"), "{kind}: {one}");
            assert_ne!(one, two, "{kind}");
        }
    }
}

/// A query that asks for a validated module passes headwater by, and says so: no bytes, but no
/// others in silence.
#[test]
fn who_asks_for_fips_gets_no_byte_from_here() {
    for here in OpenSsl::all() {
        let directory = tempfile::tempdir().unwrap();
        let before = "openssl_conf = openssl_init\n[openssl_init]\nalg_section = evp_properties\n\
                      [evp_properties]\ndefault_properties = fips=yes\n";
        let configuration = configuration(directory.path(), before);
        let output = openssl(&here, &configuration, "rand -hex 16").output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).to_lowercase();
        assert!(said.contains("unable to fetch drbg"), "{said}");
    }
}

/// A module that is not there must not leave the stock generator in its place.
#[test]
fn without_the_module_there_is_no_byte() {
    for here in OpenSsl::all() {
        let directory = tempfile::tempdir().unwrap();
        let configuration = configuration(directory.path(), "");
        let mut run = openssl(&here, &configuration, "rand -hex 16");
        let output = run.env("OPENSSL_MODULES", directory.path()).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    }
}

/// A child process that is killed when the test ends, even if the test panics.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Connects a client to a server over loopback, with a new key. The server sends a line back
/// reversed.
#[test]
fn both_ends_of_a_tls_connection_draw_from_headwater() {
    for here in OpenSsl::all() {
        for tls in ["-tls1_3", "-tls1_2"] {
            let directory = tempfile::tempdir().unwrap();
            let before = "[req]\ndistinguished_name = dn\n[dn]\n";
            let configuration = configuration(directory.path(), before);
            let [key, certificate] =
                ["key.pem", "cert.pem"].map(|name| directory.path().join(name));
            let mut request = openssl(
                &here,
                &configuration,
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 2 -subj /CN=localhost",
            );
            said(request.arg("-keyout").arg(&key).arg("-out").arg(&certificate).output().unwrap());

            let mut server =
                openssl(&here, &configuration, "s_server -accept 127.0.0.1:0 -naccept 1 -rev");
            server.arg(tls).arg("-key").arg(&key).arg("-cert").arg(&certificate);
            server.stdout(Stdio::piped()).stderr(Stdio::null());
            let mut server = Server(server.spawn().unwrap());
            let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
            let port = loop {
                let line = lines.next().expect("the server says where it listens").unwrap();
                if let Some(place) = line.strip_prefix("ACCEPT ") {
                    break place.rsplit(':').next().unwrap().to_owned();
                }
            };
            std::thread::spawn(move || lines.for_each(drop)); // or it blocks when the pipe is full

            let line = format!("s_client -connect 127.0.0.1:{port} -verify_return_error -brief");
            let mut client = openssl(&here, &configuration, &line);
            client.arg(tls).arg("-CAfile").arg(&certificate);
            client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut client = Server(client.spawn().unwrap());
            let mut words = client.0.stdin.take().unwrap();
            words.write_all(b"headwater\n").unwrap();
            let mut answer = String::new();
            BufReader::new(client.0.stdout.take().unwrap()).read_line(&mut answer).unwrap();
            drop(words);
            let mut log = String::new();
            client.0.stderr.take().unwrap().read_to_string(&mut log).unwrap();
            assert_eq!(answer, "retawdaeh\n", "{tls} with {}: {log}", here.name());
            let version = if tls == "-tls1_3" { "TLSv1.3" } else { "TLSv1.2" };
            assert!(log.contains(&format!("Protocol version: {version}")), "{log}");
            assert!(client.0.wait().unwrap().success());
        }
    }
}
