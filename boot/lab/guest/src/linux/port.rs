//! The serial line to the lab.

use headwater_lab_protocol::{Command, Failed, Message, Status, line, read};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

static OUT: OnceLock<Mutex<File>> = OnceLock::new();
/// Messages that this process has sent, without [`Status`].
static SENT: AtomicU64 = AtomicU64::new(0);

/// Opens the line in raw mode, because the terminal layer must neither echo nor translate.
pub(crate) fn open(name: &str) -> io::Result<BufReader<File>> {
    let path = Path::new("/dev").join(name);
    let input = File::open(&path)?;
    let mut output = File::options().write(true).open(&path)?;
    if let Ok(mut settings) = tcgetattr(&input) {
        settings.make_raw();
        let _ = tcsetattr(&input, OptionalActions::Now, &settings);
    }
    // UEFI firmware writes to the same line, and leaves its last line without an end.
    output.write_all(b"\n")?;
    let _ = OUT.set(Mutex::new(output));
    Ok(BufReader::new(input))
}

/// Sends one message. Before [`open`] it goes nowhere, as on a machine without the port.
pub(crate) fn send(message: impl Into<Message>) {
    let message = message.into();
    if !matches!(message, Message::Status(Status { .. })) {
        SENT.fetch_add(1, Relaxed);
    }
    if let Some(out) = OUT.get() {
        let mut out = out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // If the line is closed, no other channel could carry the error.
        let _ = out.write_all(line(&message).as_bytes());
    }
}

/// Reports a failure, which ends the lab's experiment.
pub(crate) fn fail(text: impl Into<String>) {
    send(Failed { text: text.into() });
}

/// Returns the number of messages that this process has sent, without [`Status`].
pub(crate) fn sent() -> u64 {
    SENT.load(Relaxed)
}

/// Returns the next command, or `None` when the line is closed. A damaged command is reported.
pub(crate) fn command(input: &mut BufReader<File>) -> Option<Command> {
    let mut text = String::new();
    loop {
        text.clear();
        match input.read_line(&mut text) {
            Ok(0) => return None,
            Ok(_) => match read::<Command>(&text) {
                Ok(Some(command)) => return Some(command),
                Ok(None) => {}
                Err(error) => fail(error.to_string()),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
