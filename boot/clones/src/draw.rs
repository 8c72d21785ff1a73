//! Lets the witnesses of a copy draw, and collects what they say.

use crate::builtin;
use crate::planting;
use crate::post::{self, Post, Said, Value};
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The schema of a copy's draws.
pub(crate) const SCHEMA: &str = "headwater.clones-draw/1";
/// The time that the witnesses of a copy may take, beyond the time for which they draw.
const LIMIT: Duration = Duration::from_secs(20);

/// The draws of one copy.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Draws {
    /// `headwater.clones-draw/1`.
    pub schema: String,
    /// The name of the planting. Only draws of one planting can be compared.
    pub planting: String,
    /// The witnesses, sorted by name.
    pub witnesses: Vec<Witness>,
    /// Milliseconds from the start of this command to the last draw of the kernel's witness.
    pub kernel_ms: u64,
    /// Milliseconds from the start of this command to its end.
    pub total_ms: u64,
}

/// The draws of one witness.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Witness {
    /// Its name.
    pub name: String,
    /// The watched runtime, with a version.
    pub title: String,
    /// Why it has no draws.
    pub error: Option<String>,
    /// The kernel's reseed generation when the witness was planted and when it had drawn, if the
    /// witness can read it.
    pub reseeds: [Option<u64>; 2],
    /// Sources that it cannot draw.
    pub skipped: Vec<Skipped>,
    /// The sources.
    pub rows: Vec<Row>,
}

/// A source that a runtime does not have.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Skipped {
    /// The source.
    pub id: String,
    /// The reason.
    pub why: String,
}

/// The values of one source.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    /// The source.
    pub id: String,
    /// A hash of each value, in the order of the draws. Equal values have equal hashes, and that is
    /// all that a comparison needs: the values themselves, a machine's identity among them, stay.
    pub values: Vec<String>,
    /// Milliseconds from the trigger to each draw, where the witness measures them.
    pub ms: Vec<u64>,
}

/// Lets all witnesses of a planting draw, and returns their draws. The kernel's witness draws for
/// `longer`, ten values a second.
///
/// # Errors
///
/// If there is no planting, or if it has drawn before: a witness draws once, so what it left would
/// be an earlier copy's.
pub(crate) fn draw(directory: &Path, longer: Duration) -> Result<Draws> {
    let begun = Instant::now();
    let (planting, names) = planting::witnesses(directory)?;
    let ms = || u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let posts: Vec<(&String, Post)> =
        names.iter().map(|name| (name, Post::new(&directory.join(name)))).collect();
    ensure!(
        posts.iter().all(|(_, post)| !post.path(post::GO).exists()),
        "the witnesses in {} have drawn already, and each draws once; plant them anew",
        directory.display()
    );
    // The kernel's witness first and alone. All copies of a kernel hand out one sequence of values,
    // so a copy in which another process drew before would show other values, and seem sound.
    let first = builtin::NAMES[0];
    let mut kernel_ms = 0;
    let go = format!("{}\n", longer.as_secs_f64());
    let is_absent = |post: &Post| post.path(planting::ABSENT).exists();
    if let Some((_, post)) = posts.iter().find(|(name, _)| *name == first)
        && !is_absent(post)
    {
        post.write(post::GO, &go)?;
        post.wait(post::DRAWS, longer + LIMIT)?;
        kernel_ms = ms();
    }
    for (name, post) in &posts {
        if *name != first && !is_absent(post) {
            post.write(post::GO, &go)?;
        }
    }
    let triggered = Instant::now();
    let planted_at = fs::read_to_string(directory.join(planting::RESEEDS)).ok();
    let planted_at = planted_at.and_then(|text| text.trim().parse().ok());
    let mut witnesses = Vec::new();
    for (name, post) in &posts {
        let mut witness = collect(name, post, LIMIT.saturating_sub(triggered.elapsed()))?;
        if *name == first && planted_at.is_some() {
            witness.reseeds[0] = planted_at;
        }
        witnesses.push(witness);
    }
    let schema = SCHEMA.to_owned();
    Ok(Draws { schema, planting, witnesses, kernel_ms, total_ms: ms() })
}

/// Returns what a witness says, within the time.
pub(crate) fn collect(name: &str, post: &Post, limit: Duration) -> Result<Witness> {
    let ready = post.read(post::READY)?.map(|text| Said::ready(&text)).unwrap_or_default();
    let skipped = ready.skipped.into_iter().map(|(id, why)| Skipped { id, why });
    let mut witness = Witness {
        name: name.to_owned(),
        title: ready.title,
        error: post.read(planting::ABSENT)?,
        reseeds: [ready.reseeds, None],
        skipped: skipped.collect(),
        rows: Vec::new(),
    };
    if witness.error.is_some() {
        return Ok(witness);
    }
    match post.wait(post::DRAWS, limit)? {
        Some(text) => {
            let said = Said::draws(&text);
            witness.reseeds[1] = said.reseeds;
            witness.rows = rows(said.values);
        }
        None => {
            let log = post.read(planting::LOG)?.unwrap_or_default();
            let words = log.lines().last().unwrap_or("it said nothing");
            witness.error = Some(format!("the copy's witness did not answer: {words}"));
        }
    }
    Ok(witness)
}

/// Groups values by source, in the order in which sources came first.
fn rows(values: Vec<Value>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for Value { id, text, ms } in values {
        let at = rows.iter().position(|row| row.id == id).unwrap_or_else(|| {
            rows.push(Row { id, values: Vec::new(), ms: Vec::new() });
            rows.len() - 1
        });
        rows[at].values.push(hashed(&text));
        rows[at].ms.extend(ms);
    }
    rows
}

/// Returns 64 bits of a hash: equal by chance once in 2^64 pairs.
fn hashed(value: &str) -> String {
    let hash = Sha256::digest(value.as_bytes());
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
