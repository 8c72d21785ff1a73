//! The page in /run, kept by this process.

use anyhow::{Context, Result, bail};
use headwater::internal::watch_page::{LEN, Layout, MAGIC, VERSION, WatchWords};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::Write;
use std::mem::{offset_of, size_of};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::ptr::{null, null_mut};

/// The page, as long as this process lives.
pub(super) struct Page {
    /// Open for the lock that it carries.
    _file: File,
    words: &'static WatchWords,
}

impl Page {
    /// Makes the page or takes it over, and begins to watch.
    ///
    /// # Errors
    ///
    /// If another watcher keeps it, or the file cannot be made or is no such page.
    pub(super) fn keep(path: &Path, signals: u64) -> Result<Page> {
        let file = locked(path)?;
        let words = map(&file).with_context(|| path.display().to_string())?;
        die_visibly(words)?;
        let thread = u32::try_from(rustix::thread::gettid().as_raw_nonzero().get())?;
        words.begin(thread, signals);
        Ok(Page { _file: file, words })
    }

    /// Counts a copy, and returns how many there are.
    pub(super) fn count(&self) -> u64 {
        self.words.count()
    }
}

/// Counts a copy that this program knows of, in the page of a watcher. Returns false without one.
///
/// Why does the watcher not count? It would have to be asked, and its answer waited for. But the
/// count is an atomic to which both add, so none is lost, and it has moved when this returns. A
/// watcher that died is no reason to leave its page alone, since programs still have it mapped. So
/// the lock is not tried either, which a watcher that starts at that moment would find taken.
///
/// # Errors
///
/// If the file is no page, or cannot be written.
pub(crate) fn count_beside(path: &Path) -> Result<bool> {
    let name = path.display();
    let Some(file) = open(path)? else { return Ok(false) };
    check(&file).with_context(|| format!("{name} is no page of a watcher"))?;
    map(&file).with_context(|| name.to_string())?.count_repair();
    Ok(true)
}

/// Opens the file, if it is there.
fn open(path: &Path) -> Result<Option<File>> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => Ok(Some(File::from(file))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => {
            Err(error).with_context(|| format!("cannot open {}; {ADVICE}", path.display()))
        }
    }
}

/// Returns the file with its content complete, locked against other watchers.
fn locked(path: &Path) -> Result<File> {
    let name = path.display();
    if let Some(directory) = path.parent() {
        make_directory(directory).with_context(|| format!("cannot make {name}; {ADVICE}"))?;
    }
    // Twice at most: between the opening and the lock another watcher may put its file in place.
    for _ in 0..2 {
        let file = open_or_make(path)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let mut owner = [0; 4];
                let at = offset_of!(Layout, words) + offset_of!(WatchWords, owner);
                file.read_exact_at(&mut owner, at as u64)?;
                bail!("another watcher keeps {name}: process {}", u32::from_ne_bytes(owner));
            }
            Err(error) => return Err(error).with_context(|| format!("cannot lock {name}")),
        }
        let (ours, there) = (file.metadata()?, fs::metadata(path)?);
        if (ours.dev(), ours.ino()) == (there.dev(), there.ino()) {
            check(&file).with_context(|| {
                format!("{name} is no page of a watcher; remove it if no program needs it")
            })?;
            return Ok(file);
        }
    }
    bail!("another watcher is starting on {name}")
}

/// The next step after a page that cannot be made.
const ADVICE: &str = "run this as root, or name a file by --page";

/// Makes the directory, if it is not there, and leaves nothing to the umask: programs of all
/// users look for the page in it, and one who may write there could put another in its place.
fn make_directory(directory: &Path) -> std::io::Result<()> {
    if directory.is_dir() || directory == Path::new("") {
        return Ok(());
    }
    fs::create_dir_all(directory)?;
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755))
}

