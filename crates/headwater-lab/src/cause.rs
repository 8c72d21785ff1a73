//! Why a kernel was ready when it was, and what would have made it ready sooner.

use crate::boot::{Clock, Entropy, Report, Rng};
use serde::Serialize;

/// The verdict on a boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// A stable name in snake_case.
    pub id: &'static str,
    /// What happened, in a clause.
    pub text: &'static str,
    /// What would have helped; empty: nothing is wrong.
    pub cure: &'static str,
}

/// How fast bits were credited while callers waited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slope {
    pub(crate) bits_per_s: f64,
    /// `None`: for ever.
    pub(crate) remaining_s: Option<f64>,
}

/// Bits after which every kernel here is ready (the rework of 5.18, which all of them have).
const ENOUGH: u32 = 256;
/// Below this nobody noticed; above it the jitter loop was waited for, which takes 256 ticks of the timer: 1.02 s at
/// 250 Hz.
pub(crate) const SHORT: f64 = 0.5;
/// Above this it was not the jitter loop: it goes on at 15 ticks a bit at the slowest.
pub(crate) const LONG: f64 = 20.0;

const CURE: &str = "give the guest virtio-rng, with its driver in the initramfs (-device virtio-rng-pci), or a CPU \
                    with RDRAND (-cpu host, or MODEL,+rdrand)";

/// From the first sample to the last one before the generator was ready; `None` if there are less than 5 seconds
/// between.
pub(crate) fn slope(entropy: &[Entropy]) -> Option<Slope> {
    let waiting: Vec<&Entropy> = entropy.iter().take_while(|sample| sample.bits < ENOUGH).collect();
    let (first, last) = (waiting.first()?, waiting.last()?);
    let seconds = last.at_s - first.at_s;
    if seconds < 5.0 {
        return None;
    }
    let bits_per_s = f64::from(last.bits.saturating_sub(first.bits)) / seconds;
    let remaining = f64::from(ENOUGH - last.bits) / bits_per_s;
    Some(Slope { bits_per_s, remaining_s: remaining.is_finite().then_some(remaining) })
}

/// The verdict.
pub(crate) fn of(report: &Report) -> Cause {
    let is = |key: &str| report.facts.get(key).is_some_and(|value| value == "true");
    let cause = |id, text, cure| Cause { id, text, cure };
    if report.ready_at_init {
        return match report.rng {
            Rng::Efi => cause(
                "seeded_by_firmware",
                "the firmware passed a seed, which the kernel trusts",
                "",
            ),
            _ if is("cpu.rdrand") => {
                cause("seeded_by_cpu", "the CPU's random instruction, which the kernel trusts", "")
            }
            _ => cause("ready_early", "the kernel was ready before its first program", ""),
        };
    }
    match report.blocked_s {
        Some(blocked) if blocked < SHORT && report.rng == Rng::Seed => {
            cause("seeded_by_program", "a program credited a seed before anybody waited", "")
        }
        Some(blocked) if blocked < SHORT => {
            cause("seeded_by_device", "virtio-rng's driver was there before anybody waited", "")
        }
        Some(blocked)
            if blocked < LONG && report.rng == Rng::VirtioLate && report.clock == Clock::Tsc =>
        {
            cause(
                "jitter_loop",
                "the driver of virtio-rng came too late; the jitter loop was waited for instead",
                "put virtio_rng and virtio_pci into the initramfs",
            )
        }
        Some(_) if report.rng == Rng::VirtioLate => cause(
            "driver_late",
            "the device was there all the time, and its driver came too late; the wait ended with it",
            "put virtio_rng and virtio_pci into the initramfs",
        ),
        Some(blocked) if blocked < LONG => cause(
            "jitter_loop",
            "nothing seeds this guest; the kernel's jitter loop credits a bit for each tick of the timer",
            CURE,
        ),
        Some(_) => cause(
            "interrupts_only",
            "nothing seeds this guest and the jitter loop does not work here; interrupts of devices gave a bit a \
             second at most",
            CURE,
        ),
        None if report.rng == Rng::RdrandUntrusted => cause(
            "untrusted",
            "the CPU's random instruction is there, and random.trust_cpu=off keeps it from being credited",
            "remove random.trust_cpu=off, or give the guest virtio-rng",
        ),
        None if report.clock == Clock::Jiffies => cause(
            "no_counter",
            "nothing seeds this guest, and without a cycle counter or a fine clock the jitter loop gives up at once",
            CURE,
        ),
        None => {
            cause("stalled", "nothing seeds this guest, and hardly any device interrupts it", CURE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(bits: impl IntoIterator<Item = (f64, u32)>) -> Vec<Entropy> {
        bits.into_iter().map(|(at_s, bits)| Entropy { at_s, bits }).collect()
    }

    #[test]
    fn the_slope_tells_the_remaining_time() {
        let slope = slope(&samples([(2.0, 10), (12.0, 20), (22.0, 30), (23.0, 256)])).unwrap();
        assert_eq!(slope.bits_per_s, 1.0);
        assert_eq!(slope.remaining_s, Some(226.0));
    }

    #[test]
    fn nothing_credited_is_for_ever_and_a_short_wait_tells_nothing() {
        let flat = slope(&samples([(2.0, 2), (60.0, 2)])).unwrap();
        assert_eq!((flat.bits_per_s, flat.remaining_s), (0.0, None));
        assert_eq!(slope(&samples([(2.0, 2), (3.0, 200), (3.1, 256)])), None);
        assert_eq!(slope(&[]), None);
    }
}
