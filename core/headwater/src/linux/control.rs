//! Calls that change the process's state: set-up on request, `quiesce` and `discard`.

use super::cpu::random;
use super::process::Process;
use super::sys::memory;

use super::{process, setup, sys};
use crate::{Config, Error, status};

/// Sets up with a configuration, or changes it. A change is several stores, so two calls at once
/// may leave a mix of both configurations. Therefore this is not async-signal-safe.
pub(crate) fn init(config: Option<Config>) -> Result<(), Error> {
    let Some(config) = config else {
        return process(true).map(drop);
    };
    let process = setup::process_with(config)?;
    // An earlier set-up may have had another configuration.
    process.request(config.mode);
    if config.vmclock {
        process.clock.map_device();
        process.watch.map();
    } else {
        process.watch.unmap(status::WatchPage::Off)?;
        process.clock.unmap(status::Vmclock::Off)?;
    }
    if process.is_quiesced() {
        // A request under way at the checkpoint may have left bytes in a page, and every restored
        // image has them.
        drop_contents(process)?;
        process.come_back_to_kernel();
        process.set_quiesced(false);
    }
    process.choose_mode();
    Ok(())
}

/// Drops everything that a checkpoint must not hold.
///
/// The order counts. The watcher's page and the clone marker go first: if that fails, every draw
/// must be as it was, and so far nothing has been done that a draw depends on. The mode becomes
/// `strict` before the contents go, because otherwise a draw in between would buffer bytes again,
/// and they would be in the checkpoint.
pub(crate) fn quiesce() -> Result<(), Error> {
    let process = process(true)?;
    process.watch.unmap(status::WatchPage::Quiesced)?;
    process.clock.unmap(status::Vmclock::Quiesced)?;
    process.set_quiesced(true);
    process.choose_mode();
    process.leave_kernel();
    Ok(drop_contents(process)?)
}

/// Tests again what set-up tested: the cipher in use, and the random instruction if it is used. In
/// mode `kernel` neither serves a draw, and the test is of what a change of mode would use.
pub(crate) fn self_test() -> Result<(), Error> {
    let process = process(true)?;
    let draws_words = process.has_cpu_words();
    if !process.backend.passes_self_test() || draws_words && !random::is_sane() {
        return Err(Error::SELF_TEST);
    }
    Ok(())
}

/// Discards all buffered bytes.
pub(crate) fn discard() -> Result<(), Error> {
    // A draw that is under way in another thread need not be stopped. If its page is being
    // refilled, the page loses its tag with its contents, so nothing of it is served. If the refill
    // sets the tag only afterwards, it draws its key later still, and from the vDSO, because a link
    // is gone with the tag that it needs; and then the bytes are new. So no byte that was keyed
    // before is served.
    Ok(drop_contents(process(true)?)?)
}

/// Drops the contents of every page. The slots' pages are dropped even if the handles' cannot be.
pub(crate) fn drop_contents(process: &Process) -> Result<(), sys::Errno> {
    let memory = &process.memory;
    // The stamp changes before the contents go. In the other order, a put in between would compare
    // the old stamp and publish a page that is not dropped any more. In this order a put that has
    // compared the old stamp has written its page already, so the page is dropped next, and a later
    // put finds another stamp.
    process.sections.void_keys();
    let handles = process.handles.drop_contents(memory.stride());
    let (pages, len) = memory.all_pages();
    let slots = if memory.slots > 0 {
        #[allow(unsafe_code)]
        // SAFETY: after a drop by the kernel a slot finds a page of zeros, too.
        unsafe {
            memory::drop_contents(pages, len, memory.locked())
        }
    } else {
        Ok(memory::Lock::Kept)
    };
    if slots == Ok(memory::Lock::Lost) {
        process.handles.note_unlocked();
    }
    handles.and(slots.map(drop))
}

impl From<sys::Errno> for Error {
    fn from(sys::Errno(errno): sys::Errno) -> Error {
        Error::from_errno(errno)
    }
}
