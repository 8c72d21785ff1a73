//! The reason why a kernel became ready when it did, and what would have made it ready sooner.

use crate::plan::{Clock, Rng};
use headwater_lab_protocol::Entropy;
use serde::Serialize;

/// The reason for the duration of a boot's wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// A stable name in snake_case.
    pub id: &'static str,
    /// The reason, as a clause.
    pub text: &'static str,
    /// The change that would have helped; empty: nothing is wrong.
    pub fix: &'static str,
}

/// The facts about a boot that decide its cause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BootFacts {
    pub(crate) rng: Rng,
    pub(crate) clock: Clock,
    /// The CPU has RDRAND or RNDR.
    pub(crate) rdrand: bool,
    pub(crate) ready_at_init: bool,
    /// Duration of the first request; `None`: longer than the limit.
    pub(crate) blocked_s: Option<f64>,
}

/// The speed at which the kernel credited bits while requests waited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slope {
    pub(crate) bits_per_s: f64,
    /// Seconds to readiness at this speed; `None`: for ever.
    pub(crate) remaining_s: Option<f64>,
}

/// Bits after which every kernel of the lab is ready; all have the rework of 5.18.
const ENOUGH: u32 = 256;
/// Waits below this many seconds pass unnoticed. It must be more than a second, because the jitter
/// loop takes at least 256 ticks of the timer, which is 1.02 s at 250 Hz.
pub(crate) const SHORT: f64 = 0.5;
/// Waits above this many seconds are not the jitter loop, which needs at most 15 ticks for a bit.
pub(crate) const LONG: f64 = 20.0;
/// Shortest stretch, in seconds, from which [`slope`] extrapolates.
const STRETCH: f64 = 5.0;

const FIX: &str = "give the guest virtio-rng, with its driver in the initramfs (-device \
                   virtio-rng-pci), or a CPU with RDRAND (-cpu host, or MODEL,+rdrand)";

/// Returns the speed between the first sample and the last one before the generator was ready, or
/// `None` if fewer than five seconds lie between them.
pub(crate) fn slope(samples: &[Entropy]) -> Option<Slope> {
    let waiting: Vec<&Entropy> = samples.iter().take_while(|sample| sample.bits < ENOUGH).collect();
    let (first, last) = (waiting.first()?, waiting.last()?);
    let seconds = last.at_us.checked_sub(first.at_us)? as f64 / 1e6;
    if seconds < STRETCH {
        return None;
    }
    let bits_per_s = f64::from(last.bits.saturating_sub(first.bits)) / seconds;
    let remaining = f64::from(ENOUGH - last.bits) / bits_per_s;
    Some(Slope { bits_per_s, remaining_s: remaining.is_finite().then_some(remaining) })
}

