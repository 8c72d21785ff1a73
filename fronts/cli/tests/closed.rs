//! A program whose way to headwater's module is cut off: does it end, or draw from OpenSSL's own
//! generator?
//!
//! docs/openssl.md has the table. Each cell is a program that `headwater status --openssl` watches,
//! so the answers are also tests of that command.
#![cfg(target_os = "linux")]

mod running;
mod support;

use Outcome::{Closed, Open, Ours};
use running::{PRELOAD, folder, modules};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, process};
use support::copy_program;

/// A user without rights, who cannot read a file without permissions, as root can.
const UNPRIVILEGED: u32 = 65_534;
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It draws from headwater.
    Ours,
    /// It ends with an error.
    Closed,
    /// It draws from OpenSSL's own generator.
    Open,
}

/// A fault, as a line of shell; then the outcome with the file's content in a configuration, and
/// the one under `headwater run --openssl`.
const FAULTS: [(&str, &str, Outcome, Outcome); 10] = [
    ("no fault", ":", Ours, Ours),
    ("the included configuration is gone", "rm -f base.cnf", Ours, Ours),
    ("the configuration is gone", "rm -f $OPENSSL_CONF", Open, Closed),
    ("the configuration is unreadable", "chmod 000 $OPENSSL_CONF", Open, Closed),
    ("the configuration has a mistake", "echo '[x' >> base.cnf", Open, Open),
    ("the module is gone", "rm -f headwater.so", Closed, Closed),
    ("the module is unreadable", "chmod 000 headwater.so", Closed, Closed),
    ("the module is of another release", "cp -f older.so headwater.so", Ours, Ours),
    ("the module is for another machine", "cp -f foreign.so headwater.so", Closed, Closed),
    ("the module is another provider", "cp -f legacy.so headwater.so", Closed, Closed),
];

