//! Draws that are left by siglongjmp, and threads that die in one: a slot may be lost, and is
//! counted; no byte that was copied comes out again, nothing is zero, nothing waits.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod common;
mod support;

use common::in_every_mode;
use common::record::{self, add, draw_all_kinds, draw_all_kinds_from, fork};
use headwater::testing::{self, Force, Point};
use headwater::{Mode, Rng};
use std::cell::Cell;
use std::collections::HashSet;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};
use support::children::Ending;
use support::jump::{handle, is_left, jump};
use support::machine::{bind, cpus};

const POINTS: [Point; 7] = [
    Point::SetUp,
    Point::EpochChosen,
    Point::Locked,
    Point::Keyed,
    Point::MidCopy,
    Point::Copied,
    Point::LargeChunk,
];

/// Above this many bytes a request has a key of its own, which is 32 bytes of a page.
const LIMIT: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Function,
    Handle,
}

/// The events before the draw that is left.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Before {
    /// Nothing in this process.
    Nothing,
    /// A draw, so that the page is full.
    Draw,
    /// A draw, and then a fork: the child has no page yet.
    Fork,
}

thread_local! {
    /// The place of the next jump. Without a destructor and constant at first, so reading it takes
    /// no lock.
    static NEXT: Cell<Option<Point>> = const { Cell::new(None) };
}

/// Raises a signal at the point that is set in [`NEXT`]. The handler of the signal jumps.
fn signal_at(point: Point) {
    if NEXT.get() == Some(point) {
        NEXT.set(None);
        // SAFETY: takes a number.
        unsafe { libc::raise(libc::SIGUSR1) };
    }
}

extern "C" fn on_signal(_: libc::c_int) {
    jump();
}

fn draw(rng: &mut Option<Rng>, buf: &mut [u8]) {
    match (rng, buf.len()) {
        (None, 8) => buf.copy_from_slice(&headwater::u64().unwrap().to_ne_bytes()),
        (None, _) => headwater::fill(buf).unwrap(),
        (Some(rng), 8) => buf.copy_from_slice(&rng.next_u64().to_ne_bytes()),
        (Some(rng), _) => rng.fill(buf).unwrap(),
    }
}

/// Returns the words of a page that the next draw of `len` bytes takes. No words lie there if
/// nothing is buffered. A draw that is left erases the words that it has copied. The rest of the
/// words that it was to take are in `lost`, and still in the page.
fn due(by: By, len: usize, lost: &HashSet<u64>) -> Vec<u64> {
    if headwater::status().pools.slots == 0 {
        return Vec::new();
    }
    let page = if by == By::Handle { testing::handle_page() } else { testing::slot_page() };
    if page.is_null() {
        return Vec::new();
    }
    // SAFETY: the part of a page of the pools that holds random bytes. Volatile: it changes without
    // the compiler's knowledge.
    let words =
        (544..4096).step_by(8).map(|at| unsafe { page.add(at).cast::<u64>().read_volatile() });
    let taken = if len > LIMIT { 4 } else { len.div_ceil(8) };
    words.filter(|word| *word != 0 && !lost.contains(word)).take(taken).collect()
}

/// Returns the words that a draw has written among the first and the last words of a buffer. The
/// buffer was zero before the draw, which may have been left.
fn written(buf: &[u8]) -> impl Iterator<Item = u64> {
    let words = buf.as_chunks().0;
    let ends = [&words[..words.len().min(LIMIT / 8)], &words[words.len().saturating_sub(8)..]];
    let words: Vec<u64> = ends.concat().into_iter().map(u64::from_ne_bytes).collect();
    words.into_iter().filter(|&word| word != 0)
}

/// Records words, each once: no later draw may return them.
fn add_once(words: impl IntoIterator<Item = u64>) {
    let once: HashSet<u64> = words.into_iter().collect();
    let bytes: Vec<u8> = once.into_iter().flat_map(u64::to_ne_bytes).collect();
    add(&bytes);
}

/// Makes an atomic number that all processes of a test see.
fn shared_number() -> &'static AtomicU64 {
    let (read_write, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, aligned and never unmapped; a number of zero is a valid one.
    unsafe {
        let at = libc::mmap(null_mut(), 8, read_write, flags, -1, 0);
        assert_ne!(at, libc::MAP_FAILED);
        &*at.cast::<AtomicU64>()
    }
}

