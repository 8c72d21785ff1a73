//! Processes from which much was taken: files, descriptors, memory.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, set, set_root};
use headwater::{Config, Mode, Page, Rng, Source, Status};
use std::ffi::CString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use support::children::{Ending, fork, wait};
use support::draws::draw_everything;
use support::machine::skip;
use support::root::{FakeClock, Root};
use support::rules::{assert_by_the_rules, force, slots};

/// The exit status of a child that could not be confined.
const REFUSED: i32 = 77;

/// Banks of slots and pages.
const BANKS: u64 = 16;
/// An unprivileged user.
const NOBODY: libc::uid_t = 65_534;

fn ok(answer: libc::c_int) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets the soft and the hard limit of the resource `what` to `bytes`. `what` has different types
/// in different C libraries.
fn set_limit(what: i32, bytes: u64) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: reads the structure.
    ok(unsafe { libc::setrlimit(what as _, &limit) })
}

/// Moves this process into a mount namespace of its own, as root or in a user namespace.
fn own_mounts() -> io::Result<()> {
    // SAFETY: changes what this process sees. The second call needs a process with one thread: a
    // forked child.
    unsafe {
        ok(libc::unshare(libc::CLONE_NEWNS))
            .or_else(|_| ok(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS)))?;
        let (none, all) = (c"none".as_ptr(), libc::MS_REC | libc::MS_PRIVATE);
        ok(libc::mount(none, c"/".as_ptr(), std::ptr::null(), all, std::ptr::null()))
    }
}

fn empty_dev() -> io::Result<()> {
    own_mounts()?;
    let (name, at) = (c"tmpfs".as_ptr(), c"/dev".as_ptr());
    // SAFETY: C strings; in a namespace of our own.
    ok(unsafe { libc::mount(name, at, name, 0, std::ptr::null()) })
}

fn empty_root(folder: &Path) -> io::Result<()> {
    own_mounts()?;
    let folder = CString::new(folder.as_os_str().as_encoded_bytes())?;
    // SAFETY: a C string.
    unsafe { ok(libc::chroot(folder.as_ptr())) }?;
    std::env::set_current_dir("/")
}

/// Lowers the limit of descriptors to 0, so that everything with a name is gone. The open
/// descriptors of this process stay.
fn no_descriptors() -> io::Result<()> {
    set_limit(libc::RLIMIT_NOFILE as i32, 0)
}

