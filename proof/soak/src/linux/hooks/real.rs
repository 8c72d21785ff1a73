//! Forks in the middle of a draw, at the library's failpoints.
//!
//! A fork in a signal handler may come after the draw's last comparison. Parent and child then hold
//! the same bytes legitimately, so only the parent records such a draw. But a failpoint lies before
//! the last comparison, so the bytes that the child receives must differ from the parent's, and
//! both record them.

use crate::linux::draws::{DEPTH, draw_and_record};
use crate::linux::forks;
use crate::linux::plan::Plan;
use crate::linux::record::{self, Event};
use headwater::testing::{self, Force, Point};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

thread_local! {
    /// True while this thread draws bytes that it will record, and no handler runs in it.
    static OPEN: Cell<bool> = const { Cell::new(false) };
    /// The depth of this process, if a failpoint of the present draw forked it.
    static FORKED: Cell<u32> = const { Cell::new(0) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

/// Number of passed failpoints between two forks.
static PERIOD: AtomicU32 = AtomicU32::new(0);

/// Forces the facts of the plan that the library reads at set-up. Comes before the first draw.
pub(crate) fn force(plan: &Plan) {
    testing::set(Force::OneCpu, plan.one_slot);
}

/// Sets the library's hook, if the plan has forks.
pub(crate) fn install(plan: &Plan) {
    if plan.forks {
        // A prime, so that every failpoint has its turn, whatever their order.
        PERIOD.store(if plan.longest > 8192 { 211 } else { 2003 }, SeqCst);
        testing::set_hook(Some(hook));
    }
}

/// Runs `draw`. Returns its result, and the depth of the process to which the bytes belong.
pub(crate) fn open<T>(depth: u32, draw: impl FnOnce() -> T) -> (T, u32) {
    FORKED.set(0);
    OPEN.set(true);
    let drawn = draw();
    OPEN.set(false);
    (drawn, depth.max(FORKED.get()))
}

/// Runs a signal handler, in which failpoints do not fork.
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
            // The child takes its page up to the interrupted draw's place, past it, or not at all.
            for _ in 0..count % 4 * 20 {
                draw_and_record::<8>();
            }
        }
        OPEN.set(true);
    }
}
