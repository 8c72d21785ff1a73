//! The configurations, each small enough to be seen whole within seconds.

use headwater_model::{Config, Moves, Op, Script};

const D: Op = Op::Draw;

/// Returns a configuration that preempts each thread at most once. The instructions of two threads
/// between two preemptions are not bounded.
fn once(name: &'static str, threads: &[Script]) -> Config {
    Config { preemptions: Some(1), ..Config::new(name, threads) }
}

/// Returns a configuration of group (a): two threads take, and put where a page is empty.
pub(crate) fn two_threads() -> Config {
    once("a: two threads, two draws each", &[&[D, D], &[D, D]])
}

/// Returns a configuration of group (a): the same two threads start from empty pages.
pub(crate) fn empty_pages() -> Config {
    Config { filled: [false; 2], ..once("a: empty pages", &[&[D, D], &[D, D]]) }
}

/// Returns a configuration of group (a): three threads on two CPUs, so that two share a CPU.
pub(crate) fn three_threads() -> Config {
    once("a: three threads", &[&[D], &[D], &[D]])
}

/// Returns a configuration of group (a): pages of three words, and a thread that empties a page.
pub(crate) fn three_words() -> Config {
    Config { cap: 3, ..once("a: three words a page", &[&[D, D, D, D], &[D]]) }
}

/// Returns a configuration of group (b): a handler draws, forks and draws, wherever a signal finds
/// its thread in a take or a make. No thread is preempted, since the signal itself aborts; parent
/// and child share no memory.
fn fork(name: &'static str, threads: &[Script]) -> Config {
    let handler = &[D, Op::Fork, D];
    Config { preemptions: Some(0), signals: Some(1), handler, ..Config::new(name, threads) }
}

/// Returns a configuration of group (b): a fork while pages have words.
pub(crate) fn fork_in_take() -> Config {
    fork("b: fork in a take", &[&[D, D, D]])
}

/// Returns a configuration of group (b): a fork while words are made, and a handler that forks
/// before it draws.
pub(crate) fn fork_in_make() -> Config {
    let handler = &[Op::Fork, D];
    Config { filled: [false; 2], handler, ..fork("b: fork in a make", &[&[D, D]]) }
}

/// Returns a configuration of group (b): a fork beside a second thread, which the child does not
/// have.
pub(crate) fn fork_beside_a_thread() -> Config {
    let threads: &[Script] = &[&[D], &[D]];
    Config { filled: [false; 2], ..fork("b: fork beside a thread", threads) }
}

/// Returns a configuration of group (c): the kernel drops the page of CPU 0 once, at any moment.
pub(crate) fn dropped_page() -> Config {
    Config { drops: Some(1), ..once("c: dropped page", &[&[D, D, D], &[D]]) }
}

/// Returns a configuration of group (c): the kernel drops the work page once, at any moment.
pub(crate) fn dropped_work_page() -> Config {
    let config = once("c: dropped work page", &[&[D, D], &[D]]);
    Config { work_drops: Some(1), filled: [false; 2], tries: 1, ..config }
}

/// Returns a configuration in which the kernel reseeds once, at any moment.
pub(crate) fn reseed() -> Config {
    Config { reseeds: Some(1), tries: 1, ..once("reseed", &[&[D, D], &[D]]) }
}

/// Returns a configuration in which a reseed voids a page that has words left, and two puts after
/// it are interrupted: the first after its exchange, so that the voided page comes to the slot, and
/// the second, which brings that page back, before it.
pub(crate) fn interrupted_puts() -> Config {
    let config = Config::new("interrupted puts", &[&[D, D, D, D, D], &[D]]);
    Config { cpus: 1, cap: 3, reseeds: Some(1), preemptions: Some(2), ..config }
}

/// Returns a configuration in which a thread discards all pages while another thread draws.
pub(crate) fn discard() -> Config {
    Config { tries: 1, ..once("discard", &[&[D, D], &[Op::Discard, D]]) }
}

/// Returns a configuration for children and broken kernels. A zero that a section meets switches
/// sections off, and is no error.
fn lawless(name: &'static str, threads: &[Script]) -> Config {
    Config { trips_are_errors: false, moves: Moves::Nowhere, ..once(name, threads) }
}

/// Returns a configuration of group (d): a child of vfork(2) beside a thread. The child moves to
/// another CPU only outside of sections.
pub(crate) fn vfork() -> Config {
    let threads: &[Script] = &[&[Op::Vfork, D], &[D, D]];
    Config { child: &[D], ..lawless("d: vfork, not moved inside", threads) }
}

/// Returns a configuration of group (d): the same child with two draws.
pub(crate) fn vfork_draws_twice() -> Config {
    Config { child: &[D, D], name: "d: vfork, two draws, not moved inside", ..vfork() }
}

/// Returns a configuration of group (d): the same child, which the kernel may move in the middle of
/// a section.
pub(crate) fn vfork_moves(moves: Moves) -> Config {
    Config { moves, name: "d: vfork, moved inside", ..vfork() }
}

/// Returns a configuration of group (d): the same child, and empty pages. A refill that finds its
/// CPU's slot locked takes the shared one, so that two puts can meet on one CPU.
pub(crate) fn vfork_shares() -> Config {
    let config = lawless("d: vfork, two puts on a CPU", &[&[Op::Vfork], &[D, D]]);
    Config { shares: true, filled: [false; 2], child: &[D], tries: 1, ..config }
}

/// Returns a configuration of group (a): two threads make words at one time, one of them in the
/// shared slot's page.
pub(crate) fn shared_slot() -> Config {
    Config { shares: true, name: "a: shared slot", ..empty_pages() }
}

