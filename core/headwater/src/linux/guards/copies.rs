//! The count of copies: it moves when this process, or its machine, was copied, and never else.
//!
//! The public change counter moves with forks and with every reseed of the kernel, once a minute,
//! because it says when *random* bytes are void. A generator that a program seeds (`rand` of C,
//! Python's `random`) has to last longer than that: a program that seeds it by 42 wants the same
//! numbers after an hour, and in a forked child. So this count leaves out all but copies.
//!
//! Three things show a copy. VMClock counts loaded snapshots, and `headwater clones watch` counts
//! what it sees as root, in a page that [`watch_page`](super::watch_page) maps. A restored process
//! lacks the pages that the kernel may drop, so a word in such a page is 0. But the word is 0 in a
//! forked child too, and after memory ran short, so a lost word is only the question. The process
//! itself answers it. A restored process has its old number and a new start time; a forked child
//! has another number; a process whose page was dropped has kept both.
//!
//! A child is as new as its parent was, and a parent may have been restored without noticing it
//! yet. So a fork counts as a fork if the parent looked just before it ([`before_fork`]), or if the
//! parent is alive and was born when the word was set. If neither can be shown it counts as a copy:
//! a generator that is seeded once too often is a smaller loss than a repeat.

#![allow(unsafe_code)]

use crate::linux::setup;
use crate::linux::sync::once_ptr::OncePtr;
use crate::linux::sys::{self, Fd, memory};
use core::ffi::CStr;
use core::sync::atomic::{
    AtomicPtr, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Release,
};

/// The word while nothing happened. A lost one is 0.
const ARMED: u64 = 1;

/// The word before the first look: lost, so that the look sets up.
static NOT_YET: AtomicU64 = AtomicU64::new(0);
/// The word where the kernel drops no pages, so that none is lost.
static NEVER_LOST: AtomicU64 = AtomicU64::new(ARMED);
static WORD: OncePtr<AtomicU64> = OncePtr(AtomicPtr::new((&raw const NOT_YET).cast_mut()));

static COPIES: AtomicU64 = AtomicU64::new(0);
/// The number of the process that has set the word, and its birth in ticks; 0 for unknown.
static NUMBER: AtomicU64 = AtomicU64::new(0);
static BORN: AtomicU64 = AtomicU64::new(0);
/// The number of a process that looked and is about to fork; else 0. A child inherits it.
static FORKING: AtomicU64 = AtomicU64::new(0);
/// VMClock's count and 1; 0 before it was read.
static CLOCK: AtomicU64 = AtomicU64::new(0);
/// The watcher's count and 1; 0 before it was read.
static WATCHER: AtomicU64 = AtomicU64::new(0);

/// Returns the number of copies that were seen since the first call.
#[inline]
pub(crate) fn copies() -> u64 {
    // SAFETY: a static, or a word in a page that stays mapped for ever and is used as an atomic
    // alone; the kernel may clear it, as another thread might.
    let word = unsafe { &*WORD.get() };
    if word.load(Acquire) != ARMED {
        look(word);
    }
    if let Some(process) = setup::published() {
        if let Some(now) = process.clock.copies() {
            compare(&CLOCK, now);
        }
        if let Some(now) = process.watch.copies() {
            compare(&WATCHER, now);
        }
    }
    COPIES.load(Acquire)
}

/// Counts a copy if a count of the machine's moved. Both of one copy may be counted, which does no
/// harm: the sum is compared for inequality alone.
#[inline]
fn compare(seen: &AtomicU64, now: u64) {
    let now = now.wrapping_add(1);
    let before = seen.load(Acquire);
    if before == now {
        return;
    }
    // The count first: a thread that finds the new number has to find the new count as well.
    if before != 0 {
        COPIES.fetch_add(1, AcqRel);
    }
    seen.store(now, Release);
}

/// Finds out why the word is not set, counts a copy if that is the reason, and sets it.
///
/// Threads may look at once, and then each may count. That is no fault, because the count is
/// compared for inequality alone. But the count has to move before the process's facts do, and
/// these before the word: otherwise a thread could find everything in order and the count unmoved.
#[cold]
#[inline(never)]
fn look(word: &AtomicU64) {
    if core::ptr::eq(word, &NOT_YET) {
        return begin();
    }
    let before = (NUMBER.load(Acquire), BORN.load(Acquire));
    let now = identity(c"/proc/self/stat");
    let number = sys::process_number();
    let born = now.as_ref().map_or(0, |now| now.born);
    let is_harmless = if number == before.0 {
        born != 0 && born == before.1 // the kernel needed the page
    } else {
        FORKING.load(Acquire) == before.0 || now.is_some_and(|now| is_parent(&now, before))
    };
    if !is_harmless {
        COPIES.fetch_add(1, AcqRel);
    }
    arm(word, number, born);
}

