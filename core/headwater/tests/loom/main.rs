//! Every race of the library under a model checker: all orders of the threads' steps, and all old
//! values that the memory model lets a load return. Reordering that no processor at hand does,
//! above all arm64's, shows here.
//!
//! `cargo xtask test` runs them: `RUSTFLAGS="--cfg loom" cargo test -p headwater --test loom`. A
//! model runs the library's own source (`linux`), and stands in only for things outside the
//! library: the kernel that drops a page, the hypervisor that writes a marker, the memory itself.
//! Loom does not know stores that are visible before an earlier load (load buffering), so for those
//! the models say nothing. Nor does it try every place of a load among other threads' steps, but
//! every value that the load may return there: so threads that only read are started last.

#![cfg(loom)]
#![allow(missing_docs, unsafe_code, dead_code)]

mod bits;
mod copy;
mod epoch;
mod linux;
mod mode;
mod publication;
mod quiesce;
mod slot;
mod watch;

/// Runs a model through all its executions; each has to end well.
fn every_order(model: impl Fn() + Send + Sync + 'static) {
    loom::model(model);
}

/// Runs a model with at most three involuntary changes of thread. With three threads or long loops
/// the rest would take hours, and races that need more are not known.
fn most_orders(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(model);
}
