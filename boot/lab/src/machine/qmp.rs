//! A client of QEMU's control protocol: one command, one answer, events in between
//! (docs/interop/qmp-spec of QEMU).

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A connection to one QEMU.
pub(crate) struct Qmp {
    stream: BufReader<UnixStream>,
}

impl Qmp {
    /// Connects to a QEMU that was just started, and whose socket may not exist yet. One that
    /// refuses its command line ends without a socket, so it is not waited for.
    pub(crate) fn connect(
        socket: &Path,
        patience: Duration,
        mut has_ended: impl FnMut() -> bool,
    ) -> Result<Qmp> {
        let begun = Instant::now();
        let stream = loop {
            match UnixStream::connect(socket) {
                Ok(stream) => break stream,
                Err(_) if has_ended() => bail!("it ended before it opened its control socket"),
                Err(error) if begun.elapsed() > patience => {
                    return Err(error).context("QEMU did not open its control socket");
                }
                Err(_) => sleep(Duration::from_millis(10)),
            }
        };
        stream.set_read_timeout(Some(patience))?;
        let mut qmp = Qmp { stream: BufReader::new(stream) };
        let mut greeting = String::new();
        qmp.stream.read_line(&mut greeting).context("QEMU did not send its greeting")?;
        qmp.ask("qmp_capabilities", json!({}))?;
        Ok(qmp)
    }

    /// Sends a command and returns its answer.
    pub(crate) fn ask(&mut self, command: &str, arguments: Value) -> Result<Value> {
        let line = json!({ "execute": command, "arguments": arguments }).to_string() + "\n";
        self.stream
            .get_mut()
            .write_all(line.as_bytes())
            .with_context(|| format!("cannot send '{command}' to QEMU"))?;
        loop {
            let mut answer = String::new();
            let length = self.stream.read_line(&mut answer);
            if length.with_context(|| format!("QEMU did not answer '{command}'"))? == 0 {
                bail!("QEMU ended at '{command}'");
            }
            let mut answer: Value =
                serde_json::from_str(&answer).context("the answer of QEMU is not JSON")?;
            if let Some(error) = answer.get("error") {
                bail!(
                    "QEMU refused '{command}': {}",
                    error["desc"].as_str().unwrap_or("no reason given")
                );
            }
            if answer.get("return").is_some() {
                return Ok(answer["return"].take());
            }
        }
    }

    /// Sends a command of the human monitor, whose answer is empty on success.
    pub(crate) fn monitor(&mut self, line: &str) -> Result<()> {
        let answer = self.ask("human-monitor-command", json!({ "command-line": line }))?;
        match answer.as_str().map(str::trim) {
            None | Some("") => Ok(()),
            Some(text) => bail!("QEMU's command '{line}' failed: {text}"),
        }
    }

    /// Repeats a query until the `status` in its answer is one of `states`.
    pub(crate) fn wait_for(
        &mut self,
        command: &str,
        states: &[&str],
        patience: Duration,
    ) -> Result<String> {
        let begun = Instant::now();
        loop {
            let answer = self.ask(command, json!({}))?;
            let status = answer["status"].as_str().unwrap_or_default().to_owned();
            if states.contains(&status.as_str()) {
                return Ok(status);
            }
            if begun.elapsed() > patience {
                bail!("QEMU's {command} is still '{status}' after {} s", patience.as_secs());
            }
            sleep(Duration::from_millis(20));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qemu_that_has_ended_is_not_waited_for() {
        let (nowhere, patience) = (Path::new("/nowhere/socket"), Duration::from_secs(60));
        let begun = Instant::now();
        let error = Qmp::connect(nowhere, patience, || true).err().expect("nothing is there");
        assert!(error.to_string().contains("ended before"), "{error}");
        assert!(begun.elapsed() < patience / 2);
    }
}
