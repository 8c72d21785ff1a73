//! The machine of a run. A fact that cannot be read is unknown, and unknown is null.

use crate::impls;
use crate::system::facts::{MICROCODE, cores, cpu_field, kernel_release, line};
use serde::{Deserialize, Serialize};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine, its kernel, and the state that speed depends on.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Machine {
    /// The CPU names its maker so, such as `GenuineIntel`; only x86 has such a name.
    pub vendor: Option<String>,
    /// The CPU's model name.
    pub cpu: Option<String>,
    /// CPUs that this process may use.
    pub cores: Option<usize>,
    /// The CPU's microcode revision.
    pub microcode: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The C library and its version.
    pub libc: Option<String>,
    /// The frequency governor of the first CPU.
    pub governor: Option<String>,
    /// True if the CPU reports a hypervisor; only x86 can report one.
    pub hypervisor: Option<bool>,
    /// The kernel's mitigations of CPU defects, less those that do not concern this CPU.
    pub mitigations: Option<String>,
    /// The time of the run, in seconds since 1970.
    pub date: Option<u64>,
    /// The compiler that this benchmark was built with, and whether without optimising.
    pub rustc: Option<String>,
}

/// Describes this machine, now.
pub fn machine() -> Machine {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    Machine {
        vendor: cpu_field(&cpuinfo, "vendor_id"),
        cpu: cpu_field(&cpuinfo, "model name"),
        cores: cores(),
        microcode: cpu_field(&cpuinfo, MICROCODE),
        kernel: kernel_release(),
        libc: impls::libc_version(),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        hypervisor: cpu_field(&cpuinfo, "flags")
            .map(|flags| flags.split_ascii_whitespace().any(|flag| flag == "hypervisor")),
        mitigations: mitigations(),
        date: SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs()),
        rustc: option_env!("HEADWATER_BENCH_RUSTC").map(build),
    }
}

/// Returns the compiler's version, with a mark if this is a debug build. A debug build is several
/// times slower, and must not pass for a change of the code.
fn build(rustc: &str) -> String {
    format!("{rustc}{}", if cfg!(debug_assertions) { ", debug build" } else { "" })
}

/// Returns `name: state` for each defect that concerns this CPU, in alphabetical order.
fn mitigations() -> Option<String> {
    let mut states: Vec<String> = fs::read_dir("/sys/devices/system/cpu/vulnerabilities")
        .ok()?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let state = line(entry.path().to_str()?)?;
            (state != "Not affected").then(|| format!("{}: {state}", entry.file_name().display()))
        })
        .collect();
    states.sort();
    Some(states.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_first_cpu() {
        let cpuinfo = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\nmicrocode\t: 0xa101148\n\n\
                       processor\t: 1\nmodel name\t: other\n";
        assert_eq!(cpu_field(cpuinfo, "model name").as_deref(), Some("AMD EPYC"));
        assert_eq!(cpu_field(cpuinfo, "microcode").as_deref(), Some("0xa101148"));
        assert_eq!(cpu_field(cpuinfo, "vendor_id").as_deref(), Some("AuthenticAMD"));
        assert_eq!(cpu_field(cpuinfo, "model"), None);
    }

    #[test]
    fn unknown_is_null_in_json() {
        let mut machine = machine();
        machine.governor = None;
        let json = serde_json::to_value(&machine).unwrap();
        assert!(json["governor"].is_null());
        assert!(json["date"].is_u64());
    }
}
