//! Calls that change the process's state: set-up on request, `quiesce` and `discard`.

use super::process::Process;
use super::sys::memory;
use super::{process, setup, sys};
use crate::{Config, Error, status};

/// Sets up with a configuration, or changes it. Not async-signal-safe: two calls at once may leave
/// a mix of both configurations.
pub(crate) fn init(config: Option<Config>) -> Result<(), Error> {
    let Some(config) = config else {
        return process(true).map(drop);
    };
    let process = setup::process_with(config)?;
    // An earlier set-up may have had another configuration.
    process.request(config.mode);
    if config.vmclock {
        process.clock.map_device();
    } else {
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
/// The order counts. The clone marker goes first, because its failure must leave everything as it
/// was. The mode becomes `strict` before the contents go, or a draw in between would buffer bytes
/// again.
pub(crate) fn quiesce() -> Result<(), Error> {
    let process = process(true)?;
    process.clock.unmap(status::Vmclock::Quiesced)?;
    process.set_quiesced(true);
    process.choose_mode();
    process.leave_kernel();
    Ok(drop_contents(process)?)
}

/// Discards all buffered bytes.
pub(crate) fn discard() -> Result<(), Error> {
    // A page whose refill is under way loses its tag with its contents. A refill that sets the tag
    // later draws its key later still. So no byte keyed before is served.
    Ok(drop_contents(process(true)?)?)
}

/// Drops the contents of every page. The slots' pages are dropped even if the handles' cannot be.
pub(crate) fn drop_contents(process: &Process) -> Result<(), sys::Errno> {
    let memory = &process.memory;
    // The stamp changes before the contents go. A put that has compared the stamp has written its
    // page already, which is dropped next; a later put finds another stamp.
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
