//! Each step that the protocol cannot do without: the search finds what goes wrong in its absence.
//!
//! No configuration here needs the other steps of [`Without`], for these reasons.
//!
//! * Some only save work: take's first compare of the tag, put's check whether another refill came
//!   first, and the rule that an abort after the exchange does not try again.
//! * Put's check asks whether the line owns the page that its cursor names. If it did not ask, a
//!   slot could keep a page that draws take from, because a draw that nothing aborts may store the
//!   cursor of a page that the line has lost. The next refill there would still be safe, for it
//!   changes the tag before it writes a word; but then this argument would have to carry
//!   everything.
//! * The compares with the wiped lines say in the model what a cursor of 0 says as well. In the
//!   real code they also keep the CPU's number inside the arrays.
//! * Put's compares of the CPU shorten the window in which an unregistered child can spoil a line.
//!   A draw that passes through it meets the check for a zero, so it costs a trip and repeats
//!   nothing.
//! * The number may be stored before the exchange or after it, because a line whose number is not
//!   its page's serves nothing. It may even be a slot's own count: a draw that takes a page for
//!   another refill's is one that began before that refill. But this is a long argument, and a
//!   number that no other refill has needs none.
//! * The own word's compare of the generation makes a word as new as its delivery, where [`Stale`]
//!   only asks that it is as new as its draw. Its first compare of the epoch spares a put.

use crate::configs::{self, Event, with};
use crate::report;
use headwater_model::Bad::{Shared, Stale, Trip, Twice, Weak, Zero};
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
    // A dropped page has lost its generation as well as its tag. The tag alone shows that a page
    // has left its line in the middle of a take, and is being filled.
    is_found(&with(&configs::small_vfork(), &[Event::OtherDrop]), Without::TagBehind, Weak);
    is_found(&with(&configs::small_clone(1), &[Event::Reseed]), Without::TagBehind, Stale);
    is_found(&configs::vfork(), Without::Zero, Zero);
}

#[test]
fn children_in_shared_memory_need_rdpid() {
    is_found(&configs::vfork(), Without::TakeRdpid, Twice);
    is_found(&configs::vfork(), Without::Rdpid, Twice);
}

#[test]
fn puts_need_their_compares() {
    is_found(&configs::dropped_work_page(), Without::TagBeforeKeys, Weak);
    is_found(&configs::discard(), Without::PutStamp, Stale);
    is_found(&configs::interrupted_puts(), Without::PutClear, Trip);
}

#[test]
fn own_words_need_their_compares() {
    is_found(&configs::dropped_work_page(), Without::OwnWork, Weak);
    is_found(&configs::fork_in_make(), Without::OwnEpochAgain, Twice);
}

#[test]
fn puts_exchange_pages_by_one_instruction() {
    let forgets = configs::small_forgets_preemption(1);
    is_found(&with(&forgets, &[Event::LineDrop]), Without::OneExchange, Shared);
    is_found(&with(&configs::small_clone(1), &[Event::OtherDrop]), Without::OneExchange, Shared);
}

/// The design before pages were exchanged: it served words under keys of zeros, and words from
/// before a reseed. Each group by itself was clean.
#[test]
fn no_section_fills_a_page() {
    for base in
        [configs::small_vfork(), configs::small_clone(1), configs::small_forgets_preemption(1)]
    {
        is_found(&with(&base, &[Event::OtherDrop]), Without::FillElsewhere, Weak);
        is_found(&with(&base, &[Event::Reseed]), Without::FillElsewhere, Stale);
        is_found(&with(&base, &[Event::Discard]), Without::FillElsewhere, Weak);
    }
}

#[test]
fn children_beside_other_events_need_the_same_steps() {
    let vfork = configs::small_vfork();
    is_found(&with(&vfork, &[Event::Reseed]), Without::GenerationInPage, Stale);
    is_found(&with(&vfork, &[Event::Reseed]), Without::TakeGeneration, Stale);
    is_found(&with(&vfork, &[Event::Discard]), Without::PutStamp, Stale);
    is_found(&with(&vfork, &[Event::OtherDrop]), Without::OwnWork, Weak);
    is_found(&with(&vfork, &[Event::OtherDrop]), Without::Erase, Twice);
    is_found(&with(&vfork, &[Event::OtherDrop]), Without::ClaimBeforeRead, Twice);
    is_found(&with(&vfork, &[Event::LineDrop]), Without::Zero, Zero);
}
