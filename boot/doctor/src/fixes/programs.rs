//! Remedies for programs: those that read /dev/random, those that were started too early, and keys
//! that were made before there was entropy.
//!
//! Sources: OpenJDK's java.security and NativePRNG.java, Tomcat's RUNNING.txt (setenv.sh),
//! ssh-keygen(1), dropbear(8), the packages of jitterentropy-rngd, rng-tools, haveged and
//! OpenWrt's urngd.

use super::guest::{fix, newer_kernel, plain};
use super::{Cause, Distribution, PlatformFacts, THE_CPU, for_cause};
use crate::{Effect, Fix, Kernel};

/// Returns the fixes of a program's cause; `None` for a cause of the machine.
pub(super) fn fixes(cause: Cause, facts: &PlatformFacts) -> Option<Vec<Fix>> {
    let egd = |what: &str, exact: &str| plain(what, Some(exact));
    Some(match cause {
        Cause::HostKeysMadeEarly => vec![plain(
            "make the SSH host keys again, once the generator is ready: those that were made before it was can be guessed",
            Some("headwater wait && rm -f /etc/ssh/ssh_host_*_key* && ssh-keygen -A    # then restart sshd"),
        )],
        Cause::DropbearKeysMadeEarly => vec![plain(
            "make dropbear's host keys again, once the generator is ready: those that were made before it was can be guessed",
            Some("headwater wait && rm -f /etc/dropbear/dropbear_*_host_key && dropbear -R    # after stopping dropbear"),
        )],
        Cause::KeysMadeEarly => vec![plain(
            "make the keys and certificates of these programs again, once the generator is ready: those that were made before it was \
             can be guessed",
            Some("headwater wait && COMMAND"),
        )],
        Cause::TomcatSeed => with_device(
            egd(
                "have the JDK read /dev/urandom, whose bytes are as good: this line into Tomcat's bin/setenv.sh (for Spring Boot and \
                 others: JAVA_TOOL_OPTIONS in place of CATALINA_OPTS), then restart",
                "CATALINA_OPTS=\"$CATALINA_OPTS -Djava.security.egd=file:/dev/./urandom\"",
            ),
            facts,
        ),
        Cause::JavaSeed => with_device(
            egd(
                "have the JDK read /dev/urandom, whose bytes are as good: this in the environment of the JVM, then restart",
                "export JAVA_TOOL_OPTIONS=-Djava.security.egd=file:/dev/./urandom",
            ),
            facts,
        ),
        Cause::JavaStrong => with_device(
            plain(
                "let strong generators be those that do not block (in $JAVA_HOME/conf/security/java.security, before Java 9 in \
                 jre/lib/security), then restart",
                Some("securerandom.strongAlgorithms=NativePRNGNonBlocking:SUN"),
            ),
            facts,
        ),
        Cause::StartedTooEarly => [plain(
            "start the program when the generator is ready (in a unit of systemd: ExecStartPre=/usr/bin/headwater wait), or, if it is \
             in Rust, build it with rand 0.7 or later, which waits",
            Some("headwater wait --timeout 60 && COMMAND"),
        )]
        .into_iter()
        .chain(for_cause(Cause::NoSeed, facts))
        .collect(),
        Cause::NoDevice => vec![plain(
            "make the devices in the /dev of the container or the chroot in which the program runs (random(4) has the numbers)",
            Some("mknod -m 666 /dev/urandom c 1 9 && mknod -m 666 /dev/random c 1 8"),
        )],
        // Since 5.6 the device waits as getrandom does, so that only the machine can be the cause.
        Cause::Starved if waits_once(facts) => for_cause(Cause::NoSeed, facts),
        Cause::Starved => starved(facts),
        _ => return None,
    })
}

fn waits_once(facts: &PlatformFacts) -> bool {
    let kernel = facts.kernel.as_deref().and_then(Kernel::parse);
    kernel.is_some_and(|kernel| kernel.is_at_least(5, 6) || kernel.is_reworked() == Some(true))
}

/// Returns a program's own remedy first, then what keeps /dev/random filled for all programs.
fn with_device(first: Fix, facts: &PlatformFacts) -> Vec<Fix> {
    let others = if waits_once(facts) { for_cause(Cause::NoSeed, facts) } else { starved(facts) };
    [first].into_iter().chain(others).collect()
}

/// Returns what keeps /dev/random filled before Linux 5.6. A seed that is credited at boot does
/// not, and neither does RDRAND: both end the wait at boot, and readers drain the device again.
fn starved(facts: &PlatformFacts) -> Vec<Fix> {
    let kernel = fix(
        "run Linux 5.6 or later, whose /dev/random does not run dry",
        newer_kernel(facts),
        Effect::Volume,
        None,
    );
    let host = for_cause(Cause::NoHwrng, facts);
    let device = host.into_iter().filter(|fix| fix.trusts != Some(THE_CPU));
    [daemon(facts)].into_iter().chain(device).chain([kernel]).collect()
}

/// Returns the daemon that ended nearly every such thread in public: one that gathers entropy from
/// the CPU's timing, or from its devices.
pub(super) fn daemon(facts: &PlatformFacts) -> Fix {
    if facts.is_openwrt {
        return fix(
            "run OpenWrt's urngd, which gathers entropy from the CPU's timing, before the services that ask",
            Some("opkg update && opkg install urngd && /etc/init.d/urngd enable".to_owned()),
            Effect::Volume,
            None,
        );
    }
    let exact = match facts.distribution {
        Distribution::Debian | Distribution::Ubuntu => {
            "apt update && apt install jitterentropy-rngd"
        }
        Distribution::RedHat | Distribution::Fedora => {
            "dnf install rng-tools && systemctl enable --now rngd"
        }
        Distribution::Suse => "zypper install haveged && systemctl enable --now haveged",
        Distribution::Alpine => {
            "apk add haveged && rc-update add haveged boot && rc-service haveged start"
        }
        Distribution::Arch => "pacman -S rng-tools && systemctl enable --now rngd",
        Distribution::Other => "systemctl enable --now haveged    # once its package is installed",
    };
    fix(
        "run a daemon that gathers entropy, before the services that ask: jitterentropy-rngd, haveged, or rngd of rng-tools where \
         there is a random device",
        Some(exact.to_owned()),
        Effect::Volume,
        None,
    )
}
