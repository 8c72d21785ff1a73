//! One traced thread.

use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register,
};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::null_mut;

/// The type of ptrace's first parameter, which the C libraries declare differently.
#[cfg(target_env = "musl")]
type Request = libc::c_int;
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;

/// A traced thread, stopped whenever it is inspected. Its process ends with this value. Only the
/// thread that made the value may use it, because a tracer is one thread.
pub struct Tracee {
    process: libc::pid_t,
    thread: libc::pid_t,
    /// Its memory, readable and writable whatever its pages say.
    memory: File,
    info: InstructionInfoFactory,
    /// The decoded instructions by address; code does not change while it is traced.
    decoded: HashMap<u64, Instruction>,
    /// Where the last step was, if it may not have been the last round of its instruction.
    repeating: Option<u64>,
}

/// The general registers of a thread.
pub type Registers = libc::user_regs_struct;

/// One operand in memory of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// Its address.
    pub at: u64,
    /// Its length in bytes.
    pub len: u64,
    /// True if the instruction reads the memory.
    pub reads: bool,
    /// True if the instruction writes it, also if only under a condition or mask.
    pub writes: bool,
}

/// One step.
#[derive(Debug)]
pub struct Step {
    /// Its operands in memory, the stack's included.
    pub touches: Vec<Touch>,
    /// It was a breakpoint.
    pub stop: bool,
    /// It locks what it touches: a `lock` prefix, or an exchange with memory.
    pub locked: bool,
    /// It called the kernel.
    pub syscall: bool,
    /// It drew from the CPU's generator.
    pub rdrand: bool,
    /// It was a further round of the instruction before, which has a `rep` prefix.
    pub again: bool,
}

impl Tracee {
    /// Starts the program on one CPU, and stops it before its first instruction.
    pub fn start(command: &mut Command) -> io::Result<Tracee> {
        // SAFETY: three system calls, which is what may be done between fork and exec.
        unsafe {
            command.pre_exec(|| {
                // It may be refused; then a draw that changes CPUs is seen as such.
                crate::cpus::pin(usize::try_from(libc::sched_getcpu()).unwrap_or(0));
                trace_me()
            });
        }
        let child = command.spawn()?;
        let id = child.id().cast_signed();
        Tracee::adopt(id, id)
    }

    /// Takes over a thread that asked for it, and is at its first stop or on the way to it.
    pub(crate) fn adopt(process: libc::pid_t, thread: libc::pid_t) -> io::Result<Tracee> {
        let memory = File::options().read(true).write(true).open(format!("/proc/{process}/mem"))?;
        let tracee = Tracee {
            process,
            thread,
            memory,
            info: InstructionInfoFactory::new(),
            decoded: HashMap::new(),
            repeating: None,
        };
        tracee.wait_for_trap()?;
        tracee.request(libc::PTRACE_SETOPTIONS, libc::PTRACE_O_EXITKILL as usize)?;
        Ok(tracee)
    }

    /// Lets it run to its next breakpoint.
    pub fn run_to_stop(&mut self) -> io::Result<Registers> {
        self.request(libc::PTRACE_CONT, 0)?;
        self.wait_for_trap()?;
        self.repeating = None;
        self.registers()
    }

    /// Executes one instruction, or one round of it if it has a `rep` prefix.
    pub fn step(&mut self) -> io::Result<Step> {
        let registers = self.registers()?;
        let instruction = self.decode(registers.rip)?;
        let mut touches = Vec::new();
        let is_string = instruction.is_string_instruction();
        let repeats = is_string && (instruction.has_rep_prefix() || instruction.has_repne_prefix());
        let none_left = repeats && registers.rcx == 0;
        for memory in self.info.info(&instruction).used_memory() {
            let (reads, writes) = match memory.access() {
                _ if none_left => continue,
                OpAccess::Read | OpAccess::CondRead => (true, false),
                OpAccess::Write | OpAccess::CondWrite => (false, true),
                OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
                _ => continue,
            };
            let at = memory.virtual_address(0, |register, _, _| value(&registers, register));
            let at = at.ok_or_else(|| other(format!("an operand of {:?}", instruction.code())))?;
            // Only the length of one round is known beforehand, not that of all rounds together.
            let size = if repeats { instruction.memory_size() } else { memory.memory_size() };
            touches.push(Touch { at, len: size.size() as u64, reads, writes });
        }
        let mnemonic = instruction.mnemonic();
        let exchange = mnemonic == Mnemonic::Xchg && !touches.is_empty();
        self.request(libc::PTRACE_SINGLESTEP, 0)?;
        self.wait_for_trap()?;
        let again = self.repeating == Some(registers.rip);
        self.repeating = (repeats && registers.rcx > 1).then_some(registers.rip);
        Ok(Step {
            touches,
            stop: mnemonic == Mnemonic::Int3,
            locked: instruction.has_lock_prefix() || exchange,
            syscall: matches!(mnemonic, Mnemonic::Syscall | Mnemonic::Sysenter | Mnemonic::Int),
            rdrand: matches!(mnemonic, Mnemonic::Rdrand | Mnemonic::Rdseed),
            again,
        })
    }

