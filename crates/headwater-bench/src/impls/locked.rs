//! headwater serves without restartable sequences where the kernel or the C library has none.
//!
//! One process cannot serve both ways. This program runs a second time with `HEADWATER_NO_RSEQ=1`,
//! where it draws and times its draws on request.

use super::child::Child;
use super::{Absent, HEADWATER, Implementation, Opened};
use crate::Error;
use crate::case::Case;
use crate::clock::Clock;
use crate::first_byte::{HELPER, starts_again};
use crate::stretch::{self, Counters, Stretch};
use crate::work::{Declined, Drawn, Refused, Work, Worker};
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

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

/// A request may name no longer output.
const LEN_MAX: usize = 1 << 30;

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

    /// The pipe would be in the time of a single call.
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
        let answer = child().and_then(|mut child| child.crowd(threads, stretch::LEN, lasting));
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

/// Answers requests until the pipe ends; `child.rs` describes both.
///
/// # Errors
///
/// The errors are those of the pipe.
pub(crate) fn serve(requests: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    let mut say = |line: &str| {
        // One write gives the reader the whole line.
        answers.write_all(format!("{line}\n").as_bytes())?;
        answers.flush()
    };
    say(env!("CARGO_PKG_VERSION"))?;
    let mut worker = (HEADWATER.open)();
    for request in requests.lines() {
        let request = request?;
        let answer = match &mut worker {
            Ok(worker) => answer(&mut **worker, &request),
            Err(absent) => Err(absent.0.clone()),
        };
        say(&answer.unwrap_or_else(|reason| format!("error {reason}")))?;
    }
    Ok(())
}

fn answer(worker: &mut dyn Worker, request: &str) -> Result<String, String> {
    let refused = |Refused| "it gives no random bytes".to_owned();
    let unknown = || format!("the request '{request}' is unknown");
    let words: Vec<&str> = request.split(' ').collect();
    let [verb, what, len, number] = words[..] else { return Err(unknown()) };
    let len = len.parse().ok().filter(|len| (1..=LEN_MAX).contains(len)).ok_or_else(unknown)?;
    let number: u64 = number.parse().map_err(|_| unknown())?;
    let work = match what {
        "fill" => Some(Work::Fill),
        "u64" if len == 8 => Some(Work::U64),
        _ => None,
    };
    let mut memory = vec![0; len + LINE];
    let start = memory.as_ptr().align_offset(LINE).min(LINE);
    let buf = &mut memory[start..start + len];
    match (verb, work) {
        ("sample", Some(work)) => {
            buf.fill(number as u8);
            worker.draw(work, buf).map_err(refused)?;
            Ok(buf.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}"); // a String takes everything
                text
            }))
        }
        ("time", Some(work)) => {
            // The pages of the buffer are new.
            worker.draw(work, buf).map_err(refused)?;
            let start = Instant::now();
            worker.batch(work, number, buf).map_err(refused)?;
            Ok(start.elapsed().as_nanos().max(1).to_string())
        }
        ("crowd", None) => {
            let threads = what.parse().map_err(|_| unknown())?;
            let open = |_| (HEADWATER.open)().map_err(|absent| Error::Process(absent.0));
            let sample = stretch::together(threads, Duration::from_micros(number), open);
            let Stretch { calls, ns, counters } = sample.map_err(|error| error.to_string())?;
            let Counters { refills, busy, fallbacks } = counters;
            Ok(format!("{calls} {ns} {refills} {busy} {fallbacks}"))
        }
        _ => Err(unknown()),
    }
}

/// Buffers begin on a cache line here as elsewhere.
const LINE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(requests: &str) -> Vec<String> {
        let mut said = Vec::new();
        serve(requests.as_bytes(), &mut said).unwrap();
        String::from_utf8(said).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn each_request_has_one_line_as_its_answer() {
        let lines = answers("sample fill 16 129\ntime u64 8 100\ncrowd 3 16 20000\n");
        assert_eq!((lines.len(), lines[0].as_str()), (4, env!("CARGO_PKG_VERSION")));
        assert_eq!(lines[1].len(), 32);
        assert!(lines[2].parse::<u64>().unwrap() > 0);
        let numbers: Vec<u64> = lines[3].split(' ').map(|word| word.parse().unwrap()).collect();
        assert_eq!(numbers.len(), 5);
        assert!(numbers[0] >= 3 * 256 && numbers[1] >= 20_000_000, "{numbers:?}");
    }

    #[test]
    fn nonsense_is_answered_by_an_error() {
        for request in
            ["", "time", "time u64 16 1", "time u32 4 1", "time fill 0 1", "crowd x 16 1"]
        {
            let lines = answers(&format!("{request}\n"));
            assert_eq!(lines[1], format!("error the request '{request}' is unknown"));
        }
    }
}
