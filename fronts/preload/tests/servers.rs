//! sshd with the shim: its child before authentication lives under a seccomp filter that kills.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod support;

use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use support::{Counts, has, other_libc, run};

const SSHD: &str = "/usr/sbin/sshd";
const LOGINS: usize = 5;

/// A server that ends with the test, even if the test panics.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// Keys and a configuration for a server that only this machine reaches.
struct Place {
    directory: tempfile::TempDir,
    port: u16,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        for name in ["host", "user"] {
            run(Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(at.join(name)));
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let text = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {0}/host\nAuthorizedKeysFile {0}/user.pub\n\
             StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n",
            at.display()
        );
        fs::write(at.join("sshd_config"), text).unwrap();
        Place { directory, port }
    }

    /// Logs in with a key and returns the output of a command there.
    fn log_in(&self) -> String {
        let port = self.port.to_string();
        let mut ssh = Command::new("ssh");
        ssh.args(["-F", "none", "-p", &port, "-o", "StrictHostKeyChecking=no", "-o"]);
        ssh.args(["UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR"]);
        ssh.arg("-i").arg(self.file("user"));
        ssh.args(["root@127.0.0.1", "echo here"]).stdin(Stdio::null());
        run(&mut ssh)
    }

    /// Returns the path of a file.
    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns a shell command that becomes the server of another release, in a namespace of its
    /// own where that release's files are in /usr.
    ///
    /// The paths of the C library's loader and of sshd's parts (sshd-session, sshd-auth) are
    /// compiled in. A login needs a shell, which is that release's, and so are the two accounts.
    fn other_release(&self, tree: &Path) -> String {
        let accounts = "root:x:0:0::/:/bin/sh\nsshd:x:12345:65534::/run/sshd:/usr/sbin/nologin\n";
        fs::write(self.file("passwd"), accounts).unwrap();
        format!(
            "mount --bind {} /etc/passwd && mount --bind {} /usr && exec {SSHD} -D -e -f {}",
            self.file("passwd").display(),
            tree.join("usr").display(),
            self.file("sshd_config").display()
        )
    }

    /// Starts this release's server by this command, logs in, and stops it. Returns all that the
    /// command wrote.
    fn serve(&self, command: &mut Command) -> String {
        command.args([SSHD, "-D", "-e", "-f"]).arg(self.file("sshd_config"));
        self.logins(command)
    }

    /// Starts a server by this command, logs in, and stops it. Returns all that the command wrote.
    fn logins(&self, command: &mut Command) -> String {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut server = Server(command.spawn().unwrap());
        for attempt in 0.. {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                break;
            }
            assert!(attempt < 500, "sshd does not listen");
            sleep(Duration::from_millis(20));
        }
        for _ in 0..LOGINS {
            assert_eq!(self.log_in(), "here\n");
        }
        let mut pipe = server.0.stderr.take().unwrap();
        drop(server);
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        text
    }
}

/// Returns whether this user can start a server and log in.
fn can_serve() -> bool {
    let is_root = std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0;
    if !Path::new(SSHD).exists() || !is_root || !has("ssh", "that a sandboxed server runs") {
        println!(
            "skipped: sshd: it is not installed, or this user cannot start it, so nothing here shows that a sandboxed server runs"
        );
        return false;
    }
    // sshd's own directory for its unprivileged child, which the package makes at boot.
    fs::create_dir_all("/run/sshd").unwrap();
    true
}

#[test]
fn every_login_to_sshd_succeeds_behind_its_filter() {
    if !can_serve() {
        return;
    }
    let place = Place::new();
    for (name, value) in
        [("HEADWATER_DISABLE", "0"), ("HEADWATER_SYSCALL", "0"), ("HEADWATER_LAZY", "1")]
    {
        let (text, counts) = Counts::of(|command| {
            let variable = format!("{name}={value}");
            if has("strace", "that no filter kills a draw") {
                command.arg(variable).args(["strace", "-f", "-qq", "-e", "trace=none"]);
            } else {
                command.arg(variable);
            }
            place.serve(command)
        });
        assert!(!text.contains("SIGSYS"), "{name}={value}: {text}");
        // Each connection is a program of its own, and each draws.
        let connections = LOGINS as u64;
        assert!(counts.programs > connections && counts.draws > connections, "{counts:?}");
    }
}

/// OpenSSH 10 of Debian 13: glibc 2.41, whose arc4random the program imports, and a program of its
/// own for each of the three stages of a connection.
#[test]
fn every_login_to_the_next_releases_sshd_succeeds_behind_its_filter() {
    let strace = || has("strace", "that no filter of the next release's sshd kills a draw");
    if !can_serve() || !strace() {
        return;
    }
    let Some(libc) = other_libc() else { return };
    if !libc.tree().join("usr/sbin/sshd").is_file() {
        println!(
            "skipped: sshd of the next release: it is not unpacked (cargo xtask openssl does that), \
             so nothing here shows that its filter lets draws pass"
        );
        return;
    }
    let place = Place::new();
    let become_sshd = place.other_release(libc.tree());
    let trace = ["strace", "-f", "-qq", "-e", "trace=execve,prctl,seccomp"];
    let serve = |command: &mut Command| {
        let namespace = ["unshare", "--mount", "sh", "-c", &become_sshd];
        place.logins(command.args(trace).args(namespace))
    };
    let served = |form: &str, text: &str| {
        assert!(!text.contains("SIGSYS"), "{form}: {text}");
        // Otherwise the login would show nothing: each connection has a filter of its own, and all
        // three programs are the other release's.
        let count = |part: &str| text.matches(part).count();
        assert!(count("SECCOMP_MODE_FILTER") + count("SECCOMP_SET_MODE") >= LOGINS, "{text}");
        assert_eq!(count("execve(\"/usr/lib/openssh/sshd-auth\""), LOGINS, "{form}: {text}");
    };
    served("stock", &serve(&mut Command::new("/usr/bin/env")));
    for (name, value) in [("HEADWATER_DISABLE", "0"), ("HEADWATER_LAZY", "1")] {
        let form = format!("{name}={value}");
        let (text, counts) = Counts::of(|command| serve(command.arg(&form)));
        served(&form, &text);
        // A connection is three programs: sshd-session, sshd-auth and the user's shell.
        let connections = LOGINS as u64;
        assert!(counts.programs > 3 * connections, "{form}: {counts:?}");
        assert!(counts.draws > connections, "{form}: {counts:?}");
    }
}
