//! The names of the modes, and the one place that chooses among them.

use core::fmt;
use core::str::FromStr;

/// How requests are served. From `Buffered` to `Kernel` each asks less of the machine and more time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// Choose by what this machine can prove; see [`Status::reason`](crate::Status::reason). Never what is armed.
    #[default]
    Auto,
    /// Bytes of a page, while the kernel's reseed generation is the one the page was filled under.
    Buffered,
    /// As `Buffered`, with fresh bits from the CPU's random instruction mixed one-way into each request.
    Hedged,
    /// A fresh kernel key for each request, with the CPU's random instruction mixed into it.
    Strict,
    /// getrandom(2) for each request and nothing else: no vDSO, no buffer.
    Kernel,
}

impl Mode {
    /// Every mode, in the order of the enum.
    pub const ALL: [Mode; 5] = [
        Mode::Auto,
        Mode::Buffered,
        Mode::Hedged,
        Mode::Strict,
        Mode::Kernel,
    ];

    /// The name used in `HEADWATER_MODE` and in the status.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Auto => "auto",
            Mode::Buffered => "buffered",
            Mode::Hedged => "hedged",
            Mode::Strict => "strict",
            Mode::Kernel => "kernel",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name is none of `auto`, `buffered`, `hedged`, `strict`, `kernel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownMode;

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown mode: use auto, buffered, hedged, strict or kernel")
    }
}

impl std::error::Error for UnknownMode {}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Mode, UnknownMode> {
        Mode::ALL
            .into_iter()
            .find(|mode| mode.name() == name)
            .ok_or(UnknownMode)
    }
}
