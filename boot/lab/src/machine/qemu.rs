//! A machine that QEMU emulates, and the conversation with its guest.

use crate::machine::cache::Cache;
use crate::machine::command;
use crate::machine::manifest::KernelImage;
use crate::machine::qmp::Qmp;
use crate::machine::temporary::Temporary;
use crate::process::last_lines;
use anyhow::{Context, Result, bail, ensure};
use headwater_lab_protocol::{
    self as protocol, Command as GuestCommand, Data, Entry, FileError, Message,
};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A machine to start.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) kernel: KernelImage,
    pub(crate) archive: PathBuf,
    /// `-machine`
    pub(crate) board: String,
    /// `-cpu`
    pub(crate) cpu: String,
    pub(crate) cpus: usize,
    pub(crate) devices: Vec<String>,
    pub(crate) firmware: Option<PathBuf>,
    /// Words for the kernel's command line.
    pub(crate) append: String,
}

impl Machine {
    /// Returns a plain machine: no random instruction, no device but two serial ports.
    pub(crate) fn new(kernel: &KernelImage, archive: &Path) -> Machine {
        let arm = kernel.architecture == "aarch64";
        Machine {
            kernel: kernel.clone(),
            archive: archive.to_path_buf(),
            // By default, QEMU passes a seed in the device tree.
            board: if arm { "virt,dtb-randomness=off" } else { "pc" }.to_owned(),
            cpu: if arm { "cortex-a57" } else { "qemu64" }.to_owned(),
            cpus: 1,
            devices: Vec::new(),
            firmware: None,
            append: String::new(),
        }
    }

    /// Adds words to QEMU's command line.
    pub(crate) fn device(&mut self, words: &str) {
        self.devices.extend(words.split_ascii_whitespace().map(str::to_owned));
    }

    /// Returns the time in which a guest starts. Emulation starts one CPU after the other.
    pub(crate) fn start_limit(&self) -> Duration {
        Duration::from_secs(180 + 10 * self.cpus as u64)
    }

    pub(crate) fn is_arm(&self) -> bool {
        self.kernel.architecture == "aarch64"
    }
}

/// A guest that runs or waits to be resumed.
pub(crate) struct Guest {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    pub(crate) qmp: Qmp,
    /// File with the output of the kernel's console.
    pub(crate) console: PathBuf,
    errors: PathBuf,
    pub(crate) begun: Instant,
}

