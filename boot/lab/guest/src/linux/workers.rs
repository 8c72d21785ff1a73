//! Processes that draw at full speed, one for each mode of headwater, with several threads each.

use crate::linux::kernel;
use crate::linux::options::Options;
use crate::linux::port::{fail, send};
use crate::linux::ring::{Ring, shared};
use crate::linux::witness::{COUNT, LARGE_EVERY, LARGE_INDEX, Witnesses};
use headwater_lab_protocol::Status;
use std::io;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};
use std::time::Duration;

/// Counters that the first process shares with the processes that draw.
#[derive(Clone, Copy)]
struct Board(&'static [AtomicU64]);

impl Board {
    /// Number of threads that pause.
    const STOPPED: usize = 0;
    /// Requests for status so far; each process answers every increment once.
    const STATUS: usize = 1;

    fn get(self, place: usize) -> u64 {
        self.0[place].load(Acquire)
    }
}

/// A thread: its ring, and the mode of its process.
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
    /// Starts the processes, which draw at once.
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

    /// Lets each thread pause after `more` further rounds. Returns true if all pause within 20
    /// seconds. The quick threads wait for the slow ones, so that their rings are not overrun.
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

    /// Lets each process send its status, and waits for them.
    pub(crate) fn send_status(&self) {
        if let Some(board) = self.board {
            board.0[Board::STATUS].fetch_add(1, Release);
            std::thread::sleep(Duration::from_millis(300));
        }
    }
}

/// Runs the process of one mode.
fn process(mode: &str, rings: &[Ring], board: Board, pace: Option<Duration>) {
    let Ok(wanted) = mode.parse() else {
        return fail(format!("unknown mode '{mode}'"));
    };
    if let Err(error) = headwater::init_with(headwater::Config::new().mode(wanted)) {
        return fail(format!("headwater: {error}"));
    }
    let pool = vdso_rng::Pool::new().ok().map(|pool| &*Box::leak(Box::new(pool)));
    for &ring in rings {
        std::thread::spawn(move || draw(ring, &mut Witnesses::new(pool), board, pace));
    }
    // `auto` settles on a mode once the process has drawn, so a later status may differ.
    send_status(mode);
    let mut answered = board.get(Board::STATUS);
    loop {
        std::thread::sleep(Duration::from_millis(20));
        if board.get(Board::STATUS) != answered {
            answered = board.get(Board::STATUS);
            send_status(mode);
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
        let round = ring.next();
        for witness in 0..COUNT {
            if witness == LARGE_INDEX && !round.is_multiple_of(LARGE_EVERY) {
                ring.begin(round, witness, 0);
                ring.end(round, witness, [0; 16]);
                continue;
            }
            ring.begin(round, witness, kernel::cycles());
            ring.end(round, witness, witnesses.draw(witness));
        }
        if let Some(pace) = pace {
            std::thread::sleep(pace);
        }
    }
}

fn send_status(mode: &str) {
    let status = headwater::status();
    send(Status {
        asked: mode.to_owned(),
        mode: status.mode.name().to_owned(),
        source: status.source.name().to_owned(),
        reseed_generation: status.reseed_generation.name().to_owned(),
        vmclock: status.vmclock.name().to_owned(),
        vmgenid: status.vmgenid.name().to_owned(),
        hardware: status.hardware.name().to_owned(),
        cpu_rng: status.cpu_rng.name().to_owned(),
        page: status.page.name().to_owned(),
        cipher: status.cipher.to_owned(),
        reason: status.reason.to_owned(),
    });
}
