//! The kernel's getrandom in user space (Linux >= 6.11), called directly: the least that a caller
//! can pay for it.
//!
//! The calling convention is that of the kernel's `vgetrandom`. A first call with a length of all
//! ones and no buffer returns the size of a state and the flags of its mapping. Afterwards every
//! call names one state, which only one thread may use at a time.

use crate::draw::work::{Drawn, Generator};
use crate::impls::implementation::{Absent, Implementation, fill_all};
use libloading::os::unix::Library;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

pub(crate) const IMPLEMENTATION: Implementation = Implementation {
    name: "getrandom-vdso",
    version: &crate::system::facts::kernel_release,
    has_modes: false,
    open: &|| Ok(Box::new(State::new()?)),
};

/// `getrandom(buffer, len, flags, state, state_len)`: bytes written, or a negative errno.
type Getrandom = unsafe extern "C" fn(*mut c_void, usize, c_uint, *mut c_void, usize) -> isize;

/// `struct vgetrandom_opaque_params` of the kernel's headers.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Params {
    size_of_opaque_state: u32,
    mmap_prot: u32,
    mmap_flags: u32,
    reserved: [u32; 13],
}

#[derive(Clone, Copy)]
struct Vdso {
    getrandom: Getrandom,
    params: Params,
}

/// Returns the function of the vDSO and its parameters. The kernel maps the vDSO for the life of
/// the process, so one look suffices.
fn vdso() -> Result<Vdso, Absent> {
    static VDSO: OnceLock<Result<Vdso, Absent>> = OnceLock::new();
    VDSO.get_or_init(find).clone()
}

fn find() -> Result<Vdso, Absent> {
    let absent = |reason: &str| Absent(reason.to_owned());
    // SAFETY: RTLD_NOLOAD loads nothing, so that no initialiser runs; what it finds is the vDSO,
    // which the dynamic loader has registered under this name and never unmaps.
    let library =
        unsafe { Library::open(Some("linux-vdso.so.1"), libc::RTLD_NOW | libc::RTLD_NOLOAD) }
            .map_err(|_| absent("the dynamic loader knows no vDSO in this process"))?;
    let symbol = ["__vdso_getrandom", "__kernel_getrandom"] // x86 and most others; arm64
        .into_iter()
        .find_map(|name| {
            // SAFETY: under either name the kernel exports a function of this type, and nothing
            // else.
            unsafe { library.get::<Getrandom>(name) }.ok()
        })
        .ok_or_else(|| absent("this kernel's vDSO has no getrandom (Linux 6.11 has)"))?;
    let getrandom: Getrandom = *symbol;
    let mut params = Params::default();
    // SAFETY: no buffer, and a state length of all ones: the kernel's documented way to ask for the
    // parameters, which it writes to the `Params` that the state pointer names.
    let answer = unsafe { getrandom(ptr::null_mut(), 0, 0, (&raw mut params).cast(), usize::MAX) };
    if answer != 0 || params.size_of_opaque_state == 0 {
        return Err(absent("the vDSO's getrandom does not report the size of its state"));
    }
    Ok(Vdso { getrandom, params })
}

/// One state of the vDSO's generator, alone in a mapping: a state must not straddle pages, and two
/// threads' states should share no cache line.
pub(crate) struct State {
    getrandom: Getrandom,
    state: NonNull<c_void>,
    len: usize,
}

impl State {
    pub(crate) fn new() -> Result<State, Absent> {
        let Vdso { getrandom, params } = vdso()?;
        let len = params.size_of_opaque_state as usize;
        // SAFETY: an anonymous mapping at an address of the kernel's choosing touches nothing that
        // exists.
        let mapping = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                params.mmap_prot as c_int,
                params.mmap_flags as c_int,
                -1,
                0,
            )
        };
        if mapping == libc::MAP_FAILED {
            let error = std::io::Error::last_os_error();
            return Err(Absent(format!("the vDSO's state cannot be mapped: {error}")));
        }
        let state = NonNull::new(mapping)
            .ok_or_else(|| Absent("the vDSO's state was mapped at 0".to_owned()))?;
        Ok(State { getrandom, state, len })
    }
}

impl Generator for State {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        fill_all(buf, |rest| {
            // SAFETY: `getrandom` is the vDSO's function of that type; buffer and length are those
            // of `rest`; the state is mapped as the kernel asked for, with the length that it gave,
            // and `&mut self` keeps every other thread out of it.
            unsafe {
                (self.getrandom)(
                    rest.as_mut_ptr().cast(),
                    rest.len(),
                    0,
                    self.state.as_ptr(),
                    self.len,
                )
            }
        })
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`, and no pointer to it exists after this. The
        // call cannot fail for a mapping that exists, and a failure would need no handling.
        unsafe { libc::munmap(self.state.as_ptr(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A state that two generators shared would give the same bytes, or worse.
    #[test]
    fn states_are_separate() {
        let (Ok(mut a), Ok(mut b)) = (State::new(), State::new()) else {
            eprintln!("skipped: this host's vDSO has no getrandom");
            return;
        };
        assert_ne!(a.state, b.state);
        let (mut x, mut y) = ([0; 32], [0; 32]);
        assert!(a.fill(&mut x).is_ok() && b.fill(&mut y).is_ok());
        assert_ne!(x, y); // equal by chance: 2^-256
    }
}
