//! The protocol between this program and one in another language: a line each way, in turn.
//!
//! When the other program has started, its first line is the version of its runtime. Then it
//! answers these requests:
//!
//! - `sample FUNCTION LENGTH BYTE`: fill a buffer with this byte, draw into it once, and answer its
//!   content in hexadecimal;
//! - `time FUNCTION LENGTH CALLS`: draw so many times, and answer the nanoseconds that the draws
//!   took.
//!
//! The program of [`locked`](super::locked) is this one, and knows a third request:
//!
//! - `crowd THREADS LENGTH MICROSECONDS`: let so many threads draw together for so long, and answer
//!   the calls, the nanoseconds, and the three numbers of
//!   [`Counters`](crate::draw::crowd::Counters).
//!
//! It answers a request that it cannot serve by `error` and the reason. It ends with its input.

use std::fmt::Display;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// Bytes of an answer, beyond those of a sample.
const ANSWER_MAX: usize = 1000;

/// The other program.
pub(super) struct Child {
    process: std::process::Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    version: String,
}

impl Child {
    pub(super) fn start(command: &mut Command) -> Result<Child, String> {
        // Its complaints are the user's to see.
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = spawned.map_err(|error| not_started(command, &error))?;
        let (Some(requests), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            unreachable!("both were asked for");
        };
        let mut child =
            Child { process, requests, answers: BufReader::new(answers), version: String::new() };
        child.version = child.answer(0)?;
        Ok(child)
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Draws once into all of `buf`, whose bytes before that are all the same.
    pub(super) fn sample(&mut self, function: &str, buf: &mut [u8]) -> Result<(), String> {
        let poison = buf.first().copied().unwrap_or_default();
        self.ask("sample", function, buf.len(), poison.into())?;
        let answer = self.answer(2 * buf.len())?;
        read_hex(&answer, buf)
    }

    /// Draws `calls` times.
    pub(super) fn time(
        &mut self,
        function: &str,
        len: usize,
        calls: u64,
    ) -> Result<Duration, String> {
        self.ask("time", function, len, calls)?;
        read_nanoseconds(&self.answer(0)?)
    }

    /// Lets `threads` threads draw together for so long, and returns the answer's numbers.
    pub(super) fn crowd(
        &mut self,
        threads: usize,
        len: usize,
        lasting: Duration,
    ) -> Result<Vec<u64>, String> {
        self.ask("crowd", &threads.to_string(), len, lasting.as_micros() as u64)?;
        let answer = self.answer(0)?;
        let numbers = answer.split(' ').map(str::parse).collect::<Result<_, _>>();
        numbers.map_err(|_| format!("'{answer}' is no list of numbers"))
    }

    fn ask(&mut self, verb: &str, function: &str, len: usize, number: u64) -> Result<(), String> {
        // One write: a reader that is woken finds the whole line.
        let request = format!("{verb} {function} {len} {number}\n");
        self.requests.write_all(request.as_bytes()).map_err(lost)
    }

    /// Reads the next line. A line without an end is cut, and no request or answer has that form.
    fn answer(&mut self, len: usize) -> Result<String, String> {
        let limit = (len + ANSWER_MAX) as u64;
        let mut line = String::new();
        self.answers.by_ref().take(limit).read_line(&mut line).map_err(lost)?;
        match line.strip_suffix('\n') {
            None => Err(lost("it ended")),
            Some(line) => match line.strip_prefix("error ") {
                None => Ok(line.to_owned()),
                Some(reason) => Err(reason.to_owned()),
            },
        }
    }
}

impl Drop for Child {
    /// Kills the child even while the child works, because its answer has no reader any more.
    fn drop(&mut self) {
        let _ = self.process.kill(); // it may have ended
        let _ = self.process.wait();
    }
}

/// Runs a program to its end, which must be a good one.
#[cfg(any(test, feature = "peers"))]
pub(super) fn finish(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| not_started(command, &error))?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let complaint = complaint.lines().last().unwrap_or("without a word");
    Err(format!("{} ended with {}: {complaint}", command.get_program().display(), output.status))
}

