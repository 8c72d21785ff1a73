//! The options that `stream write` and `stream verify` share: seed, range, shape, speed.

use super::engine::descend;
use super::seed;
use crate::failure::Failure;
use headwater_storage::{Dedup, Job, Pattern, Progress, Ratio, Shape, Target};
use headwater_streams::{Engine, Key, Seed};
use headwater_text::size;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[group(skip)]
pub(super) struct StreamSource {
    /// Devices and files
    #[arg(value_name = "TARGET", required = true)]
    pub(super) targets: Vec<PathBuf>,

    /// The seed: a whole number (42, -1, 0x2a), a text, or bytes as hex:00ff
    #[arg(long, value_name = "S", value_parser = seed, allow_hyphen_values = true)]
    seed: Seed<'static>,

    /// The engine: ars7, ars5 or philox4x32, which reach any place at once
    #[arg(long, value_name = "E", default_value_t)]
    engine: Engine,

    /// Number of the stream, from 0 on
    #[arg(long, value_name = "K", default_value_t = 0)]
    substream: u64,

    /// Take the child NAME of the seed's key; {host} is this machine's name, {name} the target's
    #[arg(long, value_name = "NAME")]
    child: Vec<String>,

    /// Number of the pass over the same target, from 1 on: each pass has bytes of its own, and pass
    /// 1 those without this option
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) pass: u32,

    /// Offset of the first byte, any number
    #[arg(long, value_name = "BYTES", value_parser = size::parse, allow_negative_numbers = true, default_value = "0")]
    pub(super) from: u64,

    /// Offset after the last byte [default: the size]
    #[arg(long, value_name = "BYTES", value_parser = size::parse, allow_negative_numbers = true)]
    to: Option<u64>,

    /// Data that compresses by this ratio, 1 to 6, in each 4 KiB
    #[arg(long, value_name = "RATIO")]
    compressible: Option<Ratio>,

    /// Data whose chunks repeat by this ratio
    #[arg(long, value_name = "RATIO")]
    dedup: Option<Ratio>,

    /// Size of the chunks of --dedup
    #[arg(long, value_name = "BYTES", value_parser = size::parse, allow_negative_numbers = true, default_value = "8KiB")]
    #[arg(requires = "dedup")]
    chunk: u64,

    /// Highest rate of each target, in bytes a second
    #[arg(long, value_name = "BYTES", value_parser = rate, allow_negative_numbers = true)]
    limit_rate: Option<u64>,

    /// Threads of each target [default: by the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

/// Reads a rate in bytes a second. Some programs take 0 for "no limit", and others stand still at
/// it, so it is refused.
fn rate(text: &str) -> Result<u64, String> {
    match size::parse(text) {
        Ok(0) => {
            Err("a rate of 0 would never end; without the option there is no limit".to_owned())
        }
        Ok(rate) => Ok(rate),
        Err(error) => Err(error.to_string()),
    }
}

impl StreamSource {
    /// Returns the bytes of a pass over a target, from the seed of the command line or another one.
    pub(super) fn pattern(
        &self,
        target: &Path,
        seed: Option<&Seed<'_>>,
        pass: u32,
    ) -> Result<Pattern, Failure> {
        let seed = seed.unwrap_or(&self.seed).clone();
        let children: Result<Vec<_>, _> =
            self.child.iter().map(|name| filled(name, target)).collect();
        let mut children = children?;
        if pass > 1 {
            children.push(format!("pass {pass}"));
        }
        let key = descend(Key::with_engine(self.engine, seed), &children);
        let stream = key.stream(self.substream);
        let stream = stream.map_err(|error| Failure::Usage(error.to_string()))?;
        let dedup = self.dedup.map(|ratio| Dedup { ratio, chunk: self.chunk });
        let shape = Shape::new(self.compressible, dedup).map_err(Failure::Usage)?;
        Ok(Pattern::new(stream, shape))
    }

    /// Refuses targets in different directories that have one name, if `{name}` is to make each its
    /// own: they would have the same bytes, so that an exchange of the two would never be noticed.
    pub(super) fn refuse_equal_names(&self) -> Result<(), Failure> {
        if !self.child.iter().any(|child| child.contains("{name}")) {
            return Ok(());
        }
        for (i, target) in self.targets.iter().enumerate() {
            let earlier = &self.targets[..i];
            let twin = earlier.iter().find(|twin| *twin != target && base(twin) == base(target));
            if let Some(twin) = twin {
                let (one, other, name) = (twin.display(), target.display(), base(target));
                return Err(Failure::Usage(format!(
                    "{one} and {other} are both '{name}' to {{name}}, so they would have the same \
                     bytes: rename one, or give each a command with a --child of its own"
                )));
            }
        }
        Ok(())
    }

    /// Returns the end of the range of a target that is `size` bytes long.
    pub(super) fn end(&self, path: &Path, size: u64, wanted: Option<u64>) -> Result<u64, Failure> {
        let to = self.to.or(wanted).unwrap_or(size);
        let name = path.display();
        if self.to.or(wanted) == Some(0) {
            return Err(Failure::Usage(format!("{name}: a range that ends at 0 has no bytes")));
        }
        if to == 0 {
            return Err(Failure::Usage(format!("{name} is empty: name its size with --size")));
        }
        if self.from >= to {
            let from = self.from;
            return Err(Failure::Usage(format!("{name}: no bytes lie between {from} and {to}")));
        }
        if to > i64::MAX as u64 {
            return Err(Failure::Usage(format!("{name}: a file ends before byte 2^63")));
        }
        Ok(to)
    }

    /// Describes the work on a range.
    pub(super) fn job<'a>(
        &self,
        target: &Target,
        from: u64,
        to: u64,
        progress: &'a Progress,
    ) -> Job<'a> {
        let default = || Job::default_threads(target.is_direct());
        let threads = self.threads.map_or_else(default, usize::from);
        Job { from, to, threads, limit: self.limit_rate, ring: true, progress }
    }
}

/// Returns the name of a target in its directory, which stands for `{name}`.
fn base(target: &Path) -> std::borrow::Cow<'_, str> {
    target.file_name().unwrap_or_default().to_string_lossy()
}

/// Replaces `{host}` and `{name}`, so that one command line serves many machines and disks.
fn filled(name: &str, target: &Path) -> Result<String, Failure> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let filled = name.replace("{host}", &host).replace("{name}", &base(target));
    if filled.is_empty() || filled.contains(['{', '}']) {
        return Err(Failure::Usage(format!(
            "'{}' is not a name of a child: only {{host}} and {{name}} are replaced",
            name.escape_debug()
        )));
    }
    Ok(filled)
}

/// Runs `watch` about ten times a second until `work` ends.
pub(super) fn watched<T: Send>(work: impl FnOnce() -> T + Send, mut watch: impl FnMut()) -> T {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;
    std::thread::scope(|scope| {
        // Nothing is sent: the receiver wakes when the work drops its sender.
        let (running, ended) = channel::<()>();
        let work = scope.spawn(move || {
            let _running = running;
            work()
        });
        while ended.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
            watch();
        }
        work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_children_are_filled_in() {
        let fill = |name| filled(name, Path::new("/dev/disk/by-id/nvme-1")).ok();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        assert_eq!(fill("plain"), Some("plain".to_owned()));
        assert_eq!(fill("{name}"), Some("nvme-1".to_owned()));
        assert_eq!(fill("{host}/{name}"), Some(format!("{host}/nvme-1")));
        for wrong in ["", "{serial}", "{", "a}"] {
            assert_eq!(fill(wrong), None, "{wrong}");
        }
    }
}
