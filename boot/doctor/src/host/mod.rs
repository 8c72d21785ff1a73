//! The facts of a machine, one module an area.

mod clones;
mod confidential;
mod cpu;
mod hwrng;
pub(crate) mod installed;
pub(crate) mod live;
mod processes;
mod recorded;
mod services;

pub use clones::Clones;
pub use confidential::Confidential;
pub use cpu::Cpu;
pub use hwrng::Hwrng;
pub use live::{Live, Ready};
pub use processes::Process;

use crate::boot::Unit;
use crate::{Evidence, Kernel, Platform, Root};

/// The facts of a machine. Each is read once; an unknown fact is `None`.
#[derive(Clone, Debug)]
pub struct Host {
    /// The root of the machine's files.
    pub root: Root,
    /// The kernel that runs.
    pub kernel: Option<Kernel>,
    /// The kernel's command line, split at spaces.
    pub command_line: Vec<String>,
    /// The platform.
    pub platform: Platform,
    /// The source of the platform.
    pub platform_by: Evidence,
    /// The machine's CPUs.
    pub cpu: Cpu,
    /// The machine's random device.
    pub hwrng: Hwrng,
    /// The clone signals.
    pub clones: Clones,
    /// The technology that protects the machine from its hypervisor, and the place that shows it.
    pub confidential: Option<(Confidential, Evidence)>,
    /// The clock that the kernel keeps time by: tsc, kvm-clock, hpet, jiffies.
    pub clock_source: Option<String>,
    /// The machine's processes, by number.
    pub processes: Vec<Process>,
    /// Facts of a live machine; `None` for a recording.
    pub live: Option<Live>,
}

impl Host {
    /// Reads the facts: of this machine in well under a second, without waiting for its generator.
    pub fn look(root: Root) -> Host {
        let live = root.is_live().then(Live::look);
        let text = |path: &str| root.text(path).ok();
        let (platform, platform_by) =
            Platform::detect(&root, live.as_ref().and_then(|live| live.hypervisor.as_deref()));
        let mut kernel =
            text("/proc/sys/kernel/osrelease").and_then(|release| Kernel::parse(&release));
        if let Some(version) = text("/proc/version") {
            kernel = kernel.map(|kernel| kernel.built_as(&version));
        }
        if let Some(signature) = text("/proc/version_signature") {
            kernel = kernel.map(|kernel| kernel.signed_as(&signature));
        }
        if let Some(bits) =
            text("/proc/sys/kernel/random/poolsize").and_then(|number| number.parse::<u32>().ok())
        {
            kernel = kernel.map(|kernel| kernel.with_pool_of(bits));
        }
        Host {
            kernel,
            command_line: text("/proc/cmdline")
                .unwrap_or_default()
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            platform,
            platform_by,
            cpu: Cpu::read(&root),
            hwrng: Hwrng::read(&root),
            clones: Clones::read(&root),
            confidential: Confidential::detect(&root),
            clock_source: text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            processes: processes::all(&root),
            live,
            root,
        }
    }

    /// Returns the value of `name=value` on the kernel's command line. The last one counts.
    pub fn option(&self, name: &str) -> Option<&str> {
        let mut words = self.command_line.iter().rev();
        words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    /// Returns a switch on the kernel's command line, parsed as the kernel parses booleans.
    pub fn switch(&self, name: &str) -> Option<bool> {
        match self.option(name)?.to_ascii_lowercase().as_str() {
            "1" | "y" | "yes" | "on" | "t" | "true" => Some(true),
            "0" | "n" | "no" | "off" | "f" | "false" => Some(false),
            _ => None,
        }
    }

    /// Returns whether the kernel was built with that option; `None` if its configuration is
    /// missing.
    pub fn is_built_with(&self, option: &str) -> Option<bool> {
        let path = match &self.kernel {
            Some(kernel) if self.root.is_live() => format!("/boot/config-{}", kernel.release()),
            _ => "/boot/config".to_owned(),
        };
        let text = self.root.text(&path).ok()?;
        let value = text.lines().find_map(|line| line.strip_prefix(option)?.strip_prefix('='));
        Some(matches!(value, Some("y" | "m")))
    }

    /// Returns the seconds since the kernel started.
    pub fn uptime(&self) -> Option<f64> {
        self.root.text("/proc/uptime").ok()?.split(' ').next()?.parse().ok()
    }

    /// Returns the starts of systemd's services at this boot, from systemctl; empty without
    /// systemd.
    ///
    /// # Errors
    ///
    /// Returns the reason in a clause.
    pub fn units(&self) -> Result<Vec<Unit>, String> {
        services::units(&self.root)
    }

    /// Returns whether it is a virtual machine, which can be cloned or rolled back while it runs.
    pub fn is_vm(&self) -> bool {
        self.platform.is_vm()
    }
}
