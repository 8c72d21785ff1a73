//! The sources of key material when the kernel refuses, is not seeded yet, or returns pieces.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, Point, set, set_hook};
use headwater::{Config, Error, Mode, Rng, Source};
use std::mem::MaybeUninit;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use support::children::{Ending, fork, wait};
use support::draws::{draw_everything, lengths};
use support::machine::{set_mode_variable, skip};
use support::rules::{assert_by_the_rules, force};

const SENTINEL: u8 = 0x5A;

/// Checks that the functions that draw fail with this errno, and leave nothing but zeros.
/// `fill_fresh` and `try_fill_uninit` are not among these functions.
fn everything_fails(errno: i32) {
    let check = |result: Result<(), Error>| {
        let error = result.expect_err("bytes out of nowhere");
        assert_eq!(error.errno(), Some(errno));
        assert_eq!(error.is_not_ready(), errno == libc::EAGAIN);
        assert!(!error.to_string().is_empty());
    };
    for len in lengths() {
        let mut buf = vec![SENTINEL; len];
        check(headwater::fill(&mut buf));
        assert!(buf.iter().all(|&byte| byte == 0), "fill left bytes at {len}");
        buf.fill(SENTINEL);
        check(headwater::try_fill(&mut buf));
        assert!(buf.iter().all(|&byte| byte == 0), "try_fill left bytes at {len}");
        let mut uninit = vec![MaybeUninit::new(SENTINEL); len];
        check(headwater::fill_uninit(&mut uninit).map(drop));
        // SAFETY: each was initialised here, and whatever `fill_uninit` wrote is initialised too.
        let all_zero = uninit.iter().all(|byte| unsafe { byte.assume_init() } == 0);
        assert!(all_zero, "fill_uninit left bytes at {len}");
    }
    check(headwater::u32().map(drop));
    check(headwater::u64().map(drop));
    check(headwater::u32_below(NonZeroU32::MAX).map(drop));
    check(headwater::u64_below(NonZeroU64::MAX).map(drop));
    check(headwater::array::<0>().map(drop).and(headwater::array::<7>().map(drop)));
    check(headwater::array::<5000>().map(drop));
    #[cfg(feature = "uuid")]
    {
        check(headwater::uuid::v4().map(drop));
        check(headwater::uuid::v7().map(drop));
    }
    // Nothing was asked for, so nothing is missing.
    headwater::fill(&mut []).unwrap();
}

/// Checks [`everything_fails`] before any set-up. Set-up itself and a new handle must fail as well.
fn nothing_can_be_set_up(errno: i32) {
    everything_fails(errno);
    let code = |result: Result<(), Error>| result.unwrap_err().errno();
    assert_eq!(code(headwater::init()), Some(errno));
    assert_eq!(code(headwater::init_with(Config::new())), Some(errno));
    assert_eq!(code(headwater::quiesce()), Some(errno));
    assert_eq!(code(Rng::new().map(drop)), Some(errno));
    let status = headwater::status();
    assert_eq!((status.source, status.generation), (Source::None, None));
    assert!(status.reason.contains("nothing is set up"));
}

#[test]
fn enosys_goes_to_urandom() {
    isolated("enosys_goes_to_urandom", || goes_to_urandom(Force::GetrandomEnosys));
}

#[test]
fn eperm_goes_to_urandom() {
    isolated("eperm_goes_to_urandom", || goes_to_urandom(Force::GetrandomEperm));
}

fn goes_to_urandom(refused: Force) {
    force(&[refused, Force::NoVdso]);
    headwater::init().unwrap();
    let status = headwater::status();
    assert_eq!(status.source, Source::Urandom);
    assert_by_the_rules(&status);
    draw_everything();
    for mode in [Mode::Strict, Mode::Kernel] {
        headwater::init_with(Config::new().mode(mode)).unwrap();
        draw_everything();
        assert_eq!(headwater::status().source, Source::Urandom);
    }
    // Allowed again: back to the better source.
    set(refused, false);
    headwater::fill(&mut [0; 64]).unwrap();
    assert_eq!(headwater::status().source, Source::Getrandom);
}

