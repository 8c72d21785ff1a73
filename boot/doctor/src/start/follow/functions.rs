//! Functions of a followed program at which it stops: their begin, and their return.

use super::Follow;
use crate::start::draws::{Draw, Source};
use crate::start::image;
use crate::start::symbols::Kind;
use crate::start::tracee;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Returns of a function after which it is left alone, so that a busy program is not slowed down.
const RETURNS: u32 = 256;
const INT3_LENGTH: u64 = 1;

impl Follow<'_> {
    /// Looks at a trap: a function begins or returns. Returns false if the trap is not ours.
    pub(super) fn breakpoint(&mut self, id: i32) -> io::Result<bool> {
        let mut registers = tracee::registers(id)?;
        let at = registers.rip.wrapping_sub(INT3_LENGTH);
        let now = self.own(id);
        let Some(process) = self.threads.get(&id).map(|thread| thread.process) else {
            return Ok(false);
        };
        let Some(breakpoints) = self.processes.get_mut(&process) else { return Ok(false) };
        let Some(function) = breakpoints.take(at)? else {
            // Two threads may trap at one place, of which the first took the breakpoint out. The
            // other one then has to run the instruction that is there again.
            let is_gone = !breakpoints.is_trap(at)?;
            if is_gone {
                registers.rip = at;
                tracee::set_registers(id, &registers)?;
            }
            return Ok(is_gone);
        };
        registers.rip = at;
        tracee::set_registers(id, &registers)?;
        let Some(function) = function else {
            self.returned(id, &registers, now)?;
            return Ok(true);
        };
        let mut address = [0; 8];
        breakpoints.memory.read_exact_at(&mut address, registers.rsp)?;
        let back = u64::from_le_bytes(address);
        breakpoints.set_return(back)?;
        // A question for the size of the state is no draw: no buffer, and no bytes.
        let is_question = function.kind == Kind::Vdso && registers.rsi == 0;
        let caller = self.images.caller(process, &registers);
        if let Some(thread) = self.threads.get_mut(&id) {
            thread.stack.enter(function, at, back, registers.rsp, now, caller, is_question);
        }
        Ok(true)
    }

    /// Looks at the return of a function.
    fn returned(
        &mut self,
        id: i32,
        registers: &tracee::Registers,
        now: Duration,
    ) -> io::Result<()> {
        let Some(thread) = self.threads.get_mut(&id) else { return Ok(()) };
        let process = thread.process;
        let ended = thread.stack.leave(registers.rip, registers.rsp);
        let inside = thread.stack.library();
        for frame in ended {
            let took = now.saturating_sub(frame.began);
            // The function may be called again: its breakpoint was taken when it began.
            if let Some(breakpoints) = self.processes.get_mut(&process)
                && breakpoints.returned(frame.at) < RETURNS
            {
                breakpoints.set(frame.at, frame.function.clone())?;
            }
            let source = match frame.function.kind {
                _ if frame.is_question => continue,
                Kind::Vdso => Source::Vdso,
                Kind::Jitter => Source::Jitter,
                Kind::Instruction => Source::Instruction,
                Kind::Library => Source::Library,
            };
            if source == Source::Jitter && !frame.is_inside_jitter {
                self.seen.jitter += took;
                self.seen.jitter_in = image::file_at(process, frame.at);
            }
            if source == Source::Jitter && frame.is_inside_jitter {
                continue;
            }
            self.seen.vdso += u64::from(source == Source::Vdso);
            // The vDSO falls back to the system call, which has been noted itself.
            let bytes = (source == Source::Vdso).then_some(registers.rax);
            let draw = Draw {
                ended: now,
                took,
                bytes,
                source,
                flags: None,
                function: Some(frame.function.name),
                inside: inside.clone(),
                caller: frame.caller,
                program: self.images.program(process),
            };
            self.keep(draw);
        }
        Ok(())
    }
}
