//! A child under ptrace: stepped, read and changed from outside.

use std::io::Error;
use std::ptr::null_mut;

/// The set of general registers.
const NT_PRSTATUS: usize = 1;

/// A child of the calling thread that it traces. Only that thread may use it.
pub(crate) struct Traced(pub(crate) libc::pid_t);

/// Asks to be traced by the parent; false if that is refused.
pub(crate) fn trace_me() -> bool {
    // SAFETY: changes nothing in this process but who may stop it, and that it does not outlive a
    // tracer that fails: stopped for ever, it would keep the pipes of the test open.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    // SAFETY: the request takes no address; it lets the parent stop this process, and nothing more.
    unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, null_mut::<u8>(), null_mut::<u8>()) == 0 }
}

/// Stops this thread until its tracer lets it continue.
pub(crate) fn stop() {
    // SAFETY: takes a number.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// Returns memory of zeros that tracer and child both see, and that is never unmapped.
///
/// # Safety
///
/// Zeros are a valid `T`.
pub(crate) unsafe fn shared<T: Sync>() -> &'static T {
    // SAFETY: a new mapping that is large enough, aligned to a page, and full of zeros.
    unsafe {
        let (read_write, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        let at = libc::mmap(null_mut(), size_of::<T>(), read_write, flags, -1, 0);
        assert_ne!(at, libc::MAP_FAILED);
        &*at.cast::<T>()
    }
}

impl Traced {
    /// Waits until the child stops by `signal`. Otherwise how it ended, as [`libc::waitpid`] says
    /// it.
    #[track_caller]
    pub(crate) fn wait_for(&self, signal: libc::c_int) -> Result<(), libc::c_int> {
        assert_eq!(self.wait_for_any()?, signal, "stopped by another signal");
        Ok(())
    }

    /// Waits until the child stops, and returns the signal by which it did.
    #[track_caller]
    fn wait_for_any(&self) -> Result<libc::c_int, libc::c_int> {
        let mut status = 0;
        // SAFETY: `status` is an int that waitpid writes.
        let waited = unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        assert_eq!(waited, self.0, "waitpid: {}", Error::last_os_error());
        if libc::WIFSTOPPED(status) { Ok(libc::WSTOPSIG(status)) } else { Err(status) }
    }

    /// Lets it run until it stops by itself.
    #[track_caller]
    pub(crate) fn run_to_stop(&self) {
        self.resume(libc::PTRACE_CONT.into());
        self.wait_for(libc::SIGSTOP).expect("it stops again");
    }

    /// Lets it run up to the instruction at `address`. Returns false if it stopped by itself
    /// before.
    #[cfg(target_arch = "x86_64")]
    #[track_caller]
    pub(crate) fn run_to(&self, address: u64) -> bool {
        const INT3: u64 = 0xCC;
        let code = self.words(address, 1)[0];
        self.poke(address, code & !0xFF | INT3);
        self.resume(libc::PTRACE_CONT.into());
        let stopped_by = self.wait_for_any().expect("it stops");
        self.poke(address, code);
        if stopped_by == libc::SIGSTOP {
            return false;
        }
        assert_eq!(stopped_by, libc::SIGTRAP, "stopped by another signal");
        let mut registers = self.user_registers();
        assert_eq!(registers.rip, address + 1, "another breakpoint");
        registers.rip = address;
        self.set_user_registers(registers);
        true
    }

    /// Lets it execute one instruction.
    #[track_caller]
    pub(crate) fn step(&self) {
        self.resume(libc::PTRACE_SINGLESTEP.into());
        self.wait_for(libc::SIGTRAP).expect("it stops after a step");
    }

    /// Lets it run, and is its tracer no more.
    pub(crate) fn detach(self) {
        self.resume(libc::PTRACE_DETACH.into());
    }

    #[track_caller]
    pub(crate) fn resume(&self, how: libc::c_long) {
        // SAFETY: the child is stopped; no signal is handed on.
        let done = unsafe { libc::ptrace(how as _, self.0, null_mut::<u8>(), null_mut::<u8>()) };
        assert_eq!(done, 0, "ptrace: {}", Error::last_os_error());
    }

    /// Returns `count` words of the child's memory, from the address `at` on.
    #[track_caller]
    pub(crate) fn words(&self, at: u64, count: usize) -> Vec<u64> {
        let mut words = vec![0_u64; count];
        let bytes = 8 * count;
        let here = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: bytes };
        let there = libc::iovec { iov_base: at as *mut _, iov_len: bytes };
        // SAFETY: the vector has that many bytes; the child's memory is only read.
        let read = unsafe { libc::process_vm_readv(self.0, &here, 1, &there, 1, 0) };
        assert_eq!(read, bytes as isize, "process_vm_readv: {}", Error::last_os_error());
        words
    }

    /// Writes a word of its memory.
    #[track_caller]
    pub(crate) fn poke(&self, at: u64, word: u64) {
        // SAFETY: the child is stopped, and its memory is its own.
        let done = unsafe { libc::ptrace(libc::PTRACE_POKEDATA, self.0, at, word) };
        assert_eq!(done, 0, "ptrace: {}", Error::last_os_error());
    }

    /// Returns the contents of the child's general and vector registers as words. A vector register
    /// wider than 128 bits is returned without its upper bits.
    #[track_caller]
    pub(crate) fn registers(&self) -> Vec<u64> {
        const NT_PRFPREG: usize = 2;
        let mut all = Vec::new();
        for set in [NT_PRSTATUS, NT_PRFPREG] {
            let mut words = [0_u64; 128];
            let len = size_of_val(&words);
            let mut place = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: len };
            // SAFETY: the child is stopped; the kernel writes no more than the length.
            let done = unsafe { libc::ptrace(libc::PTRACE_GETREGSET, self.0, set, &raw mut place) };
            assert_eq!(done, 0, "ptrace: {}", Error::last_os_error());
            all.extend(&words[..place.iov_len / 8]);
        }
        all
    }

    /// Lets it continue into the handler of `signal`.
    #[track_caller]
    pub(crate) fn resume_with(&self, signal: libc::c_int) {
        // SAFETY: the child is stopped.
        let done = unsafe {
            libc::ptrace(libc::PTRACE_CONT, self.0, null_mut::<u8>(), signal as libc::c_long)
        };
        assert_eq!(done, 0, "ptrace: {}", Error::last_os_error());
    }

    /// Returns the child's stack pointer.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[track_caller]
    pub(crate) fn stack_pointer(&self) -> u64 {
        let registers = self.user_registers();
        #[cfg(target_arch = "x86_64")]
        return registers.rsp;
        #[cfg(target_arch = "aarch64")]
        return registers.sp;
    }

    /// Returns the address of the instruction that the child executes next.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[track_caller]
    pub(crate) fn instruction_pointer(&self) -> u64 {
        let registers = self.user_registers();
        #[cfg(target_arch = "x86_64")]
        return registers.rip;
        #[cfg(target_arch = "aarch64")]
        return registers.pc;
    }

    #[cfg(target_arch = "x86_64")]
    #[track_caller]
    fn set_user_registers(&self, mut registers: libc::user_regs_struct) {
        let mut place =
            libc::iovec { iov_base: (&raw mut registers).cast(), iov_len: size_of_val(&registers) };
        // SAFETY: the child is stopped; the registers are its own but for what the caller changed.
        let done =
            unsafe { libc::ptrace(libc::PTRACE_SETREGSET, self.0, NT_PRSTATUS, &raw mut place) };
        assert_eq!(done, 0, "ptrace: {}", Error::last_os_error());
    }

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[track_caller]
    fn user_registers(&self) -> libc::user_regs_struct {
        // SAFETY: registers are numbers, for which zeros are valid; the kernel writes no more than
        // the length.
        unsafe {
            let mut registers: libc::user_regs_struct = std::mem::zeroed();
            let mut place = libc::iovec {
                iov_base: (&raw mut registers).cast(),
                iov_len: size_of_val(&registers),
            };
            let done = libc::ptrace(libc::PTRACE_GETREGSET, self.0, NT_PRSTATUS, &raw mut place);
            assert_eq!(done, 0, "ptrace: {}", Error::last_os_error());
            registers
        }
    }
}