/// Before Linux 5.6 /dev/random is readable only while its pool is full, which any neighbour can
/// end: it is asked once in a process, and a child takes its parent's answer.
#[test]
fn a_drained_dev_random_makes_nobody_wait() {
    isolated("a_drained_dev_random_makes_nobody_wait", || {
        force(&[Force::GetrandomEnosys, Force::NoVdso, Force::RandomDrained]);
        assert!(headwater::try_fill(&mut [0; 16]).unwrap_err().is_not_ready());
        set(Force::RandomDrained, false);
        headwater::fill(&mut [0; 16]).unwrap();
        set(Force::RandomDrained, true);
        let draw = || {
            for mode in [Mode::Strict, Mode::Kernel] {
                headwater::init_with(Config::new().mode(mode)).unwrap();
                draw_everything();
                assert_eq!(headwater::status().source, Source::Urandom);
            }
            0
        };
        assert_eq!(wait(fork(draw)), Ending::Exited(0));
        draw();
    });
}

#[test]
fn no_source_at_all() {
    isolated("no_source_at_all", || {
        force(&[Force::GetrandomEnosys, Force::UrandomAbsent]);
        nothing_can_be_set_up(libc::ENOENT);
        // And as soon as there is one:
        set(Force::GetrandomEnosys, false);
        draw_everything();
        assert_by_the_rules(&headwater::status());
    });
}

macro_rules! taken_away {
    ($($name:ident: $mode:expr, $refusal:ident;)*) => {$(
        #[test]
        fn $name() {
            isolated(stringify!($name), || taken_away($mode, Force::$refusal));
        }
    )*};
}

// Mode by mode: what is buffered may still be served, nothing else.
taken_away! {
    taken_away_from_hedged: Mode::Hedged, GetrandomEperm;
    taken_away_from_strict: Mode::Strict, GetrandomEnosys;
    taken_away_from_kernel: Mode::Kernel, GetrandomEnosys;
}

/// Takes the sources away while the process runs, and checks that only buffered bytes are still
/// served. Forces NoVdso, so that refills need the system call.
fn taken_away(mode: Mode, refusal: Force) {
    force(&[Force::NoVdso]);
    headwater::init_with(Config::new().mode(mode)).unwrap();
    let mut rng = Rng::new().unwrap();
    draw_everything();
    rng.next_u64();
    force(&[refusal, Force::UrandomAbsent]);
    // At most what a page held, and never a byte twice or of zeros.
    let mut words = Vec::new();
    while let Ok(word) = headwater::u64() {
        words.push(word);
    }
    let page_words = (headwater::status().pools.page_bytes / 8) as usize;
    assert!(words.len() <= page_words, "{} words out of a page", words.len());
    support::statistics::assert_distinct(words, "the rest of a page");
    let mut buf = [SENTINEL; 64];
    while rng.fill(&mut buf).is_ok() {
        assert_ne!(buf[..16], [0; 16]); // 2^-128
        buf.fill(SENTINEL);
    }
    assert_eq!(buf, [0; 64]);
    everything_fails(libc::ENOENT);
    let mut large = vec![SENTINEL; 3 << 20];
    headwater::fill(&mut large).unwrap_err();
    assert!(large.iter().all(|&byte| byte == 0));
    large.fill(SENTINEL);
    rng.fill(&mut large).unwrap_err();
    assert!(large.iter().all(|&byte| byte == 0));
    // The documented panic; without the hook of these tests, which would end the process.
    std::panic::set_hook(Box::new(|_| {}));
    for draw in [Rng::next_u64, |rng: &mut Rng| rng.next_u32().into()] {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| draw(&mut rng)));
        let message = *panic.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("headwater: the kernel refused"), "{message}");
    }
    set(refusal, false);
    draw_everything();
    rng.next_u64();
}

