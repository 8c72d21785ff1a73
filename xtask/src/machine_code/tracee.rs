//! A process that is run one instruction at a time, by ptrace(2).

use anyhow::{Context, Result, bail, ensure};
use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory, OpAccess, Register};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::ptr::null_mut;

/// A process that we trace, stopped whenever we look at it. It ends with this value.
pub(crate) struct Tracee {
    child: Child,
    /// Its memory, readable and writable whatever its pages say.
    memory: File,
    info: InstructionInfoFactory,
}

pub(crate) type Registers = libc::user_regs_struct;

/// One operand in memory of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// One instruction that was executed.
pub(crate) struct Step {
    pub(crate) touches: Vec<Touch>,
    /// It was a breakpoint.
    pub(crate) stop: bool,
    /// It locks what it touches.
    pub(crate) locked: bool,
}

impl Tracee {
    /// Starts the program on one CPU, and stops it before its first instruction.
    pub(crate) fn start(command: &mut Command) -> Result<Tracee> {
        // SAFETY: two system calls, which is what may be done between fork and exec.
        unsafe {
            command.pre_exec(|| {
                let mut here: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(libc::sched_getcpu().max(0) as usize, &mut here);
                // It may be refused; then a draw that changes CPUs is seen as such.
                libc::sched_setaffinity(0, size_of_val(&here), &raw const here);
                match libc::ptrace(libc::PTRACE_TRACEME) {
                    0 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                }
            });
        }
        let child = command.spawn()?;
        let memory =
            File::options().read(true).write(true).open(format!("/proc/{}/mem", child.id()));
        let tracee = Tracee { child, memory: memory?, info: InstructionInfoFactory::new() };
        ensure!(tracee.wait()? == libc::SIGTRAP, "it did not stop at its start");
        tracee.request(libc::PTRACE_SETOPTIONS, libc::PTRACE_O_EXITKILL as usize)?;
        Ok(tracee)
    }

    /// Lets it run to its next breakpoint.
    pub(crate) fn run_to_stop(&mut self) -> Result<Registers> {
        self.request(libc::PTRACE_CONT, 0)?;
        let signal = self.wait()?;
        ensure!(signal == libc::SIGTRAP, "it was stopped by signal {signal}");
        self.registers()
    }

    /// Executes one instruction.
    pub(crate) fn step(&mut self) -> Result<Step> {
        let registers = self.registers()?;
        let mut code = [0; 15];
        let read =
            self.memory.read_at(&mut code, registers.rip).context("its code cannot be read")?;
        let mut decoder = Decoder::with_ip(64, &code[..read], registers.rip, DecoderOptions::NONE);
        let instruction = decoder.decode();
        ensure!(!instruction.is_invalid(), "no instruction at {:#x}", registers.rip);
        let mut touches = Vec::new();
        for memory in self.info.info(&instruction).used_memory() {
            let (reads, writes) = match memory.access() {
                OpAccess::Read | OpAccess::CondRead => (true, false),
                OpAccess::Write | OpAccess::CondWrite => (false, true),
                OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
                _ => continue,
            };
            let at = memory.virtual_address(0, |register, _, _| value(&registers, register));
            let at = at.with_context(|| format!("an operand of {:?}", instruction.code()))?;
            let len = memory.memory_size().size() as u64;
            touches.push(Touch { at, len, reads, writes });
        }
        let exchange = instruction.mnemonic() == iced_x86::Mnemonic::Xchg && !touches.is_empty();
        let locked = instruction.has_lock_prefix() || exchange;
        self.request(libc::PTRACE_SINGLESTEP, 0)?;
        let signal = self.wait()?;
        ensure!(signal == libc::SIGTRAP, "it was stopped by signal {signal}");
        let stop = instruction.mnemonic() == iced_x86::Mnemonic::Int3;
        Ok(Step { touches, stop, locked })
    }

    /// The word at this address.
    pub(crate) fn word(&self, at: u64) -> Result<u64> {
        let mut word = [0; 8];
        self.memory.read_exact_at(&mut word, at)?;
        Ok(u64::from_le_bytes(word))
    }

    /// What is at this address, up to 64 bytes.
    pub(crate) fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len.min(64) as usize];
        self.memory.read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }

    /// Puts a word there.
    pub(crate) fn write(&self, at: u64, word: u64) -> Result<()> {
        Ok(self.memory.write_all_at(&word.to_le_bytes(), at)?)
    }

    /// Its mappings, with their flags.
    pub(crate) fn mappings(&self) -> Result<String> {
        Ok(fs::read_to_string(format!("/proc/{}/smaps", self.child.id()))?)
    }

    fn registers(&self) -> Result<Registers> {
        // SAFETY: a structure of numbers, for which zeros are valid.
        let mut registers: Registers = unsafe { std::mem::zeroed() };
        self.request(libc::PTRACE_GETREGS, (&raw mut registers).addr())?;
        Ok(registers)
    }

    /// Waits until it stops; the signal that stopped it.
    fn wait(&self) -> Result<i32> {
        let mut status = 0;
        // SAFETY: `status` is a valid place for one.
        let waited = unsafe { libc::waitpid(self.child.id().cast_signed(), &raw mut status, 0) };
        ensure!(waited > 0, "waitpid: {}", io::Error::last_os_error());
        if !libc::WIFSTOPPED(status) {
            bail!("the probe ended with status {status:#x}");
        }
        Ok(libc::WSTOPSIG(status))
    }

    fn request(&self, request: libc::c_uint, data: usize) -> Result<()> {
        let (pid, none) = (self.child.id().cast_signed(), null_mut::<u8>());
        // SAFETY: these requests write at most a `Registers` at `data`, which the one that does so is given.
        let answer = unsafe { libc::ptrace(request, pid, none, data) };
        ensure!(answer == 0, "ptrace: {}", io::Error::last_os_error());
        Ok(())
    }
}

impl Drop for Tracee {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The value of a register that can be part of an address.
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
