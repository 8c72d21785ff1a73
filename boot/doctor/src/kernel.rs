//! Properties of a kernel's random generator, by the kernel's release.
//!
//! Version numbers alone mislead: the rework of Linux 5.18 also went into the stable series of May
//! and June 2022 (4.9.320, 4.14.285, 4.19.249, 5.4.200, 5.10.119, 5.15.44), Debian's release does
//! not name its stable version, and makers such as Red Hat backport freely. Each answer may
//! therefore be "unknown", and the size of the machine's pool decides before any number.

use serde::Serialize;
use std::fmt;

/// A kernel's release, such as 6.1.0-51-cloud-amd64, and what is known of its build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    release: String,
    /// Major, minor and stable number of the mainline kernel that it was made of.
    version: (u16, u16, u16),
    maker: Maker,
    /// True if the machine's pool has the size of Linux 5.18's; `None` if the machine does not show
    /// the size.
    shown: Option<bool>,
}

/// The builder of a kernel, as far as it decides what the version means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// The version says what is in it.
    Mainline,
    /// Debian: the stable version is in /proc/version only.
    Debian,
    /// Ubuntu: the stable version is in /proc/version_signature only.
    Ubuntu,
    /// Red Hat and its relatives, by the number after "el"; much is backported under an old number.
    El(u8),
    /// SUSE: likewise.
    Suse,
}

/// The number of callers that can draw at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locking {
    /// One lock for all.
    Global,
    /// One for each node of memory (NUMA).
    PerNode,
    /// Every CPU has its own key.
    PerCpu,
}

/// A kernel's trust in the CPU's random instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuTrust {
    /// Mixed in, never credited; no option changes that.
    Never,
    /// CONFIG_RANDOM_TRUST_CPU and random.trust_cpu= decide.
    ByOption,
    /// Credited unless random.trust_cpu=off.
    ByDefault,
}

/// One thing that another kernel does otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Change {
    /// The property that differs.
    pub what: &'static str,
    /// The behaviour of the running kernel.
    pub before: &'static str,
    /// The behaviour of the other kernel.
    pub after: &'static str,
}

/// Something of a kernel, in words.
type Trait<'a> = &'a dyn Fn(&Kernel) -> &'static str;

/// Stable versions that have the generator of 5.18.
const REWORKED: [(u16, u16, u16); 6] =
    [(4, 9, 320), (4, 14, 285), (4, 19, 249), (5, 4, 200), (5, 10, 119), (5, 15, 44)];

impl Kernel {
    /// Reads a release as `uname -r` prints it, or a bare version such as 5.10. Returns `None` if
    /// the text does not begin with a version.
    pub fn parse(release: &str) -> Option<Kernel> {
        let release = release.trim();
        let version = leading_version(release)?;
        Some(Kernel { release: release.to_owned(), version, maker: maker(release), shown: None })
    }

    /// Adds /proc/version, where Debian names its stable version: `... #1 SMP Debian 5.10.223-1
    /// (2024-08-10)`.
    #[must_use]
    pub fn built_as(mut self, proc_version: &str) -> Kernel {
        if let Some((_, after)) = proc_version.rsplit_once(" Debian ")
            && let Some(version) = leading_version(after)
        {
            self.maker = Maker::Debian;
            self.take_stable(version);
        }
        self
    }

    /// Adds Ubuntu's /proc/version_signature, whose last word is the stable version: `Ubuntu
    /// 5.15.0-105.115-generic 5.15.148`.
    #[must_use]
    pub fn signed_as(mut self, signature: &str) -> Kernel {
        if signature.starts_with("Ubuntu ")
            && let Some(version) = signature.rsplit(' ').next().and_then(leading_version)
        {
            self.maker = Maker::Ubuntu;
            self.take_stable(version);
        }
        self
    }

    /// Adds /proc/sys/kernel/random/poolsize: 256 since the rework, 4096 before.
    #[must_use]
    pub fn with_pool_of(mut self, bits: u32) -> Kernel {
        self.shown = match bits {
            256 => Some(true),
            4096 => Some(false),
            _ => None,
        };
        self
    }

