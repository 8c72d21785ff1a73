//! `headwater run --stats`: counters that the preload library and OpenSSL's module of every process
//! add to.

use headwater_text::number::{counted, grouped};
use headwater_text::size;
use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{self, ExitStatus};

/// Size of the file, which every process maps (fronts/preload/src/linux/stats.rs for the first five
/// counters, fronts/openssl/src/stats.rs for the others).
const PAGE: usize = 4096;
/// Counters at the start of the file.
const COUNTERS: usize = 8;

/// A file of counters, removed at the end of its life.
pub(crate) struct Stats {
    path: PathBuf,
}

impl Stats {
    /// Makes the file, which only this user can open.
    ///
    /// # Errors
    ///
    /// A message of one line.
    pub(crate) fn new() -> Result<Stats, String> {
        // A relative path would name another file in a program that changes its directory.
        let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let directory = runtime.filter(|path| path.is_absolute()).unwrap_or_else(env::temp_dir);
        let unique = headwater::u64().map_err(|error| error.to_string())?;
        let path = directory.join(format!("headwater-stats-{}-{unique:016x}", process::id()));
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let failed = |error| format!("cannot make the counters {}: {error}", path.display());
        let mut file = made.map_err(failed)?;
        let stats = Stats { path: path.clone() };
        // Written, because a file of a mere size has no room yet: where the file system is full, a
        // program that counts would end by SIGBUS.
        file.write_all(&[0; PAGE]).map_err(failed)?;
        Ok(stats)
    }

    /// Returns the value of `HEADWATER_STATS`.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the summary: a line, and one of OpenSSL's draws if it was asked for or any was made.
    pub(crate) fn summary(&self, has_openssl: bool) -> io::Result<Vec<String>> {
        let counts = self.counts()?;
        let mut lines = vec![summary(&counts)];
        if has_openssl || counts.openssl.programs > 0 {
            lines.push(counts.openssl.summary());
        }
        Ok(lines)
    }

    /// Returns what OpenSSL drew by headwater's module so far.
    pub(crate) fn openssl(&self) -> io::Result<OpensslCounts> {
        Ok(self.counts()?.openssl)
    }

    fn counts(&self) -> io::Result<Counts> {
        let mut bytes = [0; COUNTERS * 8];
        fs::File::open(&self.path)?.read_exact(&mut bytes)?;
        let (numbers, _) = bytes.as_chunks::<8>();
        let [draws, drawn, forwarded, programs, saved, loaded, module_draws, module_drawn] =
            std::array::from_fn(|at| u64::from_ne_bytes(numbers[at]));
        let openssl = OpensslCounts { programs: loaded, draws: module_draws, drawn: module_drawn };
        Ok(Counts { draws, drawn, forwarded, programs, saved, openssl })
    }
}

impl Drop for Stats {
    fn drop(&mut self) {
        // A file that was removed already leaves nothing to do.
        let _ = fs::remove_file(&self.path);
    }
}

/// The counters of one run.
struct Counts {
    draws: u64,
    drawn: u64,
    forwarded: u64,
    programs: u64,
    saved: u64,
    openssl: OpensslCounts,
}

/// The counters of OpenSSL's module.
pub(crate) struct OpensslCounts {
    /// Programs that loaded the module.
    pub(crate) programs: u64,
    pub(crate) draws: u64,
    drawn: u64,
}

impl OpensslCounts {
    /// Returns a line.
    pub(crate) fn summary(&self) -> String {
        if self.programs == 0 {
            return "no program loaded headwater's module for OpenSSL".to_owned();
        }
        let programs = programs(self.programs);
        let draws = times(self.draws, "draw");
        format!("OpenSSL, in {programs}: {draws} ({}) from headwater", size::rounded(self.drawn))
    }
}

fn times(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{} {noun}s", grouped(count)),
    }
}

fn programs(count: u64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "program")
}

fn summary(counts: &Counts) -> String {
    let programs = programs(counts.programs);
    if counts.programs == 0 {
        return "no program loaded the library, so nothing was drawn from headwater".to_owned();
    }
    format!(
        "{programs}: {} ({}) from headwater, which saved {}; {} went to the kernel",
        times(counts.draws, "draw"),
        size::rounded(counts.drawn),
        times(counts.saved, "system call"),
        grouped(counts.forwarded),
    )
}

/// Ends this process as the command has ended, with its status or by its signal.
pub(crate) fn end_like(ended: ExitStatus) -> ! {
    const BY_SIGNAL: i32 = 128; // what shells report
    if let Some(signal) = ended.signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    process::exit(ended.code().unwrap_or_else(|| BY_SIGNAL + ended.signal().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_one_line() {
        let openssl = OpensslCounts { programs: 1, draws: 3, drawn: 48 };
        let line = openssl.summary();
        assert_eq!(line, "OpenSSL, in 1 program: 3 draws (48 B) from headwater");
        let counts = Counts {
            draws: 200_016,
            drawn: 3_200_256,
            forwarded: 1,
            programs: 2,
            saved: 200_016,
            openssl,
        };
        assert_eq!(
            summary(&counts),
            "2 programs: 200,016 draws (3.1 MiB) from headwater, which saved 200,016 system calls; 1 \
             went to the kernel"
        );
    }
}
