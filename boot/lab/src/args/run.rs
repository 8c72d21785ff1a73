//! Arguments of `headwater lab run`.

use crate::plan::JobPlan;
use std::ffi::OsString;
use std::path::PathBuf;

/// Arguments of `run`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Exit status: that of PROGRAM; 128 and the signal's number if a signal ended it; 2 wrong usage;
125 if it could not be run to its end.")]
pub struct RunArgs {
    /// A series (5.10, 6.1, 6.12, 6.18, or 7, the default) or a kernel image
    #[arg(long, value_name = "SERIES|FILE")]
    pub kernel: Option<String>,

    /// Virtual CPUs
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub cpus: u8,

    /// Memory of the machine in MiB
    #[arg(long, default_value_t = 1024, value_name = "MIB", value_parser = clap::value_parser!(u32).range(128..=262_144))]
    pub memory: u32,

    /// A file to put beside PROGRAM, in its working directory; may be repeated
    #[arg(long, value_name = "FILE")]
    pub file: Vec<PathBuf>,

    /// A variable of PROGRAM's environment; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub env: Vec<(String, String)>,

    /// Seconds in which PROGRAM must end
    #[arg(long, default_value_t = 3600, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub limit: u64,

    /// Words to add to the kernel's command line
    #[arg(long, default_value = "", value_name = "WORDS", allow_hyphen_values = true)]
    pub append: String,

    /// Words to add to QEMU's command line
    #[arg(long, default_value = "", value_name = "WORDS", allow_hyphen_values = true)]
    pub qemu: String,

    /// The guest's program [default: built in the source tree, or beside this command]
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,

    /// A program for x86-64 or arm64, linked statically; the machine is of its architecture
    #[arg(value_name = "PROGRAM")]
    pub program: PathBuf,

    /// Arguments of PROGRAM
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub arguments: Vec<OsString>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a name and a value, such as HEADWATER_MODE=hedged".to_owned()),
    }
}

impl RunArgs {
    /// Returns the requested job.
    pub fn plan(&self) -> JobPlan {
        JobPlan {
            kernel: self.kernel.clone(),
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            environment: self.env.clone(),
            files: self.file.clone(),
            cpus: usize::from(self.cpus),
            memory: self.memory as usize,
            append: self.append.clone(),
            devices: self.qemu.clone(),
            limit_s: self.limit,
            guest: self.guest.clone(),
        }
    }
}
