//! Unchanged servers draw from headwater, because the shipped configuration loads the module.
//!
//! These tests are ignored by default, because the servers must be installed; `cargo xtask test
//! --all` does so. Each test finds the module and headwater's pools in the server's memory map. The
//! pools are known by their flags: no other memory of a server is cleared at a fork or droppable.
#![cfg(target_os = "linux")]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use support::{configuration, modules, said};

/// A directory that every user may read, with the module, the configuration, and a key and
/// certificate for localhost.
struct Place {
    directory: tempfile::TempDir,
    configuration: PathBuf,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let module = directory.path().join("headwater.so");
        fs::copy(modules().join("headwater.so"), &module).unwrap();
        let system = "/etc/ssl/openssl.cnf";
        let before = if Path::new(system).is_file() {
            format!(".include {system}")
        } else {
            "[req]\ndistinguished_name = dn\n[dn]".to_owned()
        };
        let configuration = configuration(directory.path(), &before);
        // Installations name the module by its path, because Node's own OpenSSL has no directory of
        // modules.
        let mut text = fs::read_to_string(&configuration).unwrap();
        writeln!(text, "[headwater_sect]\nmodule = {}", module.display()).unwrap();
        fs::write(&configuration, text).unwrap();
        let place = Place { directory, configuration };
        let line = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 2 -subj /CN=localhost";
        let mut request = place.command("openssl");
        request.args(line.split_whitespace());
        request.arg("-keyout").arg(place.path("key.pem")).arg("-out").arg(place.path("cert.pem"));
        said(request.output().unwrap());
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns the start of a command line for a program that draws from headwater.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("OPENSSL_CONF", &self.configuration);
        command.env_remove("OPENSSL_MODULES").stdin(Stdio::null());
        command
    }

    /// Connects OpenSSL's client to a server of this machine, sends the words and returns the
    /// answer. The client verifies the server's certificate.
    fn ask(&self, port: u16, words: &str) -> String {
        let mut client = self.command("openssl");
        client.args(["s_client", "-tls1_3", "-quiet", "-verify_return_error", "-connect"]);
        client.arg(format!("127.0.0.1:{port}")).arg("-CAfile").arg(self.path("cert.pem"));
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut client = Server(client.spawn().unwrap());
        client.0.stdin.as_ref().unwrap().write_all(words.as_bytes()).unwrap();
        let mut answer = String::new();
        client.0.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
        answer
    }
}

