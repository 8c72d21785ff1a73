//! Names and numbers by which a machine or a process is known.

use super::{Sources, hex};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;

pub(super) fn sources() -> Sources {
    let mut sources = Sources::new("this machine");
    for (id, path) in [
        ("machine/boot_id", "/proc/sys/kernel/random/boot_id"),
        ("machine/machine-id", "/etc/machine-id"),
        ("machine/host-name", "/proc/sys/kernel/hostname"),
        ("machine/ssh-host-key", "/etc/ssh/ssh_host_ed25519_key.pub"),
        ("machine/systemd-seed", "/var/lib/systemd/random-seed"),
    ] {
        sources.keep(id, move || Ok(hex(&fs::read(path).context(path)?)));
    }
    // Each program receives 16 bytes of the kernel when it starts; the stack's canary comes from
    // them.
    sources.keep("process/AT_RANDOM", || Ok(hex(&at_random()?)));
    sources.keep("process/address-layout", || {
        let local = 0;
        Ok(format!("{:x}", (&raw const local).addr() >> 12))
    });
    sources.draw("kernel-net/bound-port", || {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        Ok(socket.local_addr()?.port().to_string())
    });
    // Each draw makes its own connection, because one that was open when the process was copied
    // would have to be copied too.
    sources.draw("kernel-net/connected-port", || connection(|_, port| Ok(port.to_string())));
    sources.draw("kernel-net/tcp-isn", || connection(|stream, _| initial_sequence(stream)));
    sources
}

/// Makes a connection to this machine, and asks something of it and of its own port.
fn connection(ask: impl FnOnce(&TcpStream, u16) -> Result<String>) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let stream = TcpStream::connect(listener.local_addr()?)?;
    let port = stream.local_addr()?.port();
    ask(&stream, port)
}

/// Returns the sequence number at which the connection stands, which is the initial one plus one
/// while nothing was sent. Only root may ask (TCP_REPAIR, Linux 3.5).
fn initial_sequence(stream: &TcpStream) -> Result<String> {
    const SEND_QUEUE: libc::c_int = 2;
    let set = |name: libc::c_int, value: libc::c_int| -> Result<()> {
        let size = libc::socklen_t::try_from(size_of_val(&value))?;
        // SAFETY: the descriptor is open while `stream` is borrowed; the option's value is an int,
        // and the kernel reads as many bytes as `size` says.
        let status = unsafe {
            let value = (&raw const value).cast();
            libc::setsockopt(stream.as_raw_fd(), libc::IPPROTO_TCP, name, value, size)
        };
        ensure!(status == 0, std::io::Error::last_os_error());
        Ok(())
    };
    set(libc::TCP_REPAIR, 1)?;
    set(libc::TCP_REPAIR_QUEUE, SEND_QUEUE)?;
    let mut number: u32 = 0;
    let mut size = libc::socklen_t::try_from(size_of_val(&number))?;
    // SAFETY: as above; the kernel writes at most `size` bytes, which `number` has.
    let status = unsafe {
        let value = (&raw mut number).cast();
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_QUEUE_SEQ,
            value,
            &raw mut size,
        )
    };
    ensure!(status == 0, std::io::Error::last_os_error());
    Ok(number.to_string())
}

fn at_random() -> Result<[u8; 16]> {
    // SAFETY: getauxval reads a table that the kernel made for this process, and returns 0 for what
    // is not in it.
    let address = unsafe { libc::getauxval(libc::AT_RANDOM) };
    ensure!(address != 0, "the kernel gave this process no AT_RANDOM");
    // SAFETY: AT_RANDOM is the address of 16 bytes on the process's first stack, which stays mapped
    // for as long as the process lives, and which nothing writes to.
    Ok(unsafe { std::ptr::read_unaligned(address as *const [u8; 16]) })
}
