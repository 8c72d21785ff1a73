//! What a kernel release does with its random generator.

use std::fmt;

/// A kernel's release, such as 6.1.0-51-cloud-amd64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    release: String,
    version: (u16, u16, u16),
}

impl Kernel {
    /// Reads a release as `uname -r` prints it, or a bare version such as 5.10; `None` if it does not begin with one.
    pub fn parse(release: &str) -> Option<Kernel> {
        let release = release.trim();
        let digits =
            release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
        let mut numbers = release.get(..digits)?.split('.').map(str::parse::<u16>);
        let version = (
            numbers.next()?.ok()?,
            numbers.next()?.ok()?,
            numbers.next().map_or(Some(0), Result::ok)?,
        );
        Some(Kernel { release: release.to_owned(), version })
    }

    /// As it was given.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// Major, minor and stable number.
    pub fn version(&self) -> (u16, u16, u16) {
        self.version
    }

    /// Whether it is that mainline version or a later one.
    pub fn is_at_least(&self, major: u16, minor: u16) -> bool {
        (self.version.0, self.version.1) >= (major, minor)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.release)
    }
}
