//! A client of QEMU's debugger stub, which alone can write into the memory of a running guest
//! (GDB's remote serial protocol, "Packets" in GDB's manual).

use crate::machine::command::with_path;
use crate::machine::qmp::Qmp;
use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// The answer's longest wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// Writes bytes at an address of the guest's kernel. The guest stands still meanwhile, and then
/// continues. The stub writes read-only memory too.
pub(crate) fn write(qmp: &mut Qmp, socket: &Path, address: u64, bytes: &[u8]) -> Result<()> {
    // The monitor answers with a note that it waits, which is no error.
    let serve = format!("{},server=on,wait=off", with_path("gdbserver unix:", socket));
    qmp.ask("human-monitor-command", json!({ "command-line": serve }))?;
    let result = session(socket, address, bytes);
    qmp.ask("human-monitor-command", json!({ "command-line": "gdbserver none" }))?;
    result
}

fn session(socket: &Path, address: u64, bytes: &[u8]) -> Result<()> {
    let stream = UnixStream::connect(socket).context("QEMU opened no debugger's socket")?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut stream = BufReader::new(stream);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let written = ask(&mut stream, &format!("M{address:x},{:x}:{hex}", bytes.len()))?;
    ensure!(written == "OK", "QEMU's debugger cannot write at {address:#x}: '{written}'");
    let left = ask(&mut stream, "D")?;
    ensure!(left == "OK", "QEMU's debugger does not let the guest continue: '{left}'");
    Ok(())
}

/// Sends a packet, and returns the content of its answer.
fn ask(stream: &mut BufReader<UnixStream>, content: &str) -> Result<String> {
    stream.get_mut().write_all(packet(content).as_bytes()).context("QEMU's debugger has gone")?;
    let mut next = || -> Result<u8> {
        let mut byte = [0];
        stream.read_exact(&mut byte).context("QEMU's debugger does not answer")?;
        Ok(byte[0])
    };
    // A plus acknowledges our packet, and a dollar begins the answer.
    loop {
        match next()? {
            b'+' => {}
            b'$' => break,
            other => bail!("QEMU's debugger answered {:?} to '{content}'", char::from(other)),
        }
    }
    let mut answer = String::new();
    loop {
        match next()? {
            b'#' => break,
            byte => answer.push(char::from(byte)),
        }
    }
    // Two digits of the sum, which a socket of this machine cannot damage.
    let _ = (next()?, next()?);
    stream.get_mut().write_all(b"+")?;
    Ok(answer)
}

/// Returns a packet: its content, and the sum of its bytes in hexadecimal digits.
fn packet(content: &str) -> String {
    let sum = content.bytes().fold(0u8, u8::wrapping_add);
    format!("${content}#{sum:02x}")
}

#[cfg(test)]
mod tests {
    /// GDB's manual has the sum of `OK`, and `$?#3f` is the first packet of every session.
    #[test]
    fn packets_have_the_sum_of_their_bytes() {
        assert_eq!(super::packet("OK"), "$OK#9a");
        assert_eq!(super::packet("?"), "$?#3f");
    }
}
