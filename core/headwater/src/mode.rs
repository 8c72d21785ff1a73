//! The names of the modes, and the one function that chooses among them.

use core::fmt;
use core::str::FromStr;

/// The way in which requests are served. From `Buffered` to `Kernel` each mode needs less of the
/// machine and more time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// The choice by evidence; see [`Status::reason`](crate::Status::reason). It is only ever
    /// requested, never in use.
    #[default]
    Auto,
    /// Bytes of a page, while the kernel's reseed generation is the one the page was filled under.
    Buffered,
    /// Bytes of a page, with fresh bits of the CPU's random instruction mixed one-way into each
    /// request.
    Hedged,
    /// A fresh kernel key for each request, with the CPU's random instruction mixed into it.
    Strict,
    /// getrandom(2) for each request and nothing else: no vDSO, no buffer.
    Kernel,
}

impl Mode {
    /// Every mode, in the order of the enum.
    pub const ALL: [Mode; 5] =
        [Mode::Auto, Mode::Buffered, Mode::Hedged, Mode::Strict, Mode::Kernel];

    /// Returns the name used in `HEADWATER_MODE` and in the status.
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

/// The error for a name other than `auto`, `buffered`, `hedged`, `strict`, `kernel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownMode;

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown mode: use auto, buffered, hedged, strict or kernel")
    }
}

impl core::error::Error for UnknownMode {}

/// The evidence from which the mode is chosen. Every process of a host with the same view of /sys
/// finds the same evidence. The only timing in it is that of VMClock's loads, which separates
/// cached from uncached pages.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) requested: Mode,
    /// The environment requests an unknown mode.
    pub(crate) unknown_requested: bool,
    /// The kernel clears memory in a forked child.
    pub(crate) fork_detection: bool,
    /// The machine was examined; set-up for mode `kernel` does not examine it.
    pub(crate) examined: bool,
    /// There are lines and pages.
    pub(crate) pools: bool,
    pub(crate) quiesced: bool,
    /// The reseed generation is live.
    pub(crate) generation: bool,
    /// The reporter of a clone of the VM: the kernel, or VMClock to headwater alone.
    pub(crate) clone_signal: Option<CloneSignal>,
    /// The CPU has a random instruction that is sound, quick or slow: two fresh words of it enter
    /// each key.
    pub(crate) fresh_bits: bool,
    /// The CPU has AES, and a random instruction that is sound and quick.
    pub(crate) hedge: bool,
}

/// Evidence that a clone is noticed. Mode `buffered` also needs the bytes drawn next to differ, for
/// which [`reseeds_the_source`] asks.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CloneSignal {
    /// The kernel notices the clone, reseeds, and its reseed generation changes.
    Vmgenid,
    /// headwater notices the clone by the marker; the kernel does not.
    Vmclock,
    /// This machine is not cloned while it runs.
    BareMetal,
}

/// Returns whether keys drawn after a clone differ from those that the snapshot's owner can
/// compute.
///
/// It is tempting to take VMClock for as good as vmgenid, since both show clones. But only
/// headwater compares VMClock's marker, and the kernel does not. So after a clone the page is
/// discarded, and still the next key comes from the very state that the snapshot holds. Mixed with
/// the cycle counter alone such a key was computed from a snapshot with 5,851 guesses. Therefore
/// VMClock counts only where the CPU's words enter each key.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn reseeds_the_source(signal: CloneSignal, fresh_bits: bool) -> bool {
    match signal {
        CloneSignal::Vmgenid | CloneSignal::BareMetal => true,
        CloneSignal::Vmclock => fresh_bits,
    }
}