/// Everything that a cell of the table needs, in a directory of that user.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Place {
    fn new(name: &str) -> Place {
        let place = Place(env::temp_dir().join(format!("headwater-{name}-{}", process::id())));
        fs::create_dir_all(place.path("state")).unwrap();
        let module = fs::read(modules().join("headwater.so")).unwrap();
        let mut foreign = module.clone();
        foreign[18..20].copy_from_slice(&243_u16.to_le_bytes()); // e_machine of RISC-V
        // The version is a number of its own, so this is what another release is to OpenSSL.
        let version = concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes();
        let mut older = module.clone();
        let at = module.windows(version.len()).position(|bytes| bytes == version).unwrap();
        older[at] = b'9';
        for (name, bytes) in
            [("headwater.so", module), ("foreign.so", foreign), ("older.so", older)]
        {
            fs::write(place.path(name), bytes).unwrap();
        }
        fs::copy(modules().join(PRELOAD), place.path(PRELOAD)).unwrap();
        copy_program(env!("CARGO_BIN_EXE_headwater"), place.path("headwater"));
        let of_openssl = Command::new("openssl").args(["version", "-m"]).output().unwrap();
        let text = String::from_utf8(of_openssl.stdout).unwrap();
        let legacy = Path::new(text.split('"').nth(1).unwrap()).join("legacy.so");
        fs::copy(legacy, place.path("legacy.so")).unwrap();
        place.configured();
        let made = Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-noenc",
            ])
            .args(["-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "cert.pem"])
            .current_dir(&place.0)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let server = "server { listen unix:socket ssl; ssl_certificate cert.pem; \
                      ssl_certificate_key key.pem; }";
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {name};"))
            .concat();
        let nginx = format!(
            "pid pid; error_log stderr; events {{}} http {{ access_log off; {paths} {server} }}"
        );
        fs::write(place.path("nginx.conf"), nginx).unwrap();
        place.given();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes the two configurations: the system's, and one as docs/openssl.md has it made.
    fn configured(&self) {
        let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../openssl/headwater-openssl.cnf");
        let shipped = fs::read_to_string(shipped).unwrap();
        let module = format!("\nmodule = {}\n", self.path("headwater.so").display());
        let named =
            shipped.replace("\n#module = /usr/local/lib/ossl-modules/headwater.so\n", &module);
        assert_ne!(named, shipped);
        fs::write(self.path("shipped.cnf"), &named).unwrap();
        let base = self.path("base.cnf");
        fs::write(
            &base,
            "openssl_conf = openssl_init\n[openssl_init]\nproviders = provider_sect\n",
        )
        .unwrap();
        let text = format!(".include {}\n{named}", base.display());
        fs::write(self.path("openssl.cnf"), text).unwrap();
    }

    /// Makes the user who runs the programs the owner of the files.
    fn given(&self) {
        let files = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        for path in files.chain([self.0.clone()]) {
            if is_root() {
                chown(&path, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
            }
            let mode = if path.extension().is_none() { 0o755 } else { 0o644 };
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
    }

    /// Returns what this shell line, which begins with a fault, draws from.
    fn outcome(&self, line: &str, configuration: &str, under_run: bool) -> (Outcome, String) {
        let headwater = self.path("headwater");
        let mut command = Command::new(&headwater);
        command.args(["status", "--openssl", "--"]);
        if under_run {
            command.arg(&headwater).args(["run", "--openssl", "--"]);
        }
        command.args(["sh", "-c", line]).current_dir(&self.0).env("PATH", PATH);
        command.env("OPENSSL_CONF", self.path(configuration)).env("OPENSSL_MODULES", &self.0);
        command.env("HEADWATER_PRELOAD", self.path(PRELOAD)).env_remove("LD_PRELOAD");
        command.env("XDG_STATE_HOME", self.path("state")).env_remove("XDG_RUNTIME_DIR");
        command.stdin(Stdio::null());
        if is_root() {
            command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let outcome = match output.status.code() {
            Some(0) => Ours,
            Some(1) if said.contains("headwater: the command itself: ") => Closed,
            Some(1) => Open,
            status => panic!("{status:?}: {said}"),
        };
        (outcome, said)
    }
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0
}

fn has(program: &str) -> bool {
    let found = env::split_paths(PATH).any(|directory| directory.join(program).is_file());
    if !found {
        println!(
            "skipped: {program} without its module: it is not installed; nothing shows whether it \
             ends or draws from OpenSSL's own generator"
        );
    }
    found
}

/// Checks each fault with one program. `reports` is set if the program itself ends where OpenSSL
/// cannot read or parse a configuration that is there.
fn check(program: &str, line: &str, reports: bool) {
    if !has(program) || !has("openssl") {
        return;
    }
    let place = Place::new(&format!("closed-{program}"));
    for (fault, cut, by_content, by_run) in FAULTS {
        for (under_run, expected) in [(false, by_content), (true, by_run)] {
            let is_seen = reports && (fault.ends_with("unreadable") || fault.ends_with("mistake"));
            let expected = if is_seen { Closed } else { expected };
            let from = if under_run { "base.cnf" } else { "openssl.cnf" };
            let (outcome, said) = place.outcome(&format!("{cut}; {line}"), from, under_run);
            assert_eq!(outcome, expected, "{program}, {fault}, under run {under_run}: {said}");
            // As it was.
            let _ = fs::remove_file(place.path("headwater.so"));
            fs::copy(modules().join("headwater.so"), place.path("headwater.so")).unwrap();
            let _ = fs::remove_file(place.path("openssl.cnf"));
            let _ = fs::remove_dir_all(place.path("state"));
            fs::create_dir(place.path("state")).unwrap();
            place.configured();
            place.given();
        }
    }
}

#[test]
fn openssl_draws_from_headwater_or_ends() {
    check("openssl", "exec openssl rand -hex 16", false);
}

#[test]
fn python_draws_from_headwater_or_ends() {
    check("python3", "exec /usr/bin/python3 -c 'import ssl; ssl.RAND_bytes(16)'", false);
}

#[test]
fn node_draws_from_headwater_or_ends() {
    check("node", "exec node -e 'require(\"crypto\").randomBytes(16)'", true);
}

#[test]
fn nginx_draws_from_headwater_or_ends() {
    check("nginx", "exec nginx -t -p . -c nginx.conf -e stderr", false);
}

/// A program ends as well if a value before the module's fails, where `headwater run` has sorted
/// the values: OpenSSL stops at the first that fails. The shipped content cannot come first.
#[test]
fn a_value_that_fails_before_the_modules_does_not_open_a_run() {
    if !has("openssl") {
        return;
    }
    let place = Place::new("closed-earlier");
    let text = "openssl_conf = openssl_init\n[openssl_init]\nnosuch = value\n";
    fs::write(place.path("base.cnf"), text).unwrap();
    let line = "exec openssl rand -hex 16";
    assert_eq!(place.outcome(line, "base.cnf", true).0, Ours);
    assert_eq!(place.outcome(line, "openssl.cnf", false).0, Open);
}

/// The reason why the page has the content copied: OpenSSL ignores an include that is gone.
#[test]
fn an_include_that_is_gone_is_ignored_in_silence() {
    if !has("openssl") {
        return;
    }
    let place = Place::new("closed-include");
    let included = format!(".include {}\n", place.path("shipped.cnf").display());
    fs::write(place.path("openssl.cnf"), included).unwrap();
    let line = "exec openssl rand -hex 16";
    assert_eq!(place.outcome(line, "openssl.cnf", false).0, Ours);
    let cut = format!("rm -f shipped.cnf; {line}");
    assert_eq!(place.outcome(&cut, "openssl.cnf", false).0, Open);
}

/// A tree outlives what tidies the machine: its configuration is in none of those places.
#[test]
fn a_tree_keeps_its_configuration() {
    if !has("openssl") {
        return;
    }
    let place = Place::new("closed-kept");
    let line = "case $OPENSSL_CONF in $XDG_STATE_HOME/headwater/openssl/*) ;; *) exit 9 ;; esac; \
                exec openssl rand -hex 16";
    let (outcome, said) = place.outcome(line, "base.cnf", true);
    assert_eq!(outcome, Ours, "{said}");
    assert!(!said.contains("may be removed"), "{said}");
    // Where no such place is, the run says what may happen.
    fs::remove_dir_all(place.path("state")).unwrap();
    fs::write(place.path("state"), "a file").unwrap();
    let (outcome, said) = place.outcome("exec openssl rand -hex 16", "base.cnf", true);
    assert_eq!(outcome, Ours, "{said}");
    assert!(said.contains("may be removed while programs still name it"), "{said}");
}

/// The truth about a running program, which has lost its configuration since its start or before.
#[test]
fn a_running_program_shows_what_it_draws_from() {
    if !has("python3") || !has("openssl") {
        return;
    }
    let place = Place::new("closed-running");
    for (configuration, expected, words) in [
        ("openssl.cnf", 0, "has drawn from headwater"),
        ("gone.cnf", 1, "gone.cnf: No such file or directory"),
    ] {
        let mut python = Command::new("/usr/bin/python3");
        python.args(["-c", "import ssl; ssl.RAND_bytes(16); print(1, flush=True); input()"]);
        python.env("OPENSSL_CONF", place.path(configuration));
        python.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut python = python.spawn().unwrap();
        std::io::Read::read_exact(python.stdout.as_mut().unwrap(), &mut [0; 2]).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_headwater"))
            .args(["status", "--openssl", "--pid", &python.id().to_string()])
            .output();
        drop(python.stdin.take());
        python.wait().unwrap();
        let output = output.unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(expected), "{said}");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn processes_and_commands_that_are_not_there_are_named() {
    for (arguments, status, words) in [
        (&["--openssl"][..], 2, "needs processes"),
        (&["--pid", "1"], 2, "--openssl"),
        (&["--openssl", "--pid", "4194305"], 3, "cannot read process 4194305"),
        (&["--openssl", "--", "no-such-command"], 3, "cannot run 'no-such-command'"),
        (&["--openssl", "--pid", "1", "--", "true"], 2, "cannot be used with"),
        (&["--openssl", "--", "true"], 1, "no program loaded headwater's module"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
        let output = command.arg("status").args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

/// Returns what `status --openssl` says of processes, and its status.
fn seen(processes: &[u32]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.args(["status", "--openssl"]);
    let output = command.args(processes.iter().map(|id| format!("--pid={id}"))).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// A program chooses its name and the names of the files that it maps, in any bytes.
#[test]
fn a_process_of_any_name_is_read_and_moves_no_cursor() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("closed-names");
    let program = folder.join(std::ffi::OsStr::from_bytes(b"s\xFF\x1b[2J\nok"));
    copy_program("/bin/sleep", &program);
    let mut child = Command::new(&program).arg("60").spawn().unwrap();
    let id = child.id();
    // exec(2) comes after the fork.
    while std::fs::read_link(format!("/proc/{id}/exe")).unwrap() != program {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let (status, text, said) = seen(&[id]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(status, 1, "{said}");
    assert!(text.contains("has no OpenSSL") && text.starts_with(&format!("{id} s")), "{text}");
    assert!(!text.trim_end().contains(char::is_control), "{text:?}");
}

/// A process that has ended shows an empty memory map until its parent asks for its status.
#[test]
fn a_process_that_has_ended_is_an_error_and_costs_no_other_its_report() {
    let mut ended = Command::new("true").spawn().unwrap();
    let mut lives = Command::new("sleep").arg("60").spawn().unwrap();
    let stat = format!("/proc/{}/stat", ended.id());
    while !std::fs::read_to_string(&stat).unwrap().contains(") Z ") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let (status, text, said) = seen(&[ended.id(), lives.id(), 4_194_305]);
    lives.kill().unwrap();
    lives.wait().unwrap();
    ended.wait().unwrap();
    assert_eq!(status, 3, "{text}{said}");
    assert!(text.contains(&format!("{} sleep: has no OpenSSL", lives.id())), "{text}");
    let zombie = format!("cannot read process {}: it has ended", ended.id());
    assert!(said.contains(&zombie) && said.contains("process 4194305: there is none"), "{said}");
}
