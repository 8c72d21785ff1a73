//! The search through all states, and a counterexample as lines that a person can read.

use crate::config::Config;
use crate::kernel::Action;
use crate::state::{Bad, State, Where};
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::fmt;

const SOUND: &str = "no word twice, none zero, weak or stale, no trip, and every draw ends";

/// The number of transitions after which a search fails. A configuration has to be small enough for
/// a complete search.
const LIMIT: usize = 40_000_000;

struct Machine(Config);

impl Model for Machine {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::first(&self.0)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        state.possible(&self.0, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        next.act(&self.0, action);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Machine>> {
        vec![Property::always(SOUND, |_, state: &State| state.bad.is_none() && !is_stuck(state))]
    }
}

/// Returns whether threads are left, and each of them waits for another.
fn is_stuck(state: &State) -> bool {
    let places = || state.threads.iter().flatten().map(|thread| thread.place);
    places().any(|place| place == Where::Waits)
        && places().all(|place| matches!(place, Where::Waits | Where::Ended))
}

/// The outcome of a search.
#[derive(Debug)]
pub struct Outcome {
    /// True if the search visited every state, or found its goal.
    pub complete: bool,
    /// The states that it visited.
    pub states: usize,
    /// The most actions from the first state to any other.
    pub depth: usize,
    /// The shortest way to a broken property, if there is one.
    pub found: Option<Trace>,
}

/// A way to a broken property.
#[derive(Debug)]
pub struct Trace {
    /// The broken rule; `None` if threads wait for ever.
    pub bad: Option<Bad>,
    /// The execution, one action a line, without instructions on private memory.
    pub lines: Vec<String>,
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "  {line}")?;
        }
        write!(f, "  => {:?}", self.bad)
    }
}

/// Visits every state that a configuration can reach, or as many as it takes to find a
/// counterexample.
#[must_use]
pub fn search(config: &Config) -> Outcome {
    let checker = Machine(config.clone()).checker().finish_when(HasDiscoveries::Any);
    let checker = checker.target_state_count(LIMIT).spawn_bfs().join();
    let found = checker.discovery(SOUND).map(|path| {
        let bad = path.last_state().bad;
        let steps = path.into_vec();
        let lines = steps.iter().filter_map(|(state, action)| Some(line(state, (*action)?)));
        Trace { bad, lines: lines.collect() }
    });
    let complete = found.is_some() || checker.state_count() < LIMIT;
    Outcome { complete, states: checker.unique_state_count(), depth: checker.max_depth(), found }
}

/// Describes one action in words, from the state before it.
fn line(state: &State, action: Action) -> String {
    match action {
        Action::Step(number) => {
            let Some(thread) = state.threads[number] else { return String::new() };
            let frame = thread.top();
            let Where::On(place) = thread.place else {
                unreachable!("only a running thread steps")
            };
            let handler = if thread.in_handler { " (handler)" } else { "" };
            format!("thread {number}{handler} on CPU {place}: {:?}", frame.pc)
        }
        other => format!("kernel: {other:?}"),
    }
}
