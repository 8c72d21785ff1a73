//! Each step that the protocol cannot do without: the search finds what goes wrong in its absence.
//!
//! No configuration here needs the other steps of [`Without`]. Three of them only save work: take's
//! first compare of the tag, put's first compare of the epoch, and put's check whether another
//! refill came first. The compares with the wiped lines say in the model what a count of 0 says as
//! well; in the real code they also keep the CPU's number inside the arrays. Put's compares of the
//! number and of the CPU shorten the window in which an unregistered child can spoil a page. A draw
//! that passes through it meets the check for a zero, so it costs a trip and repeats nothing. The
//! own word's compare of the generation makes a word as new as its delivery, where [`Stale`] only
//! asks that it is as new as its draw.

use crate::{configs, report};
use headwater_model::Bad::{Stale, Trip, Twice, Weak, Zero};
use headwater_model::{Bad, Config, Without};

/// Asserts that a configuration without a step goes wrong in the expected way.
fn is_found(config: &Config, step: Without, expected: Bad) {
    let trace = report(&config.without(step)).found;
    let bad = trace.and_then(|trace| trace.bad);
    assert_eq!(bad, Some(expected), "{}: without {step:?}", config.name);
}

#[test]
fn sections_need_the_descriptor_and_the_claim_first() {
    is_found(&configs::two_threads(), Without::Descriptor, Trip);
    is_found(&configs::two_threads(), Without::ClaimFirst, Trip);
    is_found(&configs::vfork(), Without::ClaimBeforeRead, Twice);
    is_found(&configs::vfork(), Without::Erase, Twice);
}

#[test]
fn takes_need_their_compares() {
    is_found(&configs::reseed(), Without::TakeGeneration, Stale);
    is_found(&configs::dropped_page(), Without::TagBehind, Trip);
    is_found(&configs::vfork(), Without::Zero, Zero);
}

#[test]
fn children_in_shared_memory_need_rdpid() {
    is_found(&configs::vfork(), Without::TakeRdpid, Twice);
    is_found(&configs::vfork(), Without::Rdpid, Twice);
}

#[test]
fn puts_need_their_compares() {
    is_found(&configs::dropped_page(), Without::PutEmpty, Trip);
    is_found(&configs::reseed(), Without::PutEmpty, Stale);
    is_found(&configs::dropped_work_page(), Without::PutWork, Weak);
    is_found(&configs::dropped_work_page(), Without::TagBeforeKeys, Weak);
    is_found(&configs::discard(), Without::PutEpochAgain, Stale);
}

#[test]
fn own_words_need_their_compares() {
    is_found(&configs::dropped_work_page(), Without::OwnWork, Weak);
    is_found(&configs::fork_in_make(), Without::OwnEpoch, Twice);
    is_found(&configs::fork_wipes_work(), Without::OwnEpoch, Twice);
}
