//! The races of `random_pseudo_bytes` under a model checker: all orders of the threads' steps, and
//! all old values that the memory model lets a load return.
//!
//! `cargo xtask test` runs them:
//! `RUSTFLAGS="--cfg loom" cargo test -p headwater-streams --test loom`. A model runs the crate's
//! own source (`process/races.rs`), and replaces the memory alone. But a fork is not a race of
//! threads, so `src/process/tests.rs` steps through forks instead. The core's `tests/loom`
//! describes the limits of loom.

#![cfg(loom)]
#![allow(missing_docs, unsafe_code, dead_code)]

mod process;
mod publication;

/// Runs a model through all its executions. The model panics if an execution is wrong.
fn every_order(model: impl Fn() + Send + Sync + 'static) {
    loom::model(model);
}

/// Runs a model through all executions with at most three preemptions.
fn most_orders(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(model);
}