    /// Takes the stable number of a version, if its series is the kernel's. A text with another
    /// series is about another kernel.
    fn take_stable(&mut self, (major, minor, stable): (u16, u16, u16)) {
        if (self.version.0, self.version.1) == (major, minor) {
            self.version.2 = stable;
        }
    }

    /// Returns the release as given.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// Returns the major, minor and stable number.
    pub fn version(&self) -> (u16, u16, u16) {
        self.version
    }

    /// Returns the builder.
    pub fn maker(&self) -> Maker {
        self.maker
    }

    /// Returns whether this is Debian's cloud flavour, which lacks drivers.
    pub fn is_debian_cloud(&self) -> bool {
        self.release.contains("-cloud-")
    }

    /// Returns whether the number is that mainline version or a later one.
    pub fn is_at_least(&self, major: u16, minor: u16) -> bool {
        (self.version.0, self.version.1) >= (major, minor)
    }

    /// Returns whether the number does not show which features are missing.
    fn is_backporting(&self) -> bool {
        matches!(self.maker, Maker::El(_) | Maker::Suse)
    }

    /// Returns whether a feature that mainline has since a version is present: yes, no, or unknown
    /// if the builder may have backported it.
    fn since(&self, major: u16, minor: u16) -> Option<bool> {
        match (self.is_at_least(major, minor), self.is_backporting()) {
            (true, _) => Some(true),
            (false, true) => None,
            (false, false) => Some(false),
        }
    }

    /// Returns whether the kernel has the generator of 5.18: 256 bits of state and a key for each
    /// CPU.
    pub fn is_reworked(&self) -> Option<bool> {
        let (major, minor, stable) = self.version;
        let backported = REWORKED.iter().any(|&(a, b, c)| (a, b) == (major, minor) && stable >= c);
        self.shown.or(if backported { Some(true) } else { self.since(5, 18) })
    }

    /// Returns whether the kernel gathers entropy by itself if it has a cycle counter: the jitter
    /// loop of 5.4 (50ee7529ec45).
    pub fn has_jitter_loop(&self) -> Option<bool> {
        if self.is_reworked() == Some(true) { Some(true) } else { self.since(5, 4) }
    }

    /// Returns whether the kernel has getrandom(2), for which a program can wait (3.17).
    pub fn has_getrandom(&self) -> Option<bool> {
        self.since(3, 17)
    }

    /// Returns the number of bits that the generator gathers before it is ready.
    pub fn bits_needed(&self) -> Option<u32> {
        self.is_reworked().map(|reworked| if reworked { 256 } else { 128 })
    }

    /// Returns whether getrandom waits for all 256 bits: since 4.17, and since the stable 4.16.4
    /// and 4.14.36 (43838a23a05f).
    pub fn waits_for_all(&self) -> Option<bool> {
        match self.version {
            (4, 16, 4..) | (4, 14, 36..) => Some(true),
            _ if self.is_reworked() == Some(true) => Some(true),
            _ => self.since(4, 17),
        }
    }

    /// Returns the trust in the CPU's random instruction. The option is of 4.19 (39a8883a2b98,
    /// 9b25436662d5); 6.2 dropped the build option and trusts by default.
    pub fn cpu_trust(&self) -> CpuTrust {
        match self.is_at_least(4, 19) || self.is_backporting() {
            true if self.is_at_least(6, 2) => CpuTrust::ByDefault,
            true => CpuTrust::ByOption,
            false => CpuTrust::Never,
        }
    }

    /// Returns whether the kernel credits the firmware's seed by default: an option since 5.4, the
    /// default since 6.2.
    pub fn trusts_boot_seed(&self) -> CpuTrust {
        match self.is_at_least(5, 4) || self.is_backporting() {
            true if self.is_at_least(6, 2) => CpuTrust::ByDefault,
            true => CpuTrust::ByOption,
            false => CpuTrust::Never,
        }
    }

    /// Returns the number of callers that can draw at once: one before 4.8 (1e7f583af67b made it
    /// one a node), every CPU since the rework.
    pub fn locking(&self) -> Option<Locking> {
        match (self.is_reworked()?, self.is_at_least(4, 8)) {
            (true, _) => Some(Locking::PerCpu),
            (false, true) => Some(Locking::PerNode),
            (false, false) => Some(Locking::Global),
        }
    }

