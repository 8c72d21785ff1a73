//! `headwater run --openssl -- COMMAND`: the command, with headwater as its generator.

use crate::failure::Failure;
use crate::openssl;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Run a command that draws its random bytes from headwater
#[derive(clap::Args)]
#[command(after_help = "\
--openssl sets OPENSSL_CONF to a configuration that includes the present one and adds headwater's
provider. The module, headwater.so, is searched in OPENSSL_MODULES, beside this command, and in
OpenSSL's own directories.

Exit status: the command's own; 125 if the command was not started, 126 if it cannot be executed,
127 if it was not found.")]
pub(crate) struct Args {
    /// Make headwater the generator of OpenSSL 3: RAND_bytes and TLS
    #[arg(long)]
    openssl: bool,

    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Statuses of env(1).
pub(crate) const NOT_RUN: u8 = 125;
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Replaces this process by the command. Returns only on failure.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let not_run = |what| Failure::Run { status: NOT_RUN, what };
    if !args.openssl {
        return Err(not_run(
            "a mechanism is missing: use 'headwater run --openssl -- COMMAND' for commands that use OpenSSL 3; this \
             version has no library that replaces the C library's functions"
                .to_owned(),
        ));
    }
    let configuration = openssl::configuration().map_err(not_run)?;
    let (program, arguments) = args.command.split_first().expect("clap requires one word");
    let error = Command::new(program).args(arguments).env("OPENSSL_CONF", configuration).exec();
    let status = if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN };
    Err(Failure::Run { status, what: format!("cannot run '{}': {error}", program.display()) })
}