/// Returns the number of slots lost by a jump at this point, at the least and at the most.
fn lost(point: Point, by: By) -> (u32, u32) {
    match (point, by) {
        (Point::Locked, _) | (Point::MidCopy | Point::Copied, By::Function) => (1, 1),
        // In a refill the slot is held; where a request has a key of its own it is not.
        (Point::Keyed, _) => (0, 1),
        _ => (0, 0),
    }
}

/// Draws once, and leaves it at `point`; false if it does not come by there.
fn leave(point: Point, by: By, before: Before, len: usize) -> bool {
    let mut rng = (by == By::Handle).then(|| Rng::new().unwrap());
    let mut word = [0; 8];
    if before != Before::Nothing {
        draw(&mut rng, &mut word);
        add(&word);
    }
    if before == Before::Fork && !record::raw_fork() {
        return false;
    }
    testing::set_hook(Some(signal_at));
    let due = if before == Before::Draw { due(by, len, &HashSet::new()) } else { Vec::new() };
    let mut buf = vec![0; len];
    NEXT.set(Some(point));
    let left = is_left(|| draw(&mut rng, &mut buf));
    NEXT.set(None);
    if left {
        let taken = headwater::status().pools.taken;
        let (least, most) = lost(point, by);
        let what = format!("{by:?}, {len} bytes, {before:?}, left at {point:?}");
        assert!((least..=most).contains(&taken), "{what}: {taken} slots lost");
        add_once(due.into_iter().chain(written(&buf)));
    } else {
        add_once(written(&buf));
    }
    // A round takes 1,344 bytes of a page, and a page serves 3,536, so whatever could repeat does.
    for _ in 0..3 {
        draw_all_kinds();
        draw(&mut rng, &mut word);
        add(&word);
        if let Some(rng) = &mut rng {
            draw_all_kinds_from(rng);
        }
    }
    draw_all_kinds_from(&mut Rng::new().unwrap());
    fork(draw_all_kinds);
    record::wait_for_all();
    left
}

/// Every request, left at every point where a signal makes a difference, in a process of its own
/// each time.
#[test]
fn a_draw_is_left_at_every_point() {
    in_every_mode("a_draw_is_left_at_every_point", |mode| {
        record::open();
        handle(libc::SIGUSR1, on_signal);
        bind(&cpus()[..1]);
        for point in POINTS {
            let met = shared_number();
            for by in [By::Function, By::Handle] {
                for before in [Before::Nothing, Before::Draw, Before::Fork] {
                    for len in [8, 16, 40, 1000, 1024, 65_536] {
                        fork(|| {
                            let left = leave(point, by, before, len);
                            met.fetch_add(left.into(), SeqCst);
                        });
                    }
                    record::wait_for_all();
                }
            }
            record::check();
            let is_there = match point {
                Point::SetUp | Point::EpochChosen | Point::LargeChunk => true,
                Point::Keyed => mode != Mode::Kernel,
                // Strict takes slots for the vDSO's states alone.
                Point::Locked => mode != Mode::Kernel && has_vdso_states(),
                _ => matches!(mode, Mode::Buffered | Mode::Hedged),
            };
            assert_eq!(met.load(SeqCst) > 0, is_there, "{point:?} in mode {mode}");
        }
    });
}

/// Returns whether the vDSO of this kernel draws, in any mode that asks it.
fn has_vdso_states() -> bool {
    let answer = shared_number();
    fork(|| {
        headwater::u64().unwrap();
        let status = headwater::status();
        let paged = matches!(status.mode, Mode::Buffered | Mode::Hedged);
        answer.store((paged || status.source == headwater::Source::Vdso).into(), SeqCst);
    });
    record::wait_for_all();
    answer.load(SeqCst) == 1
}