    /// Returns whether getrandom is in the vDSO: 6.11 on x86-64, 6.12 on arm64 and others.
    pub fn has_vdso(&self, is_x86: bool) -> Option<bool> {
        self.since(6, if is_x86 { 11 } else { 12 })
    }

    /// Returns whether memory can be mapped that never reaches swap (MAP_DROPPABLE, 6.11).
    pub fn has_droppable(&self) -> Option<bool> {
        self.since(6, 11)
    }

    /// Returns whether the kernel has a driver for a vmgenid in ACPI (5.18) or in the device tree
    /// (6.10).
    pub fn has_vmgenid(&self, by_device_tree: bool) -> Option<bool> {
        if by_device_tree { self.since(6, 10) } else { self.since(5, 18) }
    }

    /// Returns whether the kernel can show a VMClock to programs (6.13).
    pub fn has_vmclock(&self) -> Option<bool> {
        self.since(6, 13)
    }

    /// Returns whether the kernel honours a CPUID that reports no cycle counter. Up to 6.12 x86-64
    /// reads the counter in any case; 7.3 does not (both were booted); versions between are
    /// unknown.
    pub fn heeds_missing_tsc(&self) -> Option<bool> {
        match self.version {
            (7.., ..) => Some(true),
            (6, 13.., _) => None,
            _ => Some(false),
        }
    }

    /// Returns the known differences of the other kernel.
    pub fn changes(&self, other: &Kernel, is_x86: bool) -> Vec<Change> {
        let yes = |kernel: &Kernel, has: Option<bool>| match has {
            Some(true) => "yes",
            Some(false) => "no",
            None if kernel.is_backporting() => "unknown: its maker backports",
            None => "unknown",
        };
        let trust = |trust| match trust {
            CpuTrust::Never => "never",
            CpuTrust::ByOption => "if its build or command line says so",
            CpuTrust::ByDefault => "unless its command line forbids it",
        };
        let locking = |kernel: &Kernel| match kernel.locking() {
            Some(Locking::Global) => "one at a time",
            Some(Locking::PerNode) => "one per memory node",
            Some(Locking::PerCpu) => "one per CPU",
            None => "unknown: its maker backports",
        };
        let bits = |kernel: &Kernel| match kernel.bits_needed() {
            Some(128) => "128",
            Some(_) => "256",
            None => "unknown: its maker backports",
        };
        let rows: [(&str, Trait<'_>); 10] = [
            ("getrandom waits until the generator is ready", &|k| yes(k, k.waits_for_all())),
            ("bits gathered before the generator is ready", &bits),
            ("gathers entropy by itself (jitter loop)", &|k| yes(k, k.has_jitter_loop())),
            ("credits the CPU's random instruction", &|k| trust(k.cpu_trust())),
            ("credits the firmware's seed", &|k| trust(k.trusts_boot_seed())),
            ("programs that can draw at the same time", &locking),
            ("reseeds when the VM is cloned (vmgenid, where built in)", &|k| {
                yes(k, k.has_vmgenid(false))
            }),
            ("shows programs a VMClock (where built in)", &|k| yes(k, k.has_vmclock())),
            ("getrandom without a system call (vDSO)", &|k| yes(k, k.has_vdso(is_x86))),
            ("memory that never reaches swap (MAP_DROPPABLE)", &|k| yes(k, k.has_droppable())),
        ];
        let changes =
            rows.into_iter().map(|(what, of)| Change { what, before: of(self), after: of(other) });
        changes.filter(|change| change.before != change.after).collect()
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.release)
    }
}

fn leading_version(text: &str) -> Option<(u16, u16, u16)> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let mut numbers =
        text.get(..digits)?.split('.').filter(|part| !part.is_empty()).map(str::parse::<u16>);
    Some((
        numbers.next()?.ok()?,
        numbers.next()?.ok()?,
        numbers.next().map_or(Some(0), Result::ok)?,
    ))
}

