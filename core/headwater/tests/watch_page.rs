//! The page of `headwater clones watch`, by a file in its place.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::{isolated, isolated_as};
use headwater::internal::watch_page::{
    BY_KERNEL, BY_WALL_CLOCK, LEN, Layout, MAGIC, VERSION, WatchWords,
};
use headwater::testing::set_root;
use headwater::{Config, Freshness, Mode, ReseedGeneration, Stamp, WatchPage};
use std::fs::{self, File, OpenOptions};
use std::mem::offset_of;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::sync::atomic::Ordering::SeqCst;
use support::machine::skip;
use support::root::Root;

const PAGE: &str = "/run/headwater/copies";
/// The kernel leaves this in `owner` when the watcher's thread has ended.
const OWNER_DIED: u32 = 0x4000_0000;

/// Returns the bytes of a page that no process watches yet.
fn bytes() -> Vec<u8> {
    let mut bytes = vec![0; LEN];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_ne_bytes());
    bytes
}

/// Maps the file as the watcher does, for the life of the process.
fn words_of(root: &Root) -> &'static WatchWords {
    let file: File = OpenOptions::new().read(true).write(true).open(root.at(PAGE)).unwrap();
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let fd = file.as_raw_fd();
    // SAFETY: a new mapping of a file that is as long as the layout.
    let page =
        unsafe { libc::mmap(std::ptr::null_mut(), LEN, protection, libc::MAP_SHARED, fd, 0) };
    assert_ne!(page, libc::MAP_FAILED);
    // SAFETY: aligned by 8 within the mapping, which stays; atomics, so that writers may race.
    unsafe { &*page.byte_add(offset_of!(Layout, words)).cast() }
}

/// Sets up under a root whose page a watcher has begun to keep, and returns its words.
fn watched(root: &Root, signals: u64) -> &'static WatchWords {
    root.write(PAGE, &bytes());
    let words = words_of(root);
    words.begin(7, signals);
    set_root(root.c_path());
    headwater::init().unwrap();
    words
}

/// Returns how often the file is mapped in this process.
fn mappings() -> usize {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.ends_with(PAGE)).count()
}

#[test]
fn a_page_is_mapped_and_moves_the_stamp() {
    let test = "a_page_is_mapped_and_moves_the_stamp";
    isolated(test, || {
        let root = Root::new();
        let words = watched(&root, BY_KERNEL);
        let status = headwater::status();
        let mapped = |copies, is_alive, is_exact| WatchPage::Mapped { copies, is_alive, is_exact };
        assert_eq!(status.watch_page, mapped(1, true, true));
        assert_eq!(mappings(), 2, "the test's own and the library's");
        let has_generation = matches!(status.reseed_generation, ReseedGeneration::Live { .. });
        // The watcher hears of each copy, so this process knows whether it was copied, although
        // it sees neither vmgenid nor VMClock.
        assert_eq!(headwater::generation().is_some(), has_generation);
        let mut stamp = Stamp::new();
        stamp.check();
        for copies in 2..5 {
            assert_eq!(words.count(), copies);
            assert_eq!(stamp.check(), Freshness::Stale);
            assert_eq!(headwater::status().watch_page, mapped(copies, true, true));
        }
        // The watcher dies: stale once, and from then on nothing is known.
        words.owner.store(OWNER_DIED, SeqCst);
        assert_eq!(stamp.check(), Freshness::Stale);
        assert_eq!(headwater::status().watch_page, mapped(4, false, false));
        assert_eq!(headwater::generation(), None);
        // The next one cannot know what happened meanwhile.
        words.begin(8, BY_WALL_CLOCK);
        assert_eq!(stamp.check(), Freshness::Stale);
        assert_eq!(headwater::status().watch_page, mapped(5, true, false));
        assert_eq!(headwater::generation(), None, "a wall clock reports no copy for certain");
        // After quiesce nothing of the file is left in the process, and init maps it again.
        headwater::quiesce().unwrap();
        assert_eq!(headwater::status().watch_page, WatchPage::Quiesced);
        assert_eq!(mappings(), 1);
        headwater::init_with(Config::new()).unwrap();
        assert_eq!(headwater::status().watch_page, mapped(5, true, false));
        headwater::init_with(Config::new().vmclock(false)).unwrap();
        assert_eq!(headwater::status().watch_page, WatchPage::Off);
        assert_eq!(mappings(), 1);
    });
}

