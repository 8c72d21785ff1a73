//! Forks in the middle of a draw, at the library's test hooks.
//!
//! A fork by a signal may come after the last comparison, when parent and child have the same bytes by right, so such
//! a draw is the parent's alone to record. A hook comes before it: whatever the child comes out with must be its own.

use crate::draws::{DEPTH, draw_and_record};
use crate::forks;
use crate::plan::Plan;
use crate::record::{self, Event};
use headwater::testing::{self, Force, Point};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

thread_local! {
    /// This thread draws what it will record, and no handler runs in it.
    static OPEN: Cell<bool> = const { Cell::new(false) };
    /// The depth of this process, if it was forked in the middle of the draw that goes on.
    static FORKED: Cell<u32> = const { Cell::new(0) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

/// How many times a point is passed between two forks.
static PERIOD: AtomicU32 = AtomicU32::new(0);

/// Sets what the library finds at its set-up. Comes before the first draw.
pub(crate) fn force(plan: &Plan) {
    testing::set(Force::OneCpu, plan.one_slot);
}

pub(crate) fn arm(plan: &Plan) {
    if plan.forks {
        // A prime, so that all points get their turn whatever their order is.
        PERIOD.store(if plan.longest > 8192 { 211 } else { 2003 }, SeqCst);
        testing::set_hook(Some(hook));
    }
}

/// Runs `draw`; the depth at which what it returns belongs to this process.
pub(crate) fn open<T>(depth: u32, draw: impl FnOnce() -> T) -> (T, u32) {
    FORKED.set(0);
    OPEN.set(true);
    let drawn = draw();
    OPEN.set(false);
    (drawn, depth.max(FORKED.get()))
}

/// Runs a signal's handler.
pub(crate) fn closed(handler: impl FnOnce()) {
    let open = OPEN.replace(false);
    handler();
    OPEN.set(open);
}

fn hook(_: Point) {
    if !OPEN.get() || record::is_over() {
        return;
    }
    let count = COUNT.get() + 1;
    COUNT.set(count);
    if count.is_multiple_of(PERIOD.load(SeqCst)) {
        OPEN.set(false);
        if forks::raw_fork(Event::ForkInDraw) {
            FORKED.set(DEPTH.load(SeqCst));
            // To where the interrupted frame was in its page, past it, or not at all.
            for _ in 0..count % 4 * 20 {
                draw_and_record::<8>();
            }
        }
        OPEN.set(true);
    }
}
