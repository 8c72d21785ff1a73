//! `headwater run -- COMMAND`: the command, with headwater as its generator.

use crate::failure::Failure;
use crate::openssl;
use crate::output;
use crate::preload::{self, Relay, Stats};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Run a command that draws its random bytes from headwater
#[derive(clap::Args)]
#[command(after_help = "\
The command runs with libheadwater_preload.so in LD_PRELOAD. Its getrandom, getentropy, arc4random and
syscall(SYS_getrandom) are then headwater's. The file is searched in HEADWATER_PRELOAD, beside this
command, and in the system's directories.

The command is not started if the library does not reach it: static programs, Go, set-user-ID programs,
other architectures. A script is judged by its interpreter.

--openssl also sets OPENSSL_CONF to a configuration that includes the present one and adds headwater's
provider. The module, headwater.so, is searched in OPENSSL_MODULES, beside this command, and in
OpenSSL's own directories. The configuration stays in /var/lib/headwater/openssl, or below
XDG_STATE_HOME, because OpenSSL ignores one that is gone. If it is gone, no program of the command
starts (125). `headwater status --openssl` says what a program draws from.

--clones adds libheadwater_clones.so. In a copy (CRIU, a cloned machine) the C library's rand, random and
drand48 are then seeded anew before the next draw, also if the command has called srand(), and OpenSSL
and GnuTLS reseed. In the original, and in forked children, srand(42) leads to the same numbers as
ever. The file is searched in HEADWATER_CLONES_LIBRARY, beside this command, and in the system's
directories.

Exit status: the command's own; 125 if the command was not started, 126 if it cannot be executed,
127 if it was not found.")]
pub(crate) struct Args {
    /// Make headwater the generator of OpenSSL 3 and 4 too: RAND_bytes and TLS
    #[arg(long)]
    openssl: bool,

    /// Renew rand, random, drand48, OpenSSL and GnuTLS in a copy of the process or the machine
    #[arg(long)]
    clones: bool,

    /// Write the configuration of --openssl to stdout, for a service, and run nothing
    #[arg(long, requires = "openssl", conflicts_with_all = ["command", "stats", "no_syscall"])]
    print: bool,

    /// Leave syscall(SYS_getrandom) to the kernel
    #[arg(long)]
    no_syscall: bool,

    /// Print the number of draws, and of system calls saved, when the command has ended
    #[arg(long)]
    stats: bool,

    /// The command and its arguments
    #[arg(required_unless_present = "print", trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Statuses of env(1).
pub(crate) const NOT_RUN: u8 = 125;
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Replaces this process by the command, or with `--stats` waits for it. Returns only on failure.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let not_run = |what| Failure::Run { status: NOT_RUN, what };
    if args.print {
        return Ok(output::text(&openssl::text().map_err(not_run)?)?);
    }
    let mut preload =
        preload::preload(&args.command, args.openssl, args.clones).map_err(not_run)?;
    let (program, arguments) = args.command.split_first().expect("clap requires one word");
    let mut command = Command::new(program);
    command.args(arguments).env("LD_PRELOAD", preload.value);
    command.env(preload::ASAN_OPTIONS, preload::asan_options());
    if args.openssl {
        let kept = openssl::configuration().map_err(not_run)?;
        // The second one lets the library in each program of the tree see that the file is gone,
        // which OpenSSL itself does not report.
        command.env("OPENSSL_CONF", &kept.path).env("HEADWATER_OPENSSL_CONF", &kept.path);
        preload.notes.extend(kept.note);
    }
    if args.no_syscall {
        command.env("HEADWATER_SYSCALL", "0");
    }
    for note in preload.notes {
        say(&note);
    }
    let cannot_run = |error: io::Error| {
        let status = if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN };
        Failure::Run { status, what: format!("cannot run '{}': {error}", program.display()) }
    };
    if !args.stats {
        return Err(cannot_run(command.exec()));
    }
    let stats = Stats::new().map_err(not_run)?;
    let relay = Relay::start().map_err(not_run)?;
    let ended = relay.run(command.env("HEADWATER_STATS", stats.path())).map_err(cannot_run)?;
    match stats.summary(args.openssl) {
        Ok(lines) => lines.iter().for_each(|line| say(line)),
        Err(error) => say(&format!("cannot read the counters: {error}")),
    }
    drop(stats);
    preload::end_like(ended)
}

/// Writes a line to stderr. A full stderr must not keep the command from running.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "headwater: {line}");
}
