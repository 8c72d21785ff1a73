//! Hours of it: block after block of every arrangement on all cores, counts added up, and kept in a
//! file between sittings.

use crate::args::Request;
use crate::battery::{self, Figure, Missed};
use crate::report::Report;
use crate::run::{draw, plan, section};
use crate::sources::{self, Arrangement, Named, Source};
use crate::{Error, LEAST_BYTES, external};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The counts so far, as the file holds them.
#[derive(Serialize, Deserialize)]
struct State {
    schema: String,
    /// The parameters that must agree before counts may be added.
    run: Run,
    sections: Vec<Counted>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Run {
    version: String,
    source: String,
    seed: u64,
    arrangements: Vec<String>,
    block: usize,
}

/// One arrangement's counts over its first `words` words.
#[derive(Default, Serialize, Deserialize)]
struct Counted {
    words: u64,
    figures: Vec<Figure>,
}

const SCHEMA: &str = "headwater.quality-state/2";

/// Judges a source that can continue where it was, or that never repeats.
pub(crate) fn run(request: &Request, source: &'static Named) -> Result<Report, Error> {
    let mut report = Report::new(request);
    let plan = plan(request, source)?;
    let path = request.state.clone().unwrap_or_else(|| default_path(source, request.seed));
    let this = Run {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        source: source.name.to_owned(),
        seed: request.seed,
        arrangements: plan.iter().map(|(arrangement, _)| arrangement.to_string()).collect(),
        block: request.block,
    };
    let mut state = State::load(&path, this)?;
    let goal = (request.bytes / 8).max(request.block as u64);
    let bar = bar(8 * goal * plan.len() as u64);
    let counted = |state: &State| state.sections.iter().map(|counted| 8 * counted.words).sum();
    bar.set_position(counted(&state));
    let mut streams = plan
        .iter()
        .zip(&state.sections)
        .map(|((arrangement, _), counted)| {
            let mut stream = sources::open(source, request.seed, arrangement)?;
            if source.is_reproducible() {
                skip(&mut *stream, counted.words)?;
            }
            Ok(stream)
        })
        .collect::<Result<Vec<_>, Error>>()?;
    bar.reset_eta(); // the speed of earlier sittings is unknown
    // Every core works on a block, and after each round all counts are of whole blocks.
    let rounds = request.threads.div_ceil(plan.len()).max(1);
    while state.sections.iter().any(|counted| counted.words < goal) {
        let wanted = (0..plan.len()).flat_map(|i| std::iter::repeat_n(i, rounds));
        let wanted: Vec<usize> = wanted.filter(|&i| state.sections[i].words < goal).collect();
        bar.set_position(counted(&state));
        round(request, &mut streams, &wanted, &mut state.sections, &bar)?;
        state.save(&path)?;
    }
    bar.finish_and_clear();
    for ((arrangement, _), counted) in plan.iter().zip(state.sections) {
        report.sections.push(section(arrangement, counted.words, counted.figures, &[]));
    }
    report.external =
        external::run(request, || sources::open(source, request.seed, &Arrangement::One));
    report.judge()
}

/// Judges standard input to its end. It cannot be read a second time.
pub(crate) fn stdin(
    request: &Request,
    stream: &mut dyn Source,
    report: &mut Report,
) -> Result<(), Error> {
    let mut counted = Counted::default();
    let mut missed: Vec<Missed> = Vec::new();
    loop {
        let block = draw(stream, request.block, None)?;
        let whole = block.len() == request.block;
        if counted.words == 0 || whole {
            let number = counted.words / request.block as u64;
            let (figures, without) =
                battery::block(&block, request.effort, request.threads, number);
            missed = if counted.words == 0 { without } else { missed };
            counted.add(figures, block.len() as u64);
        }
        // A last part of another length has other figures, which would be judged apart; it is left
        // out.
        if !whole {
            break;
        }
    }
    if counted.words * 8 < LEAST_BYTES {
        return Err(Error::TooLittle { bytes: counted.words * 8 });
    }
    report.sections.push(section(&Arrangement::One, counted.words, counted.figures, &missed));
    Ok(())
}

/// Tests one block for each entry of `wanted`, the next one of that arrangement. Blocks are drawn
/// from the streams in order, by any thread.
fn round(
    request: &Request,
    streams: &mut [Box<dyn Source>],
    wanted: &[usize],
    sections: &mut [Counted],
    bar: &ProgressBar,
) -> Result<(), Error> {
    let drawn: Vec<u64> = sections.iter().map(|counted| counted.words).collect();
    let queue = Mutex::new((wanted.iter(), streams, drawn));
    let results = Mutex::new((sections, Ok(())));
    let work = || {
        loop {
            let (index, number, block) = {
                let mut queue = queue.lock().expect("a worker has panicked");
                let Some(&index) = queue.0.next() else { return };
                let number = queue.2[index] / request.block as u64;
                queue.2[index] += request.block as u64;
                (index, number, draw(&mut *queue.1[index], request.block, None))
            };
            let figures = block.map(|block| {
                (battery::block(&block, request.effort, 1, number).0, block.len() as u64)
            });
            let mut results = results.lock().expect("a worker has panicked");
            match figures {
                Ok((figures, words)) => {
                    results.0[index].add(figures, words);
                    bar.inc(8 * words);
                }
                Err(error) => {
                    results.1 = Err(error);
                    return;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..request.threads {
            scope.spawn(work);
        }
        work();
    });
    results.into_inner().expect("a worker has panicked").1
}

impl Counted {
    fn add(&mut self, figures: Vec<Figure>, words: u64) {
        self.words += words;
        for new in figures {
            let same = |old: &&mut Figure| {
                (&old.test, &old.form, &old.part) == (&new.test, &new.form, &new.part)
            };
            let Some(old) = self.figures.iter_mut().find(same) else {
                // When a sum failed is not when its first part was known.
                self.figures.push(Figure { at: None, ..new });
                continue;
            };
            // Figures of one name count alike: their names hold what their counts depend on.
            let added = old.tally.add(&new.tally);
            debug_assert!(added, "{} {} {}", new.test, new.form, new.part);
            old.values += if added { new.values } else { 0 };
        }
    }
}

impl State {
    /// Returns the state in `path`, or a new state if the file does not exist.
    fn load(path: &Path, run: Run) -> Result<State, Error> {
        let different =
            |reason: &str| Error::State { path: path.to_owned(), reason: reason.to_owned() };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let sections = run.arrangements.iter().map(|_| Counted::default()).collect();
                return Ok(State { schema: SCHEMA.to_owned(), run, sections });
            }
            Err(error) => return Err(file_error(path, &error)),
        };
        let state: State =
            serde_json::from_str(&text).map_err(|error| different(&error.to_string()))?;
        if state.schema != SCHEMA || state.sections.len() != state.run.arrangements.len() {
            return Err(different("its schema is another"));
        }
        if state.run != run {
            return Err(different("its source, seed, arrangements or version are others"));
        }
        Ok(state)
    }

    /// Saves the state. A machine that stops leaves the old state or the new one.
    fn save(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string(self).map_err(|error| file_error(path, &error.into()))?;
        headwater_text::file::replace(path, text).map_err(|error| file_error(path, &error))
    }
}

fn file_error(path: &Path, error: &std::io::Error) -> Error {
    Error::File { path: path.to_owned(), reason: error.to_string() }
}

/// Returns a path such as `headwater-quality-ars7-1.json`, in the working directory.
fn default_path(source: &Named, seed: u64) -> PathBuf {
    let name = source.name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    PathBuf::from(format!("headwater-quality-{name}-{seed}.json"))
}

fn skip(stream: &mut dyn Source, words: u64) -> Result<(), Error> {
    let mut waste = vec![0; 1 << 16];
    let mut left = words;
    while left > 0 {
        let n = left.min(waste.len() as u64) as usize;
        stream.fill(&mut waste[..n])?;
        left -= n as u64;
    }
    Ok(())
}

fn bar(total: u64) -> ProgressBar {
    let style =
        "{binary_bytes:>10} of {binary_total_bytes}  [{bar:30}]  {elapsed} so far, {eta} left";
    let style = ProgressStyle::with_template(style)
        .expect("the template is a constant, and a test draws it");
    // Drawn on standard error, and on a terminal only.
    ProgressBar::new(total).with_style(style.progress_chars("=> "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_can_be_drawn() {
        bar(1).abandon();
    }
}
