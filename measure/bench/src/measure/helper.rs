//! The other side of `impls/locked.rs`: this program, started again, draws and times its draws on
//! request.

use crate::draw::crowd::{Counters, Stretch};
use crate::draw::work::{Refused, Work, Worker};
use crate::error::Error;
use crate::impls;
use crate::measure::crowd;
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

/// A request may name no longer output.
const LEN_MAX: usize = 1 << 30;

/// Answers requests until the pipe ends; `child.rs` describes both.
///
/// # Errors
///
/// The errors are those of the pipe.
pub(crate) fn serve(requests: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    let mut say = |line: &str| {
        // One write passes the whole line to the reader.
        answers.write_all(format!("{line}\n").as_bytes())?;
        answers.flush()
    };
    say(env!("CARGO_PKG_VERSION"))?;
    let mut worker = (impls::HEADWATER.open)();
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
    let refused = |Refused| "it returns no random bytes".to_owned();
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
            let open = |_| (impls::HEADWATER.open)().map_err(|absent| Error::Process(absent.0));
            let sample = crowd::together(threads, Duration::from_micros(number), open);
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
