//! System calls of a followed program: draws, openings of devices, mappings of code.

use super::{Call, Follow, KEPT};
use crate::start::draws::{Draw, Source};
use crate::start::tracee::{self, Until};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Duration;

/// Calls of getrandom before which a gap counts: the library's first draw comes after those of the
/// C library and the language.
const GAPS: u64 = 4;

impl Follow<'_> {
    /// Looks at a system call that begins.
    pub(super) fn call(&mut self, id: i32) -> io::Result<Until> {
        let registers = tracee::registers(id)?;
        let began = self.own(id);
        let Some(thread) = self.threads.get(&id) else { return Ok(Until::Filter) };
        let (process, last) = (thread.process, thread.last);
        let mut call = Call { began, source: None, flags: None, caller: None, mapping: None };
        match registers.orig_rax.cast_signed() {
            libc::SYS_getrandom => {
                call.source = Some(Source::Getrandom);
                call.flags = Some(registers.rdx as u32);
            }
            libc::SYS_read => {
                let file = std::fs::read_link(format!("/proc/{process}/fd/{}", registers.rdi));
                let Some(device) = file.ok().and_then(|file| Source::device(&file)) else {
                    return Ok(Until::Filter);
                };
                call.source = Some(device);
            }
            libc::SYS_mmap => {
                let descriptor = registers.r8 as i32;
                // Code without a file is made by the program itself.
                if descriptor < 0 {
                    return Ok(Until::Filter);
                }
                call.mapping = Some((descriptor, registers.r9, registers.rsi));
            }
            number => {
                let name = if number == libc::SYS_open { registers.rdi } else { registers.rsi };
                let path = text(process, name);
                if path.and_then(|path| Source::device(&path)).is_some() {
                    self.seen.opens += 1;
                }
                return Ok(Until::Filter);
            }
        }
        self.gap(process, began.saturating_sub(last));
        if call.source.is_some() && self.seen.draws.len() < KEPT {
            call.caller = self.images.caller(process, &registers);
        }
        if let Some(thread) = self.threads.get_mut(&id) {
            thread.call = Some(call);
        }
        Ok(Until::EndOfCall)
    }

    pub(super) fn end_of_call(&mut self, id: i32) -> io::Result<()> {
        let ended = self.own(id);
        let Some(thread) = self.threads.get_mut(&id) else { return Ok(()) };
        let process = thread.process;
        let Some(call) = thread.call.take() else { return Ok(()) };
        let inside = thread.stack.library();
        let result = tracee::registers(id)?.rax.cast_signed();
        if let Some((descriptor, offset, length)) = call.mapping {
            let is_mapped = !(-4095..0).contains(&result);
            if is_mapped && let Some(breakpoints) = self.processes.get_mut(&process) {
                let start = result.cast_unsigned();
                for function in self.images.of_mapping(process, descriptor) {
                    // Any other function is in another mapping of the same file.
                    let distance = function.offset.checked_sub(offset);
                    if let Some(distance) = distance.filter(|distance| *distance < length) {
                        breakpoints.set(start + distance, function)?;
                    }
                }
            }
            return Ok(());
        }
        let Some(source) = call.source else { return Ok(()) };
        match source {
            Source::Getrandom => self.seen.getrandom += u64::from(result > 0),
            _ => self.seen.reads += u64::from(result > 0),
        }
        let Some(bytes) = u64::try_from(result).ok().filter(|bytes| *bytes > 0) else {
            return Ok(());
        };
        let draw = Draw {
            ended,
            took: ended.saturating_sub(call.began),
            bytes: Some(bytes),
            source,
            flags: call.flags,
            function: None,
            inside,
            caller: call.caller,
            program: self.images.program(process),
        };
        self.keep(draw);
        Ok(())
    }

    /// Notes how long a thread computed before a draw, for programs whose functions have no names.
    fn gap(&mut self, process: i32, computed: Duration) {
        if self.seen.getrandom < GAPS && self.images.has_nameless_aws_lc(process) {
            self.seen.longest_gap = self.seen.longest_gap.max(computed);
        }
    }
}

/// Returns a path in the memory of a process.
fn text(process: i32, address: u64) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let memory = std::fs::File::open(format!("/proc/{process}/mem")).ok()?;
    let mut bytes = [0; 32];
    // Near the end of a mapping fewer bytes can be read, and a device's name is short.
    let length = memory.read_at(&mut bytes, address).ok()?;
    let end = bytes[..length].iter().position(|byte| *byte == 0)?;
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes[..end].to_vec())))
}
