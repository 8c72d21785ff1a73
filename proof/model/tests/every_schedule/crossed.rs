//! Threads for which the kernel aborts nothing, crossed with everything else that can happen: drops
//! of either kind of page, a reseed, a discard, a fork.
//!
//! Each of these was searched by itself first, and each was clean. A child in shared memory that
//! met a dropped page then served public constants: the group of the children had no drops, and the
//! group of the drops had no children. So here they meet.

use crate::configs::{self, Event};
use crate::is_clean;
use headwater_model::Config;

/// Asserts that nothing breaks in any schedule in which the configuration meets one of the events.
fn is_clean_with_each(base: &Config, events: &[Event]) {
    for event in events {
        is_clean(&configs::with(base, &[*event]));
    }
}

/// Asserts that nothing breaks where the configuration meets two events.
fn is_clean_with_pairs(base: &Config) {
    is_clean(&configs::with(base, &[Event::OtherDrop, Event::Reseed]));
    is_clean(&configs::with(base, &[Event::LineDrop, Event::OtherDrop]));
}

#[test]
fn a_child_of_vfork() {
    is_clean_with_each(&configs::small_vfork(), &Event::WITHOUT_FORK);
}

#[test]
fn a_child_of_clone() {
    is_clean_with_each(&configs::small_clone(1), &Event::WITHOUT_FORK);
}

#[test]
fn a_kernel_that_forgets_a_preemption() {
    is_clean_with_each(&configs::small_forgets_preemption(1), &Event::ALL);
}

#[test]
fn a_kernel_that_forgets_two_preemptions_does_no_worse_than_repeat() {
    let config = configs::tolerates_repeats(&configs::small_forgets_preemption(2));
    is_clean_with_each(&config, &Event::ALL);
}

#[test]
fn a_kernel_that_forgets_a_migration_does_no_worse_than_repeat() {
    let config = configs::tolerates_repeats(&configs::small_forgets_migration(1));
    is_clean_with_each(&config, &Event::ALL);
}

#[test]
#[ignore = "takes minutes and gigabytes; `cargo xtask test --all` runs it"]
fn children_beside_a_fork_or_two_events() {
    is_clean_with_each(&configs::small_vfork(), &[Event::Fork]);
    is_clean_with_each(&configs::small_clone(1), &[Event::Fork]);
    is_clean_with_pairs(&configs::small_vfork());
    is_clean_with_pairs(&configs::small_clone(1));
    is_clean_with_pairs(&configs::small_forgets_preemption(1));
}

#[test]
#[ignore = "takes minutes and gigabytes; `cargo xtask test --all` runs it"]
fn children_that_move_inside_a_section_do_no_worse_than_repeat() {
    for base in [configs::small_vfork(), configs::small_clone(1)] {
        let config = configs::tolerates_repeats(&configs::moves(&base));
        is_clean_with_each(&config, &Event::WITHOUT_FORK);
    }
}
