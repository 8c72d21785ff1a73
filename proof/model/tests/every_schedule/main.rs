//! The protocol in every schedule of small configurations, and each of its mutants.
//!
//! `cargo test -p headwater-model --release -- --nocapture` prints how many states each search
//! visited.

mod configs;
mod crossed;
mod links;
mod mutants;
mod remaining;
mod sound;

use headwater_model::{Config, Outcome, search};

/// Searches, and prints what the search came to.
fn report(config: &Config) -> Outcome {
    let outcome = search(config);
    assert!(outcome.complete, "{}: too large to be seen whole", config.name);
    let without = config.without.map_or(String::new(), |step| format!(", without {step:?}"));
    println!(
        "{}, inside {:?}{without}: {} states, depth {}",
        config.name, config.inside, outcome.states, outcome.depth
    );
    outcome
}

/// Asserts that no schedule breaks anything.
fn is_clean(config: &Config) {
    let outcome = report(config);
    if let Some(trace) = outcome.found {
        panic!("{}:\n{trace}", config.name);
    }
}
