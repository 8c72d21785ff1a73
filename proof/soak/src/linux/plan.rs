//! The plan of a round: a function of the run's seed and the round's number.

use fastrand::Rng;
use std::fmt;

/// The way in which pages disappear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pressure {
    None,
    /// MADV_DONTNEED: at once and for all threads.
    Drop,
    /// MADV_PAGEOUT: by the kernel's reclaim, which flushes other CPUs' translations late.
    PageOut,
}

/// The disturbances of one round.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) mode: &'static str,
    pub(crate) processes: u32,
    pub(crate) threads: u32,
    /// All threads share one CPU.
    pub(crate) one_cpu: bool,
    /// Threads move from CPU to CPU.
    pub(crate) moves: bool,
    /// The longest draw, in bytes.
    pub(crate) longest: usize,
    pub(crate) handles: bool,
    pub(crate) forks: bool,
    /// Microseconds between signals; 0 for none.
    pub(crate) signals: u32,
    pub(crate) jumps: bool,
    pub(crate) pressure: Pressure,
    /// Microseconds between reseeds; 0 for none.
    pub(crate) reseeds: u32,
    pub(crate) mode_changes: bool,
    pub(crate) programs: bool,
    /// Draws take the slots' locks, although the machine has restartable sequences.
    pub(crate) locks: bool,
    /// Threads draw beside children in shared memory that share their thread pointer.
    pub(crate) clones: bool,
    /// All processes are stopped and continued, again and again.
    pub(crate) stops: bool,
    /// The kernel reclaims the memory of their control group, again and again.
    pub(crate) reclaim: bool,
    /// In the middle of the round the first process loses the right to getrandom.
    pub(crate) refused: bool,
    /// Threads fork children into a time namespace of their own, a day ahead.
    pub(crate) times: bool,
    /// One CPU has a page, and all others none. Needs the feature `hooks`.
    pub(crate) one_slot: bool,
    /// Every draw is recorded, so that the round is short and two repeats far from a disturbance
    /// are seen as well. In the other rounds more happens.
    pub(crate) dense: bool,
}

impl Plan {
    pub(crate) fn of(seed: u64, round: u64) -> Plan {
        let mut rng = Rng::with_seed(seed.wrapping_add(round.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        let one_in = |rng: &mut Rng, n: u32| rng.u32(..n) == 0;
        let pick = |rng: &mut Rng, from: &[u32]| from[rng.usize(..from.len())];
        let modes = ["auto", "buffered", "buffered", "hedged", "hedged", "strict", "kernel"];
        Plan {
            mode: modes[rng.usize(..modes.len())],
            processes: rng.u32(1..=4),
            threads: pick(&mut rng, &[1, 1, 2, 3, 4, 8, 50]),
            one_cpu: one_in(&mut rng, 5),
            moves: one_in(&mut rng, 3),
            longest: [64, 1024, 65_536, 3 << 20][rng.usize(..4)],
            handles: !one_in(&mut rng, 4),
            forks: !one_in(&mut rng, 3),
            signals: pick(&mut rng, &[0, 0, 50, 200, 1000]),
            jumps: one_in(&mut rng, 4),
            pressure: [Pressure::None, Pressure::Drop, Pressure::PageOut][rng.usize(..3)],
            reseeds: pick(&mut rng, &[0, 0, 10, 1000, 20_000]),
            mode_changes: one_in(&mut rng, 4),
            programs: one_in(&mut rng, 3),
            // Last, so that older seeds keep the rest of their plans.
            locks: one_in(&mut rng, 2),
            // A clone shares the thread-local switch of the hooks, so it would fork in its parent's
            // place.
            clones: one_in(&mut rng, 2) && !cfg!(feature = "hooks"),
            one_slot: cfg!(feature = "hooks") && one_in(&mut rng, 3),
            stops: one_in(&mut rng, 4),
            reclaim: one_in(&mut rng, 4),
            refused: one_in(&mut rng, 6),
            times: one_in(&mut rng, 5),
            dense: one_in(&mut rng, 2),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} x {} threads", self.mode, self.processes, self.threads)?;
        let mut also = |on: bool, what: &dyn fmt::Display| {
            if on { write!(f, ", {what}") } else { Ok(()) }
        };
        also(self.one_cpu, &"one CPU")?;
        also(self.moves, &"moves")?;
        also(true, &format_args!("up to {} B", self.longest))?;
        also(self.handles, &"handles")?;
        also(self.forks, &"forks")?;
        also(self.signals > 0, &format_args!("signal/{} us", self.signals))?;
        also(self.signals > 0 && self.jumps, &"jumps")?;
        also(self.pressure == Pressure::Drop, &"drops")?;
        also(self.pressure == Pressure::PageOut, &"page-outs")?;
        also(self.reseeds > 0, &format_args!("reseed/{} us", self.reseeds))?;
        also(self.mode_changes, &"mode changes")?;
        also(self.programs, &"programs")?;
        also(self.locks, &"locks")?;
        also(self.clones, &"raw clones")?;
        also(self.one_slot, &"a page for one CPU")?;
        also(self.stops, &"stops")?;
        also(self.reclaim, &"reclaim")?;
        also(self.refused, &"getrandom refused")?;
        also(self.times, &"time namespaces")?;
        also(self.dense, &"all recorded")
    }
}