/// Makes an empty directory of this test, and returns its path.
fn empty_folder(name: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Checks that nothing is left if getrandom(2) is refused as well. An error says why, and the bytes
/// are zeros.
fn nothing_is_left(errno: i32) {
    set(Force::GetrandomEnosys, true);
    set(Force::NoVdso, true);
    for len in [1, 16, 100, 5000] {
        let mut buf = vec![0x5A; len];
        let error = headwater::fill(&mut buf).unwrap_err();
        assert_eq!(error.errno(), Some(errno));
        assert!(error.to_string().contains("getrandom(2) and /dev/urandom both failed"), "{error}");
        assert!(buf.iter().all(|&byte| byte == 0));
    }
    assert_eq!(Rng::new().unwrap_err().errno(), Some(errno));
    set(Force::GetrandomEnosys, false);
    set(Force::NoVdso, false);
}

/// Draws confined from the start, and confined after set-up; in each mode. Whatever is missing, the
/// mode is by the rules, and without getrandom(2) there is `errno`.
fn draws_go_on(what: &str, errno: i32, confine: impl Fn() -> io::Result<()>) {
    for mode in Mode::ALL {
        for set_up_before in [false, true] {
            let child = fork(|| {
                if set_up_before {
                    headwater::init_with(Config::new().mode(mode)).unwrap();
                }
                let before = set_up_before.then(|| headwater::status().mode);
                if confine().is_err() {
                    return REFUSED;
                }
                if !set_up_before {
                    nothing_is_left(errno);
                    headwater::init_with(Config::new().mode(mode)).unwrap();
                }
                draw_everything();
                let status = headwater::status();
                assert_by_the_rules(&status);
                assert!(before.is_none_or(|before| status.mode == before));
                assert_ne!(status.source, Source::Urandom);
                0
            });
            match wait(child) {
                Ending::Exited(0) => {}
                Ending::Exited(REFUSED) => {
                    return skip(what, "refused here: what draws do without it is not known");
                }
                other => panic!("{mode}, set up before: {set_up_before}: {other:?}"),
            }
        }
    }
}

#[test]
fn an_empty_dev() {
    isolated("an_empty_dev", || draws_go_on("a /dev of its own", libc::ENOENT, empty_dev));
}

#[test]
fn an_empty_root() {
    isolated("an_empty_root", || {
        let folder = empty_folder("empty-root");
        draws_go_on("chroot", libc::ENOENT, || empty_root(&folder));
        fs::remove_dir(&folder).unwrap();
    });
}

#[test]
fn no_free_descriptor() {
    isolated("no_free_descriptor", || {
        draws_go_on("RLIMIT_NOFILE", libc::EMFILE, no_descriptors);
    });
}

fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// No descriptor stays open: not of the files that set-up reads, not VMClock's, not those of
/// /dev/urandom, served or not.
#[test]
fn no_descriptor_stays_open() {
    isolated("no_descriptor_stays_open", || {
        let root = Root::new();
        let _clock = FakeClock::new(&root, true);
        root.write("/sys/devices/system/cpu/present", b"0-1\n");
        root.link("/sys/bus/platform/drivers/vmgenid/VMGENCTR:00");
        let facts = [&[][..], &[Force::NoVdso], &[Force::GetrandomEnosys, Force::NoVdso]];
        for mode in Mode::ALL {
            for facts in facts {
                for faked in [false, true] {
                    let child = fork(|| {
                        if faked {
                            set_root(root.c_path());
                        }
                        force(facts);
                        let before = open_descriptors();
                        headwater::init_with(Config::new().mode(mode)).unwrap();
                        let status = headwater::status();
                        if faked && mode != Mode::Kernel {
                            // An emulator's loads can be as slow as those of an uncached page.
                            let name = status.vmclock.name();
                            assert!(["mapped", "slow"].contains(&name), "{status:?}");
                        }
                        assert_eq!(open_descriptors(), before);
                        let mut rng = Rng::new().unwrap();
                        for len in [1, 16, 100, 1024, 5000] {
                            headwater::fill(&mut [0; 5000][..len]).unwrap();
                            rng.fill(&mut [0; 5000][..len]).unwrap();
                        }
                        set(Force::UrandomAbsent, true);
                        let _ = headwater::fill(&mut [0; 5000]);
                        assert_eq!(open_descriptors(), before);
                        headwater::quiesce().unwrap();
                        assert_eq!(open_descriptors(), before);
                        0
                    });
                    assert_eq!(wait(child), Ending::Exited(0), "{mode} {facts:?} {faked}");
                }
            }
        }
    });
}

/// Touches a stack as deep as draws may need: where memory may not grow, the stack may not.
#[inline(never)]
fn touch_stack() {
    std::hint::black_box([0u8; 256 << 10]);
}

fn page_size() -> u64 {
    support::memory::page_size() as u64
}

/// Returns the number of bytes that are reserved for pages: 16 banks of the pages of slots and of
/// those that sections exchange, and the pages of a crowd. Asks children, so that this process is
/// not set up.
fn slot_pages(facts: &[Force]) -> u64 {
    let ask = |facts: &[Force], answer: fn(&Status) -> i32| match wait(fork(|| {
        force(facts);
        answer(&headwater::status())
    })) {
        Ending::Exited(answer) => answer,
        killed => panic!("{killed:?}"),
    };
    // A status has 8 bits, and slots without droppable memory are 64 and the CPUs. A machine with
    // more CPUs would need another way to report.
    let cpus =
        ask(&[Force::NoDroppable], |status| status.pools.slots.saturating_sub(64).min(255) as i32);
    let is_droppable = ask(facts, |status| i32::from(status.page == Page::Droppable)) == 1;
    let page = if is_droppable { Page::Droppable } else { Page::WipeOnFork };
    let (cpus, slots) = (cpus as u64, u64::from(slots(cpus as u32, page)));
    let of_bank = cpus + 64;
    let of_crowd = (slots - of_bank) * if exchanged(cpus, of_bank) > 0 { 2 } else { 1 };
    (BANKS * (of_bank + exchanged(cpus, of_bank)) + of_crowd) * page_size()
}

/// Returns the number of pages that the sections of a bank exchange: one for each CPU and slot.
fn exchanged(cpus: u64, slots: u64) -> u64 {
    if cfg!(all(target_arch = "x86_64", not(any(miri, sanitized)))) { cpus + slots } else { 0 }
}

/// Returns how many of the bytes of [`slot_pages`] are locked: those of one bank.
fn locked_pages(facts: &[Force]) -> u64 {
    slot_pages(facts) / BANKS
}

fn address_space() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').next().unwrap().parse::<u64>().unwrap() * page_size()
}

/// Returns for how much there was room: nothing is buffered, there are few slots, they have the
/// pages of sections as well, or there are slots for a crowd.
fn room(status: &Status) -> i32 {
    let slots = status.pools.slots;
    match status.path {
        _ if slots == 0 => 0,
        _ if slots >= 512 => 3,
        headwater::Path::Sections => 2,
        _ => 1,
    }
}