/// Opens the file, or makes it with all of its content at once. Were it written in place, a program
/// that maps it meanwhile would find no page, and would not look again for as long as it runs.
fn open_or_make(path: &Path) -> Result<File> {
    if let Some(file) = open(path)? {
        return Ok(file);
    }
    let name = path.display();
    let mut content = [0; LEN];
    content[..MAGIC.len()].copy_from_slice(&MAGIC);
    content[offset_of!(Layout, version)..][..4].copy_from_slice(&VERSION.to_ne_bytes());
    let beside = path.with_extension(std::process::id().to_string());
    let made = (|| {
        let mut file = File::options().read(true).write(true).create_new(true).open(&beside)?;
        file.write_all(&content)?;
        // Whatever the umask is: programs of all users read it, and only its owner writes.
        file.set_permissions(fs::Permissions::from_mode(0o644))?;
        // A link and not a rename, which would replace the page of a watcher that was quicker.
        match fs::hard_link(&beside, path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            other => other?,
        }
        // Under its own name: a checkpoint of this process lists the files that it has open, and
        // under the other name there would be none at the second restore.
        File::options().read(true).write(true).open(path)
    })();
    let _ = fs::remove_file(&beside);
    made.with_context(|| format!("cannot make {name}; {ADVICE}"))
}

/// Returns an error for a file that no program would accept as the page.
fn check(file: &File) -> Result<()> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() < LEN as u64 {
        bail!("it is no regular file of {LEN} bytes");
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
        bail!("another user owns it, or may write it");
    }
    let mut start = [0; 12];
    file.read_exact_at(&mut start, 0)?;
    if start[..8] != MAGIC || start[8..] != VERSION.to_ne_bytes() {
        bail!("it does not begin as a page of this version does");
    }
    Ok(())
}

/// Maps the words for the life of the process.
fn map(file: &File) -> Result<&'static WatchWords> {
    let rights = rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE;
    // SAFETY: a new mapping at an address that the kernel picks.
    let page = unsafe {
        rustix::mm::mmap(null_mut(), LEN, rights, rustix::mm::MapFlags::SHARED, file, 0)
    }?;
    // SAFETY: `check` found `LEN` bytes in the file, and no watcher shortens it; the layout lies
    // within, and the mapping is never undone. Other processes write the words, which are atomics.
    Ok(unsafe { &(*page.cast::<Layout>()).words })
}

/// `struct robust_list` and `struct robust_list_head` of `include/uapi/linux/futex.h`.
#[repr(C)]
struct Node {
    next: *const Node,
}

#[repr(C)]
struct Head {
    list: Node,
    futex_offset: libc::c_long,
    pending: *const Node,
}

/// Makes the kernel mark `owner` when this thread ends, also by a signal that cannot be caught.
///
/// The word is a robust futex (set_robust_list(2)), which no thread ever waits for. The C library
/// has a list of its own for each thread, which is replaced here. It serves robust mutexes of
/// pthreads, and no code of this process has any.
fn die_visibly(words: &'static WatchWords) -> Result<()> {
    // For ever, because the kernel reads both when the thread ends.
    let node: &'static mut Node = Box::leak(Box::new(Node { next: null() }));
    let at = (&raw const words.owner).addr();
    let head: &'static mut Head = Box::leak(Box::new(Head {
        list: Node { next: &raw const *node },
        // The kernel adds it to a node's address. So the node may lie in memory of this process
        // alone, and the shared page shows no address of it.
        futex_offset: at.wrapping_sub((&raw const *node).addr()) as libc::c_long,
        pending: null(),
    }));
    // A list ends where it comes back to its head.
    node.next = (&raw const *head).cast();
    // SAFETY: head and node are leaked, so they stay as long as the thread, and they form the list
    // that the kernel expects: one entry, and back to the head, whose first member is its list. The
    // word at the entry's offset is an aligned u32 in a mapping that is never undone.
    let answer =
        unsafe { libc::syscall(libc::SYS_set_robust_list, &raw const *head, size_of::<Head>()) };
    if answer != 0 {
        let error = std::io::Error::last_os_error();
        return Err(error).context("set_robust_list, without which this process could die unseen");
    }
    Ok(())
}
