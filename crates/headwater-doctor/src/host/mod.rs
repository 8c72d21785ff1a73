//! The facts of a machine, area by area, and what only a live machine tells.

use crate::{Kernel, Platform, Root};

/// The facts of a machine. Each is read once; what cannot be told is `None`.
#[derive(Clone, Debug)]
pub struct Host {
    /// Where its files are.
    pub root: Root,
    /// The kernel that runs.
    pub kernel: Option<Kernel>,
    /// Its command line, split at spaces.
    pub command_line: Vec<String>,
    /// What it runs on.
    pub platform: Platform,
    /// Whether the kernel's generator is ready now; `None` on a recording.
    pub ready: Option<bool>,
}

impl Host {
    /// Reads the facts.
    pub fn look(root: Root) -> Host {
        let text = |path: &str| root.text(path).ok();
        Host {
            kernel: text("/proc/sys/kernel/osrelease").and_then(|it| Kernel::parse(&it)),
            command_line: text("/proc/cmdline")
                .unwrap_or_default()
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            platform: Platform::OtherVm,
            ready: None,
            root,
        }
    }
}