/// If every slot is lost, each draw gets a key of its own; handles need no slot, and children have
/// new ones.
#[test]
fn every_slot_is_lost() {
    in_every_mode("every_slot_is_lost", |mode| {
        if mode == Mode::Kernel || !has_vdso_states() {
            return; // which takes no slots
        }
        support::rules::force(&[Force::OneCpu, Force::NoSections]);
        record::open();
        handle(libc::SIGUSR1, on_signal);
        testing::set_hook(Some(signal_at));
        let mut rng = Rng::new().unwrap();
        draw_all_kinds_from(&mut rng);
        let slots = headwater::status().pools.slots;
        let mut word = [0; 8];
        for jumps in 1.. {
            NEXT.set(Some(Point::Locked));
            if !is_left(|| draw(&mut None, &mut word)) {
                break;
            }
            assert_eq!(headwater::status().pools.taken, jumps);
        }
        NEXT.set(None);
        add(&word);
        let before = headwater::status();
        assert_eq!(slots, support::rules::slots(1, before.page));
        assert_eq!(before.pools.taken, slots);
        for _ in 0..50 {
            draw_all_kinds();
            draw_all_kinds_from(&mut rng);
            draw_all_kinds_from(&mut Rng::new().unwrap());
        }
        let after = headwater::status();
        assert!(after.counters.busy > before.counters.busy, "{after:?}");
        let falls_back = after.counters.fallbacks > before.counters.fallbacks;
        assert_eq!(falls_back, mode != Mode::Strict, "{after:?}");
        assert_eq!((after.pools.taken, after.mode), (slots, mode));
        fork(|| {
            draw_all_kinds();
            draw_all_kinds_from(&mut rng);
            let status = headwater::status();
            assert_eq!((status.pools.taken, status.mode), (0, mode));
            assert_eq!(status.counters.fallbacks, 0);
        });
        draw_all_kinds();
        record::check();
    });
}

/// Returns memory of `len` bytes between two pages that cannot be touched.
fn fenced(len: usize) -> *mut u8 {
    let (private, all) =
        (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
    let fence = 1 << 16; // the largest page there is
    // SAFETY: a new mapping, and a part of it.
    unsafe {
        let at = libc::mmap(null_mut(), len + 2 * fence, libc::PROT_NONE, private, -1, 0);
        assert_ne!(at, libc::MAP_FAILED);
        let middle = at.cast::<u8>().add(fence);
        assert_eq!(libc::mprotect(middle.cast(), len, all), 0);
        middle
    }
}

/// A buffer that cannot be written, and a program that survives its SIGSEGV by a jump: no slot is
/// held when the buffer is first touched. The bytes that a handle had copied by then are lost and
/// does not come out later.
#[test]
fn a_bad_buffer_costs_no_slot() {
    in_every_mode("a_bad_buffer_costs_no_slot", |mode| {
        record::open();
        handle(libc::SIGSEGV, on_signal);
        bind(&cpus()[..1]);
        let room = 1 << 17;
        let good = fenced(room);
        let mut lost = HashSet::new();
        for mut rng in [None, Some(Rng::new().unwrap())] {
            for len in [1, 8, 15, 16, 17, 24, 40, 256, 1000, 1024, 1025, 4096, 65_536_usize] {
                let mut past = vec![1, len / 2, len - 1, len];
                past.retain(|&past| past > 0);
                for past in past {
                    let (before, behind) =
                        (good.wrapping_sub(past), good.wrapping_add(room - len + past));
                    for at in [before, behind] {
                        let by = if rng.is_some() { By::Handle } else { By::Function };
                        let due = if rng.is_some() { due(by, len, &lost) } else { Vec::new() };
                        let left = is_left(|| {
                            // SAFETY: none. This is the bug of a caller in C: it is what the test
                            // is about.
                            let buf = unsafe { std::slice::from_raw_parts_mut(at, len) };
                            match &mut rng {
                                None => headwater::fill(buf).unwrap(),
                                Some(rng) => rng.fill(buf).unwrap(),
                            }
                        });
                        assert!(left, "{by:?}: {len} bytes, {past} of them nowhere");
                        let taken = headwater::status().pools.taken;
                        assert_eq!(taken, 0, "{by:?}: {len} bytes, {past} of them nowhere");
                        add_once(due.iter().copied());
                        lost.extend(due);
                    }
                }
            }
            draw_all_kinds();
            if let Some(rng) = &mut rng {
                draw_all_kinds_from(rng);
            }
        }
        assert_eq!(headwater::status().mode, mode);
        record::check();
    });
}

/// A draw is under way, and may be left.
static DRAWING: AtomicBool = AtomicBool::new(false);

extern "C" fn leave_a_draw(_: libc::c_int) {
    if DRAWING.swap(false, SeqCst) {
        jump();
    }
}

/// Sends SIGALRM to this process every `microseconds` from now on, or never for 0.
fn alarm_every(microseconds: libc::suseconds_t) {
    let every = libc::timeval { tv_sec: 0, tv_usec: microseconds };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: a valid timer; the old one is not asked for.
    assert_eq!(unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, null_mut()) }, 0);
}

