//! Numbers of system calls on the architecture that this program is built for.

/// getrandom's number on the architecture that this program is built for.
pub(super) const GETRANDOM: u32 = if cfg!(target_arch = "x86_64") {
    318
} else if cfg!(target_arch = "x86") {
    355
} else if cfg!(target_arch = "arm") {
    384
} else if cfg!(any(target_arch = "powerpc", target_arch = "powerpc64")) {
    359
} else if cfg!(target_arch = "s390x") {
    349
} else {
    // The numbers that all newer architectures share.
    278
};
/// read's number on the same architecture.
pub(super) const READ: u32 = if cfg!(target_arch = "x86_64") {
    0
} else if cfg!(any(
    target_arch = "x86",
    target_arch = "arm",
    target_arch = "powerpc",
    target_arch = "powerpc64",
    target_arch = "s390x"
)) {
    3
} else {
    63
};

/// The numbers of poll and ppoll; newer architectures have the second only.
pub(super) const POLLS: [u32; 2] = if cfg!(target_arch = "x86_64") {
    [7, 271]
} else if cfg!(target_arch = "x86") {
    [168, 309]
} else if cfg!(target_arch = "arm") {
    [168, 336]
} else if cfg!(any(target_arch = "powerpc", target_arch = "powerpc64")) {
    [167, 281]
} else if cfg!(target_arch = "s390x") {
    [168, 302]
} else {
    [73, 73]
};

/// Returns the number of the system call in a line of /proc/PID/syscall.
pub(super) fn number(line: &[u8]) -> Option<u32> {
    std::str::from_utf8(line).ok()?.split(' ').next()?.trim().parse().ok()
}