fn not_started(command: &Command, error: &std::io::Error) -> String {
    let program = command.get_program().display();
    match error.kind() {
        ErrorKind::NotFound => format!("{program} is not installed"),
        _ => format!("{program} does not start: {error}"),
    }
}

fn lost(error: impl Display) -> String {
    format!("its program does not answer: {error}")
}

/// Reads two hexadecimal digits for each byte of `buf`, and refuses a text of another length.
fn read_hex(text: &str, buf: &mut [u8]) -> Result<(), String> {
    let digits = text.as_bytes();
    if digits.len() != 2 * buf.len() {
        return Err(format!("{} digits for {} bytes", digits.len(), buf.len()));
    }
    for (byte, digits) in buf.iter_mut().zip(digits.chunks_exact(2)) {
        let value = |digit: u8| char::from(digit).to_digit(16);
        let (Some(high), Some(low)) = (value(digits[0]), value(digits[1])) else {
            return Err("a sample is not hexadecimal".to_owned());
        };
        *byte = (high << 4 | low) as u8;
    }
    Ok(())
}

/// Reads a number of nanoseconds above zero. A time of zero would be no time, and would mean that
/// the clock stands still.
fn read_nanoseconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(nanoseconds @ 1..) => Ok(Duration::from_nanos(nanoseconds)),
        _ => Err(format!("'{text}' is no number of nanoseconds")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Child, String> {
        Child::start(Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn hexadecimal_is_read_and_nothing_else() {
        let mut buf = [0; 2];
        assert_eq!(read_hex("00fF", &mut buf), Ok(()));
        assert_eq!(buf, [0, 255]);
        assert_eq!(read_hex("00f", &mut buf), Err("3 digits for 2 bytes".to_owned()));
        for text in ["00+1", "00 1", "0x00", "00é"] {
            assert_eq!(
                read_hex(text, &mut buf),
                Err("a sample is not hexadecimal".to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn nanoseconds_are_a_positive_number() {
        assert_eq!(read_nanoseconds("1500"), Ok(Duration::from_nanos(1500)));
        for text in ["0", "-1", "1.5", "1e3", "", " 1", "18446744073709551616"] {
            let refusal = format!("'{text}' is no number of nanoseconds");
            assert_eq!(read_nanoseconds(text), Err(refusal));
        }
    }

    #[test]
    fn a_request_is_one_line_and_so_is_its_answer() {
        let mut child =
            shell("echo shell 1; read request; echo \"error got $request\"; read request; echo 7")
                .unwrap();
        assert_eq!(child.version(), "shell 1");
        assert_eq!(child.sample("draw", &mut [0x81; 3]), Err("got sample draw 3 129".to_owned()));
        assert_eq!(child.time("draw", 3, 1000), Ok(Duration::from_nanos(7)));
    }

    #[test]
    fn a_program_that_is_missing_fails_or_ends_is_one_line() {
        let nonesuch = || Command::new("headwater-nonesuch");
        let reason = "headwater-nonesuch is not installed";
        assert_eq!(Child::start(&mut nonesuch()).err().as_deref(), Some(reason));
        assert_eq!(finish(&mut nonesuch()).err().as_deref(), Some(reason));
        let failing = finish(Command::new("sh").args(["-c", "echo one >&2; echo two >&2; exit 3"]));
        assert_eq!(failing, Err("sh ended with exit status: 3: two".to_owned()));
        let lost = "its program does not answer: it ended";
        assert_eq!(shell("exit 0").err().as_deref(), Some(lost));
        let mut ending = shell("echo shell 1; read request").unwrap();
        assert_eq!(ending.time("draw", 3, 1000).err().as_deref(), Some(lost));
    }

    #[test]
    fn an_answer_without_end_is_cut() {
        let error = shell("while :; do printf xxxxxxxxxxxxxxxx; done").err().unwrap();
        assert!(error.starts_with("its program does not answer"), "{error}");
    }
}