/// Draws, and is thrown out of draws by a timer, wherever they are. Records what it had just before
/// each jump and just after it. Returns the number of jumps.
fn draw_in_a_storm_of_jumps(until: Instant) -> u64 {
    const LENS: [usize; 8] = [8, 256, 16, 1024, 40, 256, 8, 2048];
    let mut rngs = [None, Some(Rng::new().unwrap())];
    let mut last = LENS.map(|len| vec![0; len]);
    let (mut jumps, mut to_record) = (0, 0);
    alarm_every(50);
    for round in 0_usize.. {
        let by = (round / LENS.len()) % 2;
        let buf = &mut last[round % LENS.len()];
        buf.fill(0);
        let left = is_left(|| {
            DRAWING.store(true, SeqCst);
            draw(&mut rngs[by], buf);
            DRAWING.store(false, SeqCst);
        });
        if left {
            jumps += 1;
            // Some of them have been recorded after the last jump; those are empty by now.
            for buf in &mut last {
                // A copy of the C library's can stop in the middle of a word, which is then part
                // zeros.
                let whole =
                    |word: &u64| word.to_ne_bytes().iter().filter(|&&byte| byte == 0).count() < 3;
                add_once(written(buf).filter(whole));
                buf.fill(0);
            }
            to_record = LENS.len();
        } else if to_record > 0 {
            to_record -= 1;
            assert!(written(buf).count() >= buf.len().div_ceil(8).min(LIMIT / 8), "zeros");
            add_once(written(buf));
            buf.fill(0);
        } else if jumps >= 10 || Instant::now() > until {
            break;
        }
    }
    alarm_every(0);
    jumps
}

/// Each process loses the slots it has within some jumps, so there are many, one after the other.
#[test]
fn draws_are_left_in_a_storm_of_timers() {
    in_every_mode("draws_are_left_in_a_storm_of_timers", |mode| {
        record::open();
        handle(libc::SIGALRM, leave_a_draw);
        draw_all_kinds();
        let (jumps, lost) = (shared_number(), shared_number());
        for _ in 0..150 {
            fork(|| {
                let until = Instant::now() + Duration::from_millis(100);
                jumps.fetch_add(draw_in_a_storm_of_jumps(until), SeqCst);
                draw_all_kinds();
                let status = headwater::status();
                assert!(status.pools.taken <= status.pools.slots);
                assert_eq!((status.mode, status.counters.tripwires), (mode, 0));
                lost.fetch_add(status.pools.taken.into(), SeqCst);
                fork(draw_all_kinds);
                record::wait_for_all();
            });
            record::wait_for_all();
        }
        let (jumps, lost) = (jumps.load(SeqCst), lost.load(SeqCst));
        assert!(jumps > 0, "no signal came in the middle of a draw");
        assert!(
            lost > 0 || mode == Mode::Kernel || !has_vdso_states(),
            "{jumps} jumps, no slot lost"
        );
        record::check();
    });
}

/// Ends the thread at the point that is set in [`NEXT`], without unwinding. A thread that is killed
/// by a bug of its own would end like this if the kernel ended threads alone.
fn die_at(point: Point) {
    if NEXT.get() == Some(point) {
        // SAFETY: ends this thread. Its stack stays until it is joined, and nothing of it is used
        // again.
        unsafe { libc::syscall(libc::SYS_exit, 0) };
    }
}