/// Returns the mode and the reason for it. No other function chooses a mode.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(crate) fn select(evidence: Evidence) -> (Mode, &'static str) {
    let Evidence { requested, hedge, fresh_bits, .. } = evidence;
    let signal = evidence.clone_signal;
    let reseeded = signal.filter(|&signal| reseeds_the_source(signal, fresh_bits));
    if !evidence.fork_detection {
        return (
            Mode::Kernel,
            "no memory that the kernel clears in a forked child can be had here",
        );
    }
    if requested == Mode::Kernel {
        return (Mode::Kernel, "asked for");
    }
    if !evidence.examined {
        return (
            Mode::Kernel,
            "this process was set up in mode kernel, and no other mode can be used in it",
        );
    }
    if evidence.quiesced {
        return (Mode::Strict, "quiesced for a checkpoint, and not set up again since");
    }
    if evidence.unknown_requested {
        return (Mode::Strict, "HEADWATER_MODE holds no known mode");
    }
    if requested == Mode::Strict {
        return (Mode::Strict, "asked for");
    }
    if !evidence.pools {
        return (Mode::Strict, "this process has no pools");
    }
    match (requested, evidence.generation, reseeded) {
        (Mode::Buffered, true, _) => {
            (Mode::Buffered, "asked for, and the kernel's reseed generation is live")
        }
        (Mode::Auto, true, Some(CloneSignal::Vmgenid)) => (
            Mode::Buffered,
            "the kernel's reseed generation is live, and vmgenid moves it when the VM is cloned",
        ),
        (Mode::Auto, true, Some(CloneSignal::Vmclock)) => (
            Mode::Buffered,
            "the kernel's reseed generation is live, VMClock reports clones, and fresh bits of the CPU enter each key",
        ),
        (Mode::Auto, true, Some(CloneSignal::BareMetal)) => {
            (Mode::Buffered, "the kernel's reseed generation is live, and bare metal is not cloned")
        }
        (Mode::Hedged, ..) if hedge => (Mode::Hedged, "asked for"),
        (Mode::Hedged, ..) => (
            Mode::Strict,
            "hedged was asked for, but this CPU has no AES or no sound, quick random instruction",
        ),
        (_, false, _) if hedge => (Mode::Hedged, "no live reseed generation reports reseeds"),
        (_, false, _) => {
            (Mode::Strict, "no live reseed generation reports reseeds, and this CPU cannot hedge")
        }
        (_, true, _) if signal == Some(CloneSignal::Vmclock) && !hedge => (
            Mode::Strict,
            "VMClock reports clones to headwater but not to the kernel, and this CPU has no sound random instruction",
        ),
        (_, true, _) if hedge => {
            (Mode::Hedged, "the kernel would not notice a clone of this machine")
        }
        (_, true, _) => (
            Mode::Strict,
            "the kernel would not notice a clone of this machine, and this CPU cannot hedge",
        ),
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Mode, UnknownMode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name).ok_or(UnknownMode)
    }
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests {
    use super::*;

    /// All 5,120 combinations: the rules that no mode may break, whatever is asked for.
    #[test]
    fn nothing_is_served_in_a_mode_the_machine_cannot_prove() {
        let signals = [
            None,
            Some(CloneSignal::Vmgenid),
            Some(CloneSignal::Vmclock),
            Some(CloneSignal::BareMetal),
        ];
        for requested in Mode::ALL {
            for bits in 0..256u32 {
                for clone_signal in signals {
                    let bit = |i: u32| bits >> i & 1 == 1;
                    let evidence = Evidence {
                        requested,
                        unknown_requested: bit(0),
                        fork_detection: bit(1),
                        pools: bit(2),
                        quiesced: bit(3),
                        generation: bit(4),
                        clone_signal,
                        hedge: bit(5),
                        examined: bit(6),
                        fresh_bits: bit(7),
                    };
                    let (mode, reason) = select(evidence);
                    assert!(!reason.is_empty());
                    assert_ne!(mode, Mode::Auto);
                    if mode == Mode::Buffered {
                        assert!(evidence.generation && evidence.pools && evidence.fork_detection);
                        assert!(!evidence.quiesced && !evidence.unknown_requested);
                        // A report to headwater alone changes no key: the CPU's words must.
                        let reseeded = match clone_signal {
                            None => false,
                            Some(CloneSignal::Vmclock) => bit(7),
                            Some(CloneSignal::Vmgenid | CloneSignal::BareMetal) => true,
                        };
                        assert!(requested == Mode::Buffered || reseeded);
                    }
                    if mode == Mode::Hedged {
                        assert!(evidence.hedge && evidence.pools && evidence.fork_detection);
                        assert!(!evidence.quiesced && !evidence.unknown_requested);
                    }
                    if !evidence.fork_detection || !evidence.examined {
                        assert_eq!(mode, Mode::Kernel);
                    }
                    if mode == Mode::Kernel {
                        assert!(
                            requested == Mode::Kernel
                                || !evidence.fork_detection
                                || !evidence.examined
                        );
                    }
                }
            }
        }
    }

    /// VMClock leads to `buffered` with the CPU's words in each key, and `strict` without them;
    /// vmgenid and bare metal need no such words.
    #[test]
    fn a_marker_without_fresh_bits_is_no_evidence() {
        let evidence = Evidence {
            requested: Mode::Auto,
            fork_detection: true,
            examined: true,
            pools: true,
            generation: true,
            ..Evidence::default()
        };
        for (signal, fresh_bits, mode, why) in [
            (CloneSignal::Vmclock, true, Mode::Buffered, "fresh bits of the CPU enter each key"),
            (CloneSignal::Vmclock, false, Mode::Strict, "but not to the kernel"),
            (CloneSignal::Vmgenid, false, Mode::Buffered, "vmgenid moves it"),
            (CloneSignal::BareMetal, false, Mode::Buffered, "bare metal"),
        ] {
            let (selected, reason) =
                select(Evidence { clone_signal: Some(signal), fresh_bits, ..evidence });
            assert_eq!(selected, mode, "{signal:?}, fresh bits {fresh_bits}");
            assert!(reason.contains(why), "{reason}");
        }
    }

    #[test]
    fn names_come_back() {
        for mode in Mode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
        }
        assert_eq!("Buffered".parse::<Mode>(), Err(UnknownMode));
        assert_eq!("".parse::<Mode>(), Err(UnknownMode));
    }
}
