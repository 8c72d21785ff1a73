//! Settings outside of a machine that has no hypervisor of its own: a container's host, a board, a
//! PC's firmware.

use super::{Cause, THE_FIRMWARE, THE_HYPERVISOR, is_inside};
use crate::{Effect, Fix, Platform, Side};

/// Returns the fix for a container, whose kernel belongs to the host.
pub(super) fn on_the_host(cause: Cause) -> Vec<Fix> {
    if is_inside(cause) {
        return Vec::new();
    }
    if cause == Cause::VmclockHidden {
        return vec![Fix {
            side: Side::Host,
            platform: Some(Platform::Container),
            what: "pass the device to the container, which may then read it (an option of docker run and podman run)".to_owned(),
            exact: Some("--device /dev/vmclock0:/dev/vmclock0:r".to_owned()),
            gives: Effect::Signal,
            trusts: Some(THE_HYPERVISOR),
        }];
    }
    vec![Fix {
        side: Side::Host,
        platform: Some(Platform::Container),
        what: "the kernel belongs to the container's host: have this run there, and follow what it says".to_owned(),
        exact: Some("headwater doctor".to_owned()),
        gives: Effect::Nothing,
        trusts: None,
    }]
}

/// Returns the fixes for a board with a device tree: a router, a single-board computer.
pub(super) fn on_a_board(cause: Cause) -> Vec<Fix> {
    let lacks_seed = matches!(
        cause,
        Cause::NoSeed
            | Cause::NoJitter
            | Cause::NoCpuRng
            | Cause::NoHwrng
            | Cause::NoCycleCounter
            | Cause::StartTimeout
    );
    if !lacks_seed {
        return Vec::new();
    }
    let fix = |what: &str, gives, trusts| Fix {
        side: Side::Host,
        platform: Some(Platform::BareMetal),
        what: what.to_owned(),
        exact: None,
        gives,
        trusts: Some(trusts),
    };
    vec![
        fix(
            "build the driver of the board's random device into the kernel (a symbol that begins with CONFIG_HW_RANDOM_), if the board \
             has one",
            Effect::Volume,
            "the board's maker",
        ),
        fix(
            "let the boot loader pass a seed (U-Boot: CONFIG_BOARD_RNG_SEED), and the kernel credit it (random.trust_bootloader=on)",
            Effect::Seed,
            THE_FIRMWARE,
        ),
    ]
}

/// Returns the fixes in the firmware, for a machine without a hypervisor.
pub(super) fn in_the_firmware(cause: Cause) -> Vec<Fix> {
    let what = match cause {
        Cause::NoSeed | Cause::NoJitter | Cause::NoCpuRng | Cause::NoHwrng => {
            "switch on the TPM in the firmware's set-up: Linux takes random bytes from it by itself"
        }
        Cause::CpuRngBroken => "update the board's firmware, which carries the CPU's microcode",
        _ => return Vec::new(),
    };
    let gives = if cause == Cause::CpuRngBroken { Effect::Nothing } else { Effect::Volume };
    let trusts = (gives == Effect::Volume).then_some("the TPM's maker");
    vec![Fix {
        side: Side::Host,
        platform: Some(Platform::BareMetal),
        what: what.to_owned(),
        exact: None,
        gives,
        trusts,
    }]
}
