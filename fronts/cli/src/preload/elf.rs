//! The facts of an ELF file that decide what the preload library reaches.

use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader, SectionTable};
use object::read::{ReadCache, ReadRef};
use std::collections::BTreeSet;
use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};

type Header = FileHeader64<LittleEndian>;

/// Facts that an ELF program states about itself.
#[derive(Default)]
pub(super) struct Binary {
    /// The architecture, if this library is for another.
    pub(super) other_architecture: Option<&'static str>,
    /// It names a dynamic linker.
    pub(super) has_interpreter: bool,
    /// The Go compiler built it.
    pub(super) is_go: bool,
    /// OpenSSL's library, if the program or a library of it needs it.
    pub(super) openssl: Option<String>,
    /// A library with a generator of its own that is linked into the program.
    pub(super) own_library: Option<&'static str>,
    /// It makes the getrandom system call without the C library.
    pub(super) has_raw_calls: bool,
}

/// Returns whether the file is a shared object of this machine.
pub(super) fn is_library(path: &Path) -> std::io::Result<bool> {
    let file = ReadCache::new(File::open(path)?);
    Ok(Header::parse(&file).is_ok_and(|header| {
        header.is_little_endian()
            && header.e_type(LittleEndian) == elf::ET_DYN
            && other_architecture(header.e_machine(LittleEndian)).is_none()
    }))
}

impl Binary {
    /// Reads the file. Parts of it that are damaged or missing count as absent: the dynamic linker
    /// decides whether the program starts.
    pub(super) fn read(path: &Path) -> std::io::Result<Binary> {
        let file = ReadCache::new(File::open(path)?);
        let mut binary = Binary { has_interpreter: true, ..Binary::default() };
        let Ok(&[_, _, _, _, class, order, ..]) = (&file).read_bytes_at(0, 16) else {
            return Ok(binary);
        };
        if class != elf::ELFCLASS64 || order != elf::ELFDATA2LSB {
            binary.other_architecture = Some("32-bit or big-endian machines");
            return Ok(binary);
        }
        let Ok(header) = Header::parse(&file) else { return Ok(binary) };
        binary.other_architecture = other_architecture(header.e_machine(LittleEndian));
        let Ok(segments) = header.program_headers(LittleEndian, &file) else { return Ok(binary) };
        binary.has_interpreter =
            segments.iter().any(|segment| segment.p_type(LittleEndian) == elf::PT_INTERP);
        let Ok(sections) = header.sections(LittleEndian, &file) else { return Ok(binary) };
        let named = |name: &[u8]| sections.section_by_name(LittleEndian, name);
        // The note stays in a stripped program; the other section has the versions of its modules.
        binary.is_go = named(b".note.go.buildid").or(named(b".go.buildinfo")).is_some();
        let bytes = |name: &[u8]| {
            named(name)
                .and_then(|(_, section)| section.data(LittleEndian, &file).ok())
                .unwrap_or(&[])
        };
        let constants = bytes(b".rodata");
        // Both print this name as their version.
        binary.own_library = [("BoringSSL", "BoringSSL"), ("AWS-LC", "AWS-LC ")]
            .into_iter()
            .find(|(_, mark)| memchr::memmem::find(constants, mark.as_bytes()).is_some())
            .map(|(name, _)| name);
        binary.has_raw_calls = has_raw_calls(bytes(b".text"));
        binary.openssl = openssl(path);
        Ok(binary)
    }
}

fn other_architecture(machine: u16) -> Option<&'static str> {
    match machine {
        elf::EM_X86_64 if cfg!(target_arch = "x86_64") => None,
        elf::EM_AARCH64 if cfg!(target_arch = "aarch64") => None,
        elf::EM_X86_64 => Some("x86-64"),
        elf::EM_AARCH64 => Some("arm64"),
        elf::EM_RISCV => Some("RISC-V"),
        elf::EM_PPC64 => Some("POWER"),
        _ => Some("another architecture"),
    }
}

/// Searches for a load of getrandom's number that a system call follows within a few instructions.
fn has_raw_calls(code: &[u8]) -> bool {
    /// `mov eax, 318` of x86-64, and the bytes after it that may hold `syscall`.
    const LOAD: [u8; 5] = [0xb8, 0x3e, 0x01, 0, 0];
    const NEAR: usize = 64;
    cfg!(target_arch = "x86_64")
        && memchr::memmem::find_iter(code, &LOAD).any(|at| {
            let behind = &code[at + LOAD.len()..];
            behind[..behind.len().min(NEAR)].windows(2).any(|bytes| bytes == [0x0f, 0x05])
        })
}

/// Returns the name of OpenSSL's library if the program or one of its libraries needs it.
///
/// Modules that a program loads later, such as Python's `ssl`, do not show.
fn openssl(program: &Path) -> Option<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![program.to_owned()];
    while let Some(path) = open.pop() {
        for name in needed(&path).unwrap_or_default() {
            if name.starts_with("libcrypto.so.") {
                return Some(name);
            }
            if seen.insert(name.clone())
                && let Some(path) = library(&name)
            {
                open.push(path);
            }
        }
    }
    None
}

/// Returns the names of the libraries that a file needs, or `None` if it has no such table.
fn needed(path: &Path) -> Option<Vec<String>> {
    let file = ReadCache::new(File::open(path).ok()?);
    let header = Header::parse(&file).ok()?;
    let sections: SectionTable<'_, Header, _> = header.sections(LittleEndian, &file).ok()?;
    let (entries, strings) = sections.dynamic(LittleEndian, &file).ok()??;
    let strings = sections.strings(LittleEndian, &file, strings).ok()?;
    let names = entries
        .iter()
        .filter(|entry| entry.tag32(LittleEndian) == Some(elf::DT_NEEDED))
        .filter_map(|entry| u32::try_from(entry.d_val(LittleEndian)).ok())
        .filter_map(|offset| strings.get(offset).ok());
    Some(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// Finds a library in the usual directories. Others, such as those of DT_RUNPATH, are not searched.
fn library(name: &str) -> Option<PathBuf> {
    let triplet = format!("{}-linux-gnu", env::consts::ARCH);
    let named = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let usual = [
        PathBuf::from("/usr/local/lib"),
        Path::new("/usr/lib").join(&triplet),
        Path::new("/lib").join(&triplet),
        PathBuf::from("/usr/lib64"),
        PathBuf::from("/lib64"),
        PathBuf::from("/usr/lib"),
    ];
    let mut places = env::split_paths(&named).chain(usual).map(|directory| directory.join(name));
    places.find(|path| path.is_file())
}

/// Returns true if the file has capabilities (setcap(8)).
pub(super) fn has_capabilities(path: &Path) -> bool {
    // A buffer without room would ask for the size, but rustix answers 0 for it without a call.
    let mut value = [0; 64];
    let found = rustix::fs::getxattr(path, c"security.capability", &mut value[..]);
    // ERANGE: longer than any that this code knows, so there is one.
    found.is_ok_and(|len| len > 0) || found == Err(rustix::io::Errno::RANGE)
}