/// A large request that loses its source half way keeps nothing of its first half.
#[test]
fn taken_away_in_the_middle() {
    isolated("taken_away_in_the_middle", || {
        force(&[Force::NoVdso, Force::UrandomAbsent]);
        headwater::init_with(Config::new().mode(Mode::Strict)).unwrap();
        let mut rng = Rng::new().unwrap();
        headwater::testing::set_hook(Some(|point| {
            if point == headwater::testing::Point::LargeChunk {
                set(Force::GetrandomEnosys, true);
            }
        }));
        let check = |draw: &mut dyn FnMut(&mut [u8]) -> Result<(), Error>| {
            set(Force::GetrandomEnosys, false);
            let mut buf = vec![SENTINEL; 3 << 20];
            assert_eq!(draw(&mut buf).unwrap_err().errno(), Some(libc::ENOENT));
            assert!(buf.iter().all(|&byte| byte == 0));
        };
        check(&mut headwater::fill);
        check(&mut |buf| rng.fill(buf));
    });
}

#[test]
fn not_ready_yet() {
    isolated("not_ready_yet", || {
        force(&[Force::GetrandomNotReady]);
        let mut buf = [SENTINEL; 40];
        for len in [1, 8, 16, 17, 40] {
            buf.fill(SENTINEL);
            let error = headwater::try_fill(&mut buf[..len]).unwrap_err();
            assert!(error.is_not_ready());
            assert_eq!(error, Error::NOT_READY);
            assert_eq!(buf[..len], [0; 40][..len]);
            assert!(buf[len..].iter().all(|&byte| byte == SENTINEL));
        }
        // Nothing is set up, so nothing can have been buffered.
        let status = headwater::status();
        assert_eq!((status.source, status.mode), (Source::None, Mode::Kernel));
        assert_eq!((status.pools.slots, status.counters.refills), (0, 0));
        assert_eq!(headwater::generation(), None);
        assert_eq!(headwater::Stamp::new().check(), headwater::Freshness::Unknown);
        headwater::try_fill(&mut []).unwrap();
        set(Force::GetrandomNotReady, false);
        headwater::try_fill(&mut buf).unwrap();
        assert_ne!(buf[..16], [0; 16]); // 2^-128
        assert_by_the_rules(&headwater::status());
        draw_everything();
    });
}

/// A blocking call waits, which the kernel ends; from then on nothing has to wait.
#[test]
fn not_ready_and_willing_to_wait() {
    isolated("not_ready_and_willing_to_wait", || {
        force(&[Force::GetrandomNotReady]);
        let mut buf = [0; 40];
        assert!(headwater::try_fill(&mut buf).unwrap_err().is_not_ready());
        headwater::fill(&mut buf).unwrap();
        assert_ne!(buf[..16], [0; 16]); // 2^-128
        headwater::try_fill(&mut buf).unwrap();
        draw_everything();
    });
}

macro_rules! in_pieces {
    ($($name:ident: [$($fact:ident),*], $mode:literal;)*) => {$(
        #[test]
        fn $name() {
            isolated(stringify!($name), || {
                set_mode_variable(Some($mode));
                force(&[$(Force::$fact),*]);
                headwater::init().unwrap();
                assert_by_the_rules(&headwater::status());
                draw_everything();
                assert_eq!(headwater::status().source, Source::Getrandom);
            });
        }
    )*};
}

in_pieces! {
    interrupted_in_auto: [NoVdso, GetrandomEintr], "auto";
    interrupted_in_strict: [NoVdso, GetrandomEintr], "strict";
    interrupted_in_kernel: [NoWipeOnFork, GetrandomEintr], "auto";
    short_in_auto: [NoVdso, GetrandomShort], "auto";
    short_in_strict: [NoVdso, GetrandomShort], "strict";
    short_and_interrupted: [NoVdso, GetrandomShort, GetrandomEintr], "strict";
}

