//! The host's entropy, from a descriptor that this process was given or a socket of the hypervisor.
//!
//! Never from the command line or the environment: every user of the machine can read the first in
//! /proc, every child inherits the second, and both reach logs.

use crate::Usage;
use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use socket2::{Domain, SockAddr, Socket, Type};
use std::fs::File;
use std::io::IsTerminal;
use std::time::Duration;
use zeroize::Zeroizing;

/// As much as the kernel's generator holds.
pub(super) const LEAST: usize = 32;
/// More than any host has to give. The rest is left unread.
const MOST: usize = 512;
/// As long as a repair waits for a host to connect, and for its next bytes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads up to 512 bytes of a descriptor, until its end, and closes it to the programs that follow.
///
/// # Errors
///
/// If it is a terminal, if there are fewer than 32 bytes, or if they cannot be random.
pub(super) fn read(descriptor: u32) -> Result<Zeroizing<Vec<u8>>> {
    let Ok(number) = i32::try_from(descriptor) else {
        bail!(Usage(format!("no descriptor has the number {descriptor}")));
    };
    if [1, 2].contains(&number) {
        bail!(Usage(format!(
            "descriptor {number} is for output; give the entropy by 0, or 3 and above"
        )));
    }
    // SAFETY: the number is read from and flagged, and not closed or kept; and a number that is no
    // open descriptor makes read(2) fail with EBADF. No other code of this process owns a
    // descriptor that the caller could mean: it was opened before the process began.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    if file.is_terminal() {
        bail!(Usage("entropy cannot be typed; give random bytes, by a pipe or a file".to_owned()));
    }
    let bytes = up_to_the_end(file, None)
        .with_context(|| format!("cannot read entropy from descriptor {descriptor}"))?;
    // Hooks and the gated program inherit descriptors. One that is a file could be read again from
    // its beginning, and a pipe may hold what was left unread.
    match number {
        0 => rustix::stdio::dup2_stdin(File::open("/dev/null").context("/dev/null")?)?,
        _ => fcntl_setfd(file, FdFlags::CLOEXEC)?,
    }
    check(&bytes)?;
    Ok(bytes)
}

/// Reads up to 512 bytes of a stream socket between this machine and its host, until its end.
///
/// # Errors
///
/// If the host does not answer within ten seconds, if there are fewer than 32 bytes, or if they
/// cannot be random.
pub(super) fn receive((cid, port): (u32, u32)) -> Result<Zeroizing<Vec<u8>>> {
    // Other programs do not inherit it.
    let socket = Socket::new(Domain::VSOCK, Type::STREAM, None)
        .context("this kernel has no sockets of a hypervisor (CONFIG_VSOCKETS)")?;
    let place = || format!("port {port} of machine {cid} over vsock");
    socket
        .connect_timeout(&SockAddr::vsock(cid, port), PATIENCE)
        .with_context(|| format!("cannot connect to {}", place()))?;
    let bytes = match up_to_the_end(socket.as_fd(), Some(PATIENCE)) {
        Err(Errno::TIMEDOUT) => {
            bail!("{} sent no byte for {} seconds", place(), PATIENCE.as_secs())
        }
        read => read.with_context(|| format!("cannot read entropy from {}", place()))?,
    };
    check(&bytes)?;
    Ok(bytes)
}

/// Reads up to 512 bytes, until the end. Waits for each of them, also where the descriptor itself
/// does not, because it is shared with a parent that has it so.
fn up_to_the_end(
    file: BorrowedFd<'_>,
    patience: Option<Duration>,
) -> Result<Zeroizing<Vec<u8>>, Errno> {
    let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
    let mut bytes = Zeroizing::new(vec![0; MOST]);
    let mut length = 0;
    while length < MOST {
        match poll(&mut [PollFd::from_borrowed_fd(file, PollFlags::IN)], patience.as_ref()) {
            Ok(0) => return Err(Errno::TIMEDOUT),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error),
        }
        match rustix::io::read(file, &mut bytes[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// Returns an error for bytes that are too few, or that repeat with a short period, such as zeros
/// of a device that is not there. No test can show that bytes are random, so this is no approval.
fn check(bytes: &[u8]) -> Result<()> {
    if bytes.len() < LEAST {
        bail!(
            "{} bytes of entropy were given, and {LEAST} are needed; nothing was changed",
            bytes.len()
        );
    }
    let repeats = |period: &usize| bytes.iter().zip(&bytes[*period..]).all(|(a, b)| a == b);
    if let Some(period) = (1..=bytes.len() / 2).find(repeats) {
        bail!(
            "the entropy repeats itself every {period} bytes, so it is not random; nothing was changed"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parent that serves many children has its pipes non-blocking, and a pipe that both share
    /// is so for the child, too.
    #[test]
    fn a_descriptor_that_does_not_wait_is_waited_for() {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        let (ours, mut hosts) = std::os::unix::net::UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let random: Vec<u8> = (0..64_u32).map(|i| (i * i * 167 + 13 * i) as u8).collect();
        let sent = random.clone();
        let host = std::thread::spawn(move || {
            for part in sent.chunks(16) {
                std::thread::sleep(Duration::from_millis(50));
                hosts.write_all(part).unwrap();
            }
        });
        let bytes = read(u32::try_from(ours.as_raw_fd()).unwrap()).unwrap();
        host.join().unwrap();
        assert_eq!(*bytes, random);
    }

    #[test]
    fn too_few_bytes_and_bytes_that_repeat_are_refused() {
        let random: Vec<u8> = (0..64_u32).map(|i| (i * i * 167 + 13 * i) as u8).collect();
        check(&random).unwrap();
        check(&random[..LEAST]).unwrap();
        let error = |bytes: &[u8]| check(bytes).unwrap_err().to_string();
        assert!(error(&random[..LEAST - 1]).contains("31 bytes"));
        assert!(error(&[]).contains("0 bytes"));
        for bytes in
            [vec![0; 32], vec![0xFF; 512], b"password".repeat(4), b"0123456789abcdef".repeat(2)]
        {
            assert!(error(&bytes).contains("repeats itself"), "{bytes:?}");
        }
    }
}
