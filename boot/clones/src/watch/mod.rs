//! `headwater clones watch`: learns that this machine was copied, and lets every program know.
//!
//! A program that keeps random numbers cannot see by itself that its machine was copied unless a
//! device shows it, and in a container it sees no device. So one process of root waits for the
//! signs (`signals`), and moves a number in a page that every program may map (`page`).
//!
//! The order of a response is what makes it of use. The kernel is reseeded first, because a program
//! that sees the number draws its next seed at once. The number moves second. Hooks come last: they
//! start programs and take as long as they like, so they run in a thread of their own, and a copy
//! that is seen meanwhile is counted without waiting for them.

mod page;
mod response;
mod signals;

use crate::args::WatchArgs;
use anyhow::{Context, Result};
use page::Page;
pub(crate) use page::count_beside;
pub use response::{Response, Seen};
pub use signals::Signal;
use signals::Signals;
use std::path::Path;
use std::sync::mpsc;
use std::time::Instant;

/// The beginning of a watch.
#[derive(Debug)]
pub struct Beginning {
    /// The signals, in words.
    pub signals: Vec<&'static str>,
}

/// Watches until the process is ended, or with `--once` until one copy was seen.
///
/// # Errors
///
/// If the page cannot be kept, or a signal cannot be read.
pub fn watch(
    args: &WatchArgs,
    began: &mut dyn FnMut(&Beginning) -> Result<()>,
    report: impl FnMut(&Response) -> Result<()> + Send + 'static,
) -> Result<()> {
    // A directory that was named and is not there would be missed only after a copy.
    crate::repair::hooks_of(args.hooks.as_deref()).context("the hooks cannot be run")?;
    let mut signals = Signals::open(args.vsock)?;
    let page = Page::keep(Path::new(&args.page), signals.bits())?;
    began(&Beginning { signals: signals.words() })?;
    let (sender, receiver) = mpsc::channel();
    let hooks = response::Hooks::new(args);
    let worker = std::thread::Builder::new()
        .name("hooks".to_owned())
        .spawn(move || hooks.run(&receiver, report))
        .context("cannot start a thread")?;
    loop {
        signals.sleep()?;
        let woken = Instant::now();
        let signals = signals.take()?;
        let Some(&signal) = signals.first() else {
            // A report that cannot be written ends the thread, and then the watch.
            if worker.is_finished() {
                break;
            }
            continue;
        };
        let seen = response::respond(signal, &page, woken);
        if sender.send(seen).is_err() || args.once {
            break;
        }
    }
    drop(sender);
    worker.join().ok().context("the thread of the hooks failed")?
}