/// Mode `kernel` gets its bytes from the call itself, five at a time here: short lengths only.
#[test]
fn short_in_kernel() {
    isolated("short_in_kernel", || {
        set_mode_variable(Some("kernel"));
        force(&[Force::GetrandomShort, Force::GetrandomEintr]);
        let mut seen = support::draws::Seen::default();
        for len in lengths().filter(|&len| len < 5000) {
            let draw = &mut |buf: &mut [u8]| headwater::fill(buf).unwrap();
            support::draws::draw_length(len, &mut seen, draw);
        }
        seen.assert_no_repeats();
    });
}

/// Draws a large request in `hedged` whose page was chosen before the instruction fails, each in a
/// child: shared, and from a handle. Its seed comes from a page only beside words of the CPU,
/// because the owner of a clone may know the page. So the kernel is asked, which has no answer.
fn without_words(test: &'static str, page: Page, fail: fn(Point)) {
    for by_handle in [false, true] {
        let child = fork(|| {
            draw_without_words(test, page, by_handle, fail);
            0
        });
        assert_eq!(wait(child), Ending::Exited(0), "by a handle: {by_handle}");
    }
}

fn draw_without_words(test: &str, page: Page, by_handle: bool, fail: fn(Point)) {
    // Hooks are in draws under a lock.
    force(&[Force::NoSections]);
    headwater::init_with(Config::new().mode(Mode::Hedged)).unwrap();
    if headwater::status().mode != Mode::Hedged {
        return skip(test, "this CPU cannot hedge");
    }
    let mut rng = Rng::new().unwrap();
    let mut draw = |buf: &mut [u8]| match by_handle {
        false => headwater::fill(buf),
        true => rng.fill(buf),
    };
    draw(&mut [0; 8]).unwrap();
    if page == Page::Empty {
        headwater::discard().unwrap();
    }
    set_hook(Some(fail));
    let mut buf = [SENTINEL; 5000];
    let drawn = draw(&mut buf);
    set_hook(None);
    assert!(drawn.is_err(), "bytes of a page and the cycle counter");
    assert_eq!(buf, [0; 5000]);
    NOTHING.into_iter().for_each(|fact| set(fact, false));
    draw_everything();
}

#[derive(Clone, Copy, PartialEq)]
enum Page {
    Full,
    Empty,
}

/// Neither the kernel nor the CPU answers.
const NOTHING: [Force; 3] = [Force::GetrandomEnosys, Force::UrandomAbsent, Force::CpuRngFails];

#[test]
fn no_large_request_has_a_page_alone() {
    const TEST: &str = "no_large_request_has_a_page_alone";
    isolated(TEST, || {
        without_words(TEST, Page::Full, |point| {
            if point == Point::Copied {
                force(&NOTHING);
            }
        });
    });
}

#[test]
fn no_large_request_has_a_page_alone_after_another_threads_failure() {
    const TEST: &str = "no_large_request_has_a_page_alone_after_another_threads_failure";
    static FAILED: AtomicBool = AtomicBool::new(false);
    isolated(TEST, || {
        without_words(TEST, Page::Full, |point| {
            if point == Point::Copied && !FAILED.swap(true, SeqCst) {
                force(&NOTHING);
                // Its refill meets the failure. That it has no bytes is not asked.
                let _ = std::thread::spawn(headwater::u64).join().unwrap();
            }
        });
    });
}

#[test]
fn no_large_request_has_a_page_alone_after_a_refills_failure() {
    const TEST: &str = "no_large_request_has_a_page_alone_after_a_refills_failure";
    isolated(TEST, || {
        without_words(TEST, Page::Empty, |point| {
            if point == Point::Keyed {
                force(&NOTHING);
            }
        });
    });
}