/// Returns the cause.
pub(crate) fn of(boot: &BootFacts) -> Cause {
    let cause = |id, text, fix| Cause { id, text, fix };
    if boot.ready_at_init {
        return match boot.rng {
            Rng::Efi => cause(
                "seeded_by_firmware",
                "the firmware passed a seed, which the kernel trusts",
                "",
            ),
            _ if boot.rdrand => {
                cause("seeded_by_cpu", "the kernel trusts the CPU's random instruction", "")
            }
            _ => cause("ready_early", "the kernel was ready before its first program", ""),
        };
    }
    match boot.blocked_s {
        Some(blocked) if blocked < SHORT && boot.rng == Rng::Seed => {
            cause("seeded_by_program", "a program credited a seed before the first request", "")
        }
        Some(blocked) if blocked < SHORT => {
            cause("seeded_by_device", "virtio-rng's driver was loaded before the first request", "")
        }
        Some(blocked)
            if blocked < LONG && boot.rng == Rng::VirtioLate && boot.clock == Clock::Tsc =>
        {
            cause(
                "jitter_loop",
                "the driver of virtio-rng came too late, and the jitter loop ended the wait",
                "put virtio_rng and virtio_pci into the initramfs",
            )
        }
        Some(_) if boot.rng == Rng::VirtioLate => cause(
            "driver_late",
            "the device was present all the time, and the wait ended when its driver was loaded",
            "put virtio_rng and virtio_pci into the initramfs",
        ),
        Some(blocked) if blocked < LONG => cause(
            "jitter_loop",
            "nothing seeds this guest; the kernel's jitter loop credits a bit for each timer tick",
            FIX,
        ),
        Some(_) => cause(
            "interrupts_only",
            "nothing seeds this guest and the jitter loop does not work here; device interrupts \
             credited at most a bit a second",
            FIX,
        ),
        None if boot.rng == Rng::RdrandUntrusted => cause(
            "untrusted",
            "random.trust_cpu=off keeps the kernel from crediting the CPU's random instruction",
            "remove random.trust_cpu=off, or give the guest virtio-rng",
        ),
        None if boot.clock == Clock::Jiffies => cause(
            "no_counter",
            "nothing seeds this guest, and without a cycle counter or a fine clock the jitter loop \
             stops at once",
            FIX,
        ),
        None => cause("stalled", "nothing seeds this guest, and devices hardly interrupt it", FIX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(bits: impl IntoIterator<Item = (f64, u32)>) -> Vec<Entropy> {
        bits.into_iter().map(|(at_s, bits)| Entropy { at_us: (at_s * 1e6) as u64, bits }).collect()
    }

    #[test]
    fn the_slope_predicts_the_remaining_time() {
        let slope = slope(&samples([(2.0, 10), (12.0, 20), (22.0, 30), (23.0, 256)])).unwrap();
        assert_eq!(slope.bits_per_s, 1.0);
        assert_eq!(slope.remaining_s, Some(226.0));
    }

    #[test]
    fn nothing_credited_is_for_ever() {
        let flat = slope(&samples([(2.0, 2), (60.0, 2)])).unwrap();
        assert_eq!((flat.bits_per_s, flat.remaining_s), (0.0, None));
    }

    /// 2.4 s of samples say nothing about the next minutes.
    #[test]
    fn a_short_stretch_has_no_slope() {
        assert_eq!(slope(&samples([(2.0, 2), (3.0, 200), (3.1, 256)])), None);
        assert_eq!(slope(&samples([(2.0, 2), (6.9, 9)])), None);
        assert!(slope(&samples([(2.0, 2), (7.0, 9)])).is_some());
        // The samples after readiness do not lengthen it.
        assert_eq!(slope(&samples([(2.0, 2), (3.0, 255), (9.0, 256), (20.0, 256)])), None);
        assert_eq!(slope(&[]), None);
    }

    const BOOT: BootFacts = BootFacts {
        rng: Rng::None,
        clock: Clock::Tsc,
        rdrand: false,
        ready_at_init: false,
        blocked_s: None,
    };

    /// One row for each arm, and one on each side of a limit.
    #[test]
    fn each_cause_has_its_boot() {
        let ready = BootFacts { ready_at_init: true, blocked_s: Some(0.0), ..BOOT };
        let blocked = |seconds| BootFacts { blocked_s: Some(seconds), ..BOOT };
        let late = |clock, seconds| BootFacts { rng: Rng::VirtioLate, clock, ..blocked(seconds) };
        for (boot, id) in [
            (BootFacts { rng: Rng::Efi, rdrand: true, ..ready }, "seeded_by_firmware"),
            (BootFacts { rdrand: true, ..ready }, "seeded_by_cpu"),
            (ready, "ready_early"),
            (BootFacts { rng: Rng::Seed, ..blocked(0.49) }, "seeded_by_program"),
            (BootFacts { rng: Rng::Seed, ..blocked(0.5) }, "jitter_loop"),
            (BootFacts { rng: Rng::Virtio, ..blocked(0.49) }, "seeded_by_device"),
            (late(Clock::Tsc, 0.49), "seeded_by_device"),
            (late(Clock::Tsc, 1.0), "jitter_loop"),
            (late(Clock::Tsc, 20.0), "driver_late"),
            (late(Clock::Jiffies, 1.0), "driver_late"),
            (blocked(0.5), "jitter_loop"),
            (blocked(19.9), "jitter_loop"),
            (blocked(20.0), "interrupts_only"),
            (BootFacts { rng: Rng::RdrandUntrusted, clock: Clock::Jiffies, ..BOOT }, "untrusted"),
            (BootFacts { clock: Clock::Jiffies, ..BOOT }, "no_counter"),
            (BootFacts { clock: Clock::Hpet, ..BOOT }, "stalled"),
            (BOOT, "stalled"),
        ] {
            assert_eq!(of(&boot).id, id, "{boot:?}");
        }
    }

    /// A wait that was noticed has a fix, and a wait that was not has none.
    #[test]
    fn only_a_noticed_wait_has_a_fix() {
        for blocked_s in [None, Some(0.0), Some(0.49), Some(0.5), Some(1.0), Some(60.0)] {
            let noticed = blocked_s.is_none_or(|blocked| blocked >= SHORT);
            for rng in [Rng::None, Rng::Virtio, Rng::VirtioLate, Rng::RdrandUntrusted, Rng::Seed] {
                for clock in [Clock::Tsc, Clock::Jiffies, Clock::Hpet] {
                    let boot = BootFacts { rng, clock, blocked_s, ..BOOT };
                    assert_eq!(!of(&boot).fix.is_empty(), noticed, "{boot:?}");
                }
            }
        }
        // The fix for a late driver is an early one, even if the jitter loop ended the wait.
        let late = BootFacts { rng: Rng::VirtioLate, blocked_s: Some(1.0), ..BOOT };
        assert!(of(&late).fix.contains("virtio_rng and virtio_pci"), "{late:?}");
    }
}
