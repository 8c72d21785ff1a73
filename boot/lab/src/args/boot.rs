//! Arguments of `headwater lab boot`.

use super::kernel::{NEWEST, check_architecture, part, parts};
use crate::plan::{BootPlan, Clock, Rng};
use std::path::PathBuf;

/// Arguments of `boot`.
#[derive(clap::Args, Clone, Debug)]
pub struct BootArgs {
    /// A series (5.10, 6.1, 6.12, 6.18, or 7, the default) or a kernel image; with --matrix, a
    /// series whose boots to run [default: all]
    #[arg(long, value_name = "SERIES|FILE")]
    pub kernel: Option<String>,

    /// Architecture of the machine [default: x86_64; with --matrix: all]
    #[arg(long, value_name = "ARCH", value_parser = ["x86_64", "aarch64"])]
    pub arch: Option<String>,

    /// Entropy source that the machine offers to the kernel
    #[arg(long, value_enum, default_value = "none")]
    pub rng: Rng,

    /// The kernel's clock
    #[arg(long, value_enum, default_value = "tsc")]
    pub clock: Clock,

    /// Words to add to the kernel's command line
    #[arg(long, default_value = "", value_name = "WORDS", allow_hyphen_values = true)]
    pub append: String,

    /// Words to add to QEMU's command line
    #[arg(long, default_value = "", value_name = "WORDS", allow_hyphen_values = true)]
    pub qemu: String,

    /// Seconds after which a wait counts as endless
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub limit: u32,

    /// Run and check the whole table of boots
    #[arg(long, conflicts_with_all = ["rng", "clock", "append", "qemu", "record", "limit", "json", "html"])]
    pub matrix: bool,

    /// Print JSON (schema headwater.lab-boot/1)
    #[arg(long)]
    pub json: bool,

    /// Write the timeline as a page of HTML
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Record the guest for 'headwater doctor --root', to a new FILE.host or an empty directory
    #[arg(long, value_name = "FILE.host|DIR")]
    pub record: Option<PathBuf>,

    /// The guest's program [default: built in the source tree, or beside this command]
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,
}

impl BootArgs {
    /// Returns the requested kernels of the table.
    ///
    /// # Errors
    ///
    /// If the table has no such kernel, or it is for another architecture than the requested one.
    pub fn parts(&self) -> Result<Vec<String>, String> {
        parts(self.kernel.as_deref(), self.arch.as_deref())
    }

    /// Returns the requested boot.
    ///
    /// # Errors
    ///
    /// If the kernel is for another architecture than the requested one.
    pub fn plan(&self) -> Result<BootPlan, String> {
        check_architecture(self.kernel.as_deref(), self.arch.as_deref())?;
        Ok(BootPlan {
            kernel: part(self.kernel.as_deref(), self.arch.as_deref())
                .unwrap_or_else(|| NEWEST.to_owned()),
            rng: self.rng,
            clock: self.clock,
            append: self.append.clone(),
            devices: self.qemu.clone(),
            limit_s: self.limit,
            record: self.record.clone(),
            guest: self.guest.clone(),
        })
    }
}
