//! The CPUs: which one, what it can, how many.

use crate::Root;

/// The CPUs, by /proc/cpuinfo and /sys/devices/system.
#[derive(Clone, Debug, Default)]
pub struct Cpu {
    /// GenuineIntel, AuthenticAMD; empty on arm64.
    pub vendor: String,
    /// Family, model and stepping on x86.
    pub model: Option<(u16, u16, u16)>,
    /// The CPU's name, for people.
    pub name: String,
    /// The microcode's revision.
    pub microcode: Option<u64>,
    /// The features: `flags` on x86, `Features` on arm64.
    pub flags: Vec<String>,
    /// The number of CPUs online; 0 if unknown.
    pub online: usize,
    /// The number of memory nodes online; 0 if unknown.
    pub nodes: usize,
}

impl Cpu {
    pub(super) fn read(root: &Root) -> Cpu {
        let text = root.text("/proc/cpuinfo").unwrap_or_default();
        let of = |key: &str| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':'));
            line.map(str::trim).unwrap_or_default()
        };
        let number = |key: &str| of(key).parse::<u16>().ok();
        let flags = if of("flags").is_empty() { of("Features") } else { of("flags") };
        let count = |path: &str| root.text(path).ok().and_then(|text| count(&text)).unwrap_or(0);
        Cpu {
            vendor: of("vendor_id").to_owned(),
            model: number("cpu family")
                .zip(number_of_model(&text))
                .zip(number("stepping"))
                .map(|((family, model), stepping)| (family, model, stepping)),
            name: of("model name").to_owned(),
            microcode: u64::from_str_radix(of("microcode").trim_start_matches("0x"), 16).ok(),
            flags: flags.split_whitespace().map(str::to_owned).collect(),
            online: count("/sys/devices/system/cpu/online"),
            nodes: count("/sys/devices/system/node/online"),
        }
    }

    /// Returns whether the CPU has that flag.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }

    /// Returns whether the CPU is an x86.
    pub fn is_x86(&self) -> bool {
        // s390x has the field too.
        !self.vendor.is_empty() && self.vendor != "IBM/S390"
    }

    /// Returns the flag of the random instruction, if the kernel shows one: `rdrand` on x86, `rng`
    /// (FEAT_RNG) on arm64.
    pub fn random_flag(&self) -> Option<&'static str> {
        ["rdrand", "rdseed", "rng"].into_iter().find(|flag| self.has(flag))
    }
}

/// Returns the CPU's model number. The key must be exactly "model", because "model name" begins
/// with it.
fn number_of_model(text: &str) -> Option<u16> {
    let value = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model").then_some(value)
    })?;
    value.trim().parse().ok()
}

/// Counts the members of a list such as `0-3,8`.
fn count(list: &str) -> Option<usize> {
    list.trim()
        .split(',')
        .map(|part| match part.split_once('-') {
            Some((first, last)) => {
                last.parse::<usize>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)
            }
            None => part.parse::<usize>().ok().map(|_| 1),
        })
        .try_fold(0usize, |sum, part| sum.checked_add(part?))
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn a_list_of_cpus_is_counted() {
        assert_eq!(count("0-3,8"), Some(5));
        assert_eq!(count("0"), Some(1));
        assert_eq!(count("3-0"), None);
        assert_eq!(count(""), None);
    }
}
