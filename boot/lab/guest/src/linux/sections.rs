//! Self-check of restartable sequences: two threads share one CPU and one page, and every word that
//! they draw is checked for zeros and repeats.
//!
//! A kernel that does not abort an interrupted section would let both threads take the same bytes.
//! A third thread wakes up all the time, so that the other two are preempted at many instructions.

use crate::linux::doctor::timed;
use crate::linux::kernel::now_us;
use crate::linux::port::{fail, send};
use headwater_lab_protocol::{Message, Sections, SectionsPlan, line, read};
use rustix::thread::{CpuSet, Pid, gettid, sched_setaffinity};
use std::fs;
use std::process::ExitCode;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Barrier, Mutex};
use std::thread::{scope, sleep};
use std::time::Duration;

/// Threads that draw.
const THREADS: usize = 2;
/// Words that are remembered. A repeat at a distance of one page (some hundred words) is missed
/// with a probability of one in ten thousand.
const REMEMBERED: usize = 1 << 22;
/// Draws between two looks at the clock.
const BATCH: usize = 1 << 10;
/// The file with the output of the process that draws.
const OUTPUT: &str = "/check.txt";

/// Runs the check in a process of its own, and sends the result.
pub(crate) fn examine(plan: SectionsPlan) {
    let unplug = if plan.unplug { "unplug" } else { "stay" };
    forward(&["sections", &plan.seconds.to_string(), unplug]);
}

/// Runs this program as a process of its own, and sends the message that it prints.
pub(crate) fn forward(arguments: &[&str]) {
    let name = arguments.join(" ");
    match timed(arguments, OUTPUT) {
        Ok((0, _)) => {
            let text = fs::read_to_string(OUTPUT).unwrap_or_default();
            match read::<Message>(&text) {
                Ok(Some(message)) => send(message),
                _ => fail(format!("the check '{name}' printed '{text}'")),
            }
        }
        Ok((status, _)) => fail(format!("the check '{name}' ended with status {status}")),
        Err(error) => fail(format!("'{name}': {error}")),
    }
}

/// Counters of all threads.
#[derive(Default)]
pub(crate) struct Counters {
    words: AtomicU64,
    zeros: AtomicU64,
    repeats: AtomicU64,
    switches: AtomicU64,
}

impl Counters {
    /// Returns the words, the zeros and the repeats.
    pub(crate) fn sums(&self) -> [u64; 3] {
        [&self.words, &self.zeros, &self.repeats].map(|counter| counter.load(Relaxed))
    }
}

/// Returns room for the words that are remembered.
pub(crate) fn remember() -> Vec<AtomicU64> {
    (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect()
}

/// Runs `sections SECONDS unplug|stay`, and prints the message with the result.
pub(crate) fn command(arguments: &[String]) -> ExitCode {
    let [seconds, unplug] = arguments else { return ExitCode::from(2) };
    let Ok(seconds) = seconds.parse::<u64>() else { return ExitCode::from(2) };
    let begun = now_us();
    let counters = Counters::default();
    let remembered = remember();
    let stop = AtomicBool::new(false);
    let threads = Mutex::new(Vec::new());
    let started = Barrier::new(THREADS + 1);
    let mut hotplug = Hotplug::default();
    scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                pin(None, 0);
                threads.lock().unwrap().push(gettid());
                started.wait();
                draw(&remembered, &counters, &stop);
            });
        }
        started.wait();
        scope.spawn(|| {
            pin(None, 0);
            while !stop.load(Acquire) {
                sleep(Duration::from_micros(50));
            }
        });
        let end = begun + seconds * 1_000_000;
        let threads = threads.lock().unwrap().clone();
        while now_us() < end {
            if unplug == "unplug" {
                hotplug.cycle(&threads);
            } else {
                sleep(Duration::from_millis(10));
            }
        }
        stop.store(true, Release);
    });
    let status = headwater::status();
    let [words, zeros, repeats] = counters.sums();
    let result = Sections {
        mode: status.mode.name().to_owned(),
        path: path(status.path),
        threads: THREADS,
        words,
        zeros,
        repeats,
        switches: counters.switches.load(Relaxed),
        unplugs: hotplug.unplugs,
        moves: hotplug.moves,
        unplug_error: hotplug.error,
        tripwires: status.counters.tripwires,
        fallbacks: status.counters.fallbacks,
        took_us: now_us() - begun,
    };
    print!("{}", line(&Message::from(result)));
    ExitCode::SUCCESS
}

/// Returns the name of a path; of the locked path, with the reason.
pub(crate) fn path(path: headwater::Path) -> String {
    match path.why() {
        Some(reason) => format!("{}: {reason}", path.name()),
        None => path.name().to_owned(),
    }
}

/// Draws, and compares each word with those that are remembered, until `stop`.
pub(crate) fn draw(remembered: &[AtomicU64], counters: &Counters, stop: &AtomicBool) {
    let (mut words, mut zeros, mut repeats) = (0, 0, 0);
    while !stop.load(Acquire) {
        for _ in 0..BATCH {
            let mut bytes = [0; 16];
            if headwater::fill(&mut bytes).is_err() {
                continue;
            }
            for word in bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)) {
                words += 1;
                zeros += u64::from(word == 0);
                // The word's own bits choose its place. A swap shows a repeat by either thread.
                let place = &remembered[word as usize % REMEMBERED];
                repeats += u64::from(word != 0 && place.swap(word, Relaxed) == word);
            }
        }
    }
    counters.words.fetch_add(words, Relaxed);
    counters.zeros.fetch_add(zeros, Relaxed);
    counters.repeats.fetch_add(repeats, Relaxed);
    counters.switches.fetch_add(switches(), Relaxed);
}

/// Returns how often the calling thread was preempted.
fn switches() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// Pins a thread (`None`: the calling one) to one CPU.
pub(crate) fn pin(thread: Option<Pid>, cpu: usize) -> bool {
    pin_to(thread, &[cpu])
}

/// Pins a thread (`None`: the calling one) to several CPUs.
pub(crate) fn pin_to(thread: Option<Pid>, cpus: &[usize]) -> bool {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(*cpu));
    sched_setaffinity(thread, &set).is_ok()
}

/// Moves of threads between two CPUs, the second of which goes offline and online.
#[derive(Default)]
struct Hotplug {
    unplugs: u64,
    moves: u64,
    error: Option<String>,
}

impl Hotplug {
    fn cycle(&mut self, threads: &[Pid]) {
        const ONLINE: &str = "/sys/devices/system/cpu/cpu1/online";
        let pause = || sleep(Duration::from_millis(10));
        let mut move_to = |threads: &[Pid], cpu| {
            self.moves += threads.iter().filter(|thread| pin(Some(**thread), cpu)).count() as u64;
        };
        // Both threads on the CPU that disappears: the kernel has to move them in the middle of a
        // draw.
        move_to(threads, 1);
        pause();
        match fs::write(ONLINE, "0") {
            Ok(()) => self.unplugs += 1,
            Err(error) => self.error = Some(format!("{ONLINE}: {error}")),
        }
        pause();
        let _ = fs::write(ONLINE, "1");
        // One thread on each CPU, and then both on the first.
        move_to(&threads[..1], 1);
        pause();
        move_to(threads, 0);
        pause();
    }
}