    fn decode(&mut self, at: u64) -> io::Result<Instruction> {
        if let Some(&instruction) = self.decoded.get(&at) {
            return Ok(instruction);
        }
        let mut code = [0; 15];
        let read = self.memory.read_at(&mut code, at)?;
        let instruction = Decoder::with_ip(64, &code[..read], at, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(other(format!("no instruction at {at:#x}")));
        }
        self.decoded.insert(at, instruction);
        Ok(instruction)
    }

    /// Returns the word at this address.
    pub fn word(&self, at: u64) -> io::Result<u64> {
        let mut word = [0; 8];
        self.memory.read_exact_at(&mut word, at)?;
        Ok(u64::from_le_bytes(word))
    }

    /// Returns the bytes at this address, up to 64.
    pub fn read(&self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len.min(64) as usize];
        self.memory.read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }

    /// Puts a word there.
    pub fn write(&self, at: u64, word: u64) -> io::Result<()> {
        self.memory.write_all_at(&word.to_le_bytes(), at)
    }

    /// Returns the mappings of its process, with their flags.
    pub fn mappings(&self) -> io::Result<String> {
        fs::read_to_string(format!("/proc/{}/smaps", self.process))
    }

    /// Returns its registers now.
    pub fn registers(&self) -> io::Result<Registers> {
        // SAFETY: a structure of numbers, for which zeros are valid.
        let mut registers: Registers = unsafe { std::mem::zeroed() };
        self.request(libc::PTRACE_GETREGS, (&raw mut registers).addr())?;
        Ok(registers)
    }

    /// Changes its registers.
    pub(crate) fn set_registers(&self, mut registers: Registers) -> io::Result<()> {
        self.request(libc::PTRACE_SETREGS, (&raw mut registers).addr())
    }

    /// Waits until a breakpoint or the end of a step stops it; any other signal is an error.
    fn wait_for_trap(&self) -> io::Result<()> {
        let status = wait(self.thread)?;
        if !libc::WIFSTOPPED(status) {
            return Err(other(format!("it ended with status {status:#x}")));
        }
        match libc::WSTOPSIG(status) {
            libc::SIGTRAP => Ok(()),
            signal => Err(other(format!("it was stopped by signal {signal}"))),
        }
    }

    fn request(&self, request: Request, data: usize) -> io::Result<()> {
        // SAFETY: these requests access at most a `Registers` at `data`, and their callers pass
        // one.
        match unsafe { libc::ptrace(request, self.thread, null_mut::<u8>(), data) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Tracee {
    fn drop(&mut self) {
        end(self.process);
        // A thread that is traced stays until its tracer has seen its end.
        while wait(self.thread).is_ok_and(|status| libc::WIFSTOPPED(status)) {}
    }
}

/// Makes the thread that started this process the tracer of the calling thread, and ends the
/// process with that tracer.
pub(crate) fn trace_me() -> io::Result<()> {
    // SAFETY: it changes only which thread may stop this process.
    match unsafe { libc::ptrace(libc::PTRACE_TRACEME) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Kills a process that is ours and not yet waited for.
pub(crate) fn end(process: libc::pid_t) {
    // SAFETY: takes numbers. The child has not been waited for, so its id is still in use.
    unsafe { libc::kill(process, libc::SIGKILL) };
}

/// Waits for a thread to stop or end; its status.
pub(crate) fn wait(thread: libc::pid_t) -> io::Result<libc::c_int> {
    let mut status = 0;
    // SAFETY: `status` is a valid place for one.
    match unsafe { libc::waitpid(thread, &raw mut status, libc::__WALL) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(status),
    }
}

/// Returns whether this child or traced thread has ended, without waiting for it.
pub(crate) fn has_ended(thread: libc::pid_t) -> io::Result<bool> {
    let mut status = 0;
    // SAFETY: `status` is a valid place for one.
    match unsafe { libc::waitpid(thread, &raw mut status, libc::__WALL | libc::WNOHANG) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(false),
        _ => Ok(!libc::WIFSTOPPED(status)),
    }
}

pub(crate) fn other(reason: String) -> io::Error {
    io::Error::other(reason)
}

/// Returns the value of a register, if it can be part of an address.
fn value(registers: &Registers, register: Register) -> Option<u64> {
    Some(match register {
        Register::RAX => registers.rax,
        Register::RBX => registers.rbx,
        Register::RCX => registers.rcx,
        Register::RDX => registers.rdx,
        Register::RSI => registers.rsi,
        Register::RDI => registers.rdi,
        Register::RBP => registers.rbp,
        Register::RSP => registers.rsp,
        Register::R8 => registers.r8,
        Register::R9 => registers.r9,
        Register::R10 => registers.r10,
        Register::R11 => registers.r11,
        Register::R12 => registers.r12,
        Register::R13 => registers.r13,
        Register::R14 => registers.r14,
        Register::R15 => registers.r15,
        Register::FS => registers.fs_base,
        Register::GS => registers.gs_base,
        Register::CS | Register::DS | Register::ES | Register::SS => 0,
        _ => return None,
    })
}
