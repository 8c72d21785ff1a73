//! Draws before `main`, after it, and at the end of a thread: other libraries draw in their
//! constructors and destructors, and nothing of headwater is torn down before them.
#![cfg(target_os = "linux")]

mod common;

use common::in_every_mode;
use common::record::{self, add};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;

/// The word drawn before `main`; 0 if none was drawn.
static BEFORE_MAIN: AtomicU64 = AtomicU64::new(0);

/// Runs before `main`, with the environment there and Rust's runtime not.
#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = {
    extern "C" fn construct() {
        if let Ok(word) = headwater::u64() {
            BEFORE_MAIN.store(word, SeqCst);
        }
    }
    construct
};

#[test]
fn a_constructor_may_draw_before_main() {
    in_every_mode("a_constructor_may_draw_before_main", |_| {
        record::open();
        let word = BEFORE_MAIN.load(SeqCst);
        add(&word.to_ne_bytes()); // the record refuses 0
        record::draw_all_kinds();
        record::check();
    });
}

/// Draws when its thread ends.
struct Late(RefCell<Option<headwater::Rng>>);

impl Drop for Late {
    fn drop(&mut self) {
        record::draw_all_kinds();
        if let Some(rng) = self.0.borrow_mut().as_mut() {
            record::draw_all_kinds_from(rng);
        }
    }
}

thread_local! {
    static LATE: Late = const { Late(RefCell::new(None)) };
}

#[test]
fn a_thread_may_draw_while_it_ends() {
    in_every_mode("a_thread_may_draw_while_it_ends", |_| {
        record::open();
        for _ in 0..50 {
            let thread = thread::spawn(|| {
                LATE.with(|late| *late.0.borrow_mut() = Some(headwater::Rng::new().unwrap()));
            });
            thread.join().unwrap();
        }
        assert_eq!(record::check(), 50 * 2 * (8 + 16 + 40 + 256 + 1024 + 4096) / 8);
        assert_eq!(headwater::status().pools.handles, 0);
    });
}

/// Every destructor of C++ and of other libraries runs as such a handler, while other threads
/// continue.
#[test]
fn an_exit_handler_may_draw_while_threads_draw() {
    static DREW: AtomicBool = AtomicBool::new(false);
    extern "C" fn at_exit() {
        record::draw_all_kinds();
        DREW.store(true, SeqCst);
    }
    /// Draws, and ends the process with a status that shows whether `at_exit` drew before. This
    /// handler is registered first, so it runs last.
    extern "C" fn at_last() {
        record::draw_all_kinds();
        let status = if DREW.load(SeqCst) { 0 } else { 3 };
        // SAFETY: ends the process, whatever state it is in.
        unsafe { libc::_exit(status) };
    }
    in_every_mode("an_exit_handler_may_draw_while_threads_draw", |_| {
        record::open();
        for _ in 0..10 {
            record::fork(|| {
                // SAFETY: handlers that draw and take no lock of the C library.
                unsafe {
                    libc::atexit(at_last);
                    libc::atexit(at_exit);
                }
                for _ in 0..2 {
                    // Unrecorded: these threads are ended wherever they are.
                    thread::spawn(|| while headwater::u64().is_ok() {});
                }
                record::draw_all_kinds();
                // SAFETY: runs the handlers while the threads draw, which is what is tried.
                unsafe { libc::exit(4) };
            });
        }
        record::wait_for_all();
        record::check();
    });
}