/// From no memory at all to enough of it: each process uses the best mode that its memory allows,
/// and every draw is sound. Sizes are those of the whole address space, so that each mapping of
/// set-up fails in turn.
#[test]
fn as_little_memory_as_there_may_be() {
    isolated("as_little_memory_as_there_may_be", || {
        touch_stack();
        let mut buffer = vec![0x5A; 1 << 17];
        let (mut modes, mut rooms) = (Vec::new(), Vec::new());
        // Lines are a 32nd of the pages; handles have 64.
        let enough = slot_pages(&[]) * 3 / 2 + 256 * page_size();
        let few = (0..64).map(|pages| pages * page_size());
        let mut sizes: Vec<u64> = few.chain((1..=64).map(|part| enough / 64 * part)).collect();
        sizes.sort_unstable();
        for more in sizes {
            let child = fork(|| {
                set_limit(libc::RLIMIT_AS as i32, address_space() + more).unwrap();
                headwater::init().unwrap();
                let status = headwater::status();
                assert_by_the_rules(&status);
                let mut rng = Rng::new().unwrap();
                for len in [1, 16, 100, 1024, 1 << 17] {
                    for _ in 0..50 {
                        buffer[..len].fill(0x5A);
                        headwater::fill(&mut buffer[..len]).unwrap();
                        assert!(len < 16 || buffer[len - 16..len] != [0x5A; 16]);
                        rng.fill(&mut buffer[..len]).unwrap();
                    }
                }
                assert_eq!(headwater::status().mode, status.mode);
                status.mode as i32 | room(&status) << 3
            });
            match wait(child) {
                Ending::Exited(answer) if (1..=4).contains(&(answer & 7)) => {
                    modes.push(Mode::ALL[(answer & 7) as usize]);
                    rooms.push(answer >> 3);
                }
                other => panic!("with {more} bytes: {other:?}"),
            }
        }
        let natural = headwater::status().mode;
        // First no page for the set-up itself; then nothing to buffer in; then everything.
        assert_eq!(modes[0], Mode::Kernel);
        assert_eq!(modes.last(), Some(&natural));
        assert!(modes.contains(&Mode::Strict), "{modes:?}");
        // Less memory is never a faster mode.
        let order =
            |mode: &Mode| [natural, Mode::Strict, Mode::Kernel].iter().position(|m| m == mode);
        assert!(modes.is_sorted_by_key(|mode| std::cmp::Reverse(order(mode))), "{modes:?}");
        // Nor are there more slots, or sections; and what this machine has at best, it has under
        // some limit less of.
        assert!(rooms.is_sorted(), "{rooms:?}");
        let natural = headwater::status();
        let best = room(&natural);
        let seen: Vec<i32> = rooms.chunk_by(i32::eq).map(|same| same[0]).collect();
        if natural.path == headwater::Path::Sections && best == 3 {
            assert_eq!(seen, [0, 1, 2, 3], "{rooms:?}");
        } else {
            assert_eq!(seen.last(), Some(&best), "{rooms:?}");
        }
    });
}

/// Memory locks: what does not fit under the limit is not locked, and the status says so.
#[test]
fn as_little_locked_memory_as_there_may_be() {
    isolated("as_little_locked_memory_as_there_may_be", || {
        let page = page_size();
        let (slots, handles) = (locked_pages(&[Force::NoDroppable]), 64 * page);
        for (limit, expected) in [
            (0, Page::WipeOnFork),
            (page, Page::WipeOnFork),
            (slots - page, Page::WipeOnFork),
            // The handles' pages are not locked then, which counts.
            (slots, Page::WipeOnFork),
            (slots + handles - page, Page::WipeOnFork),
            (slots + handles, Page::WipeOnForkLocked),
        ] {
            let child = fork(|| {
                set(Force::NoDroppable, true);
                if set_limit(libc::RLIMIT_MEMLOCK as i32, limit).is_err() {
                    return REFUSED;
                }
                // Root may lock what it likes.
                // SAFETY: changes who this child is, for good.
                if unsafe { libc::geteuid() == 0 && libc::setuid(NOBODY) != 0 } {
                    return REFUSED;
                }
                draw_everything();
                let status = headwater::status();
                assert_by_the_rules(&status);
                assert_eq!(status.page, expected, "limit {limit}");
                0
            });
            match wait(child) {
                Ending::Exited(0) => {}
                Ending::Exited(REFUSED) => {
                    skip("locked memory", "this limit cannot be set here: what fits is not known");
                }
                other => panic!("limit {limit}: {other:?}"),
            }
        }
    });
}
