//! The configurations, each small enough to be seen whole within seconds.

use headwater_model::{Config, Op, Script};

const D: Op = Op::Draw;

/// Each thread is preempted at most once; what two threads do between two preemptions is not
/// bounded.
fn once(name: &'static str, threads: &[Script]) -> Config {
    Config { preemptions: Some(1), ..Config::new(name, threads) }
}

/// (a) Two threads take, and put where a page is empty.
pub(crate) fn two_threads() -> Config {
    once("a: two threads, two draws each", &[&[D, D], &[D, D]])
}

/// (a) The same from empty pages.
pub(crate) fn empty_pages() -> Config {
    Config { filled: [false; 2], ..once("a: empty pages", &[&[D, D], &[D, D]]) }
}

/// (a) Three threads on two CPUs, so that two share one.
pub(crate) fn three_threads() -> Config {
    once("a: three threads", &[&[D], &[D], &[D]])
}

/// (a) Pages of three words, and a thread that empties one.
pub(crate) fn three_words() -> Config {
    Config { cap: 3, ..once("a: three words a page", &[&[D, D, D, D], &[D]]) }
}

/// (b) A handler draws, forks and draws, wherever a signal finds its thread in a take or a make. No
/// thread is preempted, since the signal itself aborts; parent and child share no memory.
fn fork(name: &'static str, threads: &[Script]) -> Config {
    let handler = &[D, Op::Fork, D];
    Config { preemptions: Some(0), signals: Some(1), handler, ..Config::new(name, threads) }
}

/// (b) A fork while pages have words.
pub(crate) fn fork_in_take() -> Config {
    fork("b: fork in a take", &[&[D, D, D]])
}

/// (b) A fork while words are made, and a handler that forks before it draws.
pub(crate) fn fork_in_make() -> Config {
    let handler = &[Op::Fork, D];
    Config { filled: [false; 2], handler, ..fork("b: fork in a make", &[&[D, D]]) }
}

/// (b) The same, with a work page that a fork wipes.
pub(crate) fn fork_wipes_work() -> Config {
    Config { work_survives_fork: false, name: "b: fork wipes the work page", ..fork_in_make() }
}

/// (b) The same beside a second thread, which the child does not have.
pub(crate) fn fork_beside_a_thread() -> Config {
    let threads: &[Script] = &[&[D], &[D]];
    Config { filled: [false; 2], ..fork("b: fork beside a thread", threads) }
}

/// (c) The kernel drops the page of CPU 0 at any moment.
pub(crate) fn dropped_page() -> Config {
    Config { drops: Some(1), ..once("c: dropped page", &[&[D, D, D], &[D]]) }
}

/// (c) The kernel drops the work page at any moment.
pub(crate) fn dropped_work_page() -> Config {
    let config = once("c: dropped work page", &[&[D, D], &[D]]);
    Config { work_drops: Some(1), filled: [false; 2], tries: 1, ..config }
}

/// The kernel reseeds at any moment.
pub(crate) fn reseed() -> Config {
    Config { reseeds: Some(1), tries: 1, ..once("reseed", &[&[D, D], &[D]]) }
}

/// A thread discards all pages while another one draws.
pub(crate) fn discard() -> Config {
    Config { tries: 1, ..once("discard", &[&[D, D], &[Op::Discard, D]]) }
}

/// Children and broken kernels: a zero that a section meets switches sections off, and is no error.
fn lawless(name: &'static str, threads: &[Script]) -> Config {
    Config { trips_are_errors: false, migrates_inside: false, ..once(name, threads) }
}

/// (d) A child of vfork(2) beside a thread; the child moves to another CPU only outside of
/// sections.
pub(crate) fn vfork() -> Config {
    let threads: &[Script] = &[&[Op::Vfork, D], &[D, D]];
    Config { child: &[D], ..lawless("d: vfork, not moved inside", threads) }
}

/// (d) The same child with two draws.
pub(crate) fn vfork_draws_twice() -> Config {
    Config { child: &[D, D], name: "d: vfork, two draws, not moved inside", ..vfork() }
}

/// (d) The same child, which the kernel may move in the middle of a section.
pub(crate) fn vfork_moves() -> Config {
    Config { migrates_inside: true, name: "d: vfork, moved inside", ..vfork() }
}

/// (d) The same beside threads that make words on their stacks, so that two puts can meet on one
/// CPU.
pub(crate) fn vfork_on_stacks() -> Config {
    let config = lawless("d: vfork, keys on stacks", &[&[Op::Vfork], &[D, D]]);
    Config { stack_if_locked: true, filled: [false; 2], child: &[D], tries: 1, ..config }
}

/// (a) Two threads that make words at one time, one of them on its stack.
pub(crate) fn on_stacks() -> Config {
    Config { stack_if_locked: true, name: "a: keys on stacks", ..empty_pages() }
}

/// (b) A handler that makes words on the stack above a frame that has the work page.
pub(crate) fn fork_on_stacks() -> Config {
    let handler = &[D, Op::Fork, D];
    Config { stack_if_locked: true, handler, name: "b: fork, keys on stacks", ..fork_in_make() }
}

/// (e) A child of clone(2) beside its parent, whose area it shares; so many preemptions inside
/// sections.
pub(crate) fn clone(inside: u8) -> Config {
    let config = lawless("e: clone, not moved inside", &[&[Op::Clone, D]]);
    Config { child: &[D, D], inside: Some(inside), preemptions: Some(2), ..config }
}

/// (e) The same, moved inside.
pub(crate) fn clone_moves(inside: u8) -> Config {
    Config { migrates_inside: true, name: "e: clone, moved inside", ..clone(inside) }
}

/// (f) A kernel that forgets to abort on the same CPU.
pub(crate) fn forgets_preemption(inside: u8) -> Config {
    let config = lawless("f: forgets preemption", &[&[D, D], &[D, D]]);
    Config { forgets_preemption: true, inside: Some(inside), ..config }
}

/// (f) A kernel that forgets to abort where it moves a thread.
pub(crate) fn forgets_migration(inside: u8) -> Config {
    let config = lawless("f: forgets migration", &[&[D, D], &[D, D]]);
    Config { forgets_migration: true, migrates_inside: true, inside: Some(inside), ..config }
}
