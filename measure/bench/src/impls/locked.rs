//! headwater serves without restartable sequences where the kernel or the C library has none.
//!
//! One process cannot serve both ways. This program runs a second time with `HEADWATER_NO_RSEQ=1`,
//! where it draws and times its draws on request.

use crate::case::{CROWD_LEN, Case};
use crate::draw::crowd::{Counters, Stretch};
use crate::draw::work::{Declined, Drawn, Refused, Work, Worker};
use crate::impls::child::Child;
use crate::impls::implementation::{Absent, Implementation, Opened};
use crate::system::clock::Clock;
use crate::system::restart::{HELPER, starts_again};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;

pub(super) const FILL: Implementation = Implementation {
    name: "headwater[locked]",
    version: &|| child().ok().map(|child| child.version().to_owned()),
    // The other process serves in the mode that the machine chooses.
    has_modes: false,
    open: &|| -> Opened {
        let mut locked = Locked { took: None };
        locked.sample("fill", &mut [0; 16]).map_err(Absent)?;
        Ok(Box::new(locked))
    },
};

/// The core reads this variable when it looks at the machine.
const VARIABLE: &str = "HEADWATER_NO_RSEQ";

fn child() -> Result<MutexGuard<'static, Child>, String> {
    static CHILD: OnceLock<Result<Mutex<Child>, String>> = OnceLock::new();
    let child = CHILD.get_or_init(|| start().map(Mutex::new)).as_ref();
    child.map_err(String::clone)?.lock().map_err(|_| "its program is lost".to_owned())
}

fn start() -> Result<Child, String> {
    if !starts_again() {
        return Err("this program does not start itself again".to_owned());
    }
    let program = std::env::current_exe().map_err(|error| format!("it has no program: {error}"))?;
    Child::start(Command::new(program).arg(HELPER).env(VARIABLE, "1"))
}

/// The handle counts nothing but the time of the last batch in the other process.
struct Locked {
    took: Option<Duration>,
}

impl Locked {
    fn sample(&mut self, function: &str, buf: &mut [u8]) -> Result<(), String> {
        child()?.sample(function, buf)
    }
}

fn function(work: Work) -> Result<&'static str, Refused> {
    match work {
        Work::Fill => Ok("fill"),
        Work::U64 => Ok("u64"),
        _ => Err(Refused),
    }
}

impl Worker for Locked {
    fn draw(&mut self, work: Work, buf: &mut [u8]) -> Drawn {
        self.sample(function(work)?, buf).map_err(|_| Refused)
    }

    fn batch(&mut self, work: Work, calls: u64, buf: &mut [u8]) -> Drawn {
        let took = child()
            .and_then(|mut child| child.time(function(work).unwrap_or("none"), buf.len(), calls));
        self.took = Some(took.map_err(|_| Refused)?);
        Ok(())
    }

    /// Refuses every request, because the pipe would be in the time of a single call.
    fn fill_timed(&mut self, _: &Clock, _: &mut [u64], _: &mut [u8]) -> Drawn {
        Err(Refused)
    }

    fn discarded_bytes(&self) -> Option<u64> {
        None
    }

    fn note(&self) -> Option<&'static str> {
        Some("in a process of its own, with HEADWATER_NO_RSEQ=1")
    }

    fn declines(&self, case: Case, threads: usize) -> Option<Declined> {
        match case {
            Case::Crowd => None,
            Case::Fill | Case::U64 => (threads > 1).then_some(Declined::Threads),
            _ => Some(Declined::Case),
        }
    }

    fn is_elsewhere(&self) -> bool {
        true
    }

    fn crowd(&mut self, threads: usize, lasting: Duration) -> Option<Result<Stretch, String>> {
        let answer = child().and_then(|mut child| child.crowd(threads, CROWD_LEN, lasting));
        Some(answer.and_then(|numbers| match numbers[..] {
            [calls, ns, refills, busy, fallbacks] if calls > 0 && ns > 0 => {
                Ok(Stretch { calls, ns, counters: Counters { refills, busy, fallbacks } })
            }
            _ => Err(format!("{numbers:?} are not the numbers of a stretch")),
        }))
    }

    fn own_time(&self) -> Option<Duration> {
        self.took
    }
}
