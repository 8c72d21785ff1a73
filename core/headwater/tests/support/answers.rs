//! The kernel's answers: the changes that a test makes to the calls for random bytes, known to the
//! tracer that does it and to the model that says what follows.

use super::tracer::{Entry, Meddle};

/// The answers of some calls of getrandom(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// This errno.
    Errno(i32),
    /// EAGAIN, to those that do not wait.
    NotReady,
    /// EINTR, at every other call.
    Interrupted,
    /// At most [`SHORT`] bytes.
    Short,
    /// 0, which getrandom(2) never answers, as old kernels with another call at this number.
    Nothing,
}

/// Which calls: counted from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    From(usize),
    Only(usize),
}

/// The answers of /dev/random and /dev/urandom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Devices {
    Sound,
    /// EINTR, at every other poll and read.
    Interrupted,
    /// Reads return at most [`SHORT`] bytes.
    Short,
    /// A poll that does not wait finds nothing.
    NotReady,
    /// /dev/random can be opened, /dev/urandom cannot.
    Missing,
}

pub(crate) const SHORT: usize = 20;
/// Where there is no memory for pages, a mapping of so many bytes is the largest that succeeds. The
/// state and the canary need less, and pages more.
const ROOM: u64 = 256 << 10;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers {
    pub(crate) getrandom: Option<(Answer, Which)>,
    pub(crate) devices: Devices,
    /// Memory is available for pages. Without, mappings beyond [`ROOM`] are refused.
    pub(crate) memory: bool,
}

impl Answers {
    /// Returns the answer of the `n`th call of getrandom(2), if it is not the kernel's: `Err` with
    /// an errno, or `Ok` with the most bytes that it returns.
    pub(crate) fn getrandom(self, n: usize, flags: u32) -> Option<Result<usize, i32>> {
        let (answer, which) = self.getrandom?;
        let since = match which {
            Which::From(first) => n.checked_sub(first)?,
            Which::Only(only) if only == n => 0,
            Which::Only(_) => return None,
        };
        match answer {
            Answer::Errno(errno) => Some(Err(errno)),
            Answer::NotReady if flags & libc::GRND_NONBLOCK != 0 => Some(Err(libc::EAGAIN)),
            Answer::Interrupted if since.is_multiple_of(2) => Some(Err(libc::EINTR)),
            Answer::Short => Some(Ok(SHORT)),
            Answer::Nothing => Some(Ok(0)),
            Answer::NotReady | Answer::Interrupted => None,
        }
    }

    /// Returns whether the `n`th poll or read of the devices is interrupted.
    pub(crate) fn interrupts_device(self, n: usize) -> bool {
        self.devices == Devices::Interrupted && n.is_multiple_of(2)
    }
}

/// Does to a child's calls what the answers say, and writes them down.
pub(crate) struct Scribe {
    answers: Answers,
    pub(crate) calls: Vec<String>,
    getrandom: usize,
    device_calls: usize,
    last_opened: String,
}

impl Scribe {
    pub(crate) fn new(answers: Answers) -> Scribe {
        let calls = Vec::new();
        let last_opened = String::new();
        Scribe { answers, calls, getrandom: 0, device_calls: 0, last_opened }
    }

    pub(crate) fn see(&mut self, entry: Entry) -> Option<Meddle> {
        self.calls.push(written(&entry));
        let Entry { number, args, path } = entry;
        let errno = |errno: i32| Some(Meddle::Answer(i64::from(-errno)));
        match number {
            libc::SYS_getrandom => {
                let n = self.getrandom;
                self.getrandom += 1;
                match self.answers.getrandom(n, args[2] as u32)? {
                    Err(refused) => errno(refused),
                    Ok(0) => Some(Meddle::Answer(0)),
                    Ok(most) => Some(Meddle::Second(args[1].min(most as u64))),
                }
            }
            libc::SYS_mmap => {
                let refused = !self.answers.memory && args[1] > ROOM;
                if refused { errno(libc::ENOMEM) } else { None }
            }
            libc::SYS_openat => {
                let missing = self.answers.devices == Devices::Missing && path == "/dev/urandom";
                self.last_opened = path;
                if missing { errno(libc::ENOENT) } else { None }
            }
            libc::SYS_ppoll | libc::SYS_read if self.last_opened.ends_with("random") => {
                let n = self.device_calls;
                self.device_calls += 1;
                let polls = number == libc::SYS_ppoll;
                match self.answers.devices {
                    _ if self.answers.interrupts_device(n) => errno(libc::EINTR),
                    Devices::NotReady if polls && args[2] != 0 => Some(Meddle::Answer(0)),
                    Devices::Short if !polls => Some(Meddle::Third(args[2].min(SHORT as u64))),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Returns a call as both sides write it: with the arguments that matter.
fn written(entry: &Entry) -> String {
    let args = &entry.args;
    match entry.number {
        libc::SYS_getrandom => format!("getrandom({}, {})", args[1], args[2]),
        libc::SYS_openat => format!("openat({})", entry.path),
        libc::SYS_read => format!("read({})", args[2]),
        libc::SYS_ppoll => {
            format!("ppoll({})", if args[2] == 0 { "waits" } else { "does not wait" })
        }
        libc::SYS_madvise => format!("madvise({})", args[2] as i32),
        libc::SYS_mmap => "mmap".into(),
        libc::SYS_munmap => "munmap".into(),
        libc::SYS_mlock2 => "mlock2".into(),
        libc::SYS_close => "close".into(),
        libc::SYS_fstat => "fstat".into(),
        libc::SYS_ioctl => "ioctl".into(),
        libc::SYS_getdents64 => "getdents64".into(),
        libc::SYS_rt_sigprocmask => "rt_sigprocmask".into(),
        libc::SYS_sched_getaffinity => "sched_getaffinity".into(),
        other => format!("call {other}, which has no name in tests/support/answers.rs"),
    }
}
