//! Programs and kernels that are ELF files.

use anyhow::{Context, Result, bail, ensure};
use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::ReadCache;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use std::fs::File;
use std::path::Path;

/// The tag that names a library.
const NEEDED: u64 = elf::DT_NEEDED as u64;

/// Returns the architecture of a program, after a check that a guest can start it.
pub(crate) fn architecture(file: &Path) -> Result<&'static str> {
    let shown = file.display();
    let cannot = || format!("cannot read {shown}");
    // A pipe has no end before its writer's.
    ensure!(file.metadata().with_context(cannot)?.is_file(), "{shown} is no file");
    let data = ReadCache::new(File::open(file).with_context(cannot)?);
    let Ok(header) = FileHeader64::<LittleEndian>::parse(&data) else {
        bail!("{shown} is not a 64-bit ELF program, and a guest has no shell or interpreter")
    };
    let segments = header.program_headers(LittleEndian, &data).unwrap_or_default();
    let of_type = |kind| segments.iter().any(|segment| segment.p_type(LittleEndian) == kind);
    ensure!(of_type(elf::PT_LOAD), "{shown} is an ELF file, but not a program");
    // A library names no loader, but it needs others.
    let mut dynamic = segments.iter().filter_map(|one| one.dynamic(LittleEndian, &data).ok()?);
    let needs = dynamic.any(|tags| tags.iter().any(|tag| tag.d_tag(LittleEndian) == NEEDED));
    ensure!(
        !of_type(elf::PT_INTERP) && !needs,
        "{shown} is linked dynamically, and a guest has no libraries; link it statically: \
         gcc -static, or cargo with --target and RUSTFLAGS='-C target-feature=+crt-static'"
    );
    machine(header).with_context(|| {
        format!("{shown} is for neither x86-64 nor arm64, which are the lab's machines")
    })
}

/// A kernel that is an ELF file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) architecture: &'static str,
    /// It has fixed addresses, as every vmlinux does. Libraries and most programs have none.
    pub(crate) is_fixed: bool,
    /// The end of its last segment.
    pub(crate) extent: u64,
}

/// Reads the header of a file as that of a kernel.
pub(crate) fn kernel(file: &Path) -> Option<Kernel> {
    let data = ReadCache::new(File::open(file).ok()?);
    let header = FileHeader64::<LittleEndian>::parse(&data).ok()?;
    let segments = header.program_headers(LittleEndian, &data).ok()?;
    let end = |segment: &elf::ProgramHeader64<LittleEndian>| {
        segment.p_offset(LittleEndian).saturating_add(segment.p_filesz(LittleEndian))
    };
    Some(Kernel {
        architecture: machine(header)?,
        is_fixed: header.e_type(LittleEndian) == elf::ET_EXEC,
        extent: segments.iter().map(end).max()?,
    })
}

fn machine(header: &FileHeader64<LittleEndian>) -> Option<&'static str> {
    match header.e_machine(LittleEndian) {
        elf::EM_X86_64 => Some("x86_64"),
        elf::EM_AARCH64 => Some("aarch64"),
        _ => None,
    }
}
