//! A connection to the host, which ends when this machine is copied.
//!
//! A snapshot holds the guest's half of a connection over vsock, and the other half stays with the
//! host. So a copy has half of one. Hypervisors that restore the device send an event by which the
//! guest's kernel ends its connections (VIRTIO_VSOCK_EVENT_TRANSPORT_RESET, virtio 1.2, 5.10.6.7).
//! Not all do, so this end also writes a byte each second: a host that does not know the connection
//! answers it by a reset.
//!
//! The host's end may go for other reasons, and then the machine counts as copied although it was
//! not. The other error would be worse. For the same reason a new connection counts too: nothing
//! showed a copy that was made before there was one.

use anyhow::{Context, Result};
use rustix::io::Errno;
use socket2::{Domain, SockAddr, Socket, Type};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// The time that a connection may take. The watch sees nothing else meanwhile.
const PATIENCE: Duration = Duration::from_secs(1);

/// The guest's end.
pub(super) struct Link {
    address: SockAddr,
    domain: Domain,
    socket: Option<Socket>,
}

impl Link {
    /// Connects to a port of a machine over vsock; the host is machine 2.
    ///
    /// # Errors
    ///
    /// If the host does not listen there: a watch that begins without its signal would see nothing.
    pub(super) fn open((cid, port): (u32, u32)) -> Result<Link> {
        Link::to(SockAddr::vsock(cid, port), Domain::VSOCK).with_context(|| {
            format!(
                "cannot connect to port {port} of machine {cid} over vsock, where the host has to \
                 listen before the watch begins"
            )
        })
    }

    fn to(address: SockAddr, domain: Domain) -> Result<Link> {
        let socket = connect(&address, domain)?;
        Ok(Link { address, domain, socket: Some(socket) })
    }

    /// Returns whether the connection ended, or there is a new one after a time without.
    pub(super) fn has_ended(&mut self) -> bool {
        let ended = match &self.socket {
            Some(socket) if is_whole(socket) => return false,
            socket => socket.is_some(),
        };
        self.socket = connect(&self.address, self.domain).ok();
        ended || self.socket.is_some()
    }

    /// Returns the connection for poll(2), if there is one.
    pub(super) fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.socket.as_ref().map(AsFd::as_fd)
    }
}

/// Returns a connection that no other program inherits, and that never blocks.
fn connect(address: &SockAddr, domain: Domain) -> std::io::Result<Socket> {
    let socket = Socket::new(domain, Type::STREAM, None)?;
    socket.connect_timeout(address, PATIENCE)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Returns whether a connection has both ends, as far as this one can know. Bytes of the host mean
/// nothing, and are thrown away.
fn is_whole(socket: &Socket) -> bool {
    let mut buffer = [MaybeUninit::uninit(); 512];
    let has_waited =
        |error: &std::io::Error| error.raw_os_error() == Some(Errno::AGAIN.raw_os_error());
    loop {
        match socket.recv(&mut buffer) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) if has_waited(&error) => break,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
    // A host that reads nothing for days leaves no room for the byte, which shows nothing.
    match socket.send(&[0]) {
        Ok(_) => true,
        Err(error) => has_waited(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;
    use std::thread::sleep;

    /// Connects over TCP, whose streams end in the same ways as those of a hypervisor's sockets,
    /// which are not on every machine.
    fn link() -> (Link, TcpListener, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let link = Link::to(listener.local_addr().unwrap().into(), Domain::IPV4).unwrap();
        let host = listener.accept().unwrap().0;
        host.set_read_timeout(Some(Duration::from_secs(5))).unwrap(); // an error, and no wait
        (link, listener, host)
    }

    fn ends_within_a_second(link: &mut Link) -> bool {
        (0..100).any(|_| {
            sleep(Duration::from_millis(10));
            link.has_ended()
        })
    }

    #[test]
    fn a_connection_that_stays_is_no_copy() {
        let (mut link, _listener, mut host) = link();
        host.write_all(&[1; 5000]).unwrap();
        for _ in 0..100 {
            assert!(!link.has_ended());
        }
        let mut beats = [1; 100];
        host.read_exact(&mut beats).unwrap();
        assert_eq!(beats, [0; 100]);
    }

    #[test]
    fn each_end_is_one_copy_and_the_next_connection_is_watched() {
        let (mut link, listener, mut host) = link();
        for round in 0..20 {
            if round % 2 == 0 {
                // Unread bytes make the end a reset.
                assert!(!link.has_ended());
            } else {
                let mut beats = [0; 100];
                let _ = host.read(&mut beats).unwrap();
            }
            drop(host);
            assert!(ends_within_a_second(&mut link), "round {round}");
            host = listener.accept().unwrap().0;
            assert!(!link.has_ended(), "round {round}");
        }
    }

    /// As in a copy, whose hypervisor sends no event: the host's half is gone without a word.
    #[test]
    fn a_half_that_nobody_knows_is_found_by_its_own_byte() {
        let (mut link, listener, host) = link();
        let on: libc::c_int = 1;
        // SAFETY: an open socket, and an int that outlives the call.
        let done = unsafe {
            libc::setsockopt(
                host.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_REPAIR,
                (&raw const on).cast(),
                size_of_val(&on) as libc::socklen_t,
            )
        };
        if done != 0 {
            println!("skipped: only root can end a connection silently, so no copy is imitated");
            return;
        }
        drop(host);
        let mut set = [PollFd::from_borrowed_fd(link.as_fd().unwrap(), PollFlags::IN)];
        let short = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        assert_eq!(rustix::event::poll(&mut set, Some(&short)), Ok(0), "this end heard of it");
        assert!(ends_within_a_second(&mut link));
        let _host = listener.accept().unwrap();
        assert!(!link.has_ended());
    }

    #[test]
    fn a_time_without_a_host_ends_with_another_copy() {
        let (mut link, listener, host) = link();
        let address = listener.local_addr().unwrap();
        drop((listener, host));
        assert!(ends_within_a_second(&mut link));
        assert!(link.as_fd().is_none());
        for _ in 0..10 {
            assert!(!link.has_ended(), "nothing is known");
        }
        let Ok(listener) = TcpListener::bind(address) else {
            println!("skipped: another program took the port, so no second connection is tried");
            return;
        };
        assert!(link.has_ended());
        let _host = listener.accept().unwrap();
        assert!(!link.has_ended());
    }

    #[test]
    fn a_host_that_reads_nothing_is_no_copy() {
        let (mut link, _listener, _host) = link();
        let socket = link.socket.as_ref().unwrap();
        while socket.send(&[0; 65536]).is_ok() {}
        assert!(!link.has_ended());
    }

    #[test]
    fn a_watch_without_its_host_does_not_begin() {
        let error = Link::open((2, 1)).err().expect("nothing listens there");
        let text = format!("{error:#}");
        assert!(text.contains("port 1 of machine 2 over vsock"), "{text}");
    }
}
