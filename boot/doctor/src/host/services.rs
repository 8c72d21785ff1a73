//! When systemd's services started, by the text of `systemctl show`.

use crate::boot::{Attempt, AttemptOutcome, Moment, Unit};
use crate::{Evidence, Root};
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The time limit of an answer: a whole diagnosis takes less than a second.
const LIMIT: Duration = Duration::from_millis(400);
const PROPERTIES: &str = "Id,InactiveExitTimestampMonotonic,ActiveEnterTimestampMonotonic,ActiveExitTimestampMonotonic,Result,ActiveState,SubState";
/// The place of the answer in a recording.
const RECORDED: &str = "/log/systemctl-show";

pub(super) fn units(root: &Root) -> Result<Vec<Unit>, String> {
    if !root.is_live() {
        return Ok(root.text(RECORDED).map(|text| parse(&text)).unwrap_or_default());
    }
    if !root.exists("/run/systemd/system") {
        return Ok(Vec::new());
    }
    let mut command = Command::new("systemctl");
    command.args(["show", "*.service", "--no-pager", "-p", PROPERTIES]);
    Ok(parse(&output(command)?))
}

/// Returns the output of a command that ends within the limit.
pub(super) fn output(mut command: Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{name} could not be started: {error}"))?;
    let Some(mut pipe) = child.stdout.take() else { return Err(format!("{name} has no output")) };
    // Read beside the wait: a child that fills the pipe would wait for us.
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = pipe.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    if !ends_in_time(&mut child) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("{name} did not answer within {} ms", LIMIT.as_millis()));
    }
    reader.join().map_err(|_| format!("{name}'s answer could not be read"))
}

fn ends_in_time(child: &mut Child) -> bool {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        match child.try_wait() {
            Ok(Some(_)) => return true,
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(_) => return false,
        }
    }
    false
}

/// Reads blocks of `Name=value` lines with an empty line between two units. Times are microseconds
/// of the monotonic clock, which starts with the kernel; 0 is "never".
fn parse(text: &str) -> Vec<Unit> {
    text.split("\n\n").filter_map(unit).collect()
}

fn unit(block: &str) -> Option<Unit> {
    let of =
        |key: &str| block.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='));
    let at = |key: &str| {
        let microseconds = of(key)?.parse::<u64>().ok().filter(|micros| *micros > 0)?;
        Some(microseconds as f64 / 1e6)
    };
    let name = of("Id")?;
    let moment = |key: &str, seconds: f64| Moment {
        at_most: false,
        at: Some(seconds),
        evidence: Evidence {
            place: format!("systemctl show {name}"),
            says: format!("{key}={}", of(key).unwrap_or_default()),
        },
    };
    let (began_key, ended_key) =
        ("InactiveExitTimestampMonotonic", "ActiveEnterTimestampMonotonic");
    let began = at(began_key)?;
    // A unit that was started again keeps the end of its older start until the newer one ends.
    let ended = at(ended_key).filter(|ended| *ended >= began);
    let outcome = match (ended, of("Result")) {
        (Some(_), _) => AttemptOutcome::Started,
        (None, Some("timeout")) => AttemptOutcome::TimedOut,
        (None, Some("success")) | (None, None) => AttemptOutcome::Unknown,
        (None, Some(_)) => AttemptOutcome::Failed,
    };
    let attempt = Attempt {
        began: moment(began_key, began),
        ended: ended.map(|ended| moment(ended_key, ended)),
        outcome,
    };
    Some(Unit { name: name.to_owned(), attempts: vec![attempt] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_read_from_the_text_of_systemctl() {
        let units = parse(
            "Id=ssh.service\nResult=success\nInactiveExitTimestampMonotonic=11500000\nActiveEnterTimestampMonotonic=113170000\n\n\
             Id=never.service\nResult=success\nInactiveExitTimestampMonotonic=0\nActiveEnterTimestampMonotonic=0\n\n\
             Id=late.service\nResult=timeout\nInactiveExitTimestampMonotonic=7000000\nActiveEnterTimestampMonotonic=0\n\nnonsense\n",
        );
        let names: Vec<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
        assert_eq!(names, ["ssh.service", "late.service"]);
        let ssh = &units[0].attempts[0];
        assert_eq!(ssh.began.at, Some(11.5));
        assert_eq!(ssh.ended.as_ref().unwrap().at, Some(113.17));
        assert_eq!(units[1].attempts[0].outcome, AttemptOutcome::TimedOut);
    }

    #[test]
    fn a_command_that_does_not_answer_is_left_within_the_limit() {
        let mut slow = Command::new("sleep");
        slow.arg("30");
        let error = output(slow).unwrap_err();
        assert!(error.contains("did not answer"), "{error}");
        let error = output(Command::new("headwater-no-such-program")).unwrap_err();
        assert!(error.contains("could not be started"), "{error}");
    }
}
