//! A clock for single calls, some of which are shorter than a call of the C library's clock.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The CPU's counter where it counts evenly, the monotonic clock elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    counter: bool,
    origin: Instant,
    ns_per_tick: f64,
    /// The cost of two readings with no work between them, in nanoseconds: the median of many.
    pub(crate) cost_ns: f64,
}

/// Long enough that the error of the two readings of the other clock is some millionths.
const CALIBRATION: Duration = Duration::from_millis(20);
/// Readings for the clock's own cost.
const READINGS: usize = 10_001;

impl Clock {
    /// Returns the clock of this machine, which the first call calibrates.
    pub(crate) fn get() -> &'static Clock {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        CLOCK.get_or_init(|| {
            let mut clock = Clock {
                counter: counts_evenly(),
                origin: Instant::now(),
                ns_per_tick: 1.0,
                cost_ns: 0.0,
            };
            if clock.counter {
                clock.ns_per_tick = clock.calibrate();
            }
            clock.cost_ns = clock.cost();
            clock
        })
    }

    /// Returns ticks since some moment. Earlier work is complete at the reading, and later work has
    /// not begun.
    #[inline(always)]
    pub(crate) fn now(&self) -> u64 {
        if self.counter { counter() } else { self.origin.elapsed().as_nanos() as u64 }
    }

    /// Returns the nanoseconds of so many ticks.
    pub(crate) fn ns(&self, ticks: u64) -> f64 {
        ticks as f64 * self.ns_per_tick
    }

    /// Returns the name of the counter that is read.
    pub(crate) fn name(&self) -> &'static str {
        match self.counter {
            true if cfg!(target_arch = "aarch64") => "cntvct",
            true => "rdtsc",
            false => "monotonic",
        }
    }

    fn calibrate(&self) -> f64 {
        let (start, ticks) = (Instant::now(), self.now());
        while start.elapsed() < CALIBRATION {}
        let (took, ticks) = (start.elapsed(), self.now() - ticks);
        took.as_nanos() as f64 / ticks as f64
    }

    fn cost(&self) -> f64 {
        let mut ticks: Vec<u64> = Vec::with_capacity(READINGS);
        for _ in 0..READINGS {
            let start = black_box(self.now());
            ticks.push(self.now().saturating_sub(start));
        }
        ticks.sort_unstable();
        self.ns(ticks[READINGS / 2])
    }
}

/// Reports whether the counter runs at one speed, whatever the CPU does, and agrees between CPUs.
fn counts_evenly() -> bool {
    if cfg!(target_arch = "x86_64") {
        let flags = crate::system::facts::cpu_flags().unwrap_or_default();
        let has = |name| flags.split_ascii_whitespace().any(|flag| flag == name);
        has("constant_tsc") && has("nonstop_tsc")
    } else {
        cfg!(target_arch = "aarch64") // by the architecture
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn counter() -> u64 {
    use std::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: every x86-64 CPU has both instructions, and neither touches memory. Were the counter
    // forbidden in user space (PR_SET_TSC), the process would end by a signal, and do no harm.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that the kernel leaves open to user space, between two barriers.
    unsafe {
        std::arch::asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) ticks, options(nostack));
    }
    ticks
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter() -> u64 {
    unreachable!("only chosen where there is a counter")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_monotonic_clock() {
        let clock = Clock::get();
        let (start, ticks) = (Instant::now(), clock.now());
        std::thread::sleep(Duration::from_millis(50));
        let ns = clock.ns(clock.now() - ticks);
        let took = start.elapsed().as_nanos() as f64;
        // The reading and the sleep may be torn apart by other processes, in this order only.
        assert!(ns > 45e6 && ns <= took * 1.01, "{ns} of {took} ns by {}", clock.name());
    }

    #[test]
    fn costs_something_and_not_much() {
        let cost = Clock::get().cost_ns;
        assert!(cost > 0.0 && cost < 10_000.0, "{cost} ns");
    }
}