/// Returns a configuration of group (b): a handler makes words in the shared slot's page above a
/// frame that holds its CPU's slot.
pub(crate) fn fork_above_a_refill() -> Config {
    let handler = &[D, Op::Fork, D];
    Config { shares: true, handler, name: "b: fork above a refill", ..fork_in_make() }
}

/// Returns a configuration of group (e): a child of clone(2) beside its parent, whose area it
/// shares. An execution has at most `inside` preemptions inside sections.
pub(crate) fn clone(inside: u8) -> Config {
    let config = lawless("e: clone, not moved inside", &[&[Op::Clone, D]]);
    Config { child: &[D, D], inside: Some(inside), preemptions: Some(2), ..config }
}

/// Returns a configuration of group (e): the same child, which the kernel may move in the middle of
/// a section.
pub(crate) fn clone_moves(inside: u8) -> Config {
    Config { moves: Moves::Anywhere, name: "e: clone, moved inside", ..clone(inside) }
}

/// Returns a configuration of group (f): a kernel that forgets to abort where a thread stays on its
/// CPU.
pub(crate) fn forgets_preemption(inside: u8) -> Config {
    let config = lawless("f: forgets preemption", &[&[D, D], &[D, D]]);
    Config { forgets_preemption: true, inside: Some(inside), ..config }
}

/// Returns a configuration of group (f): a kernel that forgets to abort where it moves a thread.
pub(crate) fn forgets_migration(inside: u8) -> Config {
    let config = lawless("f: forgets migration", &[&[D, D], &[D, D]]);
    Config { forgets_migration: true, moves: Moves::Anywhere, inside: Some(inside), ..config }
}

/// Something that the kernel or another thread does once, at any moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The kernel drops the page of CPU 0.
    LineDrop,
    /// The kernel drops a page that no CPU has, such as the one in which a refill works.
    OtherDrop,
    /// The kernel reseeds.
    Reseed,
    /// The first thread discards all pages before its last draw.
    Discard,
    /// A signal's handler forks on top of the first thread, and both continue.
    Fork,
}

impl Event {
    pub(crate) const ALL: [Event; 5] =
        [Event::LineDrop, Event::OtherDrop, Event::Reseed, Event::Discard, Event::Fork];
    pub(crate) const WITHOUT_FORK: [Event; 4] =
        [Event::LineDrop, Event::OtherDrop, Event::Reseed, Event::Discard];
}

/// Returns the configuration with these events as well.
pub(crate) fn with(base: &Config, events: &[Event]) -> Config {
    let mut config = base.clone();
    config.name = format!("{} with {events:?}", base.name).leak();
    for event in events {
        match event {
            Event::LineDrop => config.drops = Some(1),
            Event::OtherDrop => config.work_drops = Some(1),
            Event::Reseed => config.reseeds = Some(1),
            Event::Discard => {
                let clones = config.threads[0].contains(&Op::Clone);
                config.threads[0] =
                    if clones { &[Op::Clone, Op::Discard, D] } else { &[Op::Discard, D] };
            }
            Event::Fork => {
                config.signals = Some(1);
                config.handler = &[Op::Fork];
                if config.threads[0].contains(&Op::Clone) {
                    (config.threads[0], config.child) = (&[Op::Clone, D], &[D]);
                }
            }
        }
    }
    config
}

/// Returns a configuration whose threads draw as little as it takes for a refill to meet a draw.
fn small(config: Config) -> Config {
    let config = Config { cpus: 1, cap: 1, rounds: 1, shares: true, ..config };
    Config { tries: 1, filled: [false; 2], preemptions: Some(1), ..config }
}

/// Returns a child of vfork(2) beside a thread, which both refill.
pub(crate) fn small_vfork() -> Config {
    let threads: &[Script] = &[&[D, D], &[Op::Vfork]];
    small(Config { child: &[D, D], inside: Some(1), ..lawless("vfork", threads) })
}

/// Returns a child of clone(2) beside its parent, which both refill.
pub(crate) fn small_clone(inside: u8) -> Config {
    let config = lawless("clone", &[&[Op::Clone, D, D]]);
    small(Config { child: &[D, D], inside: Some(inside), ..config })
}

/// Returns two threads on a kernel that forgets to abort where a thread stays on its CPU.
pub(crate) fn small_forgets_preemption(inside: u8) -> Config {
    let config = lawless("forgets preemption", &[&[D, D], &[D, D]]);
    small(Config { forgets_preemption: true, inside: Some(inside), ..config })
}

/// Returns two threads on a kernel that forgets to abort where it moves a thread.
pub(crate) fn small_forgets_migration(inside: u8) -> Config {
    let config = lawless("forgets migration", &[&[D, D], &[D, D]]);
    let config = Config { forgets_migration: true, inside: Some(inside), ..config };
    small(moves(&config))
}

/// Returns the configuration on two CPUs, with threads that may move inside of sections.
pub(crate) fn moves(config: &Config) -> Config {
    let child: Script = if config.child.is_empty() { &[] } else { &[D] };
    let name = format!("{}, moved inside", config.name).leak();
    Config { moves: Moves::Anywhere, cpus: 2, child, name, ..config.clone() }
}

/// Returns the configuration for a search for what is worse than a repeat.
pub(crate) fn tolerates_repeats(config: &Config) -> Config {
    let name = format!("{}, repeats tolerated", config.name).leak();
    Config { repeats_are_errors: false, name, ..config.clone() }
}