/// A server that ends with the test, even if the test panics. It gets SIGTERM first, so that it can
/// end its own children.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        for _ in 0..100 {
            if matches!(self.0.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            sleep(Duration::from_millis(20));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    for _ in 0..500 {
        if is_there() {
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("{what} does not come");
}

fn wait_for_port(port: u16) {
    wait_for("the server", || TcpStream::connect(("127.0.0.1", port)).is_ok());
}

/// Counts the processes under `root`, itself included, in which headwater is loaded. The second
/// number counts the processes among them in which headwater has pools.
fn drawing(root: u32) -> (usize, usize) {
    let parent = |id: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let is_under = |mut id: u32| loop {
        if id == root {
            return true;
        }
        match parent(id) {
            None | Some(0) => return false,
            Some(next) => id = next,
        }
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let (mut loaded, mut pools) = (0, 0);
    for id in ids.filter(|&id| is_under(id)) {
        let smaps = fs::read_to_string(format!("/proc/{id}/smaps")).unwrap_or_default();
        if smaps.contains("/headwater.so") {
            loaded += 1;
            let mut flags = smaps.lines().filter_map(|line| line.strip_prefix("VmFlags:"));
            pools += usize::from(
                flags.any(|flags| flags.split(' ').any(|flag| ["dp", "wf"].contains(&flag))),
            );
        }
    }
    (loaded, pools)
}

fn is_missing(program: &str) -> bool {
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .chain([PathBuf::from("/usr/sbin")])
        .any(|directory| directory.join(program).is_file());
    if !found {
        println!(
            "skipped: {program} with headwater: it is not installed; nothing shows whether it draws from there"
        );
    }
    !found
}

fn is_not_root() -> bool {
    let id = said(Command::new("id").arg("-u").output().unwrap());
    if id != "0\n" {
        println!(
            "skipped: a server that has to be started by root: this is user {}; nothing shows whether it draws from headwater",
            id.trim()
        );
    }
    id != "0\n"
}

#[test]
#[ignore = "needs nginx"]
fn nginx_draws_from_headwater() {
    if is_missing("nginx") {
        return;
    }
    let place = Place::new();
    let port = free_port();
    let directory = place.directory.path().display();
    let user = if said(Command::new("id").arg("-u").output().unwrap()) == "0\n" {
        "user root;"
    } else {
        ""
    };
    let text = format!(
        "{user} daemon off; worker_processes 2; pid {directory}/pid; error_log stderr;\n\
         events {{}}\n\
         http {{ access_log off; client_body_temp_path {directory}/b; proxy_temp_path {directory}/p; fastcgi_temp_path {directory}/f;\n\
         uwsgi_temp_path {directory}/u; scgi_temp_path {directory}/s;\n\
         server {{ listen 127.0.0.1:{port} ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem;\n\
         ssl_protocols TLSv1.3; location / {{ return 200 \"$request_id\\n\"; }} }} }}\n"
    );
    fs::write(place.path("nginx.conf"), text).unwrap();
    let mut nginx = place.command("nginx");
    nginx
        .arg("-p")
        .arg(place.directory.path())
        .arg("-c")
        .arg(place.path("nginx.conf"))
        .args(["-e", "stderr"]);
    nginx.env("PATH", "/usr/sbin:/usr/bin:/bin");
    let server = Server(nginx.spawn().unwrap());
    wait_for_port(port);
    // $request_id is 16 random bytes in hex, by RAND_bytes.
    let ask =
        || place.ask(port, "GET / HTTP/1.0\r\n\r\n").lines().last().unwrap_or_default().to_owned();
    let (one, two) = (ask(), ask());
    assert_eq!((one.len(), two.len()), (32, 32), "{one} {two}");
    assert_ne!(one, two);
    // The master and its two workers.
    let (loaded, pools) = drawing(server.0.id());
    assert!(loaded >= 3 && pools >= 1, "{loaded} {pools}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn postgresql_draws_from_headwater() {
    if is_not_root() {
        return; // it has to be started as another user
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let Some(bin) = versions.map(|entry| entry.path().join("bin")).max() else {
        println!(
            "skipped: PostgreSQL with headwater: it is not installed; nothing shows whether it draws from there"
        );
        return;
    };
    let id = |which| {
        said(Command::new("id").args([which, "postgres"]).output().unwrap())
            .trim()
            .parse::<u32>()
            .unwrap()
    };
    let (user, group) = (id("-u"), id("-g"));
    let place = Place::new();
    let home = place.path("postgres");
    fs::create_dir(&home).unwrap();
    chown(&home, Some(user), Some(group)).unwrap();
    let command = |program: &str| {
        let mut command = place.command(bin.join(program).to_str().unwrap());
        command.uid(user).gid(group).current_dir(&home);
        command
    };
    let data = home.join("data");
    let mut init = command("initdb");
    said(
        init.args(["--auth=trust", "--no-sync", "-U", "postgres", "-D"])
            .arg(&data)
            .output()
            .unwrap(),
    );
    let mut postgres = command("postgres");
    postgres.arg("-D").arg(&data).arg("-k").arg(&home).args(["-c", "listen_addresses="]);
    let server = Server(postgres.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let ask = |query: &str| {
        let mut psql = command("psql");
        psql.arg("-h").arg(&home).args(["-U", "postgres", "-tAc", query]);
        psql.output().unwrap()
    };
    wait_for("PostgreSQL", || ask("select 1").status.success());
    // gen_random_uuid() draws by RAND_bytes in the process of the session, which then looks at
    // itself.
    let answer = said(ask(
        "select count(distinct gen_random_uuid()) from generate_series(1, 1000); \
         select pg_read_file('/proc/self/smaps') like '%/headwater.so%', pg_read_file('/proc/self/smaps') ~ 'VmFlags:[ a-z]* (dp|wf) '",
    ));
    assert_eq!(answer, "1000\nt|t\n");
    drop(server);
}

#[test]
#[ignore = "needs sshd"]
fn sshd_draws_from_headwater() {
    if is_not_root() || is_missing("sshd") || is_missing("ssh") {
        return;
    }
    fs::create_dir_all("/run/sshd").unwrap();
    let place = Place::new();
    let port = free_port();
    for name in ["host", "user"] {
        let mut keygen = place.command("ssh-keygen");
        said(
            keygen
                .args(["-q", "-t", "ecdsa", "-N", "", "-f"])
                .arg(place.path(name))
                .output()
                .unwrap(),
        );
    }
    let directory = place.directory.path().display();
    let text = format!(
        "ListenAddress 127.0.0.1\nPort {port}\nHostKey {directory}/host\nAuthorizedKeysFile {directory}/user.pub\n\
         StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n"
    );
    fs::write(place.path("sshd_config"), text).unwrap();
    let mut sshd = place.command("/usr/sbin/sshd");
    sshd.args(["-D", "-e", "-f"]).arg(place.path("sshd_config")).stderr(Stdio::null());
    let server = Server(sshd.spawn().unwrap());
    wait_for_port(port);
    // A key exchange whose secret OpenSSL draws, in a process that sshd has shut into a sandbox.
    let mut ssh = place.command("ssh");
    ssh.args([
        "-F",
        "none",
        "-o",
        "KexAlgorithms=ecdh-sha2-nistp256",
        "-o",
        "StrictHostKeyChecking=no",
    ]);
    ssh.args([
        "-o",
        "UserKnownHostsFile=/dev/null",
        "-o",
        "BatchMode=yes",
        "-p",
        &port.to_string(),
        "-i",
    ]);
    ssh.arg(place.path("user")).args(["root@127.0.0.1", "echo here; cat"]);
    ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut ssh = Server(ssh.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(ssh.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "here\n");
    // The one that listens, and the one of this session.
    let (loaded, pools) = drawing(server.0.id());
    assert!(loaded >= 2 && pools >= 2, "{loaded} {pools}");
}

#[test]
#[ignore = "needs Ruby and PHP"]
fn interpreters_draw_from_headwater() {
    let place = Place::new();
    for (program, flag, script) in [
        ("python3", "-c", "import ssl; ssl.RAND_bytes(16); print(open('/proc/self/smaps').read())"),
        (
            "ruby",
            "-ropenssl",
            "-eOpenSSL::Random.random_bytes(16); puts File.read('/proc/self/smaps')",
        ),
        (
            "php",
            "-r",
            "openssl_random_pseudo_bytes(16); echo file_get_contents('/proc/self/smaps');",
        ),
    ] {
        if !is_missing(program) {
            let output = place.command(program).args([flag, script]).output().unwrap();
            let smaps = said(output);
            assert!(smaps.contains("/headwater.so\n"), "{program}");
            assert!(smaps.contains(" dp ") || smaps.contains(" wf "), "{program}");
        }
    }
}

#[test]
#[ignore = "needs Node"]
fn node_draws_from_headwater() {
    if is_missing("node") {
        return;
    }
    let place = Place::new();
    // With an OpenSSL of its own built in, as Node's releases have it, or with the system's.
    let script = "
        const { randomBytes } = require('crypto');
        const fs = require('fs'), tls = require('tls');
        const pem = { key: fs.readFileSync('key.pem'), cert: fs.readFileSync('cert.pem') };
        const values = new Set(Array.from({ length: 10000 }, () => randomBytes(16).toString('hex')));
        const server = tls.createServer(pem, socket => socket.end(socket.getProtocol())).listen(0, '127.0.0.1', () => {
            const socket = tls.connect({ port: server.address().port, host: '127.0.0.1', servername: 'localhost', ca: pem.cert });
            socket.on('data', data => {
                const smaps = fs.readFileSync('/proc/self/smaps', 'utf8');
                console.log(values.size, String(data), /headwater\\.so/.test(smaps), /VmFlags:[ a-z]* (dp|wf) /.test(smaps));
                server.close();
            });
        });";
    let mut node = place.command("node");
    let output = node.args(["-e", script]).current_dir(place.directory.path()).output().unwrap();
    assert_eq!(said(output), "10000 TLSv1.3 true true\n");
}
