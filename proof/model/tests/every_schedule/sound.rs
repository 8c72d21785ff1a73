//! Registered threads on a sound kernel: nothing is ever delivered twice, zero, weak or stale, and
//! no section ever meets a zero.

use crate::{configs, is_clean};

#[test]
fn threads_that_take_and_put() {
    is_clean(&configs::two_threads());
    is_clean(&configs::empty_pages());
    is_clean(&configs::three_threads());
    is_clean(&configs::three_words());
    is_clean(&configs::shared_slot());
}

#[test]
fn a_handler_that_forks() {
    is_clean(&configs::fork_in_take());
    is_clean(&configs::fork_in_make());
    is_clean(&configs::fork_beside_a_thread());
    is_clean(&configs::fork_above_a_refill());
}

#[test]
fn pages_that_the_kernel_drops() {
    is_clean(&configs::dropped_page());
    is_clean(&configs::dropped_work_page());
}

#[test]
fn words_from_before_a_reseed_or_a_discard() {
    is_clean(&configs::reseed());
    is_clean(&configs::interrupted_puts());
    is_clean(&configs::discard());
}
