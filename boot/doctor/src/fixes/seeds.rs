//! Sources that the machine itself can have counted: the CPU's instruction, an enclave's device, a
//! seed file.

use super::guest::{command_line, early_module, fix};
use super::{PlatformFacts, SeedKeeper, THE_CPU, THE_IMAGE};
use crate::{Effect, Fix};

/// Returns the program that keeps a seed, switched on.
pub(super) fn saved_seed(facts: &PlatformFacts) -> Fix {
    let (what, exact) = match facts.seed_keeper {
        SeedKeeper::Seedrng => (
            "save a seed at shutdown, and mix it in at the next boot",
            Some("rc-update add seedrng boot && rc-service seedrng start"),
        ),
        SeedKeeper::Systemd => (
            "save a seed at shutdown, and mix it in at the next boot",
            Some("systemctl unmask systemd-random-seed && systemctl start systemd-random-seed"),
        ),
        SeedKeeper::Unknown => (
            "save a seed at shutdown, and mix it in at the next boot, as BusyBox's seedrng does where it is called at both",
            None,
        ),
    };
    fix(what, exact.map(str::to_owned), Effect::Seed, Some(THE_IMAGE))
}

/// Returns the credit for the CPU's instruction, unless the command line has it.
pub(super) fn credited_cpu(facts: &PlatformFacts) -> Option<Fix> {
    (!facts.cpu_credited).then(|| {
        fix(
            "let the kernel credit the CPU's random instruction, whose numbers are mixed in anyway",
            Some(command_line(
                Some("random.trust_cpu=on"),
                &["nordrand", "random.trust_cpu=off"],
                facts,
            )),
            Effect::Seed,
            Some(THE_CPU),
        )
    })
}

/// Returns the driver of the generator in s390x's CPUs. LPARs and guests of z/VM have it as well.
pub(super) fn s390s_device(facts: &PlatformFacts) -> Fix {
    fix(
        "load the driver of the CPU's generator in the initial RAM disk (z14 or later)",
        Some(early_module("s390_trng", facts)),
        Effect::Volume,
        Some(THE_CPU),
    )
}

/// Returns the driver of an enclave's own device. Its bytes come from the part of the Nitro system
/// that the enclave trusts with its memory as well, and not from the parent instance.
pub(super) fn enclaves_device() -> Fix {
    fix(
        "load the driver of the enclave's NSM before the first program (nsm.ko of the image; in Linux since 6.8: CONFIG_NSM), whose \
         device is a source of random bytes",
        None,
        Effect::Volume,
        Some("the Nitro system"),
    )
}

/// Returns the last resort: a credited seed file. It takes effect late, and repeats bytes if an
/// image with the file is copied.
pub(super) fn credited_seed(facts: &PlatformFacts) -> Fix {
    let (what, exact) = match facts.seed_keeper {
        SeedKeeper::Systemd => (
            "as a last resort, count the seed file that systemd saves (systemctl edit systemd-random-seed); never in an image that is copied",
            Some("[Service]\nEnvironment=SYSTEMD_RANDOM_SEED_CREDIT=true"),
        ),
        SeedKeeper::Seedrng => (
            "as a last resort, save a seed at shutdown, which seedrng counts at the next boot; never in an image that is copied",
            Some("rc-update add seedrng boot && rc-service seedrng start"),
        ),
        SeedKeeper::Unknown => (
            "as a last resort, count a seed that was saved at shutdown, as seedrng of BusyBox and OpenRC does, and systemd-random-seed \
             with SYSTEMD_RANDOM_SEED_CREDIT=true; never in an image that is copied",
            None,
        ),
    };
    fix(what, exact.map(str::to_owned), Effect::Seed, Some(THE_IMAGE))
}
