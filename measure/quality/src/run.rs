//! The run: from a request to a report.

use crate::args::{Args, Request};
use crate::battery::{self, Figure, Missed};
use crate::effort::Effort;
use crate::report::{Report, Section};
use crate::sources::{self, Arrangement, Named, Source};
use crate::{Error, LEAST_BYTES, deep, entropy, external};
use clap::ValueEnum;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Judges the source that `args` name. Reads `stdin` only if the source is `-`.
///
/// # Errors
///
/// [`Error`] if the request makes no sense, or if the source has too few numbers.
pub fn run(args: &Args, stdin: impl Read + Send) -> Result<Report, Error> {
    let request = args.request()?;
    let mut report = match request.source {
        None => from_stdin(&request, stdin)?,
        Some(source) if request.effort == Effort::Deep => deep::run(&request, source)?,
        Some(source) => once(&request, source)?,
    };
    report.seconds = report.begun.elapsed().as_secs_f64();
    Ok(report)
}

/// Judges one block of every arrangement.
fn once(request: &Request, source: &'static Named) -> Result<Report, Error> {
    let mut report = Report::new(request);
    for (arrangement, words) in plan(request, source)? {
        let mut stream = sources::open(source, request.seed, &arrangement)?;
        let patience = (!source.is_reproducible()).then(|| request.effort.patience());
        let block = draw(&mut *stream, words, patience)?;
        let (figures, missed, stopped) = battery::run(&block, request);
        report.sections.push(section(&arrangement, block.len() as u64, figures, &missed));
        if source.kind == sources::SourceKind::Noise {
            report.entropy = Some(entropy::judge(&block, request.effort));
        }
        report.stopped = stopped;
        if stopped {
            break;
        }
    }
    report.external =
        external::run(request, || sources::open(source, request.seed, &Arrangement::One));
    report.judge()
}

fn from_stdin(request: &Request, stdin: impl Read + Send) -> Result<Report, Error> {
    let mut report = Report::new(request);
    let mut stream = sources::Stdin::new(stdin, |bytes| {
        // Not `eprintln`, which panics where standard error is closed.
        let mut errors = std::io::stderr();
        let _ = writeln!(errors, "headwater: waiting for standard input, {bytes} bytes so far");
    });
    if request.effort == Effort::Deep {
        deep::stdin(request, &mut stream, &mut report)?;
    } else {
        let block = draw(&mut stream, request.block, None)?;
        if (block.len() as u64) * 8 < LEAST_BYTES {
            let bytes = block.len() as u64 * 8 + stream.left_over as u64;
            return Err(Error::TooLittle { bytes });
        }
        let (figures, missed, stopped) = battery::run(&block, request);
        report.stopped = stopped;
        report.sections.push(section(&Arrangement::One, block.len() as u64, figures, &missed));
        if request.entropy {
            report.entropy = Some(entropy::judge(&block, request.effort));
        }
    }
    report.judge()
}

pub(crate) fn section(
    arrangement: &Arrangement,
    words: u64,
    figures: Vec<Figure>,
    missed: &[Missed],
) -> Section {
    let missed = missed.iter().map(|Missed { test, form }| {
        let bytes = test.least * form.width as usize / 8;
        let unseen = test.unseen;
        format!("{} over {form}: needs {bytes} bytes; not known: {unseen}", test.name)
    });
    Section { arrangement: arrangement.to_string(), words, figures, missed: missed.collect() }
}

/// Returns the arrangements of streams that are tested, and the number of words of each.
pub(crate) fn plan(request: &Request, source: &Named) -> Result<Vec<(Arrangement, usize)>, Error> {
    let effort = request.effort;
    let (main, side) = (request.block, effort.side_block());
    let mut asked = Vec::new();
    asked.extend(request.streams.map(|n| (Arrangement::Streams(n), main)));
    asked.extend(request.seeds.clone().map(|seeds| (Arrangement::Seeds(seeds), main)));
    if !asked.is_empty() {
        return Ok(asked);
    }
    let mut plan = vec![(Arrangement::One, main)];
    if source.is_reproducible() {
        let end = request.seed.saturating_add(8);
        plan.push((Arrangement::Seeds(end - 8..end), side));
    }
    let many = if effort.thorough() { 1024 } else { 64 };
    if source.has_streams() {
        plan.push((Arrangement::Streams(many), side));
    }
    if source.has_keys() {
        plan.push((Arrangement::Keys(many), side));
    }
    if source.is_reproducible() && effort.thorough() {
        plan.push((Arrangement::SeedBits, side));
    }
    if source.has_keys() && effort.thorough() {
        plan.push((Arrangement::KeyBits, side));
        plan.push((Arrangement::Children(many), side));
    }
    for &only in &request.only {
        if !plan.iter().any(|(arrangement, _)| arrangement.group() == only) {
            let value = only.to_possible_value().expect("no kind is hidden");
            let name = value.get_name();
            return Err(Error::Usage(format!(
                "no {name} of {} at this budget; try --deep, or an engine with keys such as ars7",
                source.name
            )));
        }
    }
    plan.retain(|(arrangement, _)| {
        request.only.is_empty() || request.only.contains(&arrangement.group())
    });
    Ok(plan)
}

/// Draws up to `words` words: fewer if the stream ends, or once `patience` with a slow source is
/// exhausted.
pub(crate) fn draw(
    source: &mut dyn Source,
    words: usize,
    patience: Option<Duration>,
) -> Result<Vec<u64>, Error> {
    let begun = Instant::now();
    let mut block = vec![0; words];
    let mut filled = 0;
    while filled < words {
        let end = words.min(filled + 4096);
        let n = source.fill(&mut block[filled..end])?;
        filled += n;
        let tired =
            patience.is_some_and(|patience| begun.elapsed() > patience) && filled * 8 >= 1 << 15;
        if filled < end || tired {
            break;
        }
    }
    block.truncate(filled);
    Ok(block)
}
