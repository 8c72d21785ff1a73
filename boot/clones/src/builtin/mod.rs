//! Witnesses that need nothing but this command: the kernel, the machine's identity, the C
//! libraries of the machine, Rust's generators, and headwater in each mode.
//!
//! Each runs in a process of its own. Some libraries reach into another's state: libuuid turns
//! glibc's rand() by the clock, so beside it rand() would differ in every copy, and a source that
//! repeats would be reported as sound.

mod headwater;
mod identity;
mod kernel;
mod libc;
mod library;
mod reseeds;
mod rust;
mod tls;

pub(crate) use self::headwater::PREFIX as HEADWATER;
pub(crate) use kernel::reseeds as reseed_generation;
pub(crate) use reseeds::KEPT as KEPT_RESEEDS;

use crate::post::{self, Post, Said, Value};
use anyhow::{Result, bail};
use std::env;
use std::path::Path;
use std::time::{Duration, Instant};

/// One way to draw a value, as text without a tab.
type Draw = Box<dyn FnMut() -> Result<String>>;

/// The sources of one process.
#[derive(Default)]
struct Sources {
    /// The watched runtime, with its version where it has one.
    title: String,
    draws: Vec<(String, Draw)>,
    /// Values that a process has once.
    kept: Vec<(String, Draw)>,
    skipped: Vec<(String, String)>,
}

impl Sources {
    fn new(title: impl Into<String>) -> Sources {
        Sources { title: title.into(), ..Sources::default() }
    }

    fn draw(&mut self, id: impl Into<String>, draw: impl FnMut() -> Result<String> + 'static) {
        self.draws.push((id.into(), Box::new(draw)));
    }

    fn keep(&mut self, id: impl Into<String>, draw: impl FnMut() -> Result<String> + 'static) {
        self.kept.push((id.into(), Box::new(draw)));
    }

    fn skip(&mut self, id: impl Into<String>, why: impl Into<String>) {
        self.skipped.push((id.into(), why.into()));
    }

    /// Draws one value of each source, and throws it away. A source that fails now is skipped, with
    /// its error, because it would fail in the copies too.
    fn warm(&mut self) {
        for sources in [&mut self.draws, &mut self.kept] {
            sources.retain_mut(|(id, draw)| match draw() {
                Ok(_) => true,
                Err(error) => {
                    self.skipped.push((id.clone(), format!("{error:#}")));
                    false
                }
            });
        }
    }
}

/// Names of the witnesses, in the order in which they draw. The kernel comes first and alone: a
/// copy's kernel hands out one sequence of values, so a process that draws earlier moves all
/// others.
pub(crate) const NAMES: &[&str] = &[
    "kernel",
    "machine",
    "libc",
    "libbsd",
    "libuuid",
    "openssl",
    "gnutls",
    "gcrypt",
    "sodium",
    "nss",
    "mbedtls",
    "rust",
    "headwater-auto",
    "headwater-buffered",
    "headwater-hedged",
    "headwater-strict",
    "headwater-kernel",
];

fn sources(name: &str) -> Result<Sources> {
    Ok(match name {
        "kernel" => kernel::sources(),
        "machine" => identity::sources(),
        "libc" => libc::sources(),
        "libbsd" => library::bsd(),
        "libuuid" => library::uuid(),
        "openssl" => library::openssl(),
        "gnutls" => library::gnutls(),
        "gcrypt" => library::gcrypt(),
        "sodium" => library::sodium(),
        "nss" => tls::nss(),
        "mbedtls" => tls::mbedtls(),
        "rust" => rust::sources(),
        _ => match name.strip_prefix(headwater::PREFIX) {
            Some(mode) => headwater::sources(mode)?,
            None => bail!("no witness is called '{name}'"),
        },
    })
}

/// Runs a witness to its end: warm, ready, waiting, drawing.
///
/// # Errors
///
/// If its directory cannot be written, or a source that drew before fails in the copy.
pub fn run(name: &str) -> Result<()> {
    let Some(directory) = env::var_os(post::DIRECTORY) else {
        bail!("a witness is started by `headwater clones plant`, which sets {}", post::DIRECTORY);
    };
    let post = Post::new(Path::new(&directory));
    let mut sources = sources(name)?;
    for _ in 0..5 {
        sources.warm();
    }
    let is_kernel = name == "kernel";
    let reseeds = || if is_kernel { kernel::reseeds() } else { None };
    let ready = Said {
        title: sources.title.clone(),
        skipped: sources.skipped.clone(),
        reseeds: reseeds(),
        ..Said::default()
    };
    post.write(post::READY, &ready.ready_text())?;
    let mut watch = reseeds::Watch::default();
    let mut stamps = headwater::Stamps::default();
    let mut look = || {
        if is_kernel {
            watch.look(kernel::reseeds());
        } else if name.starts_with(headwater::PREFIX) {
            watch.look(stamps.stale());
        }
    };
    let Some(longer) = post.wait_for_go(&mut look)? else { return Ok(()) };
    // A reseed between the last look and the trigger belongs to the copy as well.
    look();
    let values = drawn(&mut sources, if is_kernel { longer } else { Duration::ZERO })?;
    let draws = Said { values, reseeds: reseeds(), seen: watch.seen(), ..Said::default() };
    post.write(post::DRAWS, &draws.draws_text())
}

/// Draws all values at once, and then ten in each second for the time given, to see when a source
/// ceases to repeat.
fn drawn(sources: &mut Sources, longer: Duration) -> Result<Vec<Value>> {
    let begun = Instant::now();
    let mut values = Vec::new();
    let mut take = |draws: &mut Vec<(String, Draw)>| -> Result<()> {
        for (id, draw) in draws {
            let text = draw()?;
            let ms = u64::try_from(begun.elapsed().as_millis()).ok();
            values.push(Value { id: id.clone(), text, ms });
        }
        Ok(())
    };
    for _ in 0..post::ROUNDS {
        take(&mut sources.draws)?;
    }
    take(&mut sources.kept)?;
    while begun.elapsed() < longer {
        std::thread::sleep(Duration::from_millis(100));
        take(&mut sources.draws)?;
    }
    Ok(values)
}

/// Formats bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
