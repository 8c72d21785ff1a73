//! Lets the witnesses of a copy draw, and collects what they say.

use crate::builtin;
use crate::clean::clean;
use crate::planting::{self, Key};
use crate::post::{self, Post, Said, Value};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
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

impl Draws {
    /// Returns an error for draws of another version.
    pub(crate) fn check_schema(&self) -> Result<()> {
        ensure!(
            self.schema == SCHEMA,
            "the draws hold '{}' where '{SCHEMA}' is needed",
            clean(&self.schema)
        );
        Ok(())
    }
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
    /// Reseeds that the kernel's witness saw while it waited, the oldest first. In a witness of
    /// headwater, the times at which its stamp was stale.
    pub reseeds: Vec<Reseed>,
    /// Sources that it cannot draw.
    pub skipped: Vec<Skipped>,
    /// The sources.
    pub rows: Vec<Row>,
}

/// A reseed of the kernel. Its times are nanoseconds of a clock that begins with the machine.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reseed {
    /// The kernel's reseed generation after it.
    pub generation: u64,
    /// When the generation was first seen.
    pub ns: u64,
    /// When the generation was looked at before. Copies share the looks from before the copy.
    pub looks: Vec<u64>,
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
    /// A hash of each value under the planting's key, in the order of the draws. Equal values of
    /// copies have equal hashes, and that is all that a comparison needs: the values themselves, a
    /// machine's identity among them, stay.
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
    let key = planting::key(directory)?;
    let ms = || u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let posts: Vec<(&String, Post)> =
        names.iter().map(|name| (name, Post::new(&directory.join(name)))).collect();
    let drawn = || {
        format!(
            "the witnesses in {} have drawn already, and each draws once; plant them anew",
            directory.display()
        )
    };
    ensure!(posts.iter().all(|(_, post)| !post.path(post::GO).exists()), drawn());
    // Before the draws, and for good, even if the caller loses them. A copy that is made after them
    // has them too, and whatever printed them again there would make another machine's draws of
    // them: every source would repeat.
    //
    // Made, and not looked for: of two commands that begin at once one has to fail, or both would
    // return the draws of one copy, and every source would repeat.
    match File::create_new(directory.join(planting::DRAWN)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(error).context(drawn());
        }
        other => drop(other.with_context(|| format!("cannot write into {}", directory.display()))?),
    }
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
    let mut witnesses = Vec::new();
    for (name, post) in &posts {
        witnesses.push(collect(name, post, LIMIT.saturating_sub(triggered.elapsed()), &key)?);
    }
    witnesses.extend(repaired(directory, &key)?);
    let schema = SCHEMA.to_owned();
    Ok(Draws { schema, planting, witnesses, kernel_ms, total_ms: ms() })
}

/// Returns what a witness says, within the time.
pub(crate) fn collect(name: &str, post: &Post, limit: Duration, key: &Key) -> Result<Witness> {
    let ready = post.read(post::READY)?.map(|text| Said::ready(&text)).unwrap_or_default();
    let skipped = ready.skipped.into_iter().map(|(id, why)| Skipped { id, why });
    let mut witness = Witness {
        name: name.to_owned(),
        title: ready.title,
        error: post.read(planting::ABSENT)?,
        reseeds: Vec::new(),
        skipped: skipped.collect(),
        rows: Vec::new(),
    };
    if witness.error.is_some() {
        return Ok(witness);
    }
    match post.wait(post::DRAWS, limit)? {
        Some(text) => {
            let said = Said::draws(&text);
            let reseed = |post::Reseed { generation, ns, looks }| Reseed { generation, ns, looks };
            witness.reseeds = said.seen.into_iter().map(reseed).collect();
            witness.rows = rows(said.values, key);
        }
        None => {
            let words = post.last_words();
            witness.error = Some(format!("the copy's witness did not answer: {words}"));
        }
    }
    Ok(witness)
}

/// Groups values by source, in the order in which sources came first.
fn rows(values: Vec<Value>, key: &Key) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for Value { id, text, ms } in values {
        let at = rows.iter().position(|row| row.id == id).unwrap_or_else(|| {
            rows.push(Row { id, values: Vec::new(), ms: Vec::new() });
            rows.len() - 1
        });
        rows[at].values.push(key.hash(text.as_bytes()));
        rows[at].ms.extend(ms);
    }
    rows
}

/// Returns what a repair of this copy left, as one more witness: two copies that were given the
/// same entropy both prove a reseed, and only their comparison can show it.
fn repaired(directory: &Path, key: &Key) -> Result<Option<Witness>> {
    let Some(text) = Post::new(directory).read(planting::REPAIR)? else { return Ok(None) };
    Ok(Some(Witness {
        name: planting::REPAIR.to_owned(),
        title: "headwater clones repair".to_owned(),
        error: None,
        reseeds: Vec::new(),
        skipped: Vec::new(),
        rows: rows(Said::draws(&text).values, key),
    }))
}