impl Guest {
    /// Starts the machine. From a saved state, if one is given; the guest is then paused.
    pub(crate) fn start(
        cache: &Cache,
        machine: &Machine,
        directory: &Path,
        name: &str,
        incoming: Option<&Path>,
    ) -> Result<Guest> {
        let console = directory.join(format!("{name}.console"));
        let errors = directory.join(format!("{name}.errors"));
        // Not in the cache, whose path may be too long for a socket.
        let sockets = Temporary::directory()?;
        let socket = sockets.socket(name)?;
        let command = command::of(cache, machine, &console, &socket, incoming)?;
        let mut command = command::killed_with_us(&command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&errors)?);
        let begun = Instant::now();
        let mut child = command
            .spawn()
            .context("cannot start QEMU by setpriv(1), which Debian's util-linux has")?;
        let input = child.stdin.take().context("QEMU has no input")?;
        let output = child.stdout.take().context("QEMU has no output")?;
        let (sender, lines) = channel();
        let log = File::create(directory.join(format!("{name}.lines")))?;
        std::thread::spawn(move || {
            let mut log = log;
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                let _ = writeln!(log, "{}", line.trim_end()); // kept for the analysis of failures
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let has_ended = || child.try_wait().is_ok_and(|status| status.is_some());
        let qmp = Qmp::connect(&socket, Duration::from_secs(60), has_ended);
        drop(sockets); // the connection needs no name
        let qmp = qmp.map_err(|error| {
            let _ = child.kill();
            let _ = child.wait();
            let errors = last_lines(&fs::read(&errors).unwrap_or_default());
            error
                .context(format!("QEMU did not start {}: {errors}", machine.kernel.image.display()))
        })?;
        Ok(Guest { child, input, lines, qmp, console, errors, begun })
    }

    /// Starts the machine, and returns it with its messages once it is ready. One that panics
    /// before is started once more: on a busy host the emulated timer can be too late for a kernel.
    pub(crate) fn start_until_ready(
        cache: &Cache,
        machine: &Machine,
        directory: &Path,
        name: &str,
    ) -> Result<(Guest, Vec<Message>)> {
        let mut retries = 0;
        loop {
            let mut guest = Guest::start(cache, machine, directory, name, None)?;
            let is_ready = |message: &Message| matches!(message, Message::Ready(_));
            match guest.until(is_ready, machine.start_limit()) {
                Err(error) if guest.panicked() && retries < 1 => {
                    eprintln!("headwater lab: {error:#}; trying again");
                    retries += 1;
                }
                messages => return Ok((guest, messages?)),
            }
        }
    }

    /// Returns the next message of the guest, if it comes within `patience`.
    pub(crate) fn next(&mut self, patience: Duration) -> Result<Message> {
        if let Some(message) = self.receive(patience)? {
            return Ok(message);
        }
        let errors = last_lines(&fs::read(&self.errors).unwrap_or_default());
        bail!("QEMU ended{}{}{errors}", self.panic(), if errors.is_empty() { "" } else { ": " })
    }

    /// Returns the next message of the guest; None if QEMU has ended.
    fn receive(&mut self, patience: Duration) -> Result<Option<Message>> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => match protocol::read(&line)? {
                    Some(Message::Failed(failed)) => bail!("the guest reports: {}", failed.text),
                    Some(message) => return Ok(Some(message)),
                    None => {}
                },
                Err(RecvTimeoutError::Timeout) => {
                    bail!("the guest was silent for {} s{}", patience.as_secs(), self.panic());
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// Returns all messages up to the first for which `is_last` holds.
    pub(crate) fn until(
        &mut self,
        is_last: impl Fn(&Message) -> bool,
        patience: Duration,
    ) -> Result<Vec<Message>> {
        let mut messages = Vec::new();
        loop {
            let message = self.next(patience)?;
            let found = is_last(&message);
            messages.push(message);
            if found {
                return Ok(messages);
            }
        }
    }

    /// Waits until the machine is off, as the guest was asked to switch it off.
    pub(crate) fn until_off(&mut self, patience: Duration) -> Result<()> {
        while self.receive(patience)?.is_some() {}
        let status = self.child.wait()?;
        ensure!(status.success(), "QEMU ended with {status}{}", self.panic());
        Ok(())
    }

    /// Returns the file of the kernel's console.
    pub(crate) fn console(&self) -> &Path {
        &self.console
    }

    /// Sends a command and returns the answer.
    pub(crate) fn ask(&mut self, command: &GuestCommand) -> Result<Vec<Message>> {
        self.ask_for(command, Duration::from_secs(120))
    }

    /// Sends a command whose answer may take longer.
    pub(crate) fn ask_for(
        &mut self,
        command: &GuestCommand,
        patience: Duration,
    ) -> Result<Vec<Message>> {
        self.send(command)?;
        self.answer(command, patience)
    }

    /// Sends a command whose answer is read later.
    pub(crate) fn send(&mut self, command: &GuestCommand) -> Result<()> {
        self.input
            .write_all(protocol::line(command).as_bytes())
            .with_context(|| format!("cannot send {command:?} to the guest"))
    }

    /// Returns the answer of a command that was sent.
    pub(crate) fn answer(
        &mut self,
        command: &GuestCommand,
        patience: Duration,
    ) -> Result<Vec<Message>> {
        let is_done = |message: &Message| matches!(message, Message::Done(_));
        let messages = self.until(is_done, patience).with_context(|| format!("at {command:?}"))?;
        complete(messages).with_context(|| format!("at {command:?}"))
    }

    /// Returns the content of a file in the guest.
    pub(crate) fn read(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let messages = self.ask_for_file(&GuestCommand::Read { path: path.to_owned() })?;
        let pieces = protocol::all::<Data>(&messages);
        Ok(pieces.flat_map(|piece| piece.bytes.iter().copied()).collect())
    }

    /// Returns the entries of a directory in the guest.
    pub(crate) fn list(&mut self, path: &str) -> io::Result<Vec<Entry>> {
        let messages = self.ask_for_file(&GuestCommand::List { path: path.to_owned() })?;
        Ok(protocol::all::<Entry>(&messages).cloned().collect())
    }

    fn ask_for_file(&mut self, command: &GuestCommand) -> io::Result<Vec<Message>> {
        const EIO: i32 = 5;
        let messages = self.ask(command).map_err(|error| io::Error::other(format!("{error:#}")))?;
        match protocol::first::<FileError>(&messages) {
            Some(FileError { errno: 0, .. }) => Err(io::Error::from_raw_os_error(EIO)),
            Some(error) => Err(io::Error::from_raw_os_error(error.errno)),
            None => Ok(messages),
        }
    }

    /// Lets the guest end itself.
    pub(crate) fn off(mut self) {
        let _ = self.input.write_all(protocol::line(&GuestCommand::Off).as_bytes());
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // The drop kills a guest that does not end.
    }

    /// Returns the first line about a panic on the kernel's console, as the end of a message.
    fn panic(&self) -> String {
        let console = fs::read(&self.console).unwrap_or_default();
        let console = String::from_utf8_lossy(&console);
        let line =
            console.lines().find(|line| line.contains("PANIC") || line.contains("Kernel panic"));
        line.map_or_else(String::new, |line| format!("; its console shows: {}", line.trim()))
    }

    /// Returns true if the guest's kernel panicked.
    pub(crate) fn panicked(&self) -> bool {
        !self.panic().is_empty()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Removes the [`Done`](Message::Done) at the end of an answer, after a check that no message was
/// lost.
fn complete(mut messages: Vec<Message>) -> Result<Vec<Message>> {
    let Some(Message::Done(done)) = messages.pop() else { bail!("the answer has no end") };
    // Other processes of the guest send their status; the one that answers does not count it.
    let counted = messages.iter().filter(|message| !matches!(message, Message::Status(_))).count();
    ensure!(
        counted as u64 == done.messages,
        "{counted} of {} messages arrived; the others were lost on the serial line",
        done.messages
    );
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headwater_lab_protocol::{Done, Rtc, Status};

    #[test]
    fn an_answer_that_lacks_a_message_is_refused() {
        let rtc = || Message::from(Rtc { accepted: true });
        let done = |messages| Message::from(Done { messages });
        let status = || Message::from(Status::default());
        assert_eq!(complete(vec![rtc(), done(1)]).unwrap(), [rtc()]);
        assert_eq!(complete(vec![done(0)]).unwrap(), []);
        // The status of other processes is not part of the count.
        assert_eq!(complete(vec![status(), rtc(), status(), done(1)]).unwrap().len(), 3);
        assert!(complete(vec![done(1)]).is_err());
        assert!(complete(vec![rtc(), rtc(), done(3)]).is_err());
        assert!(complete(vec![rtc(), rtc(), done(1)]).is_err());
        assert!(complete(vec![status(), done(1)]).is_err());
        assert!(complete(Vec::new()).is_err());
    }
}
