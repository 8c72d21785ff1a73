//! Calls that change the process's state: set-up on request, `quiesce` and `discard`.

use super::process::Process;
#[cfg(feature = "pools")]
use super::sys::memory;
use super::{process, setup, sys};
use crate::{Config, Error, status};

pub(crate) fn init(config: Option<Config>) -> Result<(), Error> {
    let Some(config) = config else {
        return process(true).map(drop);
    };
    let process = setup::process_with(config)?;
    // Set up before, perhaps with something else.
    process.request(config.mode);
    if config.vmclock {
        process.clock.map_device();
    } else {
        process.clock.unmap(status::Vmclock::Off)?;
    }
    if process.is_quiesced() {
        // What a request that was under way at the checkpoint left in a page is in every image made of it.
        drop_contents(process)?;
        process.come_back_to_kernel();
        process.set_quiesced(false);
    }
    process.choose_mode();
    Ok(())
}

pub(crate) fn quiesce() -> Result<(), Error> {
    let process = process(true)?;
    process.clock.unmap(status::Vmclock::Quiesced)?;
    process.set_quiesced(true);
    process.choose_mode();
    process.leave_kernel();
    Ok(drop_contents(process)?)
}

pub(crate) fn discard() -> Result<(), Error> {
    // A page whose refill is under way loses its tag with its contents, and a refill that sets the tag later
    // draws its key later still: either way nothing keyed before is served.
    Ok(drop_contents(process(true)?)?)
}

#[cfg(feature = "pools")]
/// Drops the contents of every page: of the slots' as well where the handles' could not be dropped.
pub(crate) fn drop_contents(process: &Process) -> Result<(), sys::Errno> {
    let memory = &process.memory;
    // Before the contents go: a put that passed its comparison of the stamp has written tag and bytes before
    // they go, and one that comes to it later finds another stamp.
    process.sections.void_keys();
    let handles = process.handles.drop_contents(memory.stride());
    let (pages, len) = memory.all_pages();
    let slots = if memory.slots > 0 {
        #[allow(unsafe_code)]
        // SAFETY: a page of zeros is what a slot finds after a drop by the kernel, too.
        unsafe {
            memory::drop_contents(pages, len, memory.locked_len())
        }
    } else {
        Ok(memory::Lock::Kept)
    };
    if slots == Ok(memory::Lock::Lost) {
        process.handles.note_unlocked();
    }
    handles.and(slots.map(drop))
}

#[cfg(not(feature = "pools"))]
pub(crate) fn drop_contents(_: &Process) -> Result<(), sys::Errno> {
    Ok(())
}

impl From<sys::Errno> for Error {
    fn from(sys::Errno(errno): sys::Errno) -> Error {
        Error::from_errno(errno)
    }
}
