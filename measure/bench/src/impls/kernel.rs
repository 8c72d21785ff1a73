//! getrandom(2) as a system call, past libc's wrapper, which newer versions send to the vDSO.

use crate::draw::work::{Drawn, Generator};
use crate::impls::implementation::{Absent, Implementation, errno_of_failure, fill_all};

pub(crate) const IMPLEMENTATION: Implementation = Implementation {
    name: "getrandom-syscall",
    version: &crate::system::facts::kernel_release,
    has_modes: false,
    open: &|| Ok(Box::new(Syscall::new()?)),
};

/// The system call has no state in user space.
pub(crate) struct Syscall(());

impl Syscall {
    pub(crate) fn new() -> Result<Syscall, Absent> {
        let mut syscall = Syscall(());
        syscall.fill(&mut [0]).map_err(|_| {
            Absent(format!("the kernel refuses getrandom(2): {}", std::io::Error::last_os_error()))
        })?;
        Ok(syscall)
    }
}

impl Generator for Syscall {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        fill_all(buf, |rest| {
            // SAFETY: the pointer and the length are those of `rest`, which the kernel may write.
            let written =
                unsafe { libc::syscall(libc::SYS_getrandom, rest.as_mut_ptr(), rest.len(), 0) };
            errno_of_failure(written as isize)
        })
    }
}
