//! Refills that follow a link: the seed of a page comes from that page's own last stream.
//!
//! Here each page begins with a link, so that the first refill in it follows one, and the refill
//! after that as well.

use crate::configs::{self, Event, with};
use crate::{is_clean, report};
use headwater_model::Bad::{Stale, Weak};
use headwater_model::{Bad, Config, Without};

/// Returns the configuration with pages that have links.
fn linked(base: &Config) -> Config {
    let name = format!("{}, links", base.name).leak();
    Config { links: 2, name, ..base.clone() }
}

fn is_found(config: &Config, step: Without, expected: Bad) {
    let trace = report(&config.without(step)).found;
    let bad = trace.and_then(|trace| trace.bad);
    assert_eq!(bad, Some(expected), "{}: without {step:?}", config.name);
}

#[test]
fn threads_forks_drops_and_reseeds() {
    for base in [
        configs::empty_pages(),
        configs::shared_slot(),
        configs::three_words(),
        configs::fork_in_make(),
        configs::fork_above_a_refill(),
        configs::dropped_page(),
        configs::dropped_work_page(),
        configs::reseed(),
        configs::discard(),
    ] {
        is_clean(&linked(&base));
    }
}

#[test]
fn children_and_kernels_that_abort_nothing() {
    for base in [configs::small_vfork(), configs::small_clone(1)] {
        for event in Event::WITHOUT_FORK {
            is_clean(&with(&linked(&base), &[event]));
        }
    }
    for event in Event::ALL {
        is_clean(&with(&linked(&configs::small_forgets_preemption(1)), &[event]));
    }
}

#[test]
fn each_step_is_needed() {
    let dropped = linked(&configs::dropped_work_page());
    is_found(&dropped, Without::FollowExchange, Weak);
    is_found(&linked(&configs::reseed()), Without::FollowGeneration, Stale);
    is_found(&dropped, Without::FollowTag, Weak);
}
