//! Settings outside of a machine that has no hypervisor of its own: a container's host, a board, a
//! PC's firmware.

use super::guest::{self, module_at_boot, newer_kernel};
use super::programs::daemon;
use super::seeds::credited_seed;
use super::{Cause, PlatformFacts, THE_FIRMWARE, THE_HYPERVISOR, boards, is_inside};
use crate::{Effect, Fix, Kernel, Platform, Side};

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

/// Returns the fixes for a board with a device tree: a router, a single-board computer. It has no
/// hypervisor, and its CPU no instruction that Linux credits, so other lists do not apply. Returns
/// `None` for a cause that is not the lack of a seed.
pub(super) fn on_a_board(cause: Cause, facts: &PlatformFacts) -> Option<Vec<Fix>> {
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
        return None;
    }
    let fix = |what: String, exact: Option<String>, gives, trusts| Fix {
        side: Side::Guest,
        platform: Some(Platform::BareMetal),
        what,
        exact,
        gives,
        trusts: Some(trusts),
    };
    let kernel = facts.kernel.as_deref().and_then(Kernel::parse);
    let gathers = kernel.as_ref().and_then(Kernel::has_jitter_loop) == Some(true);
    let driver = facts.board_name.and_then(boards::of_name).and_then(|board| {
        let (module, symbol) = board.driver?;
        Some(fix(
            format!(
                "load the driver of the random device of {}, or build it into the kernel ({symbol}=y)",
                board.name
            ),
            Some(module_at_boot(module)),
            Effect::Volume,
            "the board's maker",
        ))
    });
    let general = driver.is_none().then(|| {
        fix(
            "build the driver of the board's random device into the kernel (a symbol that begins with CONFIG_HW_RANDOM_), if the board \
             has one"
                .to_owned(),
            None,
            Effect::Volume,
            "the board's maker",
        )
    });
    // The parameter and the seed of the device tree are of 5.4; U-Boot exists for few MIPS boards.
    let takes_seed = kernel.as_ref().is_none_or(|kernel| kernel.is_at_least(5, 4))
        && !facts.is_openwrt
        && !facts.is_android;
    let seed = takes_seed.then(|| {
        fix(
            "let the boot loader pass a seed (U-Boot: CONFIG_BOARD_RNG_SEED), and the kernel credit it (random.trust_bootloader=on)"
                .to_owned(),
            None,
            Effect::Seed,
            THE_FIRMWARE,
        )
    });
    // A telephone has no packages, and its init starts what its maker has built in.
    let daemon = (!gathers && !facts.is_android).then(|| daemon(facts));
    let newer = (cause == Cause::NoSeed && kernel.is_some() && !gathers).then(|| {
        guest::fix(
            "run a kernel that gathers entropy by itself: 5.4 or later, or the latest stable release of an older series",
            newer_kernel(facts),
            Effect::Seed,
            None,
        )
    });
    let timeout = (cause == Cause::StartTimeout).then(|| super::guest_side(cause, facts));
    let last = (cause == Cause::NoSeed && !facts.is_android).then(|| credited_seed(facts));
    let steps =
        driver.into_iter().chain(daemon).chain(general).chain(seed).chain(newer).chain(last);
    Some(steps.chain(timeout.into_iter().flatten()).collect())
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
