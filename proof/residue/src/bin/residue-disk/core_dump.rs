//! The core dump of a process that has just drawn.

use crate::Stop;
use residue::subject::{Account, Subject};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

/// Has the subject draw and abort; returns what its memory held, and the dump.
pub(crate) fn look(program: &Path) -> Result<(Account, Vec<u8>), Stop> {
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern")?;
    // The pattern is the whole machine's, so it is left as it is.
    if pattern.starts_with('|') || pattern.contains('/') {
        let pattern = pattern.trim();
        return Err(Stop::Skipped(format!("dumps go to \"{pattern}\", so none is looked at")));
    }
    let folder = env::temp_dir().join(format!("residue-core-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let looked = dump(&program.canonicalize()?, &folder);
    fs::remove_dir_all(&folder)?;
    looked
}

fn dump(program: &Path, folder: &Path) -> Result<(Account, Vec<u8>), Stop> {
    let mut command = Command::new(program);
    command.args(["refill", "buffered"]).current_dir(folder);
    // SAFETY: between fork and exec this makes one system call, and allocates nothing.
    unsafe { command.pre_exec(allow_dumps) };
    let subject = Subject::start(&mut command)?;
    let account = subject.look()?;
    if !subject.abort()? {
        return Err(Stop::Skipped("the kernel dumped nothing, so none is looked at".into()));
    }
    let dump = fs::read_dir(folder)?.next().ok_or("the dump is not in its directory")??;
    Ok((account, fs::read(dump.path())?))
}

fn allow_dumps() -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the call reads one struct, which lives.
    match unsafe { libc::setrlimit(libc::RLIMIT_CORE, &limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