/// Maps the word, and sets headwater up, which maps VMClock.
fn begin() {
    let _ = setup::process(false); // if the kernel is not ready, there is nothing to copy yet
    let born = identity(c"/proc/self/stat").map_or(0, |own| own.born);
    let number = sys::process_number();
    let mine = match memory::reserve_droppable(sys::page_size()) {
        // Before publication, so that no thread finds it lost.
        Ok(page) => {
            // SAFETY: the start of a fresh page, aligned.
            arm(unsafe { AtomicU64::from_ptr(page.cast()) }, number, born);
            page.cast::<AtomicU64>()
        }
        Err(_) => (&raw const NEVER_LOST).cast_mut(),
    };
    let lost = WORD.publish((&raw const NOT_YET).cast_mut(), mine).is_err();
    if lost && !core::ptr::eq(mine, &raw const NEVER_LOST) {
        // SAFETY: another thread was quicker, and no thread has seen this page.
        unsafe { sys::munmap(mine.cast(), sys::page_size()) };
    }
}

fn arm(word: &AtomicU64, number: u64, born: u64) {
    BORN.store(born, Release);
    NUMBER.store(number, Release);
    FORKING.store(0, Release);
    word.store(ARMED, Release);
}

/// Looks, and notes that this process is about to fork, so that the child knows its parent's state.
pub(crate) fn before_fork() {
    copies();
    FORKING.store(NUMBER.load(Acquire), Release);
}

/// Takes back the note of [`before_fork`], in the parent.
pub(crate) fn after_fork() {
    FORKING.store(0, Release);
}

/// Returns whether copies of the process, and copies of the machine, can be seen.
pub(crate) fn seen() -> (bool, bool) {
    copies();
    let machines = setup::published()
        .is_some_and(|process| process.clock.is_mapped() || process.watch.copies().is_some());
    (!core::ptr::eq(WORD.get(), &raw const NEVER_LOST), machines)
}

/// Returns the word: not [`ARMED`] while a call of [`copies`] would have to look. It stays readable
/// for ever.
pub(crate) fn word() -> *const u64 {
    copies();
    WORD.get().cast_const().cast()
}

/// Returns the address of the count.
pub(crate) fn count() -> *const u64 {
    COPIES.as_ptr()
}

/// The parts of a process by which a copy differs from a fork.
struct Identity {
    parent: u64,
    /// Ticks between the boot and its start.
    born: u64,
}

/// Returns whether the process that set the word is the parent of this one, and not a copy of it.
fn is_parent(own: &Identity, before: (u64, u64)) -> bool {
    if own.parent != before.0 || before.1 == 0 {
        return false;
    }
    let mut path = *b"/proc/00000000000000000000/stat\0";
    let mut left = own.parent;
    // Leading zeros would name no process, so the digits are moved to the front.
    let mut digits = [0; 20];
    let mut count = 0;
    while left > 0 && count < digits.len() {
        digits[count] = b'0' + (left % 10) as u8;
        (left, count) = (left / 10, count + 1);
    }
    let places = path.iter_mut().skip(b"/proc/".len());
    for (place, digit) in places.zip(digits.iter().take(count).rev().chain(b"/stat\0")) {
        *place = *digit;
    }
    let Ok(path) = CStr::from_bytes_until_nul(&path) else { return false };
    identity(path).is_some_and(|parent| parent.born == before.1)
}

/// Reads the identity of a process; None if /proc does not say.
fn identity(path: &CStr) -> Option<Identity> {
    let mut text = [0; 1024];
    let len = Fd::open_read(path).ok()?.read(&mut text).ok()?;
    parse(text.get(..len)?)
}

/// Reads a line of `/proc/PID/stat` (proc_pid_stat(5)): field 4 is the parent, field 22 the start.
fn parse(line: &[u8]) -> Option<Identity> {
    // The second field is the program's name in brackets, which may hold brackets and spaces.
    let end = line.iter().rposition(|&byte| byte == b')')?;
    let mut fields = line.get(end + 2..)?.split(|&byte| byte == b' ');
    let mut number = |skip| {
        let field: &[u8] = fields.nth(skip)?;
        let digit = |number: u64, &byte: &u8| {
            let digit = char::from(byte).to_digit(10)?;
            number.checked_mul(10)?.checked_add(u64::from(digit))
        };
        field.iter().try_fold(0, digit)
    };
    // Field 3, the state, is the first one here.
    Some(Identity { parent: number(1)?, born: number(17)? })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat_is_read_whatever_the_program_is_called() {
        let rest = "S 77 5 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 8 9 10";
        for name in ["cat", "a b", ") (", "1) S 5 5"] {
            let own = parse(format!("42 ({name}) {rest}\n").as_bytes()).unwrap();
            assert_eq!((own.parent, own.born), (77, 123_456), "{name}");
        }
        for broken in ["", "42 (cat)", "42 (cat) S 77 5", "42 cat S 77 5", "1 (a) S x 5 5"] {
            assert!(parse(broken.as_bytes()).is_none(), "{broken}");
        }
    }

    #[test]
    fn the_parent_of_this_process_is_known_by_its_birth() {
        let own = identity(c"/proc/self/stat").unwrap();
        let line = std::fs::read(format!("/proc/{}/stat", own.parent)).unwrap();
        let born = parse(&line).unwrap().born;
        assert!(is_parent(&own, (own.parent, born)));
        assert!(!is_parent(&own, (own.parent, born + 1)), "a copy of the parent");
        assert!(!is_parent(&own, (own.parent + 1, born)), "another process");
        assert!(!is_parent(&own, (own.parent, 0)), "a birth that is not known");
    }
}
