//! Access to a directory that resolves every path and every link inside of it, as chroot(2) does.
//!
//! openat2(2) with RESOLVE_IN_ROOT does the same, but needs Linux 5.6, and the doctor is needed
//! most on older kernels. The walk below takes one openat(2) for each name instead.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// Links followed for one path, as in Linux (MAXSYMLINKS).
const MAX_LINKS: usize = 40;
/// Names on one path. A link's target may have 2,000, and each takes a descriptor.
const MAX_DEPTH: usize = 128;

/// An open directory, and access to the files beneath it.
#[derive(Clone, Debug)]
pub(super) struct Beneath {
    top: Arc<OwnedFd>,
}

/// The end of a path: the directory that holds it, and its name there; "." for the top itself.
struct Place {
    /// Every directory on the way, for `..`.
    above: Vec<OwnedFd>,
    name: Vec<u8>,
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Beneath {
    pub(super) fn open(path: &Path) -> io::Result<Beneath> {
        let top = rustix::fs::open(path, DIRECTORY, Mode::empty())?;
        Ok(Beneath { top: Arc::new(top) })
    }

    /// Opens a regular file. A pipe or a device is refused before it is opened, because to open
    /// one can block, or start an action.
    pub(super) fn file(&self, path: &str) -> io::Result<File> {
        let place = self.resolve(path, true)?;
        if self.kind(&place)? != FileType::RegularFile {
            return Err(io::Error::other("not a regular file"));
        }
        // If a stranger replaces the file by a pipe meanwhile, NONBLOCK keeps the open from
        // blocking, and the second check refuses the pipe.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(self.fd(&place), &*place.name, flags, Mode::empty())?;
        let is_file = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode).is_file();
        if is_file { Ok(File::from(file)) } else { Err(io::Error::other("not a regular file")) }
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.resolve(path, false).is_ok_and(|place| self.kind(&place).is_ok())
    }

    /// Returns the mode of a file as stat(2) has it.
    pub(super) fn mode(&self, path: &str) -> Option<u32> {
        let place = self.resolve(path, true).ok()?;
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        Some(rustix::fs::statat(self.fd(&place), &*place.name, flags).ok()?.st_mode)
    }

    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let open = || {
            let place = self.resolve(path, true)?;
            let flags = DIRECTORY | OFlags::NOFOLLOW;
            Dir::new(rustix::fs::openat(self.fd(&place), &*place.name, flags, Mode::empty())?)
        };
        let entries = open().into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name != "." && name != "..").collect()
    }

    fn fd<'a>(&'a self, place: &'a Place) -> BorrowedFd<'a> {
        place.above.last().map_or(self.top.as_fd(), AsFd::as_fd)
    }

    fn kind(&self, place: &Place) -> io::Result<FileType> {
        let found = rustix::fs::statat(self.fd(place), &*place.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(found.st_mode))
    }

    /// Walks to the end of `path`. The last name's link is followed if `follow` says so.
    fn resolve(&self, path: &str, follow: bool) -> Result<Place, Errno> {
        let split = |path: &[u8]| -> Vec<Vec<u8>> {
            path.split(|&byte| byte == b'/').map(<[u8]>::to_vec).collect()
        };
        let mut todo: VecDeque<Vec<u8>> = split(path.as_bytes()).into();
        let mut place = Place { above: Vec::new(), name: b".".to_vec() };
        let mut links = 0;
        while let Some(name) = todo.pop_front() {
            match name.as_slice() {
                b"" | b"." => continue,
                // The top is its own parent, as in a chroot.
                b".." => {
                    // A last name that is not entered yet goes away by itself.
                    if place.name == b"." {
                        place.above.pop();
                    }
                    place.name = b".".to_vec();
                    continue;
                }
                _ => {}
            }
            self.enter(&mut place)?;
            place.name = name;
            if !follow && todo.iter().all(Vec::is_empty) {
                break;
            }
            let target = rustix::fs::readlinkat(self.fd(&place), &*place.name, Vec::new());
            // EINVAL: not a link.
            let target = match target {
                Err(Errno::INVAL) => continue,
                target => target?,
            };
            links += 1;
            if links > MAX_LINKS {
                return Err(Errno::LOOP);
            }
            if target.as_bytes().starts_with(b"/") {
                place.above.clear();
            }
            place.name = b".".to_vec();
            for name in split(target.as_bytes()).into_iter().rev() {
                todo.push_front(name);
            }
        }
        Ok(place)
    }

    /// Opens the place as the directory of the next name.
    fn enter(&self, place: &mut Place) -> Result<(), Errno> {
        if place.name == b"." {
            return Ok(());
        }
        if place.above.len() >= MAX_DEPTH {
            return Err(Errno::NAMETOOLONG);
        }
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        let fd = rustix::fs::openat(
            self.fd(place),
            OsStr::from_bytes(&place.name),
            flags,
            Mode::empty(),
        )?;
        place.above.push(fd);
        place.name = b".".to_vec();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    fn text(root: &Beneath, path: &str) -> io::Result<String> {
        let mut text = String::new();
        root.file(path)?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn links_stay_inside_and_only_regular_files_are_opened() {
        let outer = std::env::temp_dir().join(format!("headwater-beneath-{}", std::process::id()));
        let top = outer.join("top");
        fs::create_dir_all(top.join("proc/1")).unwrap();
        fs::create_dir_all(top.join("etc")).unwrap();
        fs::write(outer.join("secret"), "outside").unwrap();
        fs::write(top.join("secret"), "inside").unwrap();
        fs::write(top.join("proc/1/comm"), "init").unwrap();
        symlink("/secret", top.join("absolute")).unwrap();
        symlink("../../../../secret", top.join("etc/up")).unwrap();
        symlink("1", top.join("proc/self")).unwrap();
        symlink("loop", top.join("loop")).unwrap();
        symlink("nowhere", top.join("dangling")).unwrap();
        symlink("/dev/null", top.join("device")).unwrap();
        let pipe = rustix::fs::mknodat(
            rustix::fs::CWD,
            top.join("pipe"),
            FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        );
        let root = Beneath::open(&top).unwrap();
        for path in ["/absolute", "etc/up", "/etc/../../secret", "etc/../absolute", "../secret"] {
            assert_eq!(text(&root, path).unwrap(), "inside", "{path}");
        }
        assert_eq!(text(&root, "/proc/self/comm").unwrap(), "init");
        assert_eq!(text(&root, "/proc/self/../1/comm").unwrap(), "init");
        assert_eq!(text(&root, "loop").unwrap_err().raw_os_error(), Some(40));
        assert_eq!(text(&root, "device").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(text(&root, "proc").is_err() && text(&root, "/").is_err());
        if pipe.is_ok() {
            assert!(text(&root, "pipe").unwrap_err().to_string().contains("not a regular file"));
        }
        assert!(root.exists("dangling") && root.exists("/proc/self/comm") && root.exists("/"));
        assert!(!root.exists("none") && !root.exists("secret/x"));
        assert_eq!(root.names("/proc/self"), ["comm"]);
        assert_eq!(root.names("/none"), [] as [&str; 0]);
        fs::remove_dir_all(&outer).unwrap();
    }
}
