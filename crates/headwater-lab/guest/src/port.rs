//! The serial line to the lab: lines `HW WORD key=value ... [text=REST]` out, commands in.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Mutex, OnceLock};

static OUT: OnceLock<Mutex<File>> = OnceLock::new();

/// Opens the line, raw: the terminal layer must neither echo nor translate.
pub(crate) fn open(name: &str) -> io::Result<BufReader<File>> {
    let path = Path::new("/dev").join(name);
    let input = File::open(&path)?;
    let mut output = File::options().write(true).open(&path)?;
    // SAFETY: `termios` is integers, for which zeros are values; both calls get this descriptor and that struct.
    unsafe {
        let mut settings: libc::termios = std::mem::zeroed();
        if libc::tcgetattr(input.as_raw_fd(), &mut settings) == 0 {
            libc::cfmakeraw(&mut settings);
            libc::tcsetattr(input.as_raw_fd(), libc::TCSANOW, &settings);
        }
    }
    // UEFI firmware has used the line before us, and leaves a line without an end.
    output.write_all(b"\n")?;
    let _ = OUT.set(Mutex::new(output));
    Ok(BufReader::new(input))
}

/// Writes one line at once. Before `open` it goes nowhere, as on a machine without the port.
pub(crate) fn write(line: fmt::Arguments) {
    let line = format!("HW {line}\n");
    if let Some(out) = OUT.get() {
        let mut out = out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Nobody is left to tell if the line is gone.
        let _ = out.write_all(line.as_bytes());
    }
}

/// `say!("word key={}", value)`.
macro_rules! say {
    ($($arg:tt)*) => { $crate::port::write(format_args!($($arg)*)) };
}
pub(crate) use say;

/// The next command, without its newline; `None` when the line is closed.
pub(crate) fn command(input: &mut BufReader<File>) -> Option<String> {
    let mut line = String::new();
    loop {
        line.clear();
        match input.read_line(&mut line) {
            Ok(0) => return None,
            Ok(_) if line.trim().is_empty() => {}
            Ok(_) => return Some(line.trim().to_owned()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
