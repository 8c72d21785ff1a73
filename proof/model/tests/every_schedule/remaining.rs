//! The remaining risk where the kernel does not abort: the number of preemptions inside sections
//! that a repeated word needs.

use crate::{configs, is_clean, report};
use headwater_model::{Bad, Config, Moves};

/// Asserts that a word can be delivered twice, and prints the shortest way to it.
fn repeats(config: &Config) {
    let trace = report(config).found.expect("a known counterexample is still there");
    println!("{trace}");
    assert_eq!(trace.bad, Some(Bad::Twice));
}

#[test]
fn a_child_of_vfork_repeats_only_if_it_is_moved_inside_a_section() {
    is_clean(&configs::vfork());
    is_clean(&configs::vfork_draws_twice());
    is_clean(&configs::vfork_shares());
    repeats(&configs::vfork_moves(Moves::Anywhere));
}

/// Both have claimed one word then, and each may read it before the other has erased it. After the
/// claim a move is harmless, because what was claimed on the right CPU is the child's alone.
#[test]
fn the_move_that_repeats_comes_between_rdpid_and_the_claim() {
    repeats(&configs::vfork_moves(Moves::AtTheClaim));
    is_clean(&configs::vfork_moves(Moves::NotAtTheClaim));
}

#[test]
fn a_child_of_clone_repeats_after_two_preemptions_or_one_move() {
    is_clean(&configs::clone(1));
    repeats(&configs::clone(2));
    repeats(&configs::clone_moves(1));
}

#[test]
fn a_kernel_that_forgets_a_preemption_repeats_after_two() {
    is_clean(&configs::forgets_preemption(1));
    repeats(&configs::forgets_preemption(2));
}

#[test]
fn a_kernel_that_forgets_a_migration_repeats_after_one() {
    is_clean(&configs::forgets_migration(0));
    repeats(&configs::forgets_migration(1));
}
