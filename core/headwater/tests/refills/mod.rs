//! The child: it empties a page, and draws once more, while the tracer steps it or a handler does
//! what the kernel would.

mod tracer;

pub(crate) use tracer::{Path, Tracer};

use crate::common::record;
use crate::support::jump::{handle, is_left, jump};
use crate::support::stepper::stop;
use headwater::Rng;
use headwater::testing::{drop_pages, handle_page, slot_page};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// An event in the middle of the refill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Event {
    /// Every page is dropped.
    Drop,
    /// The process forks, and both continue with the draw.
    Fork,
    /// The draw is left by siglongjmp.
    Jump,
    /// The kernel reseeds.
    Reseed,
}

/// The place where the draw's page is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    /// Under a slot's lock.
    Slot,
    /// In the page of an [`Rng`].
    Handle,
    /// In a page for sections, which a section puts into its CPU's line.
    Section,
}

/// The kernel's half of the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// It is drawn from the vDSO, into a page that has just been dropped.
    First,
    /// It is drawn from the vDSO, because the page's chain has ended.
    Kernel,
    /// It is the end of the page's last stream.
    Link,
}

/// A refill that follows one whose half the vDSO gave is the first of seven with a link.
const REFILLS_OF_A_CHAIN: usize = 8;

/// Words that are recorded after the draw. A word that came out of the middle of a refill would
/// come out again among them.
const RECORDED: usize = 100;

/// The messages between tracer and child.
pub(crate) struct Shared {
    pub(crate) event: AtomicUsize,
    /// 1 while the draw is under way.
    pub(crate) drawing: AtomicUsize,
    /// The page that the draw found empty; 0 if it is another one that is filled.
    pub(crate) page: AtomicU64,
    /// Refills of the draw.
    pub(crate) refills: AtomicU64,
    /// Refills and retries of the draw and of the one after it.
    pub(crate) made_by_two: AtomicU64,
    /// The word that the draw returned, and the one that it returned in a forked child.
    pub(crate) words: [AtomicU64; 2],
    /// 1 if the handler stops when it has done its work.
    pub(crate) stops: AtomicUsize,
}

static IS_CHILD: AtomicBool = AtomicBool::new(false);
static SHARED: OnceLock<&Shared> = OnceLock::new();

extern "C" fn disturb(_: libc::c_int) {
    let shared = SHARED.get().expect("set before the handler");
    let event = shared.event.load(SeqCst);
    if event == Event::Drop as usize {
        drop_pages();
    } else if event == Event::Jump as usize {
        jump();
    } else if event == Event::Fork as usize && record::raw_fork() {
        return IS_CHILD.store(true, SeqCst);
    }
    if shared.stops.load(SeqCst) == 1 {
        stop();
    }
}

/// Keeps a signal away, which would stop the traced child where nothing looks for a stop.
fn block(signal: libc::c_int) {
    // SAFETY: a set of signals is any bits, and sigaddset sets one of them.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut set, signal);
        assert_eq!(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, null_mut()), 0);
    }
}

/// Runs as the child: empties a page, stops, and draws once more; then records what it draws.
pub(crate) fn draw_for_the_tracer(shared: &'static Shared, pool: Pool, half: Half) -> ! {
    SHARED.get_or_init(|| shared);
    handle(libc::SIGUSR1, disturb);
    block(libc::SIGCHLD);
    let mut rng = Rng::new().unwrap();
    let mut draw = || match pool {
        Pool::Handle => rng.next_u64(),
        Pool::Slot | Pool::Section => headwater::u64().unwrap(),
    };
    let refills = || headwater::status().counters.refills;
    let made = || {
        let counters = headwater::status().counters;
        counters.refills + counters.retries
    };
    let mut draws_of_a_page = || {
        let full = refills() + 1;
        while refills() < full {
            draw();
        }
        let mut draws = 0;
        while refills() == full {
            draw();
            draws += 1;
        }
        draws
    };
    // A reseed ends a page early.
    let draws = (0..3).map(|_| draws_of_a_page()).max().unwrap();
    loop {
        stop();
        drop_pages();
        let pages = match (half, pool) {
            (Half::First, _) => 0,
            (Half::Kernel, _) => REFILLS_OF_A_CHAIN,
            // Sections use two pages in turn.
            (Half::Link, Pool::Section) => 2,
            (Half::Link, _) => 1,
        };
        for _ in 0..pages * draws {
            draw();
        }
        let page = match pool {
            Pool::Slot => slot_page(),
            Pool::Handle => handle_page(),
            Pool::Section => null_mut(),
        };
        shared.page.store(page.addr() as u64, SeqCst);
        let (before, before_made) = (refills(), made());
        stop();
        let mut word = 0;
        let left = is_left(|| {
            shared.drawing.store(1, SeqCst);
            word = draw();
            shared.drawing.store(0, SeqCst);
        });
        shared.drawing.store(0, SeqCst);
        let is_child = IS_CHILD.load(SeqCst);
        if !is_child {
            shared.refills.store(refills() - before, SeqCst);
        }
        shared.words[usize::from(is_child)].store(word, SeqCst);
        if !left && !is_child {
            record::add(&word.to_ne_bytes());
        }
        for rest in 0..RECORDED {
            record::add(&draw().to_ne_bytes());
            if rest == 0 && !is_child {
                shared.made_by_two.store(made() - before_made, SeqCst);
            }
        }
        if is_child {
            record::end();
        }
        record::wait_for_all();
    }
}