/// A step of the clock makes a stamp stale, and leaves what a program has seeded. A repair is proof
/// of a copy, whatever the watcher can see.
#[test]
fn a_repair_counts_a_copy_for_certain() {
    for (signals, watchers_count) in [(BY_WALL_CLOCK, 0), (BY_KERNEL, 1)] {
        let case = if watchers_count == 0 { "wall clock" } else { "kernel" };
        isolated_as("a_repair_counts_a_copy_for_certain", case, &[], || {
            let root = Root::new();
            let words = watched(&root, signals);
            let first = headwater::copies();
            words.count();
            assert_eq!(headwater::copies(), first + watchers_count, "{case}");
            for repairs in 1..4 {
                let mut stamp = Stamp::new();
                stamp.check();
                assert_eq!(words.count_repair(), 2 + repairs);
                assert_eq!(headwater::copies(), first + watchers_count + repairs, "{case}");
                assert_eq!(stamp.check(), Freshness::Stale);
            }
            // The fronts ask for the count before each draw only if this is true.
            assert!(headwater::internal::copies_seen().1, "{case}");
        });
    }
}

/// The first repair under the second watcher makes its count 1, as the first watcher's was.
#[test]
fn a_repair_after_a_change_of_watchers_is_seen() {
    isolated("a_repair_after_a_change_of_watchers_is_seen", || {
        let root = Root::new();
        let words = watched(&root, BY_KERNEL);
        let first = headwater::copies();
        assert_eq!(words.copies.load(SeqCst), 1);
        words.begin(8, BY_WALL_CLOCK);
        words.count_repair();
        assert_eq!(words.repairs.load(SeqCst), 1);
        assert_ne!(headwater::copies(), first);
    });
}

/// Prepares the root, and names the state that set-up has to find.
type Case = (&'static str, fn(&Root), WatchPage);

#[test]
fn a_file_that_is_no_such_page_is_refused() {
    const CASES: &[Case] = &[
        ("no file", |_| {}, WatchPage::Absent),
        ("shorter", |root| root.write(PAGE, &bytes()[..LEN - 1]), WatchPage::Refused),
        ("empty", |root| root.write(PAGE, b""), WatchPage::Refused),
        ("another magic", |root| root.write(PAGE, &[b'x'; LEN]), WatchPage::Refused),
        (
            "another version",
            |root| {
                let mut bytes = bytes();
                bytes[8] += 1;
                root.write(PAGE, &bytes);
            },
            WatchPage::Refused,
        ),
        (
            "writable by others",
            |root| {
                root.write(PAGE, &bytes());
                fs::set_permissions(root.at(PAGE), fs::Permissions::from_mode(0o666)).unwrap();
            },
            WatchPage::Refused,
        ),
        ("a directory", |root| root.make_folder(PAGE), WatchPage::Refused),
        ("a link to nothing", |root| symlink("nowhere", root.at(PAGE)).unwrap(), WatchPage::Absent),
        ("a device", |root| symlink("/dev/zero", root.at(PAGE)).unwrap(), WatchPage::Refused),
    ];
    for (name, prepare, expected) in CASES {
        isolated_as("a_file_that_is_no_such_page_is_refused", name, &[], || {
            let root = Root::new();
            prepare(&root);
            set_root(root.c_path());
            assert_eq!(headwater::status().watch_page, *expected, "{name}");
            assert_eq!(mappings(), 0, "{name}");
        });
    }
}

#[test]
fn a_page_of_another_user_is_refused() {
    let test = "a_page_of_another_user_is_refused";
    isolated(test, || {
        let root = Root::new();
        root.write(PAGE, &bytes());
        if chown(root.at(PAGE), Some(65_534), None).is_err() {
            return skip(test, "only root may give a file to another user");
        }
        set_root(root.c_path());
        assert_eq!(headwater::status().watch_page, WatchPage::Refused);
    });
}

#[test]
fn mode_kernel_looks_for_no_page() {
    let variables = [("HEADWATER_MODE", Mode::Kernel.name())];
    isolated_as("mode_kernel_looks_for_no_page", "only", &variables, || {
        let root = Root::new();
        root.write(PAGE, &bytes());
        set_root(root.c_path());
        assert_eq!(headwater::status().watch_page, WatchPage::Off);
    });
}
