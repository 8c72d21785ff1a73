//! Remedies for programs: those that read /dev/random, those that were started too early, and keys
//! that were made before there was entropy.
//!
//! Sources: OpenJDK's java.security and NativePRNG.java, Tomcat's RUNNING.txt (setenv.sh),
//! ssh-keygen(1), dropbear(8), the packages of jitterentropy-rngd, rng-tools, haveged and
//! OpenWrt's urngd.

use super::guest::{fix, newer_kernel, plain};
use super::{Cause, Distribution, PlatformFacts, ServiceManager, THE_CPU, for_cause};
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
    let (package, daemon) = match facts.distribution {
        // Its package starts the daemon.
        Distribution::Debian | Distribution::Ubuntu => {
            (Some("apt update && apt install jitterentropy-rngd"), None)
        }
        Distribution::RedHat | Distribution::Fedora => {
            (Some("dnf install rng-tools"), Some("rngd"))
        }
        Distribution::Suse => (Some("zypper install haveged"), Some("haveged")),
        Distribution::Alpine => (Some("apk add haveged"), Some("haveged")),
        Distribution::Arch => (Some("pacman -S rng-tools"), Some("rngd")),
        Distribution::Other => (None, Some("haveged")),
    };
    let start = daemon.map(|name| started(name, facts.service_manager));
    let exact = match (package, start) {
        (Some(package), Some(start)) => format!("{package} && {start}"),
        (Some(package), None) => package.to_owned(),
        (None, start) => {
            let start = start.unwrap_or_default();
            match start.contains('#') {
                true => start,
                false => format!("{start}    # once its package is installed"),
            }
        }
    };
    fix(
        "run a daemon that gathers entropy, before the services that ask: jitterentropy-rngd, haveged, or rngd of rng-tools where \
         there is a random device",
        Some(exact),
        Effect::Volume,
        None,
    )
}

/// Returns the command that starts a daemon now and at each boot. Where the service manager is
/// unknown, the daemon's own name is the only command that is right everywhere; BusyBox's init and
/// scripts of a device's maker have a place for it that we cannot know.
fn started(name: &str, manager: ServiceManager) -> String {
    match manager {
        ServiceManager::Systemd => format!("systemctl enable --now {name}"),
        ServiceManager::OpenRc => format!("rc-update add {name} boot && rc-service {name} start"),
        ServiceManager::Procd => format!("/etc/init.d/{name} enable && /etc/init.d/{name} start"),
        ServiceManager::SysvInit => {
            format!("service {name} start && (update-rc.d {name} defaults || chkconfig {name} on)")
        }
        ServiceManager::Runit => format!("ln -s /etc/sv/{name} /var/service/"),
        ServiceManager::Unknown => {
            format!(
                "{name}    # by a script of the system's own init, before the services that ask"
            )
        }
    }
}

/// Returns the command that takes the daemons out which a later kernel does not need.
pub(super) fn stopped(manager: ServiceManager) -> Option<&'static str> {
    Some(match manager {
        ServiceManager::Systemd => {
            "systemctl disable --now haveged rngd rng-tools jitterentropy    # those that are there"
        }
        ServiceManager::OpenRc => "rc-service haveged stop && rc-update del haveged    # or: rngd",
        ServiceManager::Procd => {
            "/etc/init.d/haveged stop && /etc/init.d/haveged disable    # or: rngd"
        }
        ServiceManager::SysvInit => {
            "service haveged stop && (update-rc.d haveged disable || chkconfig haveged off)    # or: rngd"
        }
        ServiceManager::Runit => "rm /var/service/haveged    # or: rngd",
        ServiceManager::Unknown => return None,
    })
}