fn maker(release: &str) -> Maker {
    let el = release.split(['.', '_', '-']).find_map(|part| {
        let digits = part.strip_prefix("el")?;
        digits.parse::<u8>().ok()
    });
    match el {
        Some(number) => Maker::El(number),
        None if release.ends_with("-default") => Maker::Suse,
        None if release.contains("+deb")
            || release.ends_with("-amd64")
            || release.ends_with("-arm64") =>
        {
            Maker::Debian
        }
        None if release.ends_with("-generic") => Maker::Ubuntu,
        None => Maker::Mainline,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(release: &str) -> Kernel {
        Kernel::parse(release).unwrap()
    }

    #[test]
    fn a_version_is_read_from_the_forms_that_are_in_use() {
        assert_eq!(kernel("6.12").version(), (6, 12, 0));
        assert_eq!(kernel("5.10.0-46-cloud-amd64").version(), (5, 10, 0));
        assert_eq!(kernel("6.12.117+deb13-cloud-amd64").version(), (6, 12, 117));
        assert_eq!(kernel("4.18.0-553.el8_10.x86_64").maker(), Maker::El(8));
        assert_eq!(kernel("5.14.0-427.13.1.el9_4.x86_64").maker(), Maker::El(9));
        assert_eq!(kernel("6.6.58-0-lts").version(), (6, 6, 58));
        for wrong in ["", "linux", "7", "6.x", "99999.1", "."] {
            assert_eq!(Kernel::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_backport_counts_and_the_one_before_it_does_not() {
        for (major, minor, stable) in REWORKED {
            assert_eq!(kernel(&format!("{major}.{minor}.{stable}")).is_reworked(), Some(true));
            assert_eq!(
                kernel(&format!("{major}.{minor}.{}", stable - 1)).is_reworked(),
                Some(false)
            );
        }
        assert_eq!(kernel("5.18.0").is_reworked(), Some(true));
        assert_eq!(kernel("4.19.248").has_jitter_loop(), Some(false));
        assert_eq!(kernel("4.19.249").has_jitter_loop(), Some(true));
    }

    #[test]
    fn debian_and_ubuntu_name_their_stable_version_elsewhere() {
        let text = "Linux version 5.10.0-46-amd64 (debian-kernel@lists.debian.org) (gcc-10) #1 SMP Debian 5.10.223-1 (2024-08-10)";
        assert_eq!(kernel("5.10.0-46-amd64").is_reworked(), Some(false));
        assert_eq!(kernel("5.10.0-46-amd64").built_as(text).is_reworked(), Some(true));
        let signed =
            kernel("5.15.0-105-generic").signed_as("Ubuntu 5.15.0-105.115-generic 5.15.148");
        assert_eq!(signed.version(), (5, 15, 148));
        let of_another = kernel("6.1.0").built_as("Debian 5.10.223-1").version();
        assert_eq!(of_another, (6, 1, 0));
    }

    #[test]
    fn what_the_machine_shows_comes_before_its_number() {
        let el8 = kernel("4.18.0-553.el8_10.x86_64");
        assert_eq!(el8.is_reworked(), None);
        assert_eq!(el8.clone().with_pool_of(4096).bits_needed(), Some(128));
        assert_eq!(el8.with_pool_of(256).locking(), Some(Locking::PerCpu));
    }

    #[test]
    fn an_upgrade_from_buster_to_trixie_says_what_changes_and_from_one_to_itself_nothing() {
        let (old, new) = (
            kernel("4.19.0-18-amd64").built_as("Debian 4.19.208-1"),
            kernel("6.12.117+deb13-amd64"),
        );
        let changes = old.changes(&new, true);
        let of = |what: &str| {
            changes
                .iter()
                .find(|change| change.what.contains(what))
                .map(|change| (change.before, change.after))
        };
        assert_eq!(of("jitter"), Some(("no", "yes")));
        assert_eq!(of("same time"), Some(("one per memory node", "one per CPU")));
        let trust = ("if its build or command line says so", "unless its command line forbids it");
        assert_eq!(of("CPU's random"), Some(trust));
        assert_eq!(of("VMClock"), None, "6.12 has none either");
        assert_eq!(new.changes(&new, true), []);
    }
}
