//! Processes that draw at full speed, one for each mode of headwater, with several threads each.

use crate::kernel;
use crate::options::Options;
use crate::port::say;
use crate::ring::{Ring, shared};
use crate::witness::{COUNT, LARGE_EVERY, LARGE_INDEX, Witnesses};
use std::io;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};
use std::time::Duration;

/// What the lab and the workers tell each other.
#[derive(Clone, Copy)]
struct Board(&'static [AtomicU64]);

impl Board {
    /// Threads that pause.
    const STOPPED: usize = 0;
    /// Counts up: each time, every process tells its status once.
    const STATUS: usize = 1;

    fn get(self, place: usize) -> u64 {
        self.0[place].load(Acquire)
    }
}

/// One thread's ring, and the mode of its process.
pub(crate) struct Worker {
    pub(crate) mode: String,
    pub(crate) ring: Ring,
}

#[derive(Default)]
pub(crate) struct Workers {
    pub(crate) list: Vec<Worker>,
    board: Option<Board>,
}

impl Workers {
    /// Starts them; they draw at once.
    pub(crate) fn start(options: &Options) -> io::Result<Workers> {
        let board = Board(shared(8)?);
        let mut list = Vec::new();
        for mode in &options.modes {
            let rings =
                (0..options.threads).map(|_| Ring::new()).collect::<io::Result<Vec<Ring>>>()?;
            kernel::fork(|| process(mode, &rings, board, options.pace))?;
            list.extend(rings.into_iter().map(|ring| Worker { mode: mode.clone(), ring }));
        }
        Ok(Workers { list, board: Some(board) })
    }

    /// Has each of them pause when it has made so many more iterations; whether all do, within twenty seconds. Those
    /// that are quicker wait, so that their rings are not overrun by the patience for the others.
    pub(crate) fn stop(&self, more: u64) -> bool {
        let Some(board) = self.board else { return true };
        self.list.iter().for_each(|worker| worker.ring.end_after(more));
        for _ in 0..20_000 {
            if board.get(Board::STOPPED) == self.list.len() as u64 {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }

    pub(crate) fn go(&self) {
        self.list.iter().for_each(|worker| worker.ring.go_on());
    }

    /// Has each process tell what is armed in it, and gives them the time to.
    pub(crate) fn tell_status(&self) {
        if let Some(board) = self.board {
            board.0[Board::STATUS].fetch_add(1, Release);
            std::thread::sleep(Duration::from_millis(300));
        }
    }
}

/// A process of one mode.
fn process(mode: &str, rings: &[Ring], board: Board, pace: Option<Duration>) {
    let Ok(wanted) = mode.parse() else {
        say!("failed text=there is no mode '{mode}'");
        return;
    };
    if let Err(error) = headwater::init_with(headwater::Config::new().mode(wanted)) {
        say!("failed text=headwater: {error}");
        return;
    }
    let pool = vdso_rng::Pool::new().ok().map(|pool| &*Box::leak(Box::new(pool)));
    for &ring in rings {
        std::thread::spawn(move || draw(ring, &mut Witnesses::new(pool), board, pace));
    }
    // What `auto` chooses is known once it has drawn; before that it is the same as after `init_with`.
    tell(mode);
    let mut told = board.get(Board::STATUS);
    loop {
        std::thread::sleep(Duration::from_millis(20));
        if board.get(Board::STATUS) != told {
            told = board.get(Board::STATUS);
            tell(mode);
        }
    }
}

fn draw(ring: Ring, witnesses: &mut Witnesses, board: Board, pace: Option<Duration>) {
    loop {
        if ring.is_at_end() {
            board.0[Board::STOPPED].fetch_add(1, Release);
            while ring.is_at_end() {
                std::thread::sleep(Duration::from_millis(1));
            }
            board.0[Board::STOPPED].fetch_sub(1, Release);
        }
        let iteration = ring.next();
        for witness in 0..COUNT {
            if witness == LARGE_INDEX && !iteration.is_multiple_of(LARGE_EVERY) {
                ring.begin(iteration, witness, 0);
                ring.end(iteration, witness, [0; 16]);
                continue;
            }
            ring.begin(iteration, witness, kernel::cycles());
            ring.end(iteration, witness, witnesses.draw(witness));
        }
        if let Some(pace) = pace {
            std::thread::sleep(pace);
        }
    }
}

fn tell(mode: &str) {
    let status = headwater::status();
    say!(
        "status for={mode} mode={} source={} reseed_generation={} vmclock={} vmgenid={} hardware={} cpu_rng={} page={} cipher={} \
         refills={} discarded={} retries={} fallbacks={} tripwires={} text={}",
        status.mode.name(),
        status.source.name(),
        status.reseed_generation.name(),
        status.vmclock.name(),
        status.vmgenid.name(),
        status.hardware.name(),
        status.cpu_rng.name(),
        status.page.name(),
        status.cipher.replace(' ', "_"),
        status.counters.refills,
        status.counters.discarded_bytes,
        status.counters.retries,
        status.counters.fallbacks,
        status.counters.tripwires,
        status.reason
    );
}