/// Threads die at every point, others draw on.
#[test]
fn threads_die_at_every_point() {
    extern "C" fn draw_and_die(point: *mut libc::c_void) -> *mut libc::c_void {
        NEXT.set(Some(POINTS[point.addr()]));
        let mut bytes = [0; 2048];
        for len in [8, 16, 40, 1024, 2048] {
            headwater::fill(&mut bytes[..len]).unwrap();
        }
        NEXT.set(None);
        null_mut()
    }
    in_every_mode("threads_die_at_every_point", |mode| {
        record::open();
        testing::set_hook(Some(die_at));
        for (index, point) in POINTS.into_iter().enumerate() {
            fork(|| {
                // The first thread of all dies in set-up, if that is the point.
                for _ in 0..5 {
                    let start = std::ptr::without_provenance_mut(index);
                    // SAFETY: the function takes a number for its pointer; the thread is joined.
                    unsafe {
                        let mut thread = std::mem::zeroed();
                        let made = libc::pthread_create(
                            &raw mut thread,
                            std::ptr::null(),
                            draw_and_die,
                            start,
                        );
                        assert_eq!(made, 0);
                        draw_all_kinds();
                        assert_eq!(libc::pthread_join(thread, null_mut()), 0);
                    }
                    draw_all_kinds();
                    draw_all_kinds_from(&mut Rng::new().unwrap());
                }
                let status = headwater::status();
                assert!(status.pools.taken <= 5 && status.mode == mode, "{status:?}");
                // A draw in a section holds nothing, and meets no point but in a refill.
                let locks = status.path != headwater::Path::Sections;
                if point == Point::Copied && locks && matches!(mode, Mode::Buffered | Mode::Hedged)
                {
                    assert!(status.pools.taken > 0, "{status:?}");
                }
                fork(draw_all_kinds);
                record::wait_for_all();
            });
            record::check();
        }
    });
}

/// The last draw of the thread that is cancelled.
static LAST: AtomicU64 = AtomicU64::new(0);

/// A thread is cancelled wherever it is in a draw (PTHREAD_CANCEL_ASYNCHRONOUS), and the others
/// draw on.
///
/// The C library cancels by unwinding, and Rust code can be unwound at calls only. At another
/// instruction of a function that has something to drop, Rust's unwinder ends the process
/// (SIGABRT). Within the range of a call, but before it, the code for the drop runs with a stack
/// pointer that is not its own, and the process crashes (SIGSEGV in `_Unwind_Resume`, once in some
/// thousand). Both hold for every Rust function, and most of the processes here end so. The test is
/// about those that live on.
#[test]
fn a_thread_that_is_cancelled_stops_nobody() {
    const PTHREAD_CANCEL_ASYNCHRONOUS: libc::c_int = 1;
    unsafe extern "C" {
        fn pthread_setcanceltype(kind: libc::c_int, before: *mut libc::c_int) -> libc::c_int;
    }
    extern "C" fn draw_for_ever(_: *mut libc::c_void) -> *mut libc::c_void {
        let (mut bytes, mut before) = ([0; 256], 0);
        // SAFETY: a place for the old kind. Nothing below owns anything.
        unsafe { pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &raw mut before) };
        loop {
            let _ = headwater::fill(&mut bytes);
            if let Ok(word) = headwater::u64() {
                LAST.store(word, SeqCst);
            }
        }
    }
    fn cancel_a_thread(after: Duration) {
        // SAFETY: the function needs nothing; the thread is joined.
        unsafe {
            let mut thread = std::mem::zeroed();
            let (attributes, nothing) = (std::ptr::null(), null_mut());
            let made = libc::pthread_create(&raw mut thread, attributes, draw_for_ever, nothing);
            assert_eq!(made, 0);
            std::thread::sleep(after);
            assert_eq!(libc::pthread_cancel(thread), 0);
            assert_eq!(libc::pthread_join(thread, null_mut()), 0);
        }
    }
    in_every_mode("a_thread_that_is_cancelled_stops_nobody", |mode| {
        record::open();
        draw_all_kinds();
        let (mut processes, mut survived) = (0, 0);
        while processes < 100 || survived == 0 {
            assert!(processes < 5_000, "no process survives that a thread of it was cancelled");
            processes += 1;
            let child = support::children::fork(|| {
                cancel_a_thread(Duration::from_micros(200 + 37 * processes % 500));
                add_once([LAST.load(SeqCst)].into_iter().filter(|&word| word != 0));
                for _ in 0..3 {
                    draw_all_kinds();
                    draw_all_kinds_from(&mut Rng::new().unwrap());
                }
                let status = headwater::status();
                assert_eq!((status.mode, status.counters.tripwires), (mode, 0));
                assert!(status.pools.taken <= 1, "{status:?}");
                0
            });
            match support::children::wait(child) {
                Ending::Exited(0) => survived += 1,
                Ending::Killed(libc::SIGABRT | libc::SIGSEGV) => {}
                other => panic!("{other:?}"),
            }
        }
        record::check();
    });
}
